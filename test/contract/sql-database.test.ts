import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isUniqueViolation, SqlError } from '../../src/store/sql-errors.ts';
import {
  makeMigrationsFolder,
  openTestSqlDatabase,
  runScript,
  runStatement,
  type TestSqlDatabase,
} from '../helpers/test-sql-database.ts';

const migrations = makeMigrationsFolder();
let opened: TestSqlDatabase;

beforeAll(async () => {
  opened = await openTestSqlDatabase(migrations.directory);
});
afterAll(async () => {
  await opened.close();
  migrations.remove();
});
beforeEach(() =>
  runScript(
    opened.database,
    `DROP TABLE IF EXISTS counters;
     CREATE TABLE counters (name text CONSTRAINT counters_name_key PRIMARY KEY, value bigint NOT NULL)`,
  ),
);

const query = (text: string, values: readonly unknown[] = []) => runStatement(opened.database, text, values);
const names = async () => (await query('SELECT name FROM counters ORDER BY name')).map((row) => row.name);

describe('values of a result', () => {
  it.each<[expression: string, expected: unknown]>([
    ['true', true],
    ['NULL::text', null],
    ['7::smallint', 7],
    ['7::integer', 7],
    ['7::bigint', 7],
    ['9007199254740991::bigint', 9007199254740991],
    // One more than the largest integer a number holds exactly.
    ['9007199254740993::bigint', 9007199254740993n],
    ['count(*)', 1],
    ['0.1::double precision', 0.1],
    ['(1::double precision / 3)', 1 / 3],
    ["'NaN'::double precision", Number.NaN],
    ["'-Infinity'::double precision", Number.NEGATIVE_INFINITY],
    ['1.50::numeric', '1.50'],
    ["'2024-02-29 13:14:15.678+02'::timestamptz", new Date('2024-02-29T11:14:15.678Z')],
    // Microseconds are cut to milliseconds, not rounded: a time never moves into the future.
    ["'2024-01-01 00:00:00.9999+00'::timestamptz", new Date('2024-01-01T00:00:00.999Z')],
    ["'0001-01-01 00:00:00+00'::timestamptz", new Date('0001-01-01T00:00:00.000Z')],
    // 44 BC is the year -43 of a calendar that has a year 0.
    ["'0044-03-15 12:00:00+00 BC'::timestamptz", new Date('-000043-03-15T12:00:00.000Z')],
    ["'12024-01-01 00:00:00+00'::timestamptz", new Date('+012024-01-01T00:00:00.000Z')],
    ["'infinity'::timestamptz", new Date(8.64e15)],
    ["'-infinity'::timestamptz", new Date(-8.64e15)],
    ["'2024-01-01 06:00:00'::timestamp", new Date('2024-01-01T06:00:00.000Z')],
    ["'2024-01-01'::date", new Date('2024-01-01T00:00:00.000Z')],
    [`'{"a": [1, null, "x"]}'::jsonb`, { a: [1, null, 'x'] }],
    ["'[1]'::json", [1]],
    ['\'"text"\'::jsonb', 'text'],
    ["'null'::jsonb", null],
    ["'\\x00ff10'::bytea", Uint8Array.of(0, 255, 16)],
    ["''::bytea", Uint8Array.of()],
    ["'0197f000-0000-7000-8000-000000000000'::uuid", '0197f000-0000-7000-8000-000000000000'],
    [
      `ARRAY['a', NULL, 'NULL', '', 'b"c', 'd\\e', '{f}', 'g,h', ' i ']`,
      ['a', null, 'NULL', '', 'b"c', 'd\\e', '{f}', 'g,h', ' i '],
    ],
    ['ARRAY[]::text[]', []],
    ['ARRAY[1, 2]::bigint[]', [1, 2]],
    [
      'ARRAY[[1, 2], [3, 4]]',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['ARRAY[true, false]', [true, false]],
    ["ARRAY['2024-01-01Z'::timestamptz]", [new Date('2024-01-01T00:00:00.000Z')]],
    [`ARRAY['{"a": "}"}'::jsonb]`, [{ a: '}' }]],
    ["'{1,2}'::name[]", ['1', '2']],
  ])('%s', async (expression, expected) => {
    const [row] = await query(`SELECT ${expression} AS value`);
    expect(row?.value).toStrictEqual(expected);
  });

  it('bytes start at an offset where any typed array can begin', async () => {
    const [row] = await query("SELECT '\\x0000803f'::bytea AS value");
    const bytes = row?.value as Uint8Array;
    // 1.0 as a little-endian float32 is 00 00 80 3f.
    expect([...new Float32Array(bytes.buffer, bytes.byteOffset, 1)]).toEqual([1]);
  });
});

describe('bound values', () => {
  it.each<[type: string, bound: unknown, expected: unknown]>([
    ['text', 'naïve 🙂 \\ " \' $1', 'naïve 🙂 \\ " \' $1'],
    ['text', null, null],
    ['text', '', ''],
    ['integer', 0, 0],
    ['bigint', 9007199254740993n, 9007199254740993n],
    ['double precision', -0.1, -0.1],
    ['double precision', 5e-324, 5e-324],
    ['double precision', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    ['boolean', false, false],
    ['timestamptz', new Date('2024-01-01T00:00:00.123Z'), new Date('2024-01-01T00:00:00.123Z')],
    ['jsonb', { a: { b: [1, 'x'] } }, { a: { b: [1, 'x'] } }],
    ['jsonb', JSON.stringify([1, 2]), [1, 2]],
    ['bytea', Uint8Array.of(0, 1, 255), Uint8Array.of(0, 1, 255)],
    ['bytea', Buffer.from('abc'), Uint8Array.from(Buffer.from('abc'))],
    ['text[]', [], []],
    [
      'text[]',
      ['a', null, 'NULL', '', 'b"c', '\\', '{x}', 'y,z'],
      ['a', null, 'NULL', '', 'b"c', '\\', '{x}', 'y,z'],
    ],
    [
      'integer[]',
      [
        [1, 2],
        [3, 4],
      ],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['boolean[]', [true, false], [true, false]],
    ['timestamptz[]', [new Date(0)], [new Date(0)]],
    ['bytea[]', [Uint8Array.of(1, 92)], [Uint8Array.of(1, 92)]],
    ['jsonb[]', [{ a: '"' }], [{ a: '"' }]],
  ])('%s: %o', async (type, bound, expected) => {
    const [row] = await query(`SELECT $1::${type} AS value`, [bound]);
    expect(row?.value).toStrictEqual(expected);
  });

  it('a value that is undefined is refused, so that a misspelt field does not store NULL', async () => {
    await expect(query('SELECT $1::text, $2::text', ['a', undefined])).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('$2'),
    });
  });

  it('a value of a class the database knows nothing of is refused', async () => {
    await expect(query('SELECT $1::text', [new Map()])).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('Map'),
    });
  });
});

