// A test environment whose payloads are encrypted behaves as production does: its client seals what it sends.
import { randomBytes } from 'node:crypto';
import { encryptedPayloads } from '../../../encryption';
import { HoldfastTestEnvironment, scriptedModel, simulatedHost, toolCall } from '../../../testing';

const keys = [{ id: 'k', env: 'KEY' }];
const converter = (required: boolean): ReturnType<typeof encryptedPayloads> =>
  encryptedPayloads({ keys, required }, { KEY: randomBytes(32).toString('base64') });

test('with encryption required, the test itself types into, reads and resets an agent’s session', async () => {
  const host = simulatedHost({
    './deploy': { output: 'Deploy? ', onInput: (answer) => `deploying: ${answer}\n` },
  });
  const env = await HoldfastTestEnvironment.createLocal({ host, dataConverter: converter(true) });
  try {
    const deploy = toolCall('code_execution_tool', { runtime: 'terminal', code: './deploy' });
    const model = scriptedModel([deploy, { expect: 'waiting for input', text: 'It asks.' }]);
    const agent = env.agent('deployer');
    await agent.start({ mode: 'conversation', task: 'Deploy it', model: env.model(model) });
    expect(await env.turn('deployer')).toMatchObject({ answer: 'It asks.' });

    const session = env.session({ agent: 'deployer', session: 0 });
    expect(await session.input({ keyboard: 'yes' })).toMatchObject({
      state: 'exited',
      output: 'yes\ndeploying: yes\n',
    });
    expect(await session.output({ from: 0 })).toMatchObject({ output: 'Deploy? yes\ndeploying: yes\n' });
    expect(await session.reset()).toMatchObject({ epoch: 2 });
    await agent.stop();
  } finally {
    await env.close();
  }
}, 60_000);

test('where time is skipped, required encryption is refused at once, with what to use instead', async () => {
  const made = HoldfastTestEnvironment.createTimeSkipping({ dataConverter: converter(true) });
  await expect(made).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/dataConverter: .*without `required`.*createLocal\(\) takes it/) as string,
  });
});

const skippingTest = process.env.HOLDFAST_TEST_SERVER ? test : test.skip;

skippingTest(
  'where time is skipped, payloads can be encrypted, in sessions of later days, too',
  async () => {
    const host = simulatedHost({ date: 'later\n' });
    const env = await HoldfastTestEnvironment.createTimeSkipping({ host, dataConverter: converter(false) });
    try {
      await env.sleep(24 * 3_600_000);
      const session = env.session({ agent: 'later', session: 0 });
      expect(await session.exec({ code: 'date' })).toMatchObject({ output: 'later\n' });
    } finally {
      await env.close();
    }
  },
  60_000,
);
