// Serves the bare workflows in a separate process, like Holdfast's worker.
import { Client, Connection, WithStartWorkflowOperation, type Workflow } from '@temporalio/client';
import { NativeConnection, Worker, bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import { SLOTS } from '../workers/agents/worker-slots';

const CODE = { args: [{ code: 'true' }] as [object] };

async function main(address: string): Promise<void> {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  const connection = await NativeConnection.connect({ address });
  const { workflow } = new Client({ connection: await Connection.connect({ address }) });
  const activities = {
    work: async ({ code }: { code: string }) => code,
    callSession: ({ workflowId }: { workflowId: string }) =>
      workflow.getHandle(workflowId).executeUpdate<string, [object]>('exec', CODE),
    callOwnSession: ({ workflowId }: { workflowId: string }) => {
      const options = { workflowId, taskQueue: 'bare', workflowIdConflictPolicy: 'USE_EXISTING' } as const;
      const startWorkflowOperation = new WithStartWorkflowOperation('bareSession', options);
      return workflow.executeUpdateWithStart<Workflow, string, [object]>('exec', {
        ...CODE,
        startWorkflowOperation,
      });
    },
    endSession: async ({ workflowId }: { workflowId: string }) => {
      const session = workflow.getHandle(workflowId);
      await session.signal('end');
      await session.result();
    },
  };
  const bundle = await bundleWorkflowCode({ workflowsPath: require.resolve('./bare-workflows'), logger });
  const workers = [
    await Worker.create({ connection, taskQueue: 'bare', workflowBundle: bundle, activities, ...SLOTS }),
    await Worker.create({ connection, taskQueue: 'bare-host', activities, ...SLOTS }),
  ];
  process.on('SIGTERM', () => workers.forEach((worker) => worker.shutdown()));
  const running = Promise.all(workers.map((worker) => worker.run()));
  process.send?.('ready');
  await running;
}

void main(process.argv[2] ?? '');
