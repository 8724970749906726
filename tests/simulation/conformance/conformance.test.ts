// The simulated server conforms to the real one: the same scenarios have the same answers, and the same kinds of events.
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { toFailure } from '../../../contracts/errors/failure';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { testAddress, testClient, uniqueId } from '../../helpers/engines/temporal';
import { WorkflowCode } from '../worker/workflow-code';
import { SCENARIOS, type Port } from './scenarios';
import { simulatedPort } from './simulated-port';

const taskQueue = uniqueId('scenarios');
let code: string;
let client: HoldfastClient;
let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;

beforeAll(async () => {
  quietenRuntime();
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };
  const workflowsPath = join(__dirname, 'scenario-workflows.ts');
  ({ code } = await bundleWorkflowCode({ workflowsPath, logger: quiet }));
  client = await testClient();
  connection = await NativeConnection.connect({ address: testAddress() });
  const activities = {
    echo: (value: string) => value,
    refuse: () => {
      throw toFailure(new HoldfastError('invalid_input', { what: 'A value', got: 'it', allowed: 'another' }));
    },
  };
  worker = await Worker.create({ connection, taskQueue, activities, workflowBundle: { code } });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
  await client.close();
});

test.each(SCENARIOS)('%s: the simulated server answers as the real one does', async (_name, play) => {
  const real = realPort(client.temporal);
  const simulated = simulatedPort(new WorkflowCode(code));
  const answers = await play(real);
  expect(await play(simulated)).toEqual(answers);
  expect(await simulated.events()).toEqual(await real.events());
});

function realPort({ workflow }: Client): Port {
  const workflowId = uniqueId('scenario');
  const handle = (): WorkflowHandle => workflow.getHandle(workflowId);
  const runs: string[] = [];
  const asked = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (err: unknown) => {
        if (err instanceof WorkflowNotFoundError) return 'not-found';
        if (err instanceof WorkflowExecutionAlreadyStartedError) return 'already-running';
        throw err;
      },
    );
  return {
    start: (kind) =>
      asked(
        workflow
          .start('scenario', { workflowId, taskQueue, args: [kind] })
          .then(({ firstExecutionRunId }) => runs.push(firstExecutionRunId)),
      ),
    signal: (name) => asked(handle().signal(name)),
    cancel: () => asked(handle().cancel()),
    terminate: () => asked(handle().terminate('on purpose')),
    update: async (updateId, how) => {
      try {
        return await handle().executeUpdate<string, [string]>('ask', { updateId, args: [how] });
      } catch (err) {
        if (err instanceof WorkflowNotFoundError) return 'not-found';
        const cause = err instanceof WorkflowUpdateFailedError ? err.cause : undefined;
        return cause instanceof ApplicationFailure ? `failed: ${cause.type}` : 'failed';
      }
    },
    query: async () => String(await handle().query('noted')),
    result: async () => {
      try {
        return String(await handle().result());
      } catch (err) {
        if (!(err instanceof WorkflowFailedError)) throw err;
        return HOW[err.cause?.constructor.name ?? ''] ?? 'Failed';
      }
    },
    events: async () => {
      const types: string[] = [];
      for (const first of runs)
        for (let runId: string | undefined = first; runId;) {
          const run = await runOf(workflow.getHandle(workflowId, runId));
          types.push(...run.types);
          runId = run.next;
        }
      return types.filter((type) => !type.startsWith('WorkflowTask'));
    },
  };
}

const HOW: Record<string, string> = { CancelledFailure: 'Canceled', TerminatedFailure: 'Terminated' };

/** The kinds of its events, and the run that it continued in. */
async function runOf(handle: WorkflowHandle): Promise<{ types: string[]; next: string | undefined }> {
  const events = (await handle.fetchHistory()).events ?? [];
  const types = events.map((event) => {
    const name = Object.keys(event).find((key) => key.endsWith('EventAttributes') && event[key as never]);
    const type = (name ?? '').replace('EventAttributes', '');
    return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  });
  const end = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
  return { types, next: end?.newExecutionRunId ?? undefined };
}
