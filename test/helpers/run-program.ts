import { execFile } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

export interface ProgramRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program as a user starts it, in a process of its own, to its end. */
export function runProgram(
  argv: readonly string[],
  environment: Record<string, string> = {},
): Promise<ProgramRun> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...environment } };
    const child = execFile(process.execPath, [MAIN, ...argv], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
