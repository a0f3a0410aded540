import type { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.ts';
import { PalimpsestError } from '../../core/errors.ts';
import { jsonText } from '../../core/json-text.ts';
import type { StoreHealth } from '../../core/ports.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { withService } from '../with-service.ts';

/** A clock further off than this makes "now" in expiry and recency visibly wrong. */
const MAX_CLOCK_OFFSET_MS = 5_000;

/** One thing that was looked at. */
interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** What to do, where something is wrong. */
  readonly advice?: string | undefined;
}

/** Thrown after the checks were shown, so that the exit code says that one failed. */
export class UnhealthyError extends Error {
  override readonly name = 'UnhealthyError';
}

export function addDoctorCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('doctor'))
    .description('Check the configuration, the store and the embedding provider, and say what to do.')
    .action(async (options: StoreOptions) => {
      const config = loadConfig(options);
      const checks = [configCheck(config), ...(await storeChecks(parts, options))];
      await parts.stdout.write(
        options.json ? `${jsonText({ checks }, 2)}\n` : checkTable(checks, parts.stdout.columns),
      );
      if (checks.some(({ ok }) => !ok)) throw new UnhealthyError('Something is wrong: see above.');
    });
}

function configCheck({ file, store, embedding, warnings }: Config): Check {
  const place = 'dataDir' in store ? `embedded store in ${store.dataDir}` : 'PostgreSQL';
  const found = [`${file ?? 'no file'}: ${place}, embedding mode ${embedding.mode}`, ...warnings].join('\n');
  return { name: 'configuration', ok: true, found };
}

async function storeChecks(parts: CliParts, options: StoreOptions): Promise<Check[]> {
  try {
    return await withService(parts, options, async (service, context) => {
      const health = await service.health();
      return [
        ...healthChecks(health),
        await embeddingCheck(() => service.recall(context, { query: 'doctor', topK: 1 })),
      ];
    });
  } catch (error) {
    if (!PalimpsestError.isInstance(error)) throw error;
    const advice = error.details.map(({ hint }) => hint).find((hint) => hint !== undefined);
    return [{ name: 'store', ok: false, found: error.message, advice }];
  }
}

function healthChecks(health: StoreHealth): Check[] {
  const offset = Math.abs(health.clockOffsetMs);
  return [
    {
      name: 'store',
      ok: true,
      found: `${health.backend} ${health.serverVersion}, schema ${health.schemaVersion}`,
    },
    {
      name: 'vector extension',
      ok: health.vectorVersion !== null,
      found: health.vectorVersion ?? 'missing',
      advice: health.vectorVersion === null ? 'Install pgvector 0.8 or newer in this PostgreSQL.' : undefined,
    },
    {
      name: 'row-level security',
      ok: !health.roleBypassesRls,
      found: `requests run as ${health.role}, which ${health.roleBypassesRls ? 'can' : "can't"} bypass it`,
      advice: health.roleBypassesRls ? 'ALTER ROLE it with NOSUPERUSER NOBYPASSRLS.' : undefined,
    },
    {
      name: 'clock',
      ok: offset <= MAX_CLOCK_OFFSET_MS,
      found: `${Math.round(health.clockOffsetMs)} ms between the database and this machine`,
      advice:
        offset <= MAX_CLOCK_OFFSET_MS ? undefined : 'Set both by NTP: expiry and recency read the time.',
    },
  ];
}

async function embeddingCheck(
  recall: () => Promise<{ trace: { embeddingModelId: string | null } }>,
): Promise<Check> {
  const name = 'embedding and recall';
  try {
    const { trace } = await recall();
    return { name, ok: true, found: `the model ${trace.embeddingModelId ?? 'none'} answers` };
  } catch (error) {
    if (!PalimpsestError.isInstance(error)) throw error;
    return {
      name,
      ok: false,
      found: error.message,
      advice: 'Check the embedding provider and its configuration.',
    };
  }
}

function checkTable(checks: readonly Check[], width: number): string {
  const rows = checks.map(({ name, ok, found, advice }) => [
    ok ? 'ok' : 'WRONG',
    name,
    printable(advice === undefined ? found : `${found}\n${advice}`),
  ]);
  return textTable([{ head: '' }, { head: 'check' }, { head: 'found' }], rows, { width });
}
