import { closeSync, fdatasyncSync, fsyncSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type InitOptions = Parameters<NodeFS['init']>[1];

/** The parts of Emscripten's file system we touch. Its own types leave them open. */
interface EmscriptenFs {
  readonly filesystems: {
    readonly NODEFS: { readonly stream_ops: { fsync?: (stream: NodeStream) => void } };
  };
  readonly streams: readonly (NodeStream | null | undefined)[];
  readonly ErrnoError: new (errno: number) => Error;
  isDir(mode: number): boolean;
}

interface NodeStream {
  readonly node: { readonly mode: number };
  /** Node's file descriptor; absent for streams that are no files of the host. */
  readonly nfd?: number;
}

/** EIO in WASI's numbering. Postgres answers it by stopping, as it must: a page may be lost. */
const IO_ERROR = 29;

/**
 * PGlite's file system on a folder of the host, with an fsync that does something: Emscripten's own NODEFS has
 * none, so Postgres is told "done" while the data is in the kernel's cache, and a power cut loses it. A killed
 * process loses nothing either way. docs/decisions/embedded-database.md has the measurements.
 */
export class FlushingNodeFs extends NodeFS {
  private readonly flushes: boolean;
  private emscripten: EmscriptenFs | undefined;

  /** With `flushes` false an fsync does nothing, as in PGlite itself. */
  constructor(directory: string, flushes: boolean) {
    super(directory);
    this.flushes = flushes;
  }

  override async init(...[pglite, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pglite, options);
    const preRun: NonNullable<InitOptions['preRun']> = [
      ...(emscriptenOpts.preRun ?? []),
      (module) => this.attach(module.FS as unknown as EmscriptenFs),
    ];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }

  /** Closes the files of an engine that can no longer be asked to. */
  closeFiles(): void {
    for (const stream of this.emscripten?.streams ?? []) {
      if (stream?.nfd !== undefined) closeSync(stream.nfd);
    }
    this.emscripten = undefined;
  }

  private attach(emscripten: EmscriptenFs): void {
    this.emscripten = emscripten;
    if (this.flushes) emscripten.filesystems.NODEFS.stream_ops.fsync = (stream) => flush(emscripten, stream);
  }
}

function flush(emscripten: EmscriptenFs, { node, nfd }: NodeStream): void {
  if (nfd === undefined) return;
  try {
    if (!emscripten.isDir(node.mode)) fdatasyncSync(nfd);
    // Windows keeps folders consistent by itself and refuses to flush one.
    else if (process.platform !== 'win32') fsyncSync(nfd);
  } catch {
    // Postgres understands error numbers only; it logs the file and gives up its transaction.
    throw new emscripten.ErrnoError(IO_ERROR);
  }
}
