import { beforeEach, describe, expect, it } from 'vitest';
import type { SqlRow } from '../sql-database.ts';
import { Maintenance, parseLogPosition } from './maintenance.ts';

const MIB = 1024n * 1024n;

/** Notes what it is asked to do, and reports tables in need. */
function makeEngine(tables: SqlRow[] = []) {
  const statements: string[] = [];
  return {
    statements,
    query: async (text: string) => (text.includes('pg_stat_user_tables') ? tables : []),
    run: async (statement: string) => {
      statements.push(statement);
    },
  };
}

let maintenance: Maintenance;
beforeEach(() => {
  maintenance = new Maintenance();
  maintenance.startAt(1000n * MIB);
});

describe('Maintenance', () => {
  it('has nothing to do after the start, wherever the log stands', () => {
    expect(maintenance.isDue).toBe(false);
  });

  it('looks at the tables after 200 writes, and then not before 200 more', async () => {
    for (let i = 0; i < 199; i += 1) maintenance.wrote(1000n * MIB);
    expect(maintenance.isDue).toBe(false);
    maintenance.wrote(1000n * MIB);
    expect(maintenance.isDue).toBe(true);
    await maintenance.run(makeEngine());
    expect(maintenance.isDue).toBe(false);
  });

  it('looks at the tables after 8 MiB of log, however few writes made it', async () => {
    maintenance.wrote(1008n * MIB - 1n);
    expect(maintenance.isDue).toBe(false);
    maintenance.wrote(1008n * MIB);
    expect(maintenance.isDue).toBe(true);
    const engine = makeEngine();
    await maintenance.run(engine);
    expect(engine.statements).toEqual([]);
  });

  it('vacuums what holds many dead rows, and only analyses what has grown', async () => {
    const engine = makeEngine([
      { name: 'app.grown', needs_vacuum: false },
      { name: 'app.updated', needs_vacuum: true },
    ]);
    maintenance.wrote(1008n * MIB);
    await maintenance.run(engine);
    expect(engine.statements).toEqual(['ANALYZE app.grown', 'VACUUM (ANALYZE) app.updated']);
  });

  it('makes a checkpoint after 64 MiB of log, once', async () => {
    const engine = makeEngine();
    maintenance.wrote(1064n * MIB);
    await maintenance.run(engine);
    expect(engine.statements).toEqual(['CHECKPOINT']);
    maintenance.wrote(1065n * MIB);
    await maintenance.run(engine);
    expect(engine.statements).toEqual(['CHECKPOINT']);
  });

  it('waits for the next time when something fails, instead of failing after each write', async () => {
    const engine = { ...makeEngine(), run: () => Promise.reject(new Error('no space left')) };
    maintenance.wrote(1064n * MIB);
    await expect(maintenance.run(engine)).rejects.toThrow('no space left');
    expect(maintenance.isDue).toBe(false);
    maintenance.wrote(1128n * MIB);
    expect(maintenance.isDue).toBe(true);
  });
});

describe('parseLogPosition', () => {
  it.each<[text: string, position: bigint]>([
    ['0/0', 0n],
    ['0/1858B80', 0x1858b80n],
    // The part before the slash counts units of 4 GiB.
    ['1/0', 4294967296n],
    ['A/10', 10n * 4294967296n + 16n],
  ])('%s', (text, position) => {
    expect(parseLogPosition(text)).toBe(position);
  });
});
