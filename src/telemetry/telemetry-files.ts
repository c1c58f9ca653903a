import { open, lstat, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DiagnosisError } from '../errors/diagnosis-error';
import { globMatcher } from './file-glob';
import { contentOf } from './file-survey';

/** Name under which a folder can bring its own mapping. */
export const MAPPING_FILE = 'mapping.json';

const MAX_DEPTH = 8;
const MAX_FILES = 10_000;
const HEAD_BYTES = 256 * 1024;
/** Longest line in bytes; a longer one is a rejected row. */
export const MAX_LINE_BYTES = 1024 * 1024;

/** Why a folder is left out with all that is in it. */
export const TOO_DEEP = `it lies deeper than ${MAX_DEPTH} folders`;
/** Why a symbolic link is left out where there are files beside it. */
export const LINK = 'it is a symbolic link, and links are not followed';
/** Why a file that was listed and is gone is left out. */
export const VANISHED = 'it vanished while the folder was read';

/** Why a named pipe, a socket or a device is left out. */
export const NO_FILE = 'it is no regular file';

/** A regular file of the opened folder; `name` is relative to it, with `/`. */
export interface TelemetryFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
}

/** What was opened: a folder, perhaps with a mapping file, or one telemetry file. */
export interface TelemetryPlace {
  readonly root: string;
  readonly mapping: TelemetryFile | null;
  readonly only: TelemetryFile | null;
  /** Whether a file was given, and not a folder. */
  readonly isNamed: boolean;
}

function missing(given: string): DiagnosisError {
  return new DiagnosisError(
    'TELEMETRY_MISSING',
    `There is no telemetry at ${given}: name an existing folder of log files or a mapping file (setting DIAGNOSIS_TELEMETRY, option telemetry.path).`,
  );
}

/** Telemetry that stands there and cannot be read; `detail.reason` says why in the words of the message. */
export function unreadable(what: string, reason: string): DiagnosisError {
  return new DiagnosisError('TELEMETRY_UNREADABLE', `Telemetry at ${what} cannot be read: ${reason}.`, { reason });
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'UNKNOWN';
}

function fileFailure(error: unknown, given: string): DiagnosisError {
  if (DiagnosisError.is(error)) return error;
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return missing(given);
  if (code === 'EACCES' || code === 'EPERM')
    return unreadable(given, 'permission denied; let the process read the folder and its files');
  return unreadable(given, `the system answers ${code}; give a folder of regular files`);
}

async function regularFile(path: string, name: string): Promise<TelemetryFile> {
  const stat = await lstat(path);
  if (stat.isSymbolicLink())
    throw unreadable(name, 'it is a symbolic link, and links are not followed; give the real file or folder');
  if (!stat.isFile()) throw unreadable(name, NO_FILE);
  return { name, path, size: stat.size, mtime: stat.mtimeMs };
}

/** Looks at the path as given. A `.json` file is a mapping; another file is telemetry by itself; a folder may hold a mapping. */
export async function openPlace(given: string): Promise<TelemetryPlace> {
  const path = resolve(given);
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink())
      throw unreadable(given, 'it is a symbolic link, and links are not followed; give the real file or folder');
    if (stat.isFile()) {
      if (path.endsWith('.json'))
        return { root: dirname(path), mapping: await regularFile(path, basename(path)), only: null, isNamed: true };
      return { root: dirname(path), mapping: null, only: await regularFile(path, basename(path)), isNamed: true };
    }
    if (!stat.isDirectory()) throw unreadable(given, 'it is neither a folder nor a regular file');
    const own = join(path, MAPPING_FILE);
    // An empty one is what a shell leaves that writes the output of `inspect` there.
    const hasOwn = await lstat(own).then(
      (stat) => stat.size > 0,
      (error: unknown) => {
        if (codeOf(error) === 'ENOENT') return false;
        throw error;
      },
    );
    return { root: path, mapping: hasOwn ? await regularFile(own, MAPPING_FILE) : null, only: null, isNamed: false };
  } catch (error) {
    throw fileFailure(error, given);
  }
}

/** Everything under a folder: regular files, and the names of folders, of symbolic links, which are never followed, and of the rest. */
export interface FolderListing {
  readonly files: readonly TelemetryFile[];
  readonly folders: readonly string[];
  readonly links: readonly string[];
  /** Named pipes, sockets and devices, which are never opened. */
  readonly others: readonly string[];
  /** Entries that are passed over for another reason: folders that lie too deep, names that are no UTF-8, files that vanished. */
  readonly passed: readonly { readonly name: string; readonly reason: string }[];
}

