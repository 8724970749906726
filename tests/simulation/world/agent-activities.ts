// A model of what runs beside agents: their model, their tools, and what they ask of their sessions. What a model answers is
// in the message of its turn: a word for each step.
import type { ParsedReply, ToolCall, ToolResult, TurnInput } from '../../../contracts/agents/agent';
import type { CloseSessionsInput, ResetSessionsInput } from '../../../contracts/activities';
import { subAgentId } from '../../../contracts/agents/sub-agents';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { parseSessionWorkflowId, sessionWorkflowId } from '../../../contracts/ids';
import { quotaWorkflowId } from '../../../contracts/models/daily-quota';
import type { ModelCall } from '../../../contracts/models/model-call';
import type { PlannedReply } from '../../../contracts/models/model-reply';
import type { ToolHold } from '../../../contracts/tools/approvals';
import type { ToolInvocation } from '../../../contracts/tools/tools';
import { failedCall } from '../../../contracts/tools/failed-call';
import { valuesOf } from '../server/payloads';
import type { SimulatedServer } from '../server/server';
import type { Activities, Work } from './activity-worker';
import type { Clients } from './client';
import type { Answer, Facts } from './facts';
import type { Workspaces } from './workspaces';

/** What a step of a turn may be. `spawn` starts a sub-agent and `await` waits for the first one. */
export const WORDS = ['call', 'held', 'shell', 'both', 'spawn', 'await', 'broken'] as const;
/** Of agents whose models and limits are in the way. */
export const HARD_WORDS = ['fails', 'full', 'long', 'quota', 'late', 'denied', 'needs', 'nothing'] as const;
/** A step that may change files. */
export const FILE_WORDS = ['change', 'change', 'held-change'] as const;
export type Word = (typeof WORDS)[number] | (typeof HARD_WORDS)[number] | (typeof FILE_WORDS)[number];

const LOOK_MS = 200;
const HOUR_MS = 3_600_000;
/** Longer than a session keeps the caller of a tool waiting. */
const SLOW_MS = 5_000;
const QUOTA = { got: 1, allowed: 1, until: 'tomorrow' };
const TOKENS = { inputTokens: 1, outputTokens: 0, cachedTokens: 0, costUsd: null };
const FULL = { ...TOKENS, inputTokens: 9, costUsd: 0.5 };

export const answerTo = (message: string): string => `answer to ${message}`;

export class AgentActivities {
  /** Keys of tools that may run once, as far as a disk knows. */
  private readonly begun = new Set<string>();
  /** Keys of model calls that were refused once. */
  private readonly refused = new Set<string>();

  constructor(
    private readonly server: SimulatedServer,
    private readonly facts: Facts,
    private readonly clients: Clients,
    private readonly workspaces: Workspaces,
  ) {}

  activities = (): Activities => ({
    callModel: (work, call: ModelCall) => {
      const answer = (): void => work.complete(this.reply(call));
      if (this.wordOf(call) === 'late') work.later(2 * HOUR_MS, `the model answers ${call.key} late`, answer);
      else work.then(`the model answers ${call.key}`, answer);
    },
    awaitQuota: (work) => {
      if (work.attempt.number < 3) throw new HoldfastError('quota_reached', QUOTA);
      work.complete();
    },
    invokeTool: (work, input: ToolInvocation) => this.invokeTool(work, input),
    compact: (work) =>
      work.then('the model sums up', () => work.complete({ text: 'a summary', isCut: false, usage: TOKENS })),
    callTool: (work, input: ToolInvocation) => this.callTool(work, input),
    closeSessions: (work, input: CloseSessionsInput) => this.closeSessions(work, input),
    resetSessions: (work, input: ResetSessionsInput) => this.resetSessions(work, input),
  });

  private messageOf({ turn }: ModelCall): string {
    const run = this.server.latest(turn.workflowId);
    const [input] = valuesOf(run?.start.args) as [TurnInput | undefined];
    return input?.message ?? '';
  }

