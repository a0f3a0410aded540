import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

/** A time in milliseconds below which half, or 95 %, of the runs stay. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export function percentiles(samples: readonly number[]): Percentiles {
  return { p50: percentile(samples, 0.5), p95: percentile(samples, 0.95) };
}

/** The sample below which this share, 0..1, of the samples stays. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** Times of calls, one after another, after a few that warm up. */
export async function timeEach<Input>(
  inputs: readonly Input[],
  call: (input: Input) => Promise<unknown>,
  warmUp = 5,
): Promise<number[]> {
  for (const input of inputs.slice(0, warmUp)) await call(input);
  const samples: number[] = [];
  for (const input of inputs) {
    const start = performance.now();
    await call(input);
    samples.push(performance.now() - start);
  }
  return samples;
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** Keeps a result with what is needed to read it: the command, the commit and the machine. */
export function writeResult(name: string, result: object): void {
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const document = {
    command: `npm run bench -- ${name}`,
    commit: commit(),
    machine: { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length },
    ...result,
  };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(document, null, 2)}\n`);
  console.log(JSON.stringify(document, null, 2));
}

/** What an earlier run has kept, or null. */
export function readResult(name: string): Readonly<Record<string, unknown>> | null {
  const file = join(import.meta.dirname, 'results', `${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

export function commit(): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
}
