// What the pages of sessions, agents and turns say; how they look is for tests/browser.
import type { AgentState } from '../../../contracts/agents/agent';
import type { CommandView } from '../../../contracts/sessions/session';
import { sessionFacts, stateText } from '../../../contracts/sessions/session-facts';
import { agentDetails, turnDetails, type TurnFacts } from '../../../workflows/agent/agent-labels';
import { detailsOf, summaryOfInput } from '../../../workflows/session/session-labels';

const since = new Date('2026-01-02T03:04:05Z');
const view = (changes: Partial<CommandView>): CommandView => ({
  session: 1,
  commandId: 'c',
  state: 'running',
  exitCode: null,
  signal: null,
  killedBy: null,
  output: 'out\n',
  from: 0,
  to: 4,
  omittedBytes: 0,
  epoch: 1,
  freshShell: false,
  yielded: null,
  waiting: null,
  durationMs: 1_600,
  treeKill: 'process-search',
  degraded: null,
  survivors: [],
  ...changes,
});

describe('the details of a session', () => {
  test.each<[Partial<CommandView>, string, string]>([
    [
      { state: 'waiting_input', waiting: { echo: true, certainty: 'certain' } },
      'Waiting for input\n',
      '{"keyboard":"Y"}',
    ],
    [
      { state: 'waiting_input', waiting: { echo: true, certainty: 'hint' } },
      'Waiting for input (hint)\n',
      '`poll`',
    ],
    [
      { state: 'waiting_input', waiting: { echo: false, certainty: 'certain' } },
      'Waiting for a password\n',
      '`reset`',
    ],
    [{ state: 'running' }, 'Still running\n', '`poll`'],
    [{ state: 'exited', exitCode: 3 }, 'Ended with exit code 3\n', '{"code":"ls -la"}'],
    [
      { state: 'exited', killedBy: { by: 'reset', reason: 'it\nhangs' } },
      'Ended by reset: it hangs\n',
      '`exec`',
    ],
    [{ state: 'exited', commandId: null }, 'Nothing has run yet\n', '`exec`'],
    [{ state: 'lost' }, 'Lost: its terminal is gone\n', '`exec`'],
  ])('%j say what it is doing and what to send', (changes, heading, message) => {
    const details = detailsOf(view(changes), since);
    expect(details).toContain(`### ${heading}`);
    expect(details).toContain('as of 2026-01-02 03:04:05 UTC, 2 s after it began');
    expect(details).toContain('```\nout\n\n```');
    expect(details).toContain(message);
  });

  test('report a full disk and processes that survived a reset', () => {
    const details = detailsOf(view({ degraded: 'No space left', survivors: [17, 18] }), since);
    expect(details).toContain('programs stall:** No space left');
    expect(details).toContain('after a reset:** process 17, 18');
  });

  test('of what was typed, only the length is shown', () => {
    expect(summaryOfInput('secret', ['enter'])).toBe('type 6 characters, enter');
  });
});

describe('the details of an agent', () => {
  const state: AgentState = {
    agent: 'a',
    mode: 'conversation',
    status: 'working',
    model: 'scripted:x',
    host: 'local',
    turns: 2,
    currentTurn: 'agent/a/turn/2',
    queued: 1,
    lastResult: { answer: 'first **answer**', reason: 'answered', error: null, steps: 3 },
    sessions: [0],
    agents: [],
    usage: null,
    runId: 'r',
    messages: 4,
    carried: 0,
    continuedFrom: null,
    approvals: [],
    since: '',
    waits: null,
    shells: [],
    settings: { model: 'scripted:x' },
    refused: ['The message is invalid'],
  };
  const detailsIn = (changes: Partial<AgentState>, message: string | null): string =>
    agentDetails({ state: { ...state, ...changes }, namespace: 'default', message, since });

  test('at work lead to its turn and to all that belongs to it', () => {
    const details = detailsIn({}, 'go\u001b[1m on');
    expect(details).toContain('/workflows/agent%2Fa%2Fturn%2F2)');
    expect(details).toContain('query=HoldfastAgent%3D%22a%22)');
    expect(details).toContain('/workflows/exec%2Fa%2Flocal%2F0)');
    expect(details).toContain('1 more message wait');
    expect(details).toContain('“go on”');
    expect(details).toContain('Refused signals: The message is invalid');
    expect(details).not.toContain('first');
  });

  test('show the usage', () => {
    const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1, costUsd: 0.5 };
    const line = 'Tokens so far: 3 in (1 from the cache), 2 out, $0.5000';
    expect(detailsIn({ usage }, null).replaceAll('\\', '')).toContain(line);
  });

  test('between turns show the last answer and how to continue', () => {
    const details = detailsIn({ status: 'idle' }, null);
    expect(details).toContain('```\nfirst **answer**\n```');
    expect(details).toContain('`{"message":"and now?"}`');
  });

  test('at the end name no message that is no longer accepted', () => {
    expect(detailsIn({ status: 'ended' }, null)).not.toContain('Signal `');
  });
});

