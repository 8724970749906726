// What approvers see, on pages, at the command line and in answers: everything that they approve.
import { mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { WaitingApproval } from '../../../client/agents/approval-desk';
import { agentWorkflowId, sessionWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  engine.configure('[policy.agents]\nasked = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

async function untilWaits(workflowId: string): Promise<WaitingApproval> {
  let found: WaitingApproval[] = [];
  await until(async () => {
    found = await engine.client.approvals.of(workflowId).catch(() => []);
    return found.length > 0;
  });
  return found[0] as WaitingApproval;
}

/** What the page of a workflow shows. */
async function detailsOf(workflowId: string): Promise<string> {
  const handle = engine.client.temporal.workflow.getHandle(workflowId);
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

test('the way to approve that exec names reaches its command as printed, whatever else waits', async () => {
  const other = engine.client.session({ agent: 'asked', session: 7 }).exec({ code: 'echo other' });
  other.catch(() => undefined);
  await untilWaits(sessionWorkflowId({ agent: 'asked', host: 'local', session: 7 }));
  const server = ['--data', engine.dataDir, '--namespace', engine.namespace];
  const child = engine.spawnCli(['exec', ...server, '--agent', 'asked', '--session', '8', 'echo this']);
  const ended = new Promise((resolve) => child.once('close', resolve));
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => (printed[name] += chunk.toString()));
  await until(() => printed.stderr.includes('Say yes'));
  const [, named = ''] = /Say yes with `holdfast (approve [^`]+)`/.exec(printed.stderr) ?? [];
  expect(named).toContain(server.join(' '));
  expect((await engine.cliInTurn(named.split(' '))).code).toBe(0);
  expect(await ended).toBe(0);
  expect(printed.stdout).toBe('this\n');
  await engine.client.session({ agent: 'asked', session: 7 }).close('test ended');
}, 60_000);

test('an approval holds for the folder that was shown: a link that leads elsewhere since is asked about anew', async () => {
  const ref = { agent: 'asked', host: 'local', session: 20 };
  const at = (name: string): string => join(files.directory, uniqueId(name));
  const [good, evil, link] = [at('good'), at('evil'), at('link')];
  for (const folder of [good, evil]) mkdirSync(folder);
  symlinkSync(good, link);
  const session = engine.client.session(ref, { yield: QUICK_YIELD, cwd: link });
  const running = session.exec({ code: 'touch ran; pwd -P' });
  running.catch(() => undefined);
  const workflowId = sessionWorkflowId(ref);
  const first = await untilWaits(workflowId);
  expect(first.place).toEqual({ host: 'local', cwd: realpathSync(good) });
  rmSync(link);
  symlinkSync(evil, link);
  await engine.client.approvals.approve(workflowId, { hash: first.hash });
  let second: WaitingApproval | undefined;
  await until(async () => (second = await untilWaits(workflowId)).hash !== first.hash);
  expect(second?.place).toEqual({ host: 'local', cwd: realpathSync(evil) });
  expect(readdirSync(evil)).toEqual([]);
  await engine.client.approvals.deny(workflowId);
  await expect(running).rejects.toMatchObject({ code: 'approval_denied' });
  expect([...readdirSync(evil), ...readdirSync(good)]).toEqual([]);
});

test('an approver sees all of the code, its folder and its host, and the folder is part of the hash', async () => {
  const ref = { agent: 'asked', host: 'local', session: 0 };
  const session = engine.client.session(ref, { yield: QUICK_YIELD });
  const workflowId = sessionWorkflowId(ref);
  const long = `# ${'x'.repeat(40_000)}`;
  const code = `cd ${files.directory}\necho first\n${long}\necho last`;
  const running = session.exec({ code });
  running.catch(() => undefined);
  const one = await untilWaits(workflowId);
  const [value] = one.values ?? [];
  expect(one).toMatchObject({ agent: 'asked', runs: 'terminal', place: { host: 'local' } });
  expect(value).toMatchObject({ name: 'code', bytes: code.length });
  expect(value?.text).toMatch(/^cd .*\necho first\n# x+\n… \d+ characters …\nx+\necho last$/);
  expect(value?.omitted).toBeGreaterThan(20_000);
  const whole = await engine.cliInTurn(['approve', one.id, '--show']);
  expect(whole.stdout).toContain(long);
  expect(whole.stdout).toContain(`hash   ${one.hash}`);
  const listed = await engine.cliInTurn(['approve', '--list']);
  for (const shown of [
    '    echo first\n',
    '    echo last\n',
    `code (${code.length} bytes, `,
    one.place?.cwd ?? '-',
  ])
    expect(listed.stdout).toContain(shown);
  const page = await detailsOf(workflowId);
  expect(page).toContain('Held, none of it runs yet');
  expect(page).not.toContain('### Running');
  for (const shown of ['echo last', JSON.stringify({ id: one.id, hash: one.hash })])
    expect(page).toContain(shown);
  expect((await engine.cliInTurn(['approve', one.id])).stdout).toContain('    echo last\n');
  await running;
  const again = session.exec({ code });
  again.catch(() => undefined);
  const other = await untilWaits(workflowId);
  expect(other.place).toEqual({ host: 'local', cwd: realpathSync(files.directory) });
  expect(other.hash).not.toBe(one.hash);
  await engine.client.approvals.deny(workflowId);
  await expect(again).rejects.toMatchObject({ code: 'approval_denied' });
}, 60_000);

test('an agent and its turn show what waits in a session, and an answer to what does not wait is refused', async () => {
  const file = join(files.directory, 'never');
  const code = `D=/; echo ${file}\nrm -rf "$D"`;
  const id = uniqueId('held');
  const replies = [{ text: call('code_execution_tool', { runtime: 'terminal', code }) }, { text: 'ok' }];
  await engine.client.agent(id).start({ task: 'go', mode: 'conversation', ...files.settings(replies) });
  const agent = engine.client.temporal.workflow.getHandle(agentWorkflowId(id));
  const one = await untilWaits(sessionWorkflowId({ agent: id, host: 'local', session: 0 }));
  const answer = JSON.stringify({ session: 0, host: 'local', id: one.id, hash: one.hash });
  for (const page of [agentWorkflowId(id), turnWorkflowId(id, 1)])
    await until(async () => {
      const details = await detailsOf(page);
      return [answer, 'rm -rf "$D"', 'Waiting for approval'].every((part) => details.includes(part));
    });
  const refused = async (request: object): Promise<string> =>
    agent.executeUpdate('approve', { args: [request] }).then(
      () => 'taken',
      (err: Error) => String((err.cause as Error | undefined)?.message),
    );
  expect(await refused({ session: 1 })).toMatch(/^Nothing with this id is waiting/);
  expect(await refused({ session: 0, id: one.id, hash: 'other' })).toMatch(
    /^The code is not the code that was reviewed/,
  );
  await agent.signal('approve', { session: 1 });
  await until(async () => (await engine.client.agent(id).state()).refused.length > 0);
  await agent.executeUpdate('deny', { args: [{ session: 0, id: one.id, reason: 'no' }] });
  await until(async () => (await engine.client.agent(id).state()).lastResult?.answer === 'ok');
  await until(async () => !(await detailsOf(agentWorkflowId(id))).includes('Waiting for approval'));
  expect(await refused({ session: 0 })).toMatch(/allowed none: nothing is waiting/);
  await engine.client.agent(id).stop('done');
}, 60_000);
