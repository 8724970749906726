// What people do to files while an approval waits (anomalyco/opencode#31776).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  engine.configure('[policy.tools]\nwrite_file = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

test('an approved write does not replace what a person wrote while it waited; the model is asked to look, and asks again', async () => {
  const path = join(files.directory, 'doc.txt');
  writeFileSync(path, 'v1\n');
  const id = uniqueId('held');
  const write = (content: string): { text: string } => ({
    text: call('write_file', { file_path: path, content }),
  });
  const replies = [write('by the model\n'), write('both\n'), { text: 'done' }];
  await engine.client.agent(id).start({ task: 'go', ...files.settings(replies) });
  const turn = turnWorkflowId(id, 1);
  const agent = engine.client.temporal.workflow.getHandle(agentWorkflowId(id));
  const waiting = async (): Promise<string | undefined> =>
    (await engine.client.approvals.of(turn).catch(() => []))[0]?.id;
  await until(async () => (await waiting()) !== undefined);
  const first = await waiting();
  writeFileSync(path, 'typed by a person\n');
  await agent.signal('approve', { id: first });
  await until(async () => ![undefined, first].includes(await waiting()));
  expect(readFileSync(path, 'utf8')).toBe('typed by a person\n');
  await agent.signal('approve', {});
  await engine.client.agent(id).result();
  expect(readFileSync(path, 'utf8')).toBe('both\n');
});