describe('a transaction', () => {
  it('keeps what it wrote when its work fulfils, and returns what the work returned', async () => {
    const result = await opened.database.transaction(async (tx) => {
      await tx.query({ text: "INSERT INTO counters VALUES ('kept', 1)", values: [] });
      return 'done';
    });
    expect(result).toBe('done');
    expect(await names()).toEqual(['kept']);
  });

  it('leaves nothing behind when its work rejects, and rejects with the same error', async () => {
    const failure = new Error('the work failed');
    const attempt = opened.database.transaction(async (tx) => {
      await tx.query({ text: "INSERT INTO counters VALUES ('gone', 1)", values: [] });
      throw failure;
    });
    await expect(attempt).rejects.toBe(failure);
    expect(await names()).toEqual([]);
  });

  it('can be followed by another one after a statement failed', async () => {
    await expect(query('SELECT nonsense')).rejects.toBeInstanceOf(SqlError);
    expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('rejects when the failure of a statement was caught, for the database has rolled back', async () => {
    const attempt = opened.database.transaction(async (tx) => {
      await tx.query({ text: "INSERT INTO counters VALUES ('gone', 1)", values: [] });
      await tx.query({ text: 'SELECT 1 / 0', values: [] }).catch(() => undefined);
    });
    await expect(attempt).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('rolled back'),
    });
    expect(await names()).toEqual([]);
  });

  it('goes on after a failure behind a savepoint', async () => {
    await opened.database.transaction(async (tx) => {
      await tx.query({ text: "INSERT INTO counters VALUES ('kept', 1)", values: [] });
      await tx.exec('SAVEPOINT attempt');
      await tx
        .query({ text: 'SELECT 1 / 0', values: [] })
        .catch(() => tx.exec('ROLLBACK TO SAVEPOINT attempt'));
    });
    expect(await names()).toEqual(['kept']);
  });

  it('sends statements that were started together in their order, and waits for those nobody waited for', async () => {
    await opened.database.transaction(async (tx) => {
      for (let i = 0; i < 20; i += 1) {
        void tx.query({
          text: "INSERT INTO counters VALUES ('order', $1) ON CONFLICT (name) DO UPDATE SET value = counters.value * 2 + excluded.value",
          values: [i % 2],
        });
      }
    });
    // Starts with 0; each further step doubles and adds i mod 2: 1, 2, 5, 10, 21, …: after 20 steps (4^10 - 1) / 3.
    expect(await query("SELECT value FROM counters WHERE name = 'order'")).toEqual([
      { value: (4 ** 10 - 1) / 3 },
    ]);
  });

  it('takes no statement once it is over', async () => {
    const leaked = await opened.database.transaction(async (tx) => tx);
    await expect(leaked.query({ text: 'SELECT 1', values: [] })).rejects.toMatchObject({ code: 'internal' });
    await expect(leaked.exec('SELECT 1')).rejects.toMatchObject({ code: 'internal' });
  });

  it('refuses another transaction inside its work instead of waiting for itself', async () => {
    const attempt = opened.database.transaction(() => query('SELECT 1'));
    await expect(attempt).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('inside'),
    });
    expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('leaves no role and no setting behind', async () => {
    await runScript(opened.database, 'DROP ROLE IF EXISTS test_guest; CREATE ROLE test_guest');
    const inside = await opened.database.transaction(async (tx) => {
      await tx.query({
        text: "SELECT set_config('palimpsest.user_id', 'alice', true), set_config('role', 'test_guest', true)",
        values: [],
      });
      return tx.query({
        text: "SELECT current_user::text AS role, current_setting('palimpsest.user_id', true) AS asker",
        values: [],
      });
    });
    expect(inside).toEqual([{ role: 'test_guest', asker: 'alice' }]);
    const [after] = await query(
      "SELECT current_user::text AS role, coalesce(current_setting('palimpsest.user_id', true), '') AS asker",
    );
    expect(after).toMatchObject({ asker: '' });
    expect(after?.role).not.toBe('test_guest');
    await runScript(opened.database, 'DROP ROLE test_guest');
  });

  it('does not lose updates of others that run at the same time', async () => {
    await query("INSERT INTO counters VALUES ('shared', 0)");
    await Promise.all(
      Array.from({ length: 50 }, () =>
        opened.database.transaction(async (tx) => {
          const [row] = await tx.query<{ value: number }>({
            text: "SELECT value FROM counters WHERE name = 'shared' FOR UPDATE",
            values: [],
          });
          await tx.query({
            text: "UPDATE counters SET value = $1 WHERE name = 'shared'",
            values: [(row?.value ?? Number.NaN) + 1],
          });
        }),
      ),
    );
    expect(await query("SELECT value FROM counters WHERE name = 'shared'")).toEqual([{ value: 50 }]);
  });
});

