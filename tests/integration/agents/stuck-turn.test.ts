// An agent whose turn keeps failing its tasks, like one that another release began.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { packageRoot } from '../../../system/package-root';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { CommandLines } from '../../helpers/engines/command-lines';
import { scratch, testAddress, testClient, uniqueId, type Scratch } from '../../helpers/engines/temporal';

const TURN = 'async function turn(input, carried) {';

let client: HoldfastClient;
let files: Scratch;
let connection: NativeConnection;
const commands = new CommandLines();

beforeAll(async () => {
  // Its failures are planted: they would fill the screen.
  quietenRuntime();
  client = await testClient();
  files = scratch();
  connection = await NativeConnection.connect({ address: testAddress() });
});
afterAll(async () => {
  commands.end();
  await connection.close();
  await client.close();
  files.remove();
});

/** The released workflows, but for a turn that throws what fails its task. */
function brokenBundle(): string {
  const bundle = readFileSync(join(packageRoot(), 'dist', 'workflow-bundle.js'), 'utf8');
  expect(bundle.split(TURN)).toHaveLength(2);
  const codePath = join(files.directory, 'bundle.js');
  writeFileSync(codePath, bundle.replace(TURN, `${TURN} throw new Error('planted');`));
  return codePath;
}

test('a caller that waits for an agent, follows or stops it is told that its turn is stuck, and which one', async () => {
  const agent = client.agent(uniqueId('stuck'));
  const taskQueue = uniqueId('broken');
  const worker = await Worker.create({ connection, taskQueue, workflowBundle: { codePath: brokenBundle() } });
  await worker.runUntil(async () => {
    const input = [{ task: 'x', model: 'scripted:none.yaml' }];
    const handle = await client.temporal.workflow.start('agent', {
      workflowId: agent.workflowId,
      taskQueue,
      args: input,
    });
    const stuck = { code: 'workflow_stuck', facts: { got: `${agent.workflowId}/turn/1` } };
    const followed = (async () => {
      for await (const { message } of agent.follow()) throw new Error(`got ${message.role}`);
    })();
    await Promise.all([
      expect(agent.result()).rejects.toMatchObject(stuck),
      expect(followed).rejects.toMatchObject(stuck),
    ]);
    // What was asked to stop has not ended by that.
    const env = { ...process.env, HOLDFAST_DATA: files.directory, NO_COLOR: '1' };
    const args = ['stop', agent.id, '--address', testAddress()];
    const stopped = await commands.run(args, { cwd: files.directory, env });
    expect(stopped).toMatchObject({ code: 70, stdout: '' });
    expect(stopped.stderr).toContain(`workflow_stuck`);
    expect(stopped.stderr).not.toContain('has ended');
    // The child first: nothing else could end it.
    await client.temporal.workflow.getHandle(stuck.facts.got).terminate('seen');
    await handle.terminate('seen');
  });
});
