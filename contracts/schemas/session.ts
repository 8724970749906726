// Shapes of the messages to sessions: the single source for clients, tools and workflows. zod/mini, because it is also
// part of the workflow bundle, which must check messages from the web UI and other SDKs itself.
import { ID_PATTERN, MAX_SESSION_NUMBER, MESSAGE_ID_MAX_CHARS } from '../ids';
import {
  KEYS,
  LONGEST_WAIT_MS,
  MAX_CODE_BYTES,
  MAX_INPUT_BYTES,
  MAX_PAGE_BYTES,
  MAX_SESSIONS_PER_AGENT,
  RUNTIMES,
  type Key,
  type Wait,
} from '../sessions/session';
import { asJson } from '../text/as-json';
import { DEFAULT_TOOL_CALLS, MAX_TOOL_DEPTH } from '../tools/tool-grant';
import { TOOL_NAME } from '../tools/tools';
import { matching, z } from './zod';

/** Length of the text as UTF-8: workflows have neither Buffer nor TextEncoder. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

const atMostBytes = (limit: number, instead: string): z.core.$ZodCheck<string> =>
  z.refine<string>((text) => utf8Length(text) <= limit, {
    error: (issue) => `got ${utf8Length(String(issue.input))} bytes, allowed ${limit}; ${instead}`,
  });
const withoutNul = z.refine<string>((text) => !text.includes('\0'), {
  error: (issue) =>
    `got a NUL character at position ${String(issue.input).indexOf('\0')}, allowed text without NUL`,
});
const wholeNumber = (from: number, to: number): z.ZodMiniNumber =>
  z
    .number({
      error: (issue) => `got ${asJson(issue.input)}, allowed a whole number from ${from} to ${to}`,
    })
    .check(
      z.refine<number>((n) => Number.isInteger(n) && n >= from && n <= to, {
        error: (issue) => `got ${asJson(issue.input)}, allowed a whole number from ${from} to ${to}`,
      }),
    );

export const idSchema = z.string().check(matching(ID_PATTERN));
const messageId = z.string().check(z.minLength(1), z.maxLength(MESSAGE_ID_MAX_CHARS));
export const sessionNumber = wholeNumber(0, MAX_SESSION_NUMBER);
export const milliseconds = wholeNumber(0, LONGEST_WAIT_MS);
/** Must begin with a letter: objects reorder keys that are whole numbers. */
const readerName = z.string().check(z.regex(/^[a-z][a-z0-9_-]{0,62}$/));
const keyName = z.enum(Object.keys(KEYS) as [Key, ...Key[]]);
const timestamp = z.string().check(
  z.refine<string>((value) => !Number.isNaN(Date.parse(value)), {
    error: (issue) => `got ${asJson(issue.input)}, allowed a time as ISO 8601 writes it`,
  }),
);
export const runtimeSchema = z.enum(RUNTIMES);

export const codeSchema = z.string().check(
  z.refine<string>((code) => code.trim() !== '', {
    error: 'must hold at least one command',
  }),
  withoutNul,
  atMostBytes(MAX_CODE_BYTES, 'write it to a file and run that'),
);

export const keyboardSchema = z.string().check(withoutNul, atMostBytes(MAX_INPUT_BYTES, 'send it in pieces'));

export const yieldSchema = z.partial(
  z.strictObject({
    firstOutputMs: milliseconds,
    betweenOutputMs: milliseconds,
    maxMs: milliseconds,
    promptMs: milliseconds,
  }),
);

const WAITS = ['exit', 'output', 'idle', 'needs_input'];
export const waitSchema = z.custom<Wait>((value) => typeof value === 'string' && isWait(value), {
  error: (issue) => `got ${asJson(issue.input)}, allowed ${WAITS.join(', ')} or pattern:RE with a valid RE`,
});

function isWait(value: string): boolean {
  if (!value.startsWith('pattern:')) return WAITS.includes(value);
  try {
    return value.length > 'pattern:'.length && Boolean(new RegExp(value.slice('pattern:'.length)));
  } catch {
    return false;
  }
}

export const toolName = z.string().check(matching(TOOL_NAME));
export const toolNamesSchema = z.array(toolName).check(z.maxLength(1_000));