describe('a read-only snapshot', () => {
  it('refuses to write', async () => {
    const attempt = opened.database.transaction(
      (tx) => tx.query({ text: "INSERT INTO counters VALUES ('never', 1)", values: [] }),
      { readOnlySnapshot: true },
    );
    await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await names()).toEqual([]);
  });

  it('can be followed by a write at once', async () => {
    await opened.database.transaction((tx) => tx.query({ text: 'SELECT 1', values: [] }), {
      readOnlySnapshot: true,
    });
    await query("INSERT INTO counters VALUES ('kept', 1)");
    expect(await names()).toEqual(['kept']);
  });
});

describe('a statement', () => {
  it.each([[[]], [['value']]])('is one statement, with values %o', async (values) => {
    const text = values.length === 0 ? 'SELECT 1; SELECT 2' : 'SELECT $1::text; SELECT 2';
    // 42601 is a syntax error: "cannot insert multiple commands into a prepared statement".
    await expect(query(text, values)).rejects.toMatchObject({ code: '42601' });
  });

  it('gives no rows where there are none', async () => {
    expect(await query('SELECT 1 WHERE false')).toEqual([]);
    expect(await query('DELETE FROM counters')).toEqual([]);
  });
});

describe('a script', () => {
  it('holds any number of statements', async () => {
    await runScript(
      opened.database,
      "INSERT INTO counters VALUES ('a', 1); INSERT INTO counters VALUES ('b', 2); -- end",
    );
    expect(await names()).toEqual(['a', 'b']);
  });

  it('may hold nothing but a comment', async () => {
    await expect(runScript(opened.database, '-- nothing to do')).resolves.toBeUndefined();
  });

  it('is rolled back whole when its last statement fails', async () => {
    await expect(
      runScript(opened.database, "INSERT INTO counters VALUES ('a', 1); SELECT 1 / 0"),
    ).rejects.toMatchObject({ code: '22012' });
    expect(await names()).toEqual([]);
  });
});

