// What holds of the calls that scripts make.
import type { CancelToolsRequest } from '../../../contracts/tools/tools';
import type { Facts } from '../world/facts';
import { firstOf, hasEnded, type Rule } from './rule';

/** After one of these, its tool was never started. */
const NEVER_BEGAN = [
  ...['approval_denied', 'approval_expired', 'tool_not_allowed', 'budget_exceeded', 'script_ended'],
  'policy_denied',
];

const hasEffect = (facts: Facts, call: string): boolean =>
  facts.of('effect').some(({ question }) => question === call);

export const SCRIPT_RULES: readonly Rule[] = [
  {
    name: 'what a script is told of a call is what became of it',
    broken: (world) => {
      const { facts } = world;
      return firstOf(facts.of('call-answered'), ({ call, of, code }) => {
        if (code === 'ok' && !hasEffect(facts, call))
          return `${call} was reported as done, and had no effect`;
        const isRefused = NEVER_BEGAN.includes(code) && hasEffect(facts, call) && !hasEnded(world, of);
        return isRefused ? `${call} was refused as ${code}, and had its effect` : undefined;
      });
    },
  },
  {
    name: 'a call that was given up before its approval never begins',
    broken: ({ facts }) =>
      firstOf(facts.of('signalled'), (signalled) => {
        if (signalled.name !== 'cancelTools') return undefined;
        const at = facts.placeOf(signalled);
        const { ids } = signalled.content as CancelToolsRequest;
        const effect = facts.of('effect').find((one) => one.isHeld && ids.includes(one.question));
        if (!effect) return undefined;
        const approved = facts
          .of('decided')
          .find((one) => one.approved && (one.lasting || one.question === effect.question));
        return approved && facts.placeOf(approved) > at ? `${effect.question} began` : undefined;
      }),
  },
];
