import {
  HoldfastError,
  isErrorCode,
  reasonOf,
  type ErrorCode,
  type ErrorFacts,
} from '../../../contracts/errors';

/** Facts as they are given where the error is thrown. A new code without a line here does not compile. */
const FACTS: Record<ErrorCode, ErrorFacts> = {
  invalid_input: { what: 'The session', got: '-1', allowed: 'a whole number' },
  unknown_tool: { got: 'x', allowed: 'input' },
  tool_invalid: { got: 'x y', allowed: 'name: a-z' },
  tool_name_taken: { got: 'My-Tool', before: 'my_tool' },
  tools_not_loaded: { got: '/tools.mjs', reason: 'no such file' },
  tool_failed: { tool: 'look_up', attempts: 5, reason: 'x' },
  mcp_tool_failed: { server: 'files', tool: 'read_file', reason: 'no such file' },
  mcp_server_lost: { server: 'files', tool: 'read_file', reason: 'it ended with 1' },
  mcp_server_down: { server: 'files', reason: 'it ended with 1' },
  tool_not_allowed: { got: 'shell', allowed: 'read_file' },
  would_deadlock: { session: 0, within: '0' },
  call_depth: { got: 5, allowed: 4 },
  agents_depth: {},
  agents_limit: { got: 3, allowed: 2 },
  dependency_failed: { got: 'call_1', reason: 'which failed' },
  agent_closed: { reason: 'it was stopped' },
  budget_exceeded: { what: 'tool calls', got: 11, allowed: 10 },
  values_full: { reason: 'calls of agent a hold 600 MiB, allowed 512 MiB' },
  script_ended: { reason: 'its shell has ended' },
  arm_refused: { session: 0, reason: 'no command runs in it' },
  call_cancelled: { tool: 'fetch', reason: 'its script has ended' },
  result_too_large: { tool: 'read_file', got: 20_000_000, allowed: 16_000_000 },
  arguments_too_large: { tool: 'write_file', got: 20_000_000, allowed: 16_000_000 },
  file_failed: { got: 'a.txt', action: 'written', reason: 'EACCES' },
  patch_failed: { reason: 'a.txt has no such line' },
  address_refused: { got: 'http://10.0.0.1/', reason: 'private' },
  fetch_failed: { got: 'http://x/', reason: 'refused' },
  not_found: { what: 'The agent', got: 'a' },
  busy: { session: 0, from: 0 },
  no_running_process: { session: 0 },
  input_too_long: { got: 5_000, allowed: 4_095 },
  input_queue_full: { session: 1, allowed: 1_000_000 },
  offset_out_of_range: { got: 9, allowed: 0 },
  id_conflict: { got: 'id' },
  answer_forgotten: { got: 'id' },
  result_undelivered: { tool: 'fetch', reason: 'host pi is offline' },
  arguments_unreachable: { tool: 'fetch', got: 70_000, at: 'host.pi', reason: 'it is offline' },
  session_limit: { agent: 'a', allowed: 64, closable: '1, 2' },
  session_closed: { session: 0, reason: 'idle' },
  session_elsewhere: { session: 0, host: 'pi' },
  worker_silent: { pid: 4711, reason: 'it is stopped by a signal' },
  session_lost: { session: 0, reason: 'killed' },
  draining: {},
  host_offline: { host: 'local', waitedMs: 0 },
  policy_denied: { reasons: 'destructive (line 1)' },
  approval_denied: { by: 'alice', reason: 'not here' },
  approval_expired: { waitedMs: 5, reasons: 'destructive' },
  approval_unknown: { got: 'x', allowed: 'y' },
  approval_needs_hash: { allowed: 'abc' },
  approval_changed: { got: 'aa', allowed: 'bb' },
  install_failed: { got: 'pandas', reason: 'no network' },
  host_taken: { host: 'pi', got: '/b on b', allowed: '/a on a', since: 'noon' },
  queue_taken: { queue: 'holdfast', allowed: '/a on a', differences: 'tool deploy (only there)' },
  no_remote_host: { got: 'none' },
  unknown_host: { host: 'pi', allowed: 'laptop' },
  ambiguous_host: { got: 'laptop, pi' },
  execution_disabled: { host: 'pi' },
  read_only_host: { host: 'pi', what: 'terminal' },
  protocol_mismatch: { host: 'pi', got: 2, version: '9.0.0', allowed: 1 },
  enrol_failed: { host: 'pi', reason: 'denied' },
  listen_failed: { host: 'pi', reason: 'the port is taken' },
  attach_refused: { host: 'pi', reason: 'it is not its token' },
  foreign_session: { got: 'laptop', host: 'pi' },
  no_worker: { taskQueue: 'holdfast', address: 'a:1' },
  workflow_stuck: { got: 'agent/a', attempts: 3 },
  no_server: { address: 'a:1', reason: 'refused' },
  deadline: { what: 'The session', waitedMs: 10 },
  storage_failed: { reason: 'no space left on device' },
  resources_exhausted: {
    resource: 'file descriptors',
    reason: 'too many open files',
    done: 'nothing was run',
  },
  log_lost: { from: 0, to: 4_000 },
  session_unreachable: {
    session: 3,
    pid: 77,
    state: 'stopped by a signal (T)',
    since: 'noon',
    delivered: 'nothing was sent to it',
  },
  terminal_failed: { reason: 'no pty' },
  sandbox_missing: { reason: 'there is no program bwrap on the PATH' },
  missing_program: { runtime: 'python', program: 'python3' },
  missing_packages: { modules: 'PIL (line 1)', packages: 'Pillow', installer: 'python3 -m pip install' },
  dependencies_failed: {},
  config_invalid: { faults: 'A; B' },
  engine_missing: { reason: 'none' },
  test_server_missing: { reason: 'no answer' },
  replay_failed: { got: 'turn agent/a/turn/1', reason: 'another activity' },
  engine_failed: { reason: 'port', log: '/log' },
  engine_moved: { got: 'a:1', before: 'a:2' },
  port_in_use: { got: 1 },
  worker_failed: { reason: 'x', log: '/log' },
  worker_running: { host: 'local', dataDir: '/data' },
  model_unknown: { got: 'x', allowed: 'scripted:NAME' },
  model_script_invalid: { file: 'f', faults: 'A' },
  model_script_exhausted: { got: 2, allowed: 1, last: 'hello', file: 'f' },
  model_script_mismatch: { index: 1, allowed: '/a/s', got: 'b', file: 'f' },
  agent_ended: { agent: 'a', how: 'it was cancelled' },
  model_failed: { reason: 'x' },
  model_rate_limit: { model: 'a:b', got: 'status 429', reason: 'x' },
  model_overloaded: { model: 'a:b', got: 'status 529', reason: 'x' },
  model_unreachable: { model: 'a:b', address: 'http://c', reason: 'x' },
  model_auth: { model: 'a:b', got: 'status 401', reason: 'x' },
  model_bad_request: { model: 'a:b', got: 'status 400', reason: 'x' },
  model_context_length: { model: 'a:b', got: 'status 400', reason: 'x' },
  format_error: { attempts: 3, problem: 'x' },
  unknown_outcome: { what: 'the call', reason: 'x' },
  payload_key_unknown: { got: '2026-10', allowed: '2026-11' },
  payload_not_authentic: { got: '12 bytes', key: '2026-11' },
  payload_moved: { got: 'agent/a', allowed: 'agent/b' },
  message_unsealed: { got: '"close" without a seal', allowed: 'messages of clients that have the keys' },
  payload_plaintext: { got: 'json/plain', allowed: 'binary/encrypted' },
  codec_refused: { got: 'GET /', allowed: 'POST /decode', next: 'Send that.' },
  secret_unknown: { got: 'A', allowed: 'B' },
  secret_not_allowed: { got: 'TOKEN', use: 'command of agent a on host local', allowed: 'agents deploy*' },
  secret_unusable: { got: 'A', reason: 'it is short' },
  node_too_old: { got: '18', allowed: '20' },
  output_failed: { reason: 'no space left on device' },
  wait_ended: { session: 1, reason: 'enough' },
  typist_busy: { session: 0, who: 'alice' },
  internal: { reason: 'x' },
};

