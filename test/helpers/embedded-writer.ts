/**
 * A process that uses a data directory, for tests to watch and to kill:
 *
 *     node test/helpers/embedded-writer.ts <data directory> <migrations> <template> hold|write
 *
 * Prints one JSON value a line: `"open"`, then with `write` the number of each acknowledged row, or the error
 * that kept it from opening. Ends when its standard input does.
 */
import { openPglite } from '../../src/store/pglite.ts';

const [dataDir, migrationsDirectory, template, mode] = process.argv.slice(2);

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function main(): Promise<void> {
  const database = await openPglite({ dataDir, migrationsDirectory, template });
  print('open');
  let isDone = false;
  process.stdin.on('end', () => {
    isDone = true;
  });
  process.stdin.resume();
  while (!isDone) {
    if (mode === 'write') {
      const [row] = await database.transaction((tx) =>
        tx.query({
          text: "INSERT INTO app.notes (body) VALUES (repeat('x', 2000)) RETURNING id",
          values: [],
        }),
      );
      print(row?.id);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await database.close();
}

try {
  await main();
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  print({ code, message });
  process.exitCode = 1;
}
