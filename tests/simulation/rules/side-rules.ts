// What holds of webhooks, quotas, hosts and the short workflows beside agents.
import { fromFailure } from '../../../contracts/errors/failure';
import { quotaWorkflowId, type DayUse, type ModelUse } from '../../../contracts/models/daily-quota';
import type { HostState } from '../../../contracts/schemas/remote-hosts';
import { webhookWorkflowId } from '../../../contracts/webhooks';
import { errorOf } from '../server/payloads';
import { firstOf, type Rule } from './rule';

const SHORT = ['carryBlob', 'offeredTools', 'compareCheckpoints', 'rewindFiles'];

export const SIDE_RULES: readonly Rule[] = [
  {
    name: 'each event reaches the receiver of its webhook',
    broken: ({ facts, server }) => {
      if (!server.open(webhookWorkflowId('w'))) return undefined;
      const delivered = new Set(facts.of('delivered').map(({ id }) => id));
      const lost = facts.of('event').find(({ id }) => !delivered.has(id));
      return lost && `${lost.id} was never delivered`;
    },
  },
  {
    name: 'what a model call has used is counted once',
    broken: async (world) => {
      const run = world.server.open(quotaWorkflowId('holdfast'));
      if (!run) return undefined;
      const used = world.facts
        .of('signalled')
        .filter(({ of, name }) => name === 'used' && of === run.workflowId)
        .map(({ content }) => content as ModelUse);
      const calls = new Set(used.map((use) => `${use.run} ${use.messages}`));
      const counted = (await world.workers.query<DayUse | null>(run, 'state'))?.tokens ?? 0;
      return counted === calls.size ? undefined : `${calls.size} calls were made, and ${counted} counted`;
    },
  },
  {
    name: 'a host that is gone is offline, and one that lives is online',
    broken: async (world) => {
      const run = world.server.open('host/local');
      const state = run && (await world.workers.query<HostState>(run, 'state'));
      return state && state.status !== 'offline' ? `${state.host} is ${state.status}` : undefined;
    },
  },
  {
    name: 'each short workflow ends with an answer, or an error of the catalogue',
    broken: ({ server }) =>
      firstOf(
        server.allRuns.filter(({ start }) => SHORT.includes(start.workflowType)),
        ({ workflowId, closing }) => {
          if (closing?.how === 'Completed') return undefined;
          const error = closing?.how === 'Failed' ? errorOf(closing.failure) : undefined;
          return error && fromFailure(error) ? undefined : `${workflowId} has ${closing?.how ?? 'not ended'}`;
        },
      ),
  },
];
