import type { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.ts';
import { PalimpsestError } from '../../core/errors.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { type Check, doctorChecks, failedCheck } from '../doctor-checks.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { examples } from '../help.ts';

/** Thrown after the checks were shown, so that the exit code says that one failed. */
export class UnhealthyError extends Error {
  override readonly name = 'UnhealthyError';
}

export function addDoctorCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('doctor'))
    .description(
      'Check the configuration, the disk, the database and the embedding provider, and say what to do. Changes nothing.',
    )
    .addHelpText(
      'after',
      examples([
        'palimpsest doctor',
        'palimpsest doctor --database-url postgres://palimpsest@localhost/memories --json',
      ]),
    )
    .action(async (options: StoreOptions) => {
      const checks = await runChecks(parts, options);
      await parts.stdout.write(
        options.json ? `${jsonText({ checks }, 2)}\n` : checkTable(checks, parts.stdout.columns),
      );
      if (checks.some(({ status }) => status === 'fail')) {
        throw new UnhealthyError('Something is wrong: see above.');
      }
    });
}

async function runChecks(parts: CliParts, options: StoreOptions): Promise<Check[]> {
  const config = readConfig(options);
  if (PalimpsestError.isInstance(config)) return [failedCheck('configuration', config)];
  return doctorChecks(config, await parts.inspect(config), Date.now());
}

function readConfig(options: StoreOptions): Config | PalimpsestError {
  try {
    return loadConfig(options);
  } catch (error) {
    if (PalimpsestError.isInstance(error)) return error;
    throw error;
  }
}

function checkTable(checks: readonly Check[], width: number): string {
  const rows = checks.map(({ name, status, found, advice }) => [
    status === 'ok' ? 'ok' : status.toUpperCase(),
    name,
    printable(advice === null ? found : `${found}\n${advice}`),
  ]);
  return textTable([{ head: '' }, { head: 'check' }, { head: 'found' }], rows, { width });
}
