// Searches files with ripgrep, if the host has it.
import { spawn } from 'node:child_process';
import { linesOf } from '../../../system/processes/lines-of';
import { withPipes } from '../../../system/processes/with-pipes';
import type { Match, SearchRequest } from './search';

/** Files per call: their names must fit on a command line. */
const FILES_AT_ONCE = 500;

/** Binary files never match. Same answers as the search in Node, so the user's ripgrep settings are ignored. */
const ARGUMENTS = [
  ...['--no-config', '--json', '--threads=1', '--no-mmap', '--encoding=none', '--no-messages'],
  ...['--no-ignore', '--hidden', '--case-sensitive'],
];

interface RgText {
  text?: string;
  bytes?: string;
}
type RgEvent =
  | { type: 'match'; data: { line_number: number; lines: RgText } }
  | { type: 'begin'; data: { path: RgText } }
  | { type: 'end'; data: { path: RgText; binary_offset: number | null } }
  | { type: 'summary' };

/** Undefined without ripgrep, or if it does not accept the pattern, because its syntax differs. */
export async function searchWithRipgrep(request: SearchRequest): Promise<Match[] | undefined> {
  const found: Match[] = [];
  for (let at = 0; at < request.files.length && found.length < request.limit; at += FILES_AT_ONCE) {
    const files = request.files.slice(at, at + FILES_AT_ONCE);
    const matches = await searchSome({ ...request, files, limit: request.limit - found.length });
    if (!matches) return undefined;
    found.push(...matches);
  }
  return found;
}

async function searchSome({
  pattern,
  files,
  limit,
  env,
  signal,
}: SearchRequest): Promise<Match[] | undefined> {
  const args = [...ARGUMENTS, '--regexp', pattern, '--', ...files];
  const rg = withPipes(spawn('rg', args, { env, signal, stdio: ['ignore', 'pipe', 'ignore'] }));
  const ended = new Promise<number | null>((resolve) => {
    rg.once('error', () => resolve(null));
    rg.once('close', resolve);
  });
  const found: Match[] = [];
  let ofFile: Match[] = [];
  for await (const line of linesOf(rg.stdout)) {
    const event = JSON.parse(line) as RgEvent;
    if (event.type === 'begin') ofFile = [];
    if (event.type === 'match' && found.length + ofFile.length < limit)
      ofFile.push({ file: '', line: event.data.line_number, text: textOf(event.data.lines) });
    if (event.type !== 'end') continue;
    const file = textOf(event.data.path);
    if (event.data.binary_offset === null) found.push(...ofFile.map((match) => ({ ...match, file })));
    if (found.length >= limit) rg.kill();
  }
  const code = await ended;
  signal.throwIfAborted();
  // 1: no match. 2: a file that could not be read, or an invalid pattern; then it has found nothing.
  const failed = code === null ? found.length < limit : code === 2 && found.length === 0;
  return failed ? undefined : found.slice(0, limit);
}

/** Bytes if it is not UTF-8. */
const textOf = ({ text, bytes }: RgText): string =>
  text ?? Buffer.from(bytes ?? '', 'base64').toString('utf8');
