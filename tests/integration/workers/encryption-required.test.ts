// `[encryption] required = true` on a deployment that began without: what is left of it does not hold up what comes.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import { QueueClaims } from '../../../client/hosts/queue-claims';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { agentWorkflowId, hostWorkflowId, sessionWorkflowId } from '../../../contracts/ids';
import { CLAIM_MEMO, claimWorkflowId } from '../../../contracts/sessions/claims';
import { quotaWorkflowId } from '../../../contracts/models/daily-quota';
import { HOST_NAMESPACE_MEMO, WORKFLOWS } from '../../../contracts/messages';
import { webhookWorkflowId } from '../../../contracts/webhooks';
import { encryptedPayloads } from '../../../encryption/data-converter';
import { newWebhookSecret } from '../../../system/webhooks/webhook-store';
import { describeIfThere, EndedAgents } from '../../../workers/agents/ended-agents';
import { ownFacts } from '../../../workers/host/host-claim';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

jest.setTimeout(120_000);

const WEBHOOK = 'hook';
const engine = new EngineOfItsOwn();
const files = scratch();
const keyFile = join(engine.dataDir, 'k.key');
const limits = `[quota]\ntokens_per_day = 1000000\n[webhooks.${WEBHOOK}]\nurl = "https://example.com/hook"\nsecret_file = "hook.secret"\n`;
const configure = (more = ''): void => engine.configure(more + limits);
let sealed: HoldfastClient;

beforeAll(async () => {
  writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  writeFileSync(join(engine.dataDir, 'hook.secret'), newWebhookSecret(), { mode: 0o600 });
  configure();
  await engine.start();
  const dataConverter = encryptedPayloads({ keys: [{ id: 'k', file: keyFile }], required: true });
  sealed = await HoldfastClient.connect(
    { address: engine.server().address, namespace: engine.namespace, dataConverter },
    {},
  );
}, 60_000);
afterAll(async () => {
  await sealed.close();
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Runs an agent whose model says what it uses. */
async function run(client: HoldfastClient, id: string): Promise<unknown> {
  const usage = { inputTokens: 100, outputTokens: 0 };
  const agent = client.agent(id);
  await agent.start({ task: 'go', ...files.settings([{ text: `${id} is done`, usage }]) });
  return (await agent.result()).answer;
}

const queue = (): string => sealed.server.queue;
const runOf = async (workflowId: string): Promise<string | undefined> => {
  const found = await describeIfThere(sealed.temporal, workflowId);
  return found?.status.name === 'RUNNING' ? found.runId : undefined;
};

test('the claim of a queue that was made without encryption is read, and one that has ended holds up nobody', async () => {
  const memo = { [CLAIM_MEMO]: ownFacts(engine.dataDir) };
  const workflowId = claimWorkflowId('host.before');
  const { workflow } = engine.client.temporal;
  await workflow.start(WORKFLOWS.claim, { workflowId, taskQueue: 'nobody', memo });
  const claims = new QueueClaims(sealed.temporal, queue());
  const standing = await claims.read('host.before');
  expect(standing?.facts).toEqual(memo[CLAIM_MEMO]);
  await workflow.getHandle(workflowId).terminate();
  expect(await claims.read('host.before')).toBeNull();
});

test('a workflow whose memo cannot be read is there for those who look at many', async () => {
  const workflowId = agentWorkflowId('unreadable');
  const { workflow } = engine.client.temporal;
  await workflow.start(WORKFLOWS.agent, { workflowId, taskQueue: 'nobody', memo: { some: 'plaintext' } });
  expect(await describeIfThere(sealed.temporal, workflowId)).toMatchObject({ status: { name: 'RUNNING' } });
  await workflow.getHandle(workflowId).terminate();
  expect(await describeIfThere(sealed.temporal, workflowId)).toMatchObject({
    status: { name: 'TERMINATED' },
  });
  expect(await describeIfThere(sealed.temporal, agentWorkflowId('nobody'))).toBeUndefined();
});

test('the sessions of a terminated agent are closed where its input may come unencrypted, and never hold up those of others', async () => {
  /** An agent that was terminated, and a session that it left open. They are not run. */
  const leave = async ({ temporal }: HoldfastClient, agent: string): Promise<string> => {
    const { workflow } = temporal;
    const workflowId = agentWorkflowId(agent);
    const begun = await workflow.start(WORKFLOWS.agent, { workflowId, taskQueue: 'nobody', args: [{}] });
    const session = sessionWorkflowId({ agent, host: 'local', session: 0 });
    await workflow.start(WORKFLOWS.execSession, { workflowId: session, taskQueue: 'nobody' });
    await begun.terminate();
    return session;
  };
  const other = await leave(sealed, 'sealed');
  // The newest is looked at first.
  const plain = await leave(engine.client, 'plain');
  const looking = (client: HoldfastClient): Promise<void> => {
    const { temporal } = client;
    return new EndedAgents({ agents: temporal, sessions: temporal, log: () => undefined }).look();
  };
  const isTold = async (workflowId: string): Promise<boolean> => {
    const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
    return events?.some((event) => event.workflowExecutionSignaledEventAttributes) ?? false;
  };
  // The server's list is a moment behind.
  await until(async () => {
    const fault: unknown = await looking(sealed).catch((err: unknown) => err);
    return fault instanceof HoldfastError && fault.code === 'payload_plaintext' && isTold(other);
  });
  expect(await isTold(plain)).toBe(false);
  const keys = [{ id: 'k', file: keyFile }];
  const allowing = await HoldfastClient.connect(
    {
      ...{ address: engine.server().address, namespace: engine.namespace },
      dataConverter: encryptedPayloads({ keys, required: true, allowPlaintext: ['agent'] }),
    },
    {},
  );
  await looking(allowing);
  await allowing.close();
  expect(await isTold(plain)).toBe(true);
  for (const session of [plain, other]) await sealed.temporal.workflow.getHandle(session).terminate();
});

test('agents, webhooks and hosts work from the first start that requires encryption, and a later start ends nothing', async () => {
  const { client } = engine;
  expect(await run(client, 'before')).toBe('before is done');
  await until(async () => (await client.quota.read())?.tokens === 100);
  // Enrolled, and so with a memo.
  await client.temporal.workflow.start(WORKFLOWS.host, {
    workflowId: hostWorkflowId('box'),
    taskQueue: queue(),
    args: [{ namespace: 'box' }],
    memo: { [HOST_NAMESPACE_MEMO]: 'box' },
  });
  const left = [quotaWorkflowId(queue()), webhookWorkflowId(WEBHOOK), hostWorkflowId('box')];
  const before = await Promise.all(left.map(runOf));
  expect(before).not.toContain(undefined);
  // Its claims stay, with their facts in the clear.
  await engine.killWorker();
  configure('[encryption]\nkeys = [{ id = "k", file = "k.key" }]\nrequired = true\n');
  await engine.startWorker();

  expect(await run(sealed, 'after')).toBe('after is done');
  await until(async () => (await sealed.quota.read())?.tokens === 100);
  expect(await runOf(hostWorkflowId('box'))).toBeUndefined();
  expect((await sealed.webhooks.progress(WEBHOOK)).waiting).not.toBeNull();
  const after = await Promise.all(left.slice(0, 2).map(runOf));
  for (const runId of after) expect([undefined, ...before]).not.toContain(runId);

  await engine.killWorker();
  await engine.startWorker();
  expect(await run(sealed, 'later')).toBe('later is done');
  await until(async () => (await sealed.quota.read())?.tokens === 200);
  expect(await Promise.all(left.slice(0, 2).map(runOf))).toEqual(after);
});