  private wordOf(call: ModelCall): Word | undefined {
    return this.messageOf(call).split(' ')[stepOf(call)] as Word | undefined;
  }

  private reply(call: ModelCall): PlannedReply {
    const { agent, key, model, turn } = call;
    // The counter is beside the agents; nobody waits for it.
    const use = { run: turn.runId, messages: turn.count, tokens: 1, costUsd: null };
    this.clients.signal(quotaWorkflowId('holdfast'), 'used', use);
    const message = this.messageOf(call);
    const step = stepOf(call);
    const word = this.wordOf(call);
    const refusal = word && refusalOf(word, model);
    if (refusal && (word === 'fails' || !this.refused.has(key))) {
      this.refused.add(key);
      throw refusal;
    }
    this.facts.add({ is: 'model-called', key, of: agent, message });
    if (word === 'broken')
      return { text: 'nothing', parsed: { kind: 'malformed', problem: 'broken' }, usage: TOKENS };
    if (!word) return { parsed: { kind: 'answer', answer: answerTo(message) }, usage: TOKENS };
    const calls = callsOf(word, agent, step);
    const parsed: ParsedReply = { kind: 'calls', calls, headline: null, thoughts: [], prose: '' };
    if (word === 'full') return { parsed, usage: FULL, window: 10 };
    const isChange = word === 'change' || word === 'held-change';
    const spawns = calls.filter(({ tool }) => tool === 'spawn_agent');
    const prompt = `for-${message.split(' ')[0]} held`;
    const plans = Object.fromEntries(spawns.map(({ callId }) => [callId, { role: 'helper', prompt }]));
    return {
      ...{ parsed, usage: TOKENS, ...(spawns.length > 0 && { plans }) },
      ...(isChange && { checkpoint: true as const }),
    };
  }

  /** Of a script. One that may run again has its effect once all the same. */
  private invokeTool(work: Work, { key, call, agent }: ToolInvocation): void {
    const { word } = call.args;
    const question = call.callId;
    if (word === 'there' && !call.hold) return work.complete({ held: holdOf(question) });
    const run = (): void => {
      const isRepeated = word === 'again' || word === 'slow';
      if (!isRepeated || !this.begun.has(key))
        this.facts.add({ is: 'effect', key, of: agent, isHeld: call.hold !== undefined, question });
      this.begun.add(key);
      work.then(`the tool of ${key} is done`, () => work.complete({ ok: true, value: 'done' }));
    };
    if (word === 'slow') work.later(SLOW_MS, `the slow tool of ${key} runs`, run);
    else work.then(`the tool of ${key} runs`, run);
  }

  private callTool(work: Work, { key, call, agent, wantsValue }: ToolInvocation): void {
    if (call.tool === 'shell') return this.shell(work, agent, key, call);
    // Another attempt cannot know whether the one before had its effect.
    if (work.attempt.number > 1 && this.begun.has(key)) {
      const facts = { what: `the call to ${call.tool}`, reason: 'its worker was lost' };
      return work.complete(failedCall(call, new HoldfastError('unknown_outcome', facts)));
    }
    this.begun.add(key);
    work.then(`the tool of ${key} runs`, () => {
      this.facts.add({ is: 'effect', key, of: agent, isHeld: call.hold !== undefined, question: key });
      this.workspaces.change(agent);
      const value = wantsValue ? { value: 'done' } : {};
      work.then(`the tool of ${key} is done`, () => work.complete({ ...resultOf(call, 'done'), ...value }));
    });
  }

  private shell(work: Work, agent: string, key: string, call: ToolCall): void {
    const workflowId = sessionWorkflowId({ agent, host: 'local', session: 0 });
    const code = `quick #${key}`;
    const request = { id: key, workflowId, message: 'exec', content: { id: key, code } };
    const start = { type: 'execSession', args: [{}] };
    this.clients.askFor({ ...request, start }, work.life, (answer) =>
      work.then(`the shell of ${key} has answered`, () => work.complete(resultOf(call, textOf(answer)))),
    );
  }

