// What exec_command and write_stdin share: the answers of Codex's unified exec, on top of Holdfast's sessions.
import { constants } from 'node:os';
import * as z from 'zod/mini';
import type { SessionHandle } from '../../client/session-handle';
import { missingNote } from '../../contracts/sessions/missing-output';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { hostNameOf } from '../../contracts/ids';
import {
  hasEnded,
  MAX_PAGE_BYTES,
  type CommandView,
  type YieldSettings,
} from '../../contracts/sessions/session';
import { closeEnded } from './free-session';
import { clipText } from '../programs/head-tail';
import type { ToolContext } from '../tool';

const BYTES_PER_TOKEN = 4;
const MIN_YIELD_MS = 250;
const MAX_YIELD_MS = 30_000;
const DEFAULT_OUTPUT_TOKENS = 10_000;

export const execResultSchema = z.object({
  output: z.string().check(z.describe('New terminal output, cut to max_output_tokens.')),
  exit_code: z.nullable(z.int()).check(z.describe('Null while it runs; 128 + n if it died of signal n.')),
  session_id: z.nullable(z.int()).check(z.describe('For write_stdin; null if the process has ended.')),
  wall_time_seconds: z.number().check(z.describe('How long this call waited.')),
  original_token_count: z.int().check(z.describe('Size of the output before it was cut.')),
});
export type ExecResult = z.infer<typeof execResultSchema>;

export const yieldMsSchema = (fallback: number): z.ZodMiniDefault<z.ZodMiniNumber> =>
  z._default(
    z
      .number()
      .check(
        z.describe(`How long to wait for output, in milliseconds; from ${MIN_YIELD_MS} to ${MAX_YIELD_MS}.`),
      ),
    fallback,
  );
export const maxTokensSchema = z._default(
  z.int().check(z.gte(0), z.describe('Most output to return, in tokens of about four bytes.')),
  DEFAULT_OUTPUT_TOKENS,
);

/** The session for a session ID of unified exec. */
export const execSession = (
  { client, agent, settings, caller }: ToolContext,
  session: number,
  idleMs?: number,
): SessionHandle => {
  const cwd = caller?.cwd ?? settings.cwd;
  const opening = { ...(cwd && { cwd }), ...(idleMs !== undefined && { idleMs }) };
  return client.session({ agent, host: hostNameOf(settings), session }, opening);
};

/** The single time limit: the answer comes at the process's end, or then. Clamped to its bounds, as in Codex. */
export function yieldAfter(milliseconds: number): YieldSettings {
  const ms = Math.round(Math.min(Math.max(milliseconds, MIN_YIELD_MS), MAX_YIELD_MS));
  return { firstOutputMs: ms, betweenOutputMs: ms, maxMs: ms, promptMs: ms };
}

/** The answer for a view. A session whose process has ended is closed: it was opened only for that process. */
export async function execResult(
  session: SessionHandle,
  view: CommandView,
  { since, maxTokens }: { since: number; maxTokens: number },
): Promise<ExecResult> {
  const output = await wholeOutput(session, view, maxTokens * BYTES_PER_TOKEN);
  const ended = hasEnded(view);
  if (ended) await closeEnded(session);
  if (view.state === 'lost')
    throw new HoldfastError('session_lost', {
      session: view.session,
      reason: view.killedBy?.reason ?? 'its terminal is gone',
    });
  return {
    output,
    exit_code: ended ? exitCodeOf(view) : null,
    session_id: ended ? null : view.session,
    wall_time_seconds: (Date.now() - since) / 1_000,
    original_token_count: Math.ceil((view.to - view.from) / BYTES_PER_TOKEN),
  };
}

/** A view leaves out the middle of long output; if the caller wants more, it is read in pages. */
async function wholeOutput(session: SessionHandle, view: CommandView, maxBytes: number): Promise<string> {
  const clipped = (text: string): string =>
    clipText(text, maxBytes, `, of ${view.to - view.from}; max_output_tokens shows more`);
  if (view.omittedBytes === 0 || maxBytes <= Buffer.byteLength(view.output)) return clipped(view.output);
  const half = Math.min(Math.floor(maxBytes / 2), MAX_PAGE_BYTES);
  // Without a reader: the agent's reading position stays unchanged.
  const page = (from: number, bytes: number): Promise<CommandView> =>
    session.output({ from, maxBytes: Math.max(Math.min(bytes, half), 4) });
  const bytes = view.to - view.from;
  const head = await page(view.from, half);
  let output = droppedBefore(view) + head.output;
  let at = head.to;
  // A page may end earlier than requested, within a character, or later, if a part is missing.
  if (at < view.to - half && bytes > 2 * half) {
    const tail = view.to - half;
    output += `\n[${tail - at} bytes omitted, of ${bytes}]\n`;
    at = tail;
  }
  while (at < view.to) {
    const next = await page(at, view.to - at);
    output += next.output;
    if (next.to === at) break;
    at = next.to;
  }
  return output;
}

/** The view says so, but pages that begin where the log does say nothing. */
const droppedBefore = ({ droppedBytes, from }: CommandView): string =>
  droppedBytes === undefined
    ? ''
    : `${missingNote({ cause: 'dropped', from: from - droppedBytes, to: from })}\n`;

function exitCodeOf({ exitCode, signal }: CommandView): number {
  const number = signal ? constants.signals[signal as NodeJS.Signals] : undefined;
  return exitCode ?? 128 + (number ?? 0);
}

/** In the format that models know from Codex. */
export function execText({ output, ...result }: ExecResult): string {
  return [
    `Wall time: ${result.wall_time_seconds.toFixed(4)} seconds`,
    result.exit_code === null
      ? `Process running with session ID ${result.session_id}`
      : `Process exited with code ${result.exit_code}`,
    `Original token count: ${result.original_token_count}`,
    'Output:',
    output,
  ].join('\n');
}
