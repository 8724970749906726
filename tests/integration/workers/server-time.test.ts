import { QueueClaims } from '../../../client/hosts/queue-claims';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { ClaimFacts } from '../../../contracts/sessions/claims';
import { identityOf } from '../../../system/processes/process-identity';
import { testClient, uniqueId } from '../../helpers/engines/temporal';

let client: HoldfastClient;
beforeAll(async () => void (client = await testClient()));
afterAll(() => client.close());

test("who is cut off while asking for the server's time leaves nothing that runs for long, and is told the time of now when asking again", async () => {
  const claims = new QueueClaims(client.temporal, 'nobody');
  const instance = uniqueId('asks');
  const facts = { dataDir: '/x', machine: 'm', instance, maker: identityOf(process.pid) } as unknown;
  const free = jest.spyOn(claims, 'free').mockRejectedValueOnce(new Error('killed'));
  await expect(claims.serverTime(facts as ClaimFacts)).rejects.toThrow('killed');
  const [left = '', { runId }] = free.mock.calls[0] ?? ['', { runId: '' }];
  const run = client.temporal.workflow.getHandle(`claim/${left}`, runId);
  const { raw, startTime } = await run.describe();
  expect(Number(raw.executionConfig?.workflowExecutionTimeout?.seconds)).toBe(60);
  expect(await claims.serverTime(facts as ClaimFacts)).toBeGreaterThan(startTime.getTime());
  await run.terminate('test ended');
});
