// An agent as a child of your own workflow. The agent needs a Holdfast worker on the same server (`holdfast up`, or
// `createWorkers` as in embedded-worker.ts); the workflow needs its own worker, as here.
// `TEMPORAL_ADDRESS=127.0.0.1:7233 node examples/child-agent.ts`.
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { HoldfastClient } from 'holdfast';
import type { release, ReleaseInput } from './child-agent-workflow.ts';

const address = process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233';
const taskQueue = 'releases';
const workflowsPath = fileURLToPath(new URL('./child-agent-workflow.ts', import.meta.url));

// A scripted model, so that the example runs anywhere.
const version = `1-${Date.now()}`;
const code = 'echo "3 tests passed"';
const call = { tool_name: 'code_execution_tool', tool_args: { runtime: 'terminal', code } };
const replies = [{ text: JSON.stringify(call) }, { expect: '3 tests passed', text: 'All tests pass.' }];
const file = join(tmpdir(), `${version}.yaml`);
const input: ReleaseInput = { version, model: `scripted:${file}` };

const connection = await NativeConnection.connect({ address });
const client = await HoldfastClient.connect({ address });
writeFileSync(file, JSON.stringify(replies));
try {
  const worker = await Worker.create({ connection, taskQueue, workflowsPath });
  const workflow = client.temporal.workflow.execute<typeof release>('release', {
    taskQueue,
    workflowId: `release/${version}`,
    args: [input],
  });
  // Ends the worker, whatever becomes of the workflow.
  console.log((await worker.runUntil(workflow)).replace(version, 'the version'));
} finally {
  // Else the connections keep the process alive.
  await client.close();
  await connection.close();
  rmSync(file);
}