const codes = Object.keys(FACTS) as ErrorCode[];

test.each(codes)('%s says what failed with its facts, and what to do next', (code) => {
  const error = new HoldfastError(code, FACTS[code]);
  expect(error.message).not.toMatch(/undefined|null|NaN|\[object/);
  expect(error.message).toMatch(/\S.* Next: \S/s);
  expect(error.message.endsWith(error.next)).toBe(true);
  for (const [name, value] of Object.entries(FACTS[code])) {
    expect([name, error.message]).toEqual([name, expect.stringContaining(String(value))]);
  }
});

test.each(codes)('%s has an exit code of sysexits, which no command of a user is mistaken for', (code) => {
  const { exitCode } = new HoldfastError(code, FACTS[code]);
  expect(exitCode).toBeGreaterThanOrEqual(64);
  expect(exitCode).toBeLessThanOrEqual(78);
});

/** Also of codes whose facts decide. */
const SAID: [ErrorCode, ErrorFacts][] = [
  ...codes.map((code): [ErrorCode, ErrorFacts] => [code, FACTS[code]]),
  ['host_offline', { host: 'pi', since: 'noon', reason: 'it is silent' }],
];

test.each(SAID)('%s says that nothing was done only where that is known (%j)', (code, facts) => {
  const { message, effect } = new HoldfastError(code, facts);
  expect(['none', 'possible', 'happened']).toContain(effect);
  const denies = /\bnothing (?:of \w+ )?(?:is|was|has been|were) \w+|\b(?:is|was) not (?:typed|delivered)\b/i;
  if (effect !== 'none') expect(message).not.toMatch(denies);
});

test.each([
  // Raised behind a command that was handed over, a call that was sent, an update that was accepted.
  ...(['session_lost', 'draining', 'no_worker', 'no_server', 'deadline', 'unknown_outcome'] as const),
  ...(['session_closed', 'agent_closed', 'mcp_server_lost', 'call_cancelled', 'internal'] as const),
])('%s promises nothing of the effect', (code) => {
  expect(new HoldfastError(code, FACTS[code]).effect).toBe('possible');
});

test.each(['result_undelivered', 'result_too_large', 'answer_forgotten'] as const)(
  '%s says that it was done',
  (code) => {
    const { effect, message } = new HoldfastError(code, FACTS[code]);
    expect([effect, message]).toEqual(['happened', expect.stringMatching(/ ran, but|was taken/)]);
  },
);

test.each(codes)('%s is plain JSON for programs', (code) => {
  const error = new HoldfastError(code, FACTS[code]);
  const { message, next, retryable, effect } = error;
  const facts = FACTS[code];
  expect(JSON.parse(JSON.stringify(error))).toEqual({ code, message, next, retryable, effect, facts });
});

test.each([
  ['busy', true],
  ['draining', true],
  ['host_offline', true],
  ['no_worker', true],
  ['deadline', true],
  ['invalid_input', false],
  ['id_conflict', false],
  ['session_lost', false],
  ['unknown_outcome', false],
  ['input_too_long', false],
] as const)('whether %s may be sent again unchanged: %s', (code, retryable) => {
  expect(new HoldfastError(code, FACTS[code]).retryable).toBe(retryable);
});

test('a code is one of the catalogue, and nothing that objects bring along', () => {
  expect(codes.every(isErrorCode)).toBe(true);
  expect(
    ['toString', 'constructor', '__proto__', 'hasOwnProperty', '', 'nope', undefined, null, 1].some(
      isErrorCode,
    ),
  ).toBe(false);
});

test.each([
  [new Error('a'), 'a'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [{ toString: (): string => 'own' }, 'own'],
])('the reason of a thrown value is its text', (thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});

test('an optional fact that is missing leaves no trace', () => {
  expect(new HoldfastError('not_found', { what: 'A', got: 'b' }).message).toMatch(
    /^A does not exist: got b\. Next:/,
  );
  expect(new HoldfastError('not_found', { what: 'A', got: 'b', allowed: 'c', next: 'Do.' }).message).toBe(
    'A does not exist: got b, allowed c. Next: Do.',
  );
});
