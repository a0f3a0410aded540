import type { Command } from 'commander';
import { loadConfig } from '../../config/config.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { examples } from '../help.ts';

interface SubjectOptions {
  readonly agent?: string;
  readonly task?: string;
}

export function addMcpCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('mcp'))
    .option('--agent <id>', 'the agent whose tools these are: its policy holds')
    .option('--task <id>', "the task it works on: that policy replaces the agent's")
    .description(
      'Serve the memory to an MCP client on standard input and output; clients start this themselves.',
    )
    .addHelpText('after', examples(['palimpsest mcp', 'palimpsest mcp --data-dir ./memories --agent helper']))
    .action(async (options: StoreOptions & SubjectOptions) => {
      await parts.serveMcp(loadConfig(options), { agentId: options.agent, taskId: options.task });
    });
}