describe('errors', () => {
  it('a unique violation keeps its SQLSTATE and its constraint', async () => {
    await query("INSERT INTO counters VALUES ('twice', 1)");
    const error = await query("INSERT INTO counters VALUES ('twice', 2)").catch((reason: unknown) => reason);
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'counters_name_key')).toBe(true);
    expect(isUniqueViolation(error, 'another_key')).toBe(false);
    expect(error).toMatchObject({ code: '23505', table: 'counters', schema: 'public' });
  });

  it.each<[what: string, text: string, values: unknown[], code: string]>([
    ['a NUL in text', 'SELECT $1::text', ['a\u0000b'], 'invalid_input'],
    ['a NUL in JSON', 'SELECT $1::jsonb', ['{"a": "\\u0000"}'], 'invalid_input'],
    ['a lone surrogate in JSON', 'SELECT $1::jsonb', ['{"a": "\\ud800"}'], 'invalid_input'],
    ['text that is no uuid', 'SELECT $1::uuid', ['x'], 'invalid_input'],
    ['a number out of range', 'SELECT $1::integer', [2 ** 31], 'invalid_input'],
    ['a time without a meaning', 'SELECT $1::timestamptz', ['2024-02-30'], 'invalid_input'],
  ])("%s is the input's fault", async (_what, text, values, code) => {
    await expect(query(text, values)).rejects.toMatchObject({ name: 'PalimpsestError', code });
  });

  it('row-level security is a refusal', async () => {
    await runScript(
      opened.database,
      `DROP ROLE IF EXISTS test_reader; CREATE ROLE test_reader; GRANT INSERT ON counters TO test_reader;
       ALTER TABLE counters ENABLE ROW LEVEL SECURITY`,
    );
    const attempt = opened.database.transaction(async (tx) => {
      await tx.exec('SET LOCAL ROLE test_reader');
      await tx.query({ text: "INSERT INTO counters VALUES ('foreign', 1)", values: [] });
    });
    await expect(attempt).rejects.toMatchObject({ name: 'PalimpsestError', code: 'forbidden' });
    await runScript(opened.database, 'DROP OWNED BY test_reader; DROP ROLE test_reader');
  });

  it("an error of ours keeps the database's as its cause", async () => {
    const error = await query('SELECT $1::uuid', ['x']).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ cause: { code: '22P02', message: expect.stringContaining('uuid') } });
  });

  it('an error can be logged: it holds no bound value and no row', async () => {
    const secret = 'the safe opens with 4711';
    const attempts: [text: string, values: string[]][] = [
      ['INSERT INTO counters VALUES ($1, 1)', [secret]],
      ['SELECT $1::uuid, $2::text', ['x', secret]],
    ];
    await query('INSERT INTO counters VALUES ($1, 1)', [secret]);
    for (const [text, values] of attempts) {
      const error = await query(text, values).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(inspect(error, { depth: 10 })).not.toContain(secret);
    }
  });
});
