// One attempt at a call of a tool: its arguments are checked, it runs within its time, and its result is shown. What the
// tool's author wrote may throw anywhere: each place says what is known of the tool's effect then.
import { isDeepStrictEqual } from 'node:util';
import { HoldfastError, isErrorCode, reasonOf } from '../contracts/errors/holdfast-error';
import { fitText, MAX_ERROR_BYTES } from '../contracts/payload-size';
import { parseAsyncWith } from '../contracts/schemas/parse';
import type { JsonSchema, JsonValue } from '../contracts/tools/tools';
import { withoutNulls } from './absent-arguments';
import { runConfined } from './confined/run-confined';
import { parametersOf } from './describe-tool';
import type { Tool, ToolContext } from './tool';

/** How often a tool that throws is run; then its caller gets what it threw. */
const MAX_ATTEMPTS = 5;
/** Node's limit: a longer timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Throws if it is no text. A tool need not return anything. */
export function textOf(tool: Tool, value: JsonValue): string {
  const text: unknown = tool.text ? tool.text(value) : ownText(value);
  if (typeof text === 'string') return text;
  throw new Error(
    tool.text
      ? `its \`text\` gave ${kindOf(text)}, allowed a text`
      : `it gave ${kindOf(value)}, allowed a text or JSON`,
  );
}

const ownText = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2);

const kindOf = (value: unknown): string => (value == null ? 'nothing' : `a ${typeof value}`);

/** Throws if it is not JSON: that is the tool's fault, not that of the code that records it later. */
export function checkedJson(value: JsonValue): JsonValue {
  JSON.stringify(value);
  return value;
}

/** Throws when the tool's time for one attempt is over; what ignores its signal is no longer waited for. */
async function inTime<T>(
  { timeoutMs }: Tool,
  context: ToolContext,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined || timeoutMs > LONGEST_TIMER_MS) return work(context.signal);
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const err = new Error(`it timed out after ${timeoutMs} ms`);
      reject(err);
      over.abort(err);
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(AbortSignal.any([context.signal, over.signal])), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

async function runWhereItBelongs(tool: Tool, args: unknown, context: ToolContext): Promise<JsonValue> {
  const { host, signal } = context;
  const confine = tool.usesFiles ? host?.confine : undefined;
  if (!host || !confine) return tool.run(args, context);
  const call = { tool: tool.name, args, cwd: host.cwd, askedAt: context.askedAt };
  return runConfined(call, { host: { ...host, confine }, signal, addImage: context.addImage });
}

/** A schema is slow to describe, and a tool has many calls. */
const PARAMETERS = new WeakMap<Tool, JsonSchema>();

function parametersFor(tool: Tool): JsonSchema {
  const known = PARAMETERS.get(tool) ?? parametersOf(tool);
  PARAMETERS.set(tool, known);
  return known;
}

/**
 * The arguments as the tool expects them: what is null and could have been left out is left out. The schema's own checks may be async. Throws `invalid_input`, and `tool_failed`
 * if a check throws: another attempt would find the same.
 */
export async function checkArgs(tool: Tool, args: unknown): Promise<unknown> {
  try {
    const schema = parametersFor(tool);
    const parsed = async (given: unknown): Promise<unknown> =>
      parseAsyncWith(tool.args, `The call to ${tool.name}`, given, tool.secret);
    const given = withoutNulls(args, schema);
    return await parsed(given).catch(async (err: unknown) => {
      const fewer = withoutNulls(args, schema, true);
      if (isDeepStrictEqual(fewer, given)) throw err;
      return parsed(fewer).catch(() => Promise.reject(err as Error));
    });
  } catch (thrown) {
    const err = ofThisCopy(thrown);
    throw err instanceof HoldfastError ? err : schemaFailed(tool, err);
  }
}