  private closeSessions(work: Work, { agent, reason }: CloseSessionsInput): void {
    const open = (): string[] => this.sessionsOf(agent);
    for (const workflowId of open()) this.server.signalIfOpen(workflowId, 'close', { reason });
    const look = (): void => {
      if (open().length === 0) work.complete();
      else work.later(LOOK_MS, `a look at the sessions of ${agent}`, look);
    };
    work.then(`a look at the sessions of ${agent}`, look);
  }

  private resetSessions(work: Work, { agent, reason }: ResetSessionsInput): void {
    const open = this.sessionsOf(agent);
    let left = open.length;
    const done = (): void => {
      left -= 1;
      if (left <= 0) work.then(`the sessions of ${agent} are reset`, () => work.complete());
    };
    if (open.length === 0) return done();
    for (const workflowId of open) {
      const id = `${work.attempt.token}/${workflowId}`;
      this.clients.askFor({ id, workflowId, message: 'reset', content: { id, reason } }, work.life, done);
    }
  }

  private sessionsOf(agent: string): string[] {
    return [...this.server.workflows.keys()].filter(
      (id) => parseSessionWorkflowId(id)?.agent === agent && this.server.open(id),
    );
  }
}

const stepOf = ({ key }: ModelCall): number => Number(key.split('/').at(-1));

function refusalOf(word: Word, model: string): HoldfastError | undefined {
  if (word === 'fails') return new HoldfastError('model_failed', { reason: 'it is broken' });
  if (word === 'quota') return new HoldfastError('quota_reached', QUOTA);
  return word === 'long'
    ? new HoldfastError('model_context_length', { model, got: 2, reason: 'too long' })
    : undefined;
}

/** What a policy holds a call of a script for. */
export const holdOf = (id: string): ToolHold => ({
  ...{
    hash: `hash of ${id}`,
    reasons: [{ rule: 'risky', found: 'it is' }],
    expiresMs: 600_000,
    what: 'a call',
  },
  place: { host: 'local', cwd: null },
});

function callsOf(word: Exclude<Word, 'broken'>, agent: string, step: number): ToolCall[] {
  const call = (tool: string, callId = `${tool}-${step}`): ToolCall => ({ callId, tool, args: {} });
  const reasons = [{ rule: 'risky', found: 'it is', verdict: 'risky' }] as never;
  const place = { host: 'local', cwd: null };
  const hold = { hash: `hash of ${step}`, reasons, expiresMs: 600_000, what: 'a call', place };
  switch (word) {
    case 'call':
    case 'change':
    case 'fails':
    case 'full':
    case 'long':
    case 'quota':
    case 'late':
      return [call('effect')];
    case 'nothing':
      return [];
    case 'denied':
      return [{ ...call('effect'), denied: 'it is forbidden' }];
    case 'needs':
      return [
        call('effect', 'first'),
        { ...call('effect', 'second'), needs: ['first'], args: { of: '$first' } },
      ];
    case 'held':
    case 'held-change':
      return [{ ...call('effect'), hold }];
    case 'both':
      return [call('effect', `one-${step}`), { ...call('effect', `two-${step}`), hold }];
    case 'shell':
      return [{ ...call('shell'), facts: { session: 0 } }];
    case 'spawn':
      return [call('spawn_agent')];
    case 'await': {
      const agent_ids = [subAgentId(agent, 'helper', 1)];
      return [{ ...call('wait_for_agents'), runsOn: 'turn', args: { agent_ids, timeout_ms: 120_000 } }];
    }
  }
}

const resultOf = ({ callId, tool }: ToolCall, content: string): ToolResult => ({
  ...{ callId, tool, content },
  isError: false,
});

const textOf = (answer: Answer): string =>
  answer.is === 'refused' ? `Error ${answer.error.code}: ${answer.error.message}` : answer.is;
