// What a caller without a compiler learns: what was given and what is allowed, before anything is sent.
import type { Client } from '@temporalio/client';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { SessionRef } from '../../../contracts/ids';

/** Nothing is sent. */
const client = new HoldfastClient({} as Client, '127.0.0.1:1');
const invalid = (said: string): Error =>
  expect.objectContaining({
    code: 'invalid_input',
    message: expect.stringContaining(said) as string,
  }) as Error;

test.each([null, undefined, 'a'])('a session is named by an object: %j', (ref) => {
  const got = JSON.stringify(ref) ?? 'nothing';
  expect(() => client.session(ref as unknown as SessionRef)).toThrow(
    invalid(`The session is invalid: got ${got}, allowed { agent, session }`),
  );
});

test.each([null, undefined, '', 5])('an approval is given to a workflow id: %j', async (workflowId) => {
  const got = JSON.stringify(workflowId) ?? 'nothing';
  const said = invalid(`The workflow id is invalid: got ${got}, allowed the \`workflowId\` of what waits`);
  const id = workflowId as unknown as string;
  await expect(client.approvals.approve(id)).rejects.toThrow(said);
  await expect(client.approvals.deny(id)).rejects.toThrow(said);
  await expect(client.approvals.of(id)).rejects.toThrow(said);
});

test('a list of one agent’s sessions or approvals refuses what is no id: the server would be asked something else', async () => {
  const agent = 'x" OR HoldfastAgent != "';
  const said = invalid(`The agent id is invalid: got ${JSON.stringify(agent)}`);
  await expect(client.sessions.list({ agent })).rejects.toThrow(said);
  await expect(client.approvals.list(agent)).rejects.toThrow(said);
});
