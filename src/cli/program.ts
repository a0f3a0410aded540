import { Command } from 'commander';
import type { CliParts } from './cli-parts.ts';
import { addBackupCommand } from './commands/backup.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addExportCommand } from './commands/export.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeysCommand } from './commands/keys.ts';
import { addConfirmCommand, addForgetCommand, addPurgeCommand, addRestoreCommand } from './commands/life.ts';
import { addListCommand } from './commands/list.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addPoliciesCommand } from './commands/policies.ts';
import { addProfilesCommand } from './commands/profiles.ts';
import { addRecallCommand } from './commands/recall.ts';
import { addReembedCommand } from './commands/reembed.ts';
import { addRememberCommand } from './commands/remember.ts';
import { addRulesCommand } from './commands/rules.ts';
import { addServeCommand } from './commands/serve.ts';
import { addShowCommand } from './commands/show.ts';
import { addSupersedeCommand } from './commands/supersede.ts';
import { addIndexCommand } from './commands/vector-index.ts';
import { EXIT_CODES } from './exit-code.ts';
import { printable } from './format/printable.ts';

const COMMANDS = [
  addServeCommand,
  addMcpCommand,
  addRememberCommand,
  addRecallCommand,
  addShowCommand,
  addListCommand,
  addConfirmCommand,
  addSupersedeCommand,
  addForgetCommand,
  addRestoreCommand,
  addPurgeCommand,
  addImportCommand,
  addExportCommand,
  addBackupCommand,
  addRulesCommand,
  addPoliciesCommand,
  addProfilesCommand,
  addKeysCommand,
  addReembedCommand,
  addIndexCommand,
  addDoctorCommand,
];

/** The whole command line, ready to parse. */
export function buildProgram(parts: CliParts): Command {
  const program = new Command('palimpsest')
    .description('Memory for AI agents: stores what they should remember, ranks it, explains every number.')
    .version(parts.version)
    .showHelpAfterError('Add --help for what is allowed.')
    .addHelpText(
      'after',
      `\nExit codes:\n${Object.values(EXIT_CODES)
        .map(({ code, meaning }) => `  ${code}  ${meaning}`)
        .join('\n')}`,
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => parts.stdout.stream.write(text),
      // Words of the command line are repeated in it.
      writeErr: (text) => parts.stderr.stream.write(printable(text)),
      getOutHelpWidth: () => parts.stdout.columns,
      getErrHelpWidth: () => parts.stderr.columns,
    });
  for (const add of COMMANDS) add(program, parts);
  return program;
}
