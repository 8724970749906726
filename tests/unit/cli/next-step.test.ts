// Commands that people are advised to run next.
import { nextStep, sameServer, sameSession } from '../../../cli/print/next-step';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

const SERVER = { data: "/it's mine", address: 'far:7233', namespace: 'own', profile: 'p' };

test('a next step leads to the server, the host and the session that were given, each quoted for a shell', () => {
  const server = ` --data '/it'\\''s mine' --address far:7233 --namespace own --profile p`;
  expect(sameServer(SERVER)).toBe(server);
  expect(sameServer({})).toBe('');
  expect(sameSession({ ...SERVER, agent: 'a', host: 'laptop', session: 2 })).toBe(
    ` --agent a --host laptop --session 2${server}`,
  );
  const limit = new HoldfastError('session_limit', { agent: 'a', allowed: 3, closable: false });
  expect(nextStep(limit, { agent: 'a', host: 'laptop', session: 2, data: 'd' })).toContain(
    '`holdfast reset --agent a --host laptop --data d --session N`',
  );
});

test.each([
  [new HoldfastError('not_found', { what: 'The agent', got: 'a' }), '`holdfast ps --data d`'],
  [new HoldfastError('agent_working', { agent: 'a', what: 'turn 2' }), '`holdfast recover a --data d`'],
  [new HoldfastError('approval_needs_hash', { allowed: 'h' }), '`holdfast approve ID --show --data d`'],
  [
    new HoldfastError('not_found', {
      what: 'x',
      got: 'y',
      next: 'Use `holdfast exec`, or `holdfast input TEXT`.',
    }),
    'Use `holdfast exec --agent a --session 2 --data d`, or `holdfast input --agent a --session 2 --data d TEXT`.',
  ],
  [
    new HoldfastError('not_found', { what: 'x', got: 'y', next: 'See `holdfast attach --host h --data d`.' }),
    'See `holdfast attach --host h --data d`.',
  ],
  // About a machine, which may be another one.
  [new HoldfastError('host_offline', { host: 'h', waitedMs: 1 }), '`holdfast host serve h`'],
])('a next step names the options that were given: %#', (error, command) => {
  expect(nextStep(error, { agent: 'a', host: 'local', session: 2, data: 'd' })).toContain(command);
});

test('a session that a next step closes or resets is one of the agent, host and server that were given', () => {
  const given = { agent: 'a', host: 'laptop', session: 3, data: 'd' };
  const idle = new HoldfastError('session_limit', { agent: 'a', allowed: 3, closable: '1, 2' });
  expect(nextStep(idle, given)).toContain('`holdfast close --agent a --host laptop --data d --session N`');
  const facts = { delivered: 'nothing was sent', pid: 1, session: 3, since: 'now', state: 'stopped' };
  const next = nextStep(new HoldfastError('session_unreachable', facts), given);
  for (const command of ['reset', 'close'])
    expect(next).toContain(`\`holdfast ${command} --agent a --host laptop --data d --session 3\``);
});
