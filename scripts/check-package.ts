/**
 * Checks what users will get: packs the package, installs it into an empty folder, imports everything it
 * exports there, compiles against its types, runs its command, and compiles and runs every example.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listExamples } from './examples.ts';

const ROOT = join(import.meta.dirname, '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

/** Subpaths that need a package users bring themselves: checked after it has been installed, the others without. */
const NEEDED_PEERS: Readonly<Record<string, readonly string[]>> = {
  './ai-sdk': ['ai'],
  './langgraph': ['@langchain/langgraph-checkpoint'],
  './mastra': ['@mastra/core'],
  './openai-agents': ['@openai/agents-core'],
};

interface Manifest {
  name: string;
  version: string;
  bin: Record<string, string>;
  exports: Record<string, unknown>;
  devDependencies: Record<string, string>;
}

interface Lockfile {
  packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
}

function run(command: string, args: string[], cwd: string): string {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed (${status}):\n${stdout}${stderr}`);
  return stdout;
}

/** npm refuses install scripts more and more, and a user should not have to allow ours. */
function checkInstallScripts(): void {
  const { packages } = readJson<Lockfile>('package-lock.json');
  const offenders = Object.entries(packages)
    .filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev)
    .map(([path]) => path);
  if (offenders.length > 0)
    throw new Error(`Runtime dependencies with install scripts: ${offenders.join(', ')}`);
}

function installPacked(folder: string): void {
  run(process.execPath, [join(ROOT, 'scripts', 'build.ts')], ROOT);
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], ROOT);
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(packed);
  console.log(`Packed ${entryCount} files, ${kilobytes(size)} (${kilobytes(unpackedSize)} unpacked).`);

  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, filename)], folder);
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} kB`;
}

/** The names a subpath exports at run time, asked of Node in the folder of the installed package. */
function exportedNames(specifier: string, folder: string): string[] {
  const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(specifier)}))))`;
  return JSON.parse(run(process.execPath, ['--input-type=module', '--eval', script], folder));
}

const USER_OPTIONS = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];

/** A user's file that imports every name; it compiles only if each is in the type declarations. */
function checkTypes(namesBySpecifier: Map<string, string[]>, folder: string): void {
  const lines = [...namesBySpecifier].map(([specifier, names], index) => {
    const bindings = names.map((name) => `${name} as ${name}_${index}`);
    const uses = names.map((name) => `${name}_${index}`);
    return `import { ${bindings.join(', ')} } from '${specifier}';\nexport const used${index} = [${uses.join(', ')}];`;
  });
  writeFileSync(join(folder, 'user.ts'), lines.join('\n'));
  run(process.execPath, [TSC, ...USER_OPTIONS, 'user.ts'], folder);
}

function checkExports({ name }: Manifest, subpaths: readonly string[], folder: string): void {
  const specifiers = subpaths.map((subpath) => `${name}${subpath.slice(1)}`);
  const namesBySpecifier = new Map(
    specifiers.map((specifier) => [specifier, exportedNames(specifier, folder)]),
  );
  for (const [specifier, names] of namesBySpecifier) {
    if (names.length === 0) throw new Error(`${specifier} exports nothing.`);
    console.log(`${specifier}: ${names.join(', ')}`);
  }
  checkTypes(namesBySpecifier, folder);
}

/** Installs the peers an adapter needs, at the versions it is tested with. */
function installPeers({ devDependencies }: Manifest, subpaths: readonly string[], folder: string): void {
  const peers = subpaths.flatMap((subpath) => NEEDED_PEERS[subpath] ?? []);
  install(Object.fromEntries(peers.map((peer) => [peer, devDependencies[peer] ?? ''])), folder);
}

function install(versions: Readonly<Record<string, string>>, folder: string): void {
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  if (packages.length > 0)
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], folder);
}

/** Each example as its user would run it, next to the installed package. */
function checkExamples({ name, devDependencies }: Manifest, folder: string): void {
  const examples = listExamples(name);
  const types = { '@types/node': devDependencies['@types/node'] };
  install(Object.assign(types, ...examples.map(({ dependencies }) => dependencies)), folder);
  for (const example of examples) {
    cpSync(example.folder, join(folder, 'examples', example.name), { recursive: true });
  }
  run(
    process.execPath,
    [
      TSC,
      ...USER_OPTIONS,
      '--types',
      'node',
      '--allowImportingTsExtensions',
      ...examples.map((example) => join('examples', example.name, 'main.ts')),
    ],
    folder,
  );
  for (const example of examples) {
    console.log(`\nexamples/${example.name}:`);
    console.log(run(process.execPath, ['main.ts'], join(folder, 'examples', example.name)).trimEnd());
  }
}

function checkCommand({ bin, version }: Manifest, folder: string): void {
  for (const command of Object.keys(bin)) {
    const told = run('npx', ['--no-install', command, '--version'], folder).trim();
    if (told !== version) throw new Error(`${command} --version says ${told}, package.json says ${version}.`);
    if (!run('npx', ['--no-install', command, '--help'], folder).includes(command)) {
      throw new Error(`${command} --help does not name the command.`);
    }
    console.log(`${command} --version: ${told}`);
  }
}

/** Packages that are optional are named where they are missing, before anything is opened. */
function checkOptionalPackages({ bin }: Manifest, folder: string): void {
  const [command = ''] = Object.keys(bin);
  const args = ['--no-install', command, 'serve', '--port', '0', '--data-dir', join(folder, 'data')];
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const { status, stderr } = spawnSync('npx', args, { cwd: folder, encoding: 'utf8', env, timeout: 60_000 });
  if (status === 0 || !stderr.includes('npm install @opentelemetry/sdk-trace-node')) {
    throw new Error(`A server without the OpenTelemetry SDK ended with ${status} and said: ${stderr}`);
  }
  console.log(stderr.trim());
}

const manifest = readJson<Manifest>('package.json');
const folder = mkdtempSync(join(tmpdir(), 'palimpsest-package-'));
try {
  checkInstallScripts();
  installPacked(folder);
  const modules = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
  const adapters = modules.filter((subpath) => Object.hasOwn(NEEDED_PEERS, subpath));
  checkExports(
    manifest,
    modules.filter((subpath) => !adapters.includes(subpath)),
    folder,
  );
  checkCommand(manifest, folder);
  checkOptionalPackages(manifest, folder);
  installPeers(manifest, adapters, folder);
  checkExports(manifest, adapters, folder);
  checkExamples(manifest, folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
