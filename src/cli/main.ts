#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import type { CliParts } from './cli-parts.ts';
import { runCli } from './run-cli.ts';
import { textOutput } from './text-output.ts';

/** Shells tell a process that was stopped by a signal by this and the signal's number. */
const SIGNAL_EXIT_BASE = 128;
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}

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
  version: version(),
  stdin: process.stdin,
  stdout: textOutput(process.stdout),
  stderr: textOutput(process.stderr),
  // Loaded when a command needs a store: --help answers in a tenth of the time.
  openMemory: async (config) => (await import('../app.ts')).openMemory(config),
  serve: async (config) => (await import('../app.ts')).serve(config),
  stopSignal,
};

process.exitCode = await runCli(process.argv.slice(2), parts);
