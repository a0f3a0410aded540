import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { inspect, type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import type { CliParts, TextOutput } from '../../src/cli/cli-parts.ts';
import { buildProgram } from '../../src/cli/program.ts';
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
  /** The same stopped as by Ctrl+C, with a standard input that does not end. */
  runStopped(input: string, ...argv: string[]): Promise<CliRun>;
  close(): Promise<void>;
}

/** @param on - An opened store. Default: a new one in memory. */
export async function openTestCli(on?: OpenedMemoryService): Promise<TestCli> {
  const opened =
    on ?? (await openMemoryService({ location: { inMemory: true }, embedding: createHashingProvider() }));
  const runOn = async (stdin: Readable, stopSignal: Promise<void>, argv: string[]): Promise<CliRun> => {
    const stdout = collected();
    const stderr = collected();
    const parts: CliParts = {
      version: '1.2.3',
      stdin,
      stdout: stdout.output,
      stderr: stderr.output,
      openMemory: async (_config: Config) => ({ ...opened, close: async () => {} }),
      inspect,
      serve: notUnderTest,
      serveMcp: notUnderTest,
      backup: { create: notUnderTest, verify: notUnderTest, restore: notUnderTest },
      stopSignal: () => stopSignal,
    };
    const code = await runCli(argv, parts);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  const never = new Promise<void>(() => undefined);
  const runWith = (input: string, ...argv: string[]) =>
    runOn(Readable.from([Buffer.from(input)]), never, argv);
  return {
    runWith,
    run: (...argv) => runWith('', ...argv),
    runStopped: (input, ...argv) => {
      async function* endless(): AsyncGenerator<Buffer> {
        yield Buffer.from(input);
        await never;
      }
      return runOn(Readable.from(endless()), Promise.resolve(), argv);
    },
    close: () => opened.close(),
  };
}

/** The command line as it is parsed, which does nothing. */
export function inertProgram(): Command {
  const program = buildProgram({
    version: '1.2.3',
    stdin: Readable.from([]),
    stdout: collected().output,
    stderr: collected().output,
    openMemory: notUnderTest,
    inspect: notUnderTest,
    serve: notUnderTest,
    serveMcp: notUnderTest,
    backup: { create: notUnderTest, verify: notUnderTest, restore: notUnderTest },
    stopSignal: notUnderTest,
  });
  for (const command of commandsOf(program)) command.action(() => undefined);
  return program;
}

/** Every command that does something by itself. */
export function commandsOf(program: Command): Command[] {
  return program.commands.flatMap((command) => [
    ...(command.commands.length === 0 || command.options.length > 0 ? [command] : []),
    ...commandsOf(command),
  ]);
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
