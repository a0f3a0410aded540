#!/usr/bin/env node
import { packageVersion } from '../config/package-version.ts';
import type { CliParts } from './cli-parts.ts';
import { runCli } from './run-cli.ts';
import { takeStdout } from './take-stdout.ts';
import { textOutput } from './text-output.ts';

/** Shells tell a process that was stopped by a signal by this and the signal's number. */
const SIGNAL_EXIT_BASE = 128;
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const [signal, number] of Object.entries(SIGNALS)) {
      process.on(signal, () => {
        if (isStopping) process.exit(SIGNAL_EXIT_BASE + number);
        isStopping = true;
        resolve();
      });
    }
  });
}

const parts: CliParts = {
  version: packageVersion(),
  stdin: process.stdin,
  stdout: textOutput(process.stdout),
  stderr: textOutput(process.stderr),
  // Loaded when a command needs a store: --help answers in a tenth of the time.
  openMemory: async (config) => (await import('../app.ts')).openMemory(config),
  inspect: async (config) => (await import('../app.ts')).inspect(config),
  serve: async (config) => (await import('../app-serve.ts')).serve(config),
  serveMcp: async (config, subject) => {
    const stdout = takeStdout();
    const { serveMcp } = await import('../app-mcp.ts');
    await serveMcp(config, { subject, stdin: process.stdin, stdout, stop: stopSignal() });
  },
  backup: {
    create: async (...args) => (await import('../app-backup.ts')).createBackup(...args),
    verify: async (...args) => (await import('../app-backup.ts')).verifyBackup(...args),
    restore: async (...args) => (await import('../app-backup.ts')).restoreBackup(...args),
  },
  stopSignal,
};

process.exitCode = await runCli(process.argv.slice(2), parts);
