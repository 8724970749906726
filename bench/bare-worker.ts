// Serves the bare workflows, in a process of its own as Holdfast's worker has one.
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker, bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';

async function main(address: string): Promise<void> {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const activities = {
    work: async ({ code }: { code: string }) => code,
    callSession: ({ workflowId }: { workflowId: string }) =>
      client.workflow
        .getHandle(workflowId)
        .executeUpdate<string, [{ code: string }]>('exec', { args: [{ code: 'true' }] }),
  };
  const bundle = await bundleWorkflowCode({ workflowsPath: require.resolve('./bare-workflows'), logger });
  const workers = [
    await Worker.create({ connection, taskQueue: 'bare', workflowBundle: bundle, activities }),
    await Worker.create({ connection, taskQueue: 'bare-host', activities }),
  ];
  process.on('SIGTERM', () => workers.forEach((worker) => worker.shutdown()));
  const running = Promise.all(workers.map((worker) => worker.run()));
  process.send?.('ready');
  await running;
}

void main(process.argv[2] ?? '');
