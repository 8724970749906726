// An agent as a child of one's own workflow. The agent needs a worker of Holdfast on the same server
// (`holdfast up`, or `createWorkers` as in embedded-worker.ts); the workflow needs one of one's own, as here.
// `TEMPORAL_ADDRESS=127.0.0.1:7233 node dist/examples/child-agent.js`.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { HoldfastClient } from 'holdfast';
import type { release } from './child-agent-workflow';

async function main(): Promise<void> {
  const address = process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233';
  const taskQueue = 'releases';
  const connection = await NativeConnection.connect({ address });
  const workflowsPath = require.resolve('./child-agent-workflow');
  const worker = await Worker.create({ connection, taskQueue, workflowsPath });
  const client = await HoldfastClient.connect({ address });

  // A scripted model, so that the example runs anywhere.
  const version = `1-${Date.now()}`;
  const file = join(tmpdir(), `${version}.yaml`);
  const code = 'echo "3 tests passed"';
  const call = { tool_name: 'code_execution_tool', tool_args: { runtime: 'terminal', code } };
  writeFileSync(
    file,
    JSON.stringify([{ text: JSON.stringify(call) }, { expect: '3 tests passed', text: 'All tests pass.' }]),
  );

  const input = { version, model: `scripted:${file}` };
  const options = { taskQueue, workflowId: `release/${version}`, args: [input] as [typeof input] };
  const result = await worker.runUntil(client.temporal.workflow.execute<typeof release>('release', options));
  console.log(result.replace(version, 'the version'));
  await client.close();
  await connection.close();
}

main().catch((err: unknown) => {
  console.error(err);
  process.exitCode = 1;
});