/** Lists a folder in name order, hidden names left out. It refuses more than 10,000 files. */
export async function listFolder(root: string, given: string): Promise<FolderListing> {
  const found = {
    files: [] as TelemetryFile[],
    folders: [] as string[],
    links: [] as string[],
    others: [] as string[],
    passed: [] as { name: string; reason: string }[],
  };
  const walk = async (relative: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, relative), { withFileTypes: true });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const name = relative === '' ? entry.name : `${relative}/${entry.name}`;
      // What is no UTF-8 was decoded to this, and nothing can be opened by it.
      if (entry.name.includes('\uFFFD')) found.passed.push({ name, reason: 'its name is no UTF-8' });
      else if (entry.isSymbolicLink()) found.links.push(name);
      else if (entry.isDirectory()) {
        found.folders.push(name);
        if (depth < MAX_DEPTH) await walk(name, depth + 1);
        else found.passed.push({ name, reason: TOO_DEEP });
      } else if (entry.isFile()) {
        const file = await regularFile(join(root, name), name).catch((error: unknown) => {
          if (codeOf(error) === 'ENOENT') return null;
          throw error;
        });
        if (file === null) found.passed.push({ name, reason: VANISHED });
        else found.files.push(file);
        if (found.files.length > MAX_FILES)
          throw unreadable(given, `it holds more than ${MAX_FILES} files; give a smaller folder or a mapping file`);
      } else found.others.push(name);
    }
  };
  try {
    await walk('', 0);
  } catch (error) {
    throw fileFailure(error, given);
  }
  return found;
}

/**
 * The files that a mapping's patterns name (`*`, `?`, and `**` followed by a slash). It refuses a pattern that names a folder
 * or a symbolic link, or that names nothing.
 */
export function matchFiles(patterns: readonly string[], listing: FolderListing): TelemetryFile[] {
  const matched = new Map<string, TelemetryFile>();
  for (const glob of patterns) {
    const fits = globMatcher(glob);
    const isUnderLink = (link: string): boolean => glob.startsWith(`${link}/`);
    const link = listing.links.find((name) => fits(name) || isUnderLink(name));
    if (link !== undefined)
      throw unreadable(link, 'it is a symbolic link, and links are not followed; give the real file or folder');
    const files = listing.files.filter((file) => file.name !== MAPPING_FILE && fits(file.name));
    const folder = listing.folders.find((name) => fits(name));
    if (folder !== undefined && files.length === 0) throw unreadable(folder, 'it is a folder where the mapping names a file');
    const other = listing.others.find((name) => fits(name));
    if (other !== undefined && files.length === 0) throw unreadable(other, NO_FILE);
    if (files.length === 0) {
      throw new DiagnosisError(
        'TELEMETRY_MISSING',
        `No file matches ${glob}, which the mapping names: files are relative to the mapping's folder.`,
      );
    }
    for (const file of files) matched.set(file.name, file);
  }
  return [...matched.values()];
}

/** The first bytes of a file, unpacked when gzipped, and whether it goes on behind them. Packed data may end too early. */
async function firstBytes(file: TelemetryFile, limit: number): Promise<{ bytes: Buffer; goesOn: boolean }> {
  if (!file.name.endsWith('.gz')) {
    const handle = await open(file.path, 'r');
    try {
      const length = Math.min(limit, file.size);
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, 0);
      return { bytes: buffer.subarray(0, bytesRead), goesOn: file.size > bytesRead };
    } finally {
      await handle.close();
    }
  }
  const pieces: Buffer[] = [];
  let size = 0;
  const content = contentOf(file.path);
  try {
    for await (const piece of content) {
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size > limit) break;
    }
  } catch (error) {
    if (codeOf(error) !== 'Z_BUF_ERROR') throw error;
    return { bytes: Buffer.concat(pieces).subarray(0, limit), goesOn: true };
  } finally {
    content.destroy();
  }
  return { bytes: Buffer.concat(pieces).subarray(0, limit), goesOn: size > limit };
}

/** The first lines of a file as text, unpacked when gzipped; the last line is left out when the file goes on. */
export async function readHead(file: TelemetryFile): Promise<string[]> {
  try {
    for (const limit of [HEAD_BYTES, 2 * MAX_LINE_BYTES]) {
      const { bytes, goesOn } = await firstBytes(file, limit);
      const lines = bytes
        .toString('utf8')
        .replace(/^\uFEFF/, '')
        .split(/\r?\n/);
      // A header and a record at least, where lines of the allowed length have them.
      if (goesOn && lines.length < 3 && limit === HEAD_BYTES) continue;
      if (goesOn && lines.length > 1) lines.pop();
      return lines;
    }
    return [];
  } catch (error) {
    throw /^Z_/.test(codeOf(error)) ? unreadable(file.name, 'it ends in .gz and is no gzip file') : fileFailure(error, file.name);
  }
}

/** A mapping file that was named by itself. */
export async function givenMapping(given: string): Promise<TelemetryFile> {
  const path = resolve(given);
  return regularFile(path, basename(path)).catch((error: unknown) => {
    throw fileFailure(error, given);
  });
}

/** Text of a mapping file. */
export async function readMappingFile(file: TelemetryFile): Promise<string> {
  return readFile(file.path, 'utf8').catch((error: unknown) => {
    throw fileFailure(error, file.name);
  });
}
