import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

/** The head of an archive, as JSON before its first line break; the stored bytes of the files follow in this order. */
interface Contents {
  directories: string[];
  files: { path: string; size: number; storedSize: number }[];
}

const lineBreak = '\n'.charCodeAt(0);

/** Packs the directory into one compressed file. Zeros at the end of a file, most of a write-ahead log, are not stored. */
export function packDirectory(directory: string, archive: string): void {
  const contents: Contents = { directories: [], files: [] };
  const stored: Buffer[] = [];
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name).slice(directory.length + 1);
    if (entry.isDirectory()) {
      contents.directories.push(path);
      continue;
    }
    const bytes = readFileSync(join(directory, path));
    const kept = withoutTrailingZeros(bytes);
    contents.files.push({ path, size: bytes.length, storedSize: kept.length });
    stored.push(kept);
  }
  mkdirSync(dirname(archive), { recursive: true });
  const plain = Buffer.concat([Buffer.from(`${JSON.stringify(contents)}\n`), ...stored]);
  writeFileSync(`${archive}.${process.pid}`, brotliCompressSync(plain));
  renameSync(`${archive}.${process.pid}`, archive);
}

function withoutTrailingZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}

/** Makes the directory of an archive, under its name only when it is whole. The caller holds the lock of the directory. */
export function unpackDirectory(archive: string, directory: string): void {
  const draft = `${directory}.new`;
  // Left by a process that was killed here.
  rmSync(draft, { recursive: true, force: true });
  try {
    unpack(brotliDecompressSync(readFileSync(archive)), draft);
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`${archive} cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function unpack(plain: Buffer, target: string): void {
  const end = plain.indexOf(lineBreak);
  const { directories, files } = JSON.parse(plain.toString('utf8', 0, end)) as Contents;
  mkdirSync(target, { mode: 0o700 });
  for (const path of directories) mkdirSync(join(target, path), { mode: 0o700 });
  let at = end + 1;
  for (const { path, size, storedSize } of files) {
    const file = openSync(join(target, path), 'wx', 0o600);
    writeFileSync(file, plain.subarray(at, at + storedSize));
    ftruncateSync(file, size);
    closeSync(file);
    at += storedSize;
  }
}
