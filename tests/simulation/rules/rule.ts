// What a rule is: docs/guarantees.md as code, one guarantee each.
import type { FactOf, Facts } from '../world/facts';
import type { World } from '../world/world';

export interface Rule {
  name: string;
  /** Looks at a world that has come to rest. What is wrong; undefined if nothing is. */
  broken: (world: World) => string | undefined | Promise<string | undefined>;
}

export interface Violation {
  rule: string;
  what: string;
}

/** What is wrong with the first of them with which something is. */
export function firstOf<T>(all: readonly T[], what: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = what(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether it ended, and another of its name may have followed: that knows nothing of what it had accepted. */
export const hasEnded = ({ server }: World, workflowId: string): boolean =>
  (server.workflows.get(workflowId) ?? []).some(
    ({ closing }) => closing !== undefined && closing.how !== 'ContinuedAsNew',
  );

export interface Answered<Request> {
  /** The workflow that was asked. */
  of: string;
  request: Request;
  asked: FactOf<'asked'>;
  answered: FactOf<'answered'>;
}

/** The answers to one kind of message. */
export function answersTo<Request>(facts: Facts, message: string): Answered<Request>[] {
  const asked = facts.of('asked').filter((one) => one.message === message);
  return facts.of('answered').flatMap((answered) => {
    const one = asked.find(({ request }) => request === answered.request);
    return one ? [{ of: one.of, request: one.content as Request, asked: one, answered }] : [];
  });
}

export const firstRepeated = (keys: readonly string[]): string | undefined =>
  keys.find((key, at) => keys.indexOf(key) < at);
