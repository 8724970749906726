// The rules: docs/guarantees.md, one by one. Each looks at what has happened in a world that has come to rest, and says what
// is wrong, or nothing.
import type { World } from '../world/world';
import { SESSION_RULES } from './session-rules';
import { COMMON_RULES } from './common-rules';

export interface Rule {
  name: string;
  /** What is wrong; undefined if nothing is. */
  broken: (world: World) => string | undefined | Promise<string | undefined>;
}

export interface Violation {
  rule: string;
  what: string;
}

export const RULES: readonly Rule[] = [...COMMON_RULES, ...SESSION_RULES];

export async function brokenRule(world: World): Promise<Violation | undefined> {
  for (const { name, broken } of RULES) {
    const what = await broken(world);
    if (what !== undefined) return { rule: name, what };
  }
  return undefined;
}
