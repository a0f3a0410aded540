/**
 * `npm run bench -- <name> …`: measures and writes bench/results/<name>.json. Without a name it lists them.
 * With PostgreSQL: `npm run postgres -- run -- npm run bench -- <name>`.
 */
const BENCHMARKS: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  backup: () => import('./backup.ts'),
  context: () => import('./context.ts'),
  embedding: () => import('./embedding.ts'),
  import: () => import('./import.ts'),
  'import-memory': () => import('./import-memory.ts'),
  'mcp-start': () => import('./mcp-start.ts'),
  load: () => import('./load.ts'),
  recall: () => import('./recall.ts'),
  'outage-drill': () => import('./outage-drill.ts'),
  'reembed-drill': () => import('./reembed-drill.ts'),
  'policy-overhead': () => import('./policy-overhead.ts'),
  'trace-overhead': () => import('./trace-overhead.ts'),
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (names.length === 0 || unknown.length > 0) {
  console.error(`Benchmarks: ${Object.keys(BENCHMARKS).join(', ')}.`);
  process.exit(unknown.length > 0 ? 2 : 0);
}
for (const name of names) {
  const benchmark = await BENCHMARKS[name]?.();
  await benchmark?.run();
}
