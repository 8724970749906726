// What holds of rewinds.
import type { RewindRequest } from '../../../contracts/schemas/agent';
import type { RewindResult } from '../../../contracts/workspaces/rewinds';
import type { FactOf } from '../world/facts';
import { answersTo, firstOf, firstRepeated, hasEnded, type Rule } from './rule';

export const REWIND_RULES: readonly Rule[] = [
  {
    name: 'no rewind is carried out twice',
    broken: ({ facts }) => {
      const again = firstRepeated(facts.of('rewound').map(({ key }) => key));
      return again && `${again} was carried out twice`;
    },
  },
  {
    name: 'a rewind that is reported was done, and a refused one changed nothing',
    broken: (world) => {
      const { facts } = world;
      const all = answersTo<RewindRequest>(facts, 'rewind');
      return firstOf(all, ({ of, request: { id = '', what, dryRun }, answered: { answer } }) => {
        const isDone = facts.of('rewound').some(({ key }) => key === id);
        if (answer.is === 'done' && what !== 'conversation' && !dryRun && !isDone)
          return `${id} was reported, and not carried out`;
        const isSure = all.filter(({ request }) => request.id === id).length === 1 && !hasEnded(world, of);
        const isRefused = answer.is === 'refused' && answer.error.effect === 'none';
        return isRefused && isDone && isSure
          ? `${id} was refused as ${answer.error.code}, and carried out`
          : undefined;
      });
    },
  },
  {
    name: 'a rewind that is asked for again is the same step',
    broken: (world) => {
      const { facts } = world;
      const done = answersTo<RewindRequest>(facts, 'rewind').filter(
        ({ answered: { answer } }) => answer.is === 'done',
      );
      return firstOf(done, ({ of, request, answered }) => {
        const others = answersTo<RewindRequest>(facts, 'rewind').filter(
          (one) =>
            one.request.id === request.id &&
            !one.request.dryRun &&
            one.asked.isNew &&
            facts.placeOf(one.asked) > facts.placeOf(answered),
        );
        return firstOf(others, ({ answered: { answer } }) => {
          if (hasEnded(world, of) || request.dryRun) return undefined;
          if (answer.is === 'done' && stepIn(answer.value) === stepIn(answeredValue(answered)))
            return undefined;
          if (answer.is === 'refused' && answer.error.effect !== 'none') return undefined;
          return `${request.id} was step ${stepIn(answeredValue(answered))}, and then ${JSON.stringify(answer)}`;
        });
      });
    },
  },
];

const answeredValue = ({ answer }: FactOf<'answered'>): unknown =>
  answer.is === 'done' ? answer.value : undefined;
const stepIn = (value: unknown): number | null => (value as RewindResult | undefined)?.step ?? null;