/** What a command's scripts may call: a snapshot of their agent's policy, sent with the command. */
export const toolGrantSchema = z.strictObject({
  /** Names of tools; default: all. */
  allowed: z.optional(toolNamesSchema),
  /** Total calls. Default 10,000. */
  calls: z.optional(z.int().check(z.minimum(0), z.maximum(10 * DEFAULT_TOOL_CALLS))),
  /** Sessions whose scripts wait for this command, outermost first. */
  within: z.optional(z.array(sessionNumber).check(z.maxLength(MAX_TOOL_DEPTH + 1))),
});
export type ToolGrant = z.infer<typeof toolGrantSchema>;

export const execSchema = z.strictObject({
  /** The same id again returns the recorded result and runs nothing. Default: the update's id. */
  id: z.optional(messageId),
  /** Default `terminal`. */
  runtime: z.optional(runtimeSchema),
  code: codeSchema,
  yield: z.optional(yieldSchema),
  /** A reader's name: the session remembers how far each named reader has read. */
  reader: z.optional(readerName),
  /** The tools that this command's scripts may call. Default: all. */
  tools: z.optional(toolGrantSchema),
  /** First ends whatever runs in the session, then runs the code in a fresh shell. Default false. */
  reset: z.optional(z.boolean()),
  /** Runs nothing of a Python or Node script whose first imports are not installed. Default false. */
  checkImports: z.optional(z.boolean()),
});
export type ExecRequest = z.infer<typeof execSchema>;

/** A prompt as a person saw it: `commandId` and `waiting.since` of a view. */
const seenPrompt = z.strictObject({ command: z.string().check(z.minLength(1)), since: timestamp });
export type SeenPrompt = z.infer<typeof seenPrompt>;

export const inputSchema = z.strictObject({
  /** The same id again types nothing. Default: the update's id. */
  id: z.optional(messageId),
  /** Raw text, followed by Enter; an empty text is just Enter. */
  keyboard: z.optional(keyboardSchema),
  /** False: the text alone, without Enter after it. Default true. */
  enter: z.optional(z.boolean()),
  /** Keys by name, pressed after the text; with keys and no text, no Enter is added. */
  keys: z.optional(z.array(keyName).check(z.maxLength(100))),
  /** What it answers: typed only if this command still runs, and nothing was typed since that wait was seen. */
  prompt: z.optional(seenPrompt),
  yield: z.optional(yieldSchema),
  reader: z.optional(readerName),
});
export type InputRequest = z.infer<typeof inputSchema>;

export const outputSchema = z.strictObject({
  /** Byte offset; default: where `reader` stopped, otherwise where the last command began. */
  from: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  /** Returns one gapless page of at most this many bytes, instead of a bounded view with head and tail. */
  maxBytes: z.optional(wholeNumber(4, MAX_PAGE_BYTES)),
  wait: z.optional(waitSchema),
  /** The longest wait, in milliseconds. Default 60,000. */
  waitMs: z.optional(milliseconds),
  reader: z.optional(readerName),
});
export type OutputRequest = z.infer<typeof outputSchema>;

const target = z.union(
  [
    sessionNumber,
    z.strictObject({
      session: sessionNumber,
      from: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    }),
  ],
  { error: (issue) => `got ${asJson(issue.input)}, allowed a session's number or {session, from}` },
);
export const waitRequestSchema = z.strictObject({
  /** Sessions of the same agent and host; with `from`, output counts from there. Default: the session asked. */
  sessions: z.optional(z.array(target).check(z.minLength(1), z.maxLength(MAX_SESSIONS_PER_AGENT))),
  /** What to wait for in each. Default `exit`. */
  for: z.optional(waitSchema),
  /** Whether one of them is enough. Default `all`. */
  mode: z.optional(z.enum(['any', 'all'])),
  /** The longest wait, in milliseconds. Default 60,000. */
  waitMs: z.optional(milliseconds),
});
export type WaitRequest = z.infer<typeof waitRequestSchema>;

export const resetSchema = z.strictObject({
  id: z.optional(messageId),
  reason: z.optional(z.string().check(z.maxLength(1_000))),
});
export type ResetRequest = z.infer<typeof resetSchema>;

/** Input of the workflow `execSession`. Everything but the ids has a default. */
export const sessionInputSchema = z.strictObject({
  agent: z.optional(idSchema),
  host: z.optional(idSchema),
  session: z.optional(sessionNumber),
  /** Working folder of the shell; default: the host's. */
  cwd: z.optional(z.string().check(z.minLength(1), withoutNul)),
  /** Closes after this long without a message, in milliseconds. Default 24 h. */
  idleMs: z.optional(milliseconds),
  yield: z.optional(yieldSchema),
});
export type SessionInput = z.infer<typeof sessionInputSchema>;
