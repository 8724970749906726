// What a simulated command does, as a test writes it, and the check of it: a fault there is the test's own, and must
// reach the test.
import { inspect, types } from 'node:util';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { SessionRef } from '../contracts/ids';
import type { Runtime } from '../contracts/sessions/session';

/** A command's scripted behaviour. A text is output that ends with exit code 0. */
export type SimulatedAnswer =
  | string
  | { output?: string | undefined; exitCode?: number | undefined }
  /** Waits for input, which leads to the next answer. `echo: false` for a password. */
  | {
      output?: string | undefined;
      echo?: boolean | undefined;
      onInput: (input: string) => SimulatedAnswer;
    }
  /** Runs until it gets ctrl-c, a reset, or its session closes. */
  | { output?: string | undefined; hangs: true };

export interface SimulatedCommand extends SessionRef {
  id: string;
  runtime: Runtime;
  code: string;
}

/** By the code, trimmed; or by a function, where undefined means "no such command". */
export type SimulatedCommands =
  Readonly<Record<string, SimulatedAnswer>> | ((command: SimulatedCommand) => SimulatedAnswer | undefined);

const ALLOWED =
  'at once a text, { output, exitCode }, { output, echo, onInput } with a function, or { output, hangs: true }';
const NEXT = 'Fix the test; close() of its environment throws this, too.';

type Rule = (value: unknown) => boolean;
const isBoolean: Rule = (value) => typeof value === 'boolean';
const orNothing =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined || rule(value);
const PARTS: Readonly<Record<string, Rule>> = {
  output: orNothing((value) => typeof value === 'string'),
  exitCode: orNothing((value) => Number.isInteger(value)),
  echo: orNothing(isBoolean),
  onInput: (value) => typeof value === 'function',
  hangs: (value) => value === true,
};

/** The answer itself. Throws `invalid_input`, which says whose answer is wrong. */
export function checkedAnswer(answer: unknown, of: string): SimulatedAnswer {
  if (typeof answer === 'string' || isAnswer(answer)) return answer;
  // Refused, so it is not waited for: what it fails with later must not end the process.
  if (types.isPromise(answer)) answer.catch(() => undefined);
  const got = types.isPromise(answer) ? 'a promise' : inspect(answer, { depth: 1, breakLength: Infinity });
  throw new HoldfastError('invalid_input', { what: nameOf(of), got, allowed: ALLOWED, next: NEXT });
}

function isAnswer(value: unknown): value is Exclude<SimulatedAnswer, string> {
  // No promise, error or list, of whichever realm.
  if (Object.prototype.toString.call(value) !== '[object Object]') return false;
  return Object.entries(value as object).every(
    ([key, part]: [string, unknown]) => Object.hasOwn(PARTS, key) && PARTS[key]?.(part),
  );
}

/** What the model reads where the test's own code has thrown. */
export const answerFailed = (of: string, err: unknown): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: nameOf(of),
    got: `an error of the test's own, ${String(err)}`,
    allowed: ALLOWED,
    next: NEXT,
  });

const nameOf = (of: string): string => `The simulated host's answer to ${of}`;