/** A module of tools may use another copy of this package: its errors are no instances of this one's class. */
function ofThisCopy(err: unknown): unknown {
  if (err instanceof HoldfastError || !(err instanceof Error) || err.name !== 'HoldfastError') return err;
  const { code, facts } = err as HoldfastError;
  return isErrorCode(code) ? HoldfastError.received(code, facts) : err;
}

/** What a tool threw may hold the whole answer of a server: a history has no room for that. */
const shortReason = (err: unknown): string => fitText(reasonOf(err), MAX_ERROR_BYTES);

const schemaFailed = ({ name }: Tool, err: unknown): HoldfastError =>
  new HoldfastError('tool_failed', {
    tool: name,
    attempts: 1,
    reason: `its schema \`args\` failed, so \`run\` was not called: ${shortReason(err)}`,
  });

async function argsInTime(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<unknown> {
  try {
    return await inTime(tool, context, () => checkArgs(tool, args));
  } catch (err) {
    const failed = err instanceof HoldfastError ? err : schemaFailed(tool, err);
    // What is wrong with arguments is so at every attempt; a schema that fails may have passed in the one before.
    throw failed.code === 'tool_failed' ? afterAttempts(context.attempt, tool.name, failed) : failed;
  }
}

/**
 * A refusal as the caller gets it. One that comes after an attempt that was cut off says nothing about that attempt:
 * the tool may have had its effect.
 */
export function afterAttempts(attempt: number, name: string, refused: HoldfastError): HoldfastError {
  if (attempt === 1) return refused;
  const reason = `the worker was lost during the call, and it was not run again: ${refused.detail}`;
  return new HoldfastError('unknown_outcome', { what: `the call to ${name}`, reason });
}

/** The names of the tools that a caller may use; undefined: all. */
export const allowedFor = ({ caller, settings }: ToolContext): readonly string[] | undefined =>
  caller ? caller.allowed : settings.tools;

const isAway = (err: unknown): boolean => err instanceof HoldfastError && err.code === 'no_server';

export async function runTool<T>(
  tool: Tool,
  args: Record<string, unknown>,
  context: ToolContext,
  shown: (value: JsonValue) => T,
): Promise<T> {
  const { name, effects } = tool;
  const allowed = allowedFor(context);
  if (allowed && !allowed.includes(name))
    throw new HoldfastError('tool_not_allowed', { got: name, allowed: allowed.join(', ') || 'none' });
  const parsed = await argsInTime(tool, args, context);
  const unknown = (reason: string): HoldfastError =>
    new HoldfastError('unknown_outcome', { what: `the call to ${name}`, reason });
  // Before anything that may have changed since the first attempt and would say that nothing was run.
  if (effects === 'once' && context.attempt > 1)
    throw unknown('the worker was lost during the call, which must not run twice');
  context.host?.admit?.(name, effects);
  let value: JsonValue;
  try {
    value = await inTime(tool, context, (signal) => runWhereItBelongs(tool, parsed, { ...context, signal }));
  } catch (thrown) {
    const err = ofThisCopy(thrown);
    if (context.signal.aborted) throw err;
    const reason = shortReason(err);
    // The next attempt, once the server is back, finds what this one has begun; the model would begin it anew.
    if (isAway(err) && effects !== 'once' && context.attempt < MAX_ATTEMPTS) throw new Error(reason);
    if (err instanceof HoldfastError) throw err;
    if (effects === 'once') throw unknown(reason);
    if (context.attempt < MAX_ATTEMPTS) throw reason === reasonOf(err) ? err : new Error(reason);
    throw new HoldfastError('tool_failed', { tool: name, attempts: context.attempt, reason });
  }
  try {
    return shown(value);
  } catch (thrown) {
    const err = ofThisCopy(thrown);
    // Its effect is there: another attempt would repeat it, and show as little.
    throw err instanceof HoldfastError
      ? err
      : new HoldfastError('result_undelivered', { tool: name, reason: shortReason(err) });
  }
}
