// All rules, in the order in which they are looked at.
import type { World } from '../world/world';
import type { Rule, Violation } from './rule';
import { SESSION_RULES } from './session-rules';
import { REWIND_RULES } from './rewind-rules';
import { SIDE_RULES } from './side-rules';
import { SCRIPT_RULES } from './script-rules';
import { AGENT_RULES } from './agent-rules';
import { COMMON_RULES } from './common-rules';

const RULES: readonly Rule[] = [
  ...COMMON_RULES,
  ...SESSION_RULES,
  ...AGENT_RULES,
  ...SCRIPT_RULES,
  ...REWIND_RULES,
  ...SIDE_RULES,
];

export async function brokenRule(world: World): Promise<Violation | undefined> {
  for (const { name, broken } of RULES) {
    const what = await broken(world);
    if (what !== undefined) return { rule: name, what };
  }
  return undefined;
}
