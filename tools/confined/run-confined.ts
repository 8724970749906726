// Runs a file tool in its host's sandbox, in a separate process. The kernel decides inside what a path resolves to: a
// check of paths outside could be outrun by anyone who changes a link in between.
import { spawn } from 'node:child_process';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { JsonValue } from '../../contracts/tools/tools';
import { compiledEntry } from '../../system/package-root';
import { withPipes } from '../../system/processes/with-pipes';
import { notBegun } from '../programs/not-begun';
import type { ToolContext, ToolHost } from '../tool';
import type { ConfinedAnswer, ConfinedCall } from './confined-call';
import { endOf } from '../../contracts/text/well-formed';

/** Limit for its error output. */
const MAX_SAID_CHARACTERS = 2_000;

export interface ConfinedContext extends Pick<ToolContext, 'signal' | 'addImage'> {
  host: ToolHost & { confine: NonNullable<ToolHost['confine']> };
}

export async function runConfined(
  call: Omit<ConfinedCall, 'wantsImages'>,
  { host: { env, confine }, signal, addImage }: ConfinedContext,
): Promise<JsonValue> {
  signal.throwIfAborted();
  const [file = '', ...args] = confine('/', [process.execPath, compiledEntry('confined.js')]);
  const child = withPipes(spawn(file, args, { env, stdio: 'pipe' }));
  const end = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  let said = '';
  const answer: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => answer.push(data));
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (said = endOf(said + text, MAX_SAID_CHARACTERS)));
  child.stdin
    .on('error', () => undefined)
    .end(JSON.stringify({ ...call, wantsImages: addImage !== undefined }));
  try {
    await new Promise<void>((resolve, reject) =>
      child
        .once('close', () => resolve())
        .once('error', (err) => reject(child.pid === undefined ? notBegun(err) : err)),
    );
  } finally {
    signal.removeEventListener('abort', end);
  }
  signal.throwIfAborted();
  const { value, images = [] } = resultOf(Buffer.concat(answer).toString('utf8'), said);
  for (const image of images) addImage?.(Buffer.from(image, 'base64'));
  return value;
}

function resultOf(text: string, said: string): Extract<ConfinedAnswer, { value: JsonValue }> {
  if (text === '') throw new Error(`the sandbox did not run it: ${said.trim() || 'no answer'}`);
  const answer = JSON.parse(text) as ConfinedAnswer;
  if ('value' in answer) return answer;
  if ('error' in answer) throw HoldfastError.received(answer.error.code, answer.error.facts);
  throw new Error(answer.thrown);
}