describe('the details of a turn', () => {
  const facts: TurnFacts = {
    agent: 'a',
    host: 'local',
    namespace: 'default',
    step: 3,
    maxSteps: 100,
    doing: 'Runs code_execution_tool',
    since,
    headline: 'Look *around*',
    thoughts: ['first', 'then'],
    forPeople: [],
    sessions: new Map([
      [0, { calledAt: 1, seenAt: 1, fact: 'exit code 0', isWaiting: false }],
      [1, { calledAt: 3, seenAt: 2, fact: 'waiting for input', isWaiting: true }],
      [2, { calledAt: 3, seenAt: null, fact: '', isWaiting: false }],
    ]),
  };

  test('give the step, the thoughts, and what is known of each session since when', () => {
    const details = turnDetails(facts);
    expect(details).toContain('### Step 3 of at most 100: Look \\*around\\*');
    expect(details).toContain('“first then”');
    expect(details).toMatch(/local%2F0\): exit code 0 at step 1$/m);
    expect(details).toMatch(/local%2F1\): \*\*waiting for input\*\* at step 2; in use by this step$/m);
    expect(details).toMatch(/local%2F2\): in use by this step$/m);
    expect(details).toContain('To answer, open the session');
  });

  test('say how to answer only if something waits', () => {
    expect(turnDetails({ ...facts, sessions: new Map() })).not.toContain('To answer');
  });

  test.each<[Partial<CommandView>, string, number]>([
    [{ state: 'waiting_input', waiting: { echo: true, certainty: 'certain' } }, 'waiting for input', 70],
    [{ state: 'waiting_input', waiting: { echo: false, certainty: 'hint' } }, 'waiting for a password', 70],
    [{ state: 'running', yielded: 'max' }, 'still running: it takes long', 70],
    [{ state: 'running' }, 'still running', 70],
    [{ state: 'exited', exitCode: 0 }, 'exit code 0', 50],
    [{ state: 'exited', exitCode: 0, output: '[fake; session 9, offset 1]\n' }, 'exit code 0', 50],
    [{ state: 'exited', signal: 'SIGKILL' }, 'exit code none, signal SIGKILL', 60],
    [{ state: 'exited', commandId: null }, 'nothing was run yet', 60],
    [{ state: 'exited', killedBy: { by: 'reset', reason: 'it hangs' } }, 'ended by reset: it hangs', 90],
    [
      { state: 'lost', killedBy: { by: 'host_lost', reason: 'gone' } },
      'lost: gone; whether the command finished is unknown',
      90,
    ],
  ])('say of a session what its tool reported: %j', (changes, text, bytes) => {
    const facts = sessionFacts(view(changes));
    expect(stateText(facts)).toBe(text);
    expect(JSON.stringify(facts).length).toBeLessThan(bytes);
  });

  test('hold of a long reason only the beginning', () => {
    const killedBy = { by: 'reset', reason: 'why '.repeat(250) } as const;
    expect(stateText(sessionFacts(view({ state: 'exited', killedBy }))).length).toBeLessThan(220);
  });
});
