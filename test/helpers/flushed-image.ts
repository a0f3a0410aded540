import { copyFileSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/**
 * What a power cut would leave of a directory: each file as it was when it was last flushed, under the names its
 * folder had then. Told of every flush; needs /proc to find the file behind a descriptor.
 *
 * A file that was flushed keeps the name it had (as ext4, xfs and APFS do, and as Postgres counts on); a
 * rename or a removal counts once the folder was flushed.
 */
export class FlushedImage {
  private readonly root: string;
  /** Copies of flushed contents, each named by its file's inode. */
  private readonly contents = mkdtempSync(join(tmpdir(), 'palimpsest-flushed-'));
  /** Folder → name → inode. */
  private readonly folders = new Map<string, Map<string, number>>();

  /** Everything that is there now counts as flushed. */
  constructor(root: string) {
    this.root = root;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) this.names(path);
      else this.flushFile(path);
    }
  }

  /** Notes that the descriptor was flushed. */
  flushed(descriptor: number): void {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`);
    if (relative(this.root, path).startsWith('..') || path.endsWith(' (deleted)')) return;
    if (lstatSync(path).isDirectory()) this.flushFolder(path);
    else this.flushFile(path);
  }

  /** Writes what would be left into a new directory. */
  writeTo(target: string): void {
    mkdirSync(target, { recursive: true });
    for (const [folder, names] of this.folders) {
      const place = join(target, relative(this.root, folder));
      mkdirSync(place, { recursive: true, mode: 0o700 });
      for (const [name, inode] of names) copyFileSync(join(this.contents, String(inode)), join(place, name));
    }
  }

  remove(): void {
    rmSync(this.contents, { recursive: true, force: true });
  }

  private flushFile(path: string): void {
    const { ino } = lstatSync(path);
    copyFileSync(path, join(this.contents, String(ino)));
    this.names(dirname(path)).set(path.slice(dirname(path).length + 1), ino);
  }

  private flushFolder(path: string): void {
    const known = new Set([...this.folders.values()].flatMap((names) => [...names.values()]));
    const names = this.names(path);
    names.clear();
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) this.names(inner);
      // A file whose content was never flushed would be empty; Postgres must not count on it, so leave it out.
      else if (known.has(lstatSync(inner).ino)) names.set(entry.name, lstatSync(inner).ino);
    }
  }

  private names(folder: string): Map<string, number> {
    const names = this.folders.get(folder) ?? new Map<string, number>();
    this.folders.set(folder, names);
    return names;
  }
}
