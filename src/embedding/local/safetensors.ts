import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isRecord } from '../remote/wire-vectors.ts';
import { folderError } from './model-folder.ts';

const LENGTH_BYTES = 8;
/** What the format allows for its header. */
const MAX_HEADER_BYTES = 100 * 1024 * 1024;

/**
 * Checks that a safetensors file is whole: eight bytes with the header's length, the header as JSON, and as many
 * bytes after it as the last tensor needs. Read by a model's engine, a file cut short ends the thread without a
 * word of what is wrong.
 *
 * Format: the safetensors README, section "Format".
 *
 * @throws PalimpsestError `invalid_config` for a file that is cut short, or is none
 */
export function checkSafetensors(path: string): void {
  const { size } = statSync(path);
  const headerBytes = Number(readBytes(path, 0, LENGTH_BYTES)?.readBigUInt64LE() ?? -1n);
  const isPossible = headerBytes > 0 && headerBytes <= MAX_HEADER_BYTES;
  const header = isPossible ? readBytes(path, LENGTH_BYTES, headerBytes) : null;
  const end = header === null ? null : endOfData(header.toString('utf8'));
  if (end === null) throw brokenFile(path, size, 'a safetensors file');
  const wanted = LENGTH_BYTES + headerBytes + end;
  if (size < wanted) throw brokenFile(path, size, `${wanted} bytes, as its header says`);
}

function readBytes(path: string, position: number, length: number): Buffer | null {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    return readSync(file, buffer, 0, length, position) === length ? buffer : null;
  } finally {
    closeSync(file);
  }
}

/** Bytes after the header that the tensors take, or null for what is no header. */
function endOfData(header: string): number | null {
  let tensors: unknown;
  try {
    tensors = JSON.parse(header);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isRecord(tensors)) return null;
  const ends = Object.values(tensors).map((tensor) => {
    const offsets = isRecord(tensor) ? tensor.data_offsets : undefined;
    return Array.isArray(offsets) && typeof offsets[1] === 'number' ? offsets[1] : 0;
  });
  const end = ends.reduce((furthest, tensorEnd) => Math.max(furthest, tensorEnd), 0);
  return end === 0 ? null : end;
}

function brokenFile(path: string, size: number, allowed: string) {
  return folderError(
    `The weights in ${path} are cut short or broken: ${size} bytes, expected ${allowed}. Copy the file again.`,
    `${size} bytes`,
    allowed,
  );
}
