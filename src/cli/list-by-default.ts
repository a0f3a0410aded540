import type { Command } from 'commander';

/**
 * The command `list` of a group, which the group's name alone stands for. Other words after the name are told as what
 * they are meant to be, a command of the group.
 */
export function listByDefault(group: Command): Command {
  return group
    .command('list', { isDefault: true })
    .allowExcessArguments()
    .hook('preAction', (_group, list) => {
      const [word] = list.args;
      if (word === undefined) return;
      const known = group.commands.map((command) => command.name()).join(', ');
      group.error(`error: '${word}' is no command of '${group.name()}'. Allowed: ${known}.`);
    });
}
