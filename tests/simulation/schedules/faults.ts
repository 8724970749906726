// The steps of a schedule that nobody asks for: time, order, and what fails.
import type { World } from '../world/world';
import type { Step } from './schedule';

type Fault = Extract<
  Step['do'],
  | ('go' | 'pass' | 'evict' | 'kill-worker' | 'start-worker' | 'kill-host-worker' | 'start-host-worker')
  | ('lose-terminals' | 'kill-agent-worker' | 'start-agent-worker' | 'lose-answers')
>;

export const FAULTS: {
  [Do in Fault]: (world: World, step: Extract<Step, { do: Do }>) => void | Promise<void>;
} = {
  go: async ({ agenda }, { picks }) => {
    for (const pick of picks) await agenda.pick(pick);
  },
  pass: ({ agenda }, { ms }) => agenda.pass(ms),
  evict: async ({ server, workers }, { which }) => {
    const open = server.allRuns.filter(({ isOpen, taskState }) => isOpen && taskState !== 'started');
    const run = open[which % Math.max(1, open.length)];
    if (run) await workers.evict(run);
  },
  'kill-worker': ({ workers }, { which }) => workers.kill(which),
  'start-worker': ({ workers }) => workers.start(),
  'kill-host-worker': ({ hostWorker }) => hostWorker.kill(),
  'start-host-worker': ({ hostWorker }) => hostWorker.start(),
  'kill-agent-worker': ({ agentWorker }) => agentWorker.kill(),
  'start-agent-worker': ({ agentWorker }) => agentWorker.start(),
  'lose-terminals': ({ host }) => host.loseTerminals(),
  'lose-answers': ({ clients }, { count }) => {
    clients.answersToLose += count;
  },
};
