// The tool `read_file`: the exact text of a file, or of some of its lines.
import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { clipText } from '../programs/head-tail';
import { MAX_TEXT_BYTES, fileError, onHost, openRegular, pathText, wholeNumber } from './host-files';
import { hostOf, type Tool } from '../tool';

/** How much of a long text a model sees; scripts get all of it. */
const SHOWN_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MAX_LINES = 1_000_000_000;

const argsSchema = z.strictObject({
  file_path: pathText('Path of the file, absolute or relative to the working folder.'),
  offset: z.optional(wholeNumber(1, MAX_LINES, 'First line to read, counted from 1. Default: the first.')),
  limit: z.optional(wholeNumber(1, MAX_LINES, 'Most lines to read. Default: all to the end.')),
});

export const readFileTool: Tool<z.infer<typeof argsSchema>, string> = {
  name: 'read_file',
  description:
    'Reads a text file (UTF-8) and returns its exact text, without line numbers. "offset" and "limit" select ' +
    'lines of a long file. Files and parts above 10 MiB, folders, devices and binary files are refused.',
  args: argsSchema,
  effects: 'read_only',
  runsOn: 'host',
  usesFiles: true,
  async run({ file_path: path, offset = 1, limit = Infinity }, context) {
    const full = onHost(hostOf(context), path);
    const { file, stats } = await openRegular(full);
    try {
      if (offset === 1 && limit === Infinity && stats.size > MAX_TEXT_BYTES) throw tooLarge(path, stats.size);
      const data = await readLines(file, { path, offset, limit, signal: context.signal });
      refuseBinary(data, path);
      return data.toString('utf8');
    } catch (err) {
      throw fileError(err, 'read', path);
    } finally {
      await file.close();
    }
  },
  text: (content) => clipText(content, SHOWN_BYTES, '; read them with offset and limit'),
};

interface Lines {
  path: string;
  offset: number;
  limit: number;
  signal: AbortSignal;
}

/** The bytes of the lines. Throws `invalid_input` if the file has fewer lines, or they are too many bytes. */
async function readLines(file: FileHandle, { path, offset, limit, signal }: Lines): Promise<Buffer> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let isAtStart = true;
  const end = offset + limit;
  while (line < end) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    const data = buffer.subarray(0, bytesRead);
    let from = line >= offset ? 0 : bytesRead;
    let at = 0;
    // Looks at each newline only if lines must be counted.
    while (line < offset || end !== Infinity) {
      at = data.indexOf(0x0a, at) + 1;
      if (at === 0) break;
      line += 1;
      if (line === offset) from = at;
      if (line === end) break;
    }
    const part = data.subarray(from, line === end ? at : bytesRead);
    isAtStart = data.at(-1) === 0x0a;
    keptBytes += part.length;
    if (keptBytes > MAX_TEXT_BYTES) throw tooLarge(path, keptBytes);
    kept.push(part);
  }
  // One past the last line is the end, where a caller that reads page by page arrives.
  if (line + (isAtStart ? 0 : 1) < offset) throw beyond(path, offset, isAtStart ? line - 1 : line);
  return Buffer.concat(kept);
}

const tooLarge = (path: string, bytes: number): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The file',
    got: `${path} with ${bytes} bytes or more`,
    allowed: `up to ${MAX_TEXT_BYTES} bytes at a time`,
    next: 'Read it in parts with offset and limit, or search it with grep_files.',
  });

const beyond = (path: string, offset: number, lines: number): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The argument "offset"',
    got: offset,
    allowed: `1 to ${lines + 1}, because ${path} has ${lines} lines`,
    next: 'Read from an earlier line.',
  });

function refuseBinary(data: Buffer, path: string): void {
  const nul = data.indexOf(0);
  if (nul < 0 && isUtf8(data)) return;
  throw new HoldfastError('invalid_input', {
    what: 'The file',
    got: `${path}, ${nul < 0 ? 'which is not UTF-8' : `a binary file (a NUL byte at ${nul})`}`,
    allowed: 'text in UTF-8',
    next: 'Look at it with the tool shell: `file`, `xxd | head`, or `iconv -f latin1 -t utf-8` for other text.',
  });
}
