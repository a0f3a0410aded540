import { Readable, Writable } from 'node:stream';
import { inspect, type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import type { CliParts, TextOutput } from '../../src/cli/cli-parts.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Config } from '../../src/config/config.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line in this process, on one store. */
export interface TestCli {
  run(...argv: string[]): Promise<CliRun>;
  /** The same with something on standard input. */
  runWith(input: string, ...argv: string[]): Promise<CliRun>;
  close(): Promise<void>;
}

/** @param on - An opened store. Default: a new one in memory. */
export async function openTestCli(on?: OpenedMemoryService): Promise<TestCli> {
  const opened =
    on ?? (await openMemoryService({ location: { inMemory: true }, embedding: createHashingProvider() }));
  const runWith = async (input: string, ...argv: string[]): Promise<CliRun> => {
    const stdout = collected();
    const stderr = collected();
    const parts: CliParts = {
      version: '1.2.3',
      stdin: Readable.from([Buffer.from(input)]),
      stdout: stdout.output,
      stderr: stderr.output,
      openMemory: async (_config: Config) => ({ ...opened, close: async () => {} }),
      inspect,
      serve: notUnderTest,
      serveMcp: notUnderTest,
      backup: { create: notUnderTest, verify: notUnderTest, restore: notUnderTest },
      // Nobody stops a command under test.
      stopSignal: () => new Promise(() => undefined),
    };
    const code = await runCli(argv, parts);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  return { runWith, run: (...argv) => runWith('', ...argv), close: () => opened.close() };
}

function notUnderTest(): Promise<never> {
  return Promise.reject(new Error('not under test'));
}

function collected(): { output: TextOutput; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const write = (text: string) => new Promise<void>((resolve) => stream.write(text, () => resolve()));
  return { output: { stream, write, isTerminal: false, columns: 100 }, text: () => chunks.join('') };
}
