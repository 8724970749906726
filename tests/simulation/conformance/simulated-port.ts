// A workflow on the simulated server, for the conformance suite.
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { Agenda } from '../server/agenda';
import { errorOf } from '../server/payloads';
import { Refused, SimulatedServer } from '../server/server';
import type { Closing } from '../server/history';
import type { UpdateOutcome } from '../server/update';
import { WorkflowWorkers } from '../worker/workflow-worker';
import type { WorkflowCode } from '../worker/workflow-code';
import { ActivityWorker } from '../world/activity-worker';
import type { Port } from './scenarios';

const ID = 'scenario';
const WHILE_MS = 60_000;

export function simulatedPort(code: WorkflowCode): Port {
  const agenda = new Agenda();
  const server = new SimulatedServer({ agenda, weight: 1, suggestAt: Infinity });
  const failed = (_: unknown, why: string): never => {
    throw new Error(why);
  };
  const workers = new WorkflowWorkers({ agenda, server, code, failed }, 1);
  const activities = new ActivityWorker('holdfast', agenda, server, () => ({
    echo: (work, value: string) => work.complete(value),
    refuse: () => {
      throw new HoldfastError('invalid_input', { what: 'A value', got: 'it', allowed: 'another' });
    },
  }));
  activities.start();
  server.pollers = { takeTask: (run) => workers.offer(run), takeActivity: (task) => activities.offer(task) };
  const rest = async (): Promise<void> => agenda.settle(WHILE_MS);
  const asked = async (work: () => unknown): Promise<string> => {
    try {
      const taken = work();
      await rest();
      return taken === false ? 'not-found' : 'done';
    } catch (err) {
      if (err instanceof Refused) return err.why;
      throw err;
    }
  };
  return {
    start: (kind) => asked(() => server.start(ID, 'scenario', [kind])),
    signal: (name) => asked(() => server.signal(ID, name)),
    cancel: () => asked(() => server.cancel(ID)),
    terminate: () => asked(() => server.terminate(ID, 'on purpose')),
    update: async (id, how) => {
      let outcome: UpdateOutcome | undefined;
      const sent = await asked(() => {
        server.update(ID, { id, name: 'ask', args: [how] }, (one) => (outcome = one));
      });
      return sent === 'done' ? textOf(outcome) : sent;
    },
    query: async () => {
      const run = server.open(ID);
      return String(run && (await workers.query(run, 'noted')));
    },
    result: async () => {
      await rest();
      return resultOf(server.latest(ID)?.closing);
    },
    events: async () => {
      await workers.end();
      return (server.workflows.get(ID) ?? [])
        .flatMap(({ history }) => history.map(({ type }) => type))
        .filter((type) => !type.startsWith('WorkflowTask'));
    },
  };
}

function textOf(outcome: UpdateOutcome | undefined): string {
  if (outcome?.is === 'completed') return String(outcome.result);
  if (outcome?.is !== 'failed') return outcome?.is ?? 'nothing';
  const error = errorOf(outcome.failure);
  return error instanceof ApplicationFailure ? `failed: ${error.type}` : 'failed';
}

function resultOf(closing: Closing | undefined): string {
  if (!closing) return 'still running';
  return closing.how === 'Completed' ? String(closing.result) : closing.how;
}
