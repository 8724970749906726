// Assertions about a turn: plain ones that throw, for any test runner, and the same as matchers for the `expect.extend`
// of jest and vitest.
import { isDeepStrictEqual, inspect } from 'node:util';
import type { EndReason, TurnResult } from '../contracts/agents/agent';
import { toolCallsOf } from './calls-of-turn';

/** The form that `expect.extend` expects: the message is read when the assertion fails, or passes under `.not`. */
interface Verdict {
  pass: boolean;
  message: () => string;
}

type Expected = Record<string, unknown>;

/** Called exactly these tools, in this order. */
function calledTools(turn: TurnResult, tools: readonly string[]): Verdict {
  const got = toolCallsOf(turn).map(({ tool }) => tool);
  return verdict(isDeepStrictEqual(got, tools), `to have called the tools ${list(tools)}`, list(got));
}

/** Called the tool at least once with these arguments among its own; without any, called it at all. */
function calledTool(turn: TurnResult, tool: string, args: Expected = {}): Verdict {
  const calls = toolCallsOf(turn);
  const pass = calls.some((call) => call.tool === tool && holds(call.args, args));
  const shown = calls.map((call) => `${call.tool} ${inspect(call.args, { depth: 9, breakLength: 100 })}`);
  const wanted = Object.keys(args).length > 0 ? ` with ${inspect(args)}` : '';
  return verdict(pass, `to have called ${tool}${wanted}`, shown.join('\n  ') || 'no call');
}

/** Ended for this reason and, where it is given, with this answer. */
function endedWith(turn: TurnResult, reason: EndReason, answer?: string | RegExp): Verdict {
  const { answer: got, error, steps } = turn;
  const fits = answer === undefined || (typeof answer === 'string' ? got === answer : matches(answer, got));
  const shown = `${turn.reason} after ${steps} steps: ${error ? error.message : inspect(got)}`;
  const wanted = `to have ended as ${reason}${answer === undefined ? '' : ` with ${inspect(answer)}`}`;
  return verdict(turn.reason === reason && fits, wanted, shown);
}

/** Every expected key is present with the same value; a regular expression is matched with a text, or a value's JSON. */
function holds(args: Expected, expected: Expected): boolean {
  return Object.entries(expected).every(([key, value]) =>
    value instanceof RegExp ? matches(value, args[key]) : isDeepStrictEqual(args[key], value),
  );
}

/** What is absent matches nothing. Flags `g` and `y` would go on from the last match. */
function matches({ source, flags }: RegExp, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return new RegExp(source, flags.replace(/[gy]/g, '')).test(text);
}

const list = (names: readonly string[]): string => `[${names.join(', ')}]`;

const verdict = (pass: boolean, wanted: string, got: string): Verdict => ({
  pass,
  message: () => `expected the turn ${pass ? 'not ' : ''}${wanted}, got:\n  ${got}`,
});

/** For `expect.extend(turnMatchers)`. */
export const turnMatchers = {
  toHaveCalledTools: calledTools,
  toHaveCalledTool: calledTool,
  toHaveEndedWith: endedWith,
};

/** Merge this into the matcher types of jest or vitest; docs/testing.md shows how. */
export interface TurnMatchers<R> {
  toHaveCalledTools(tools: readonly string[]): R;
  toHaveCalledTool(tool: string, args?: Expected): R;
  toHaveEndedWith(reason: EndReason, answer?: string | RegExp): R;
}

export interface TurnAssertions {
  /** Called exactly these tools, in this order. */
  calledTools(tools: readonly string[]): TurnAssertions;
  /** Called the tool at least once with these arguments among its own; a regular expression is matched. */
  calledTool(tool: string, args?: Expected): TurnAssertions;
  /** Ended for this reason and, where it is given, with this answer. */
  endedWith(reason: EndReason, answer?: string | RegExp): TurnAssertions;
}

/** Assertions that throw, one after the other: `assertTurn(turn).calledTool('input').endedWith('answered')`. */
export function assertTurn(turn: TurnResult): TurnAssertions {
  const check = ({ pass, message }: Verdict): TurnAssertions => {
    if (!pass) throw new Error(message());
    return assertions;
  };
  const assertions: TurnAssertions = {
    calledTools: (tools) => check(calledTools(turn, tools)),
    calledTool: (tool, args) => check(calledTool(turn, tool, args)),
    endedWith: (reason, answer) => check(endedWith(turn, reason, answer)),
  };
  return assertions;
}
