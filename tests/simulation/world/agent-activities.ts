// A model of what runs beside agents: their model, their tools, and what they ask of their sessions. What a model answers is
// in the message of its turn: a word for each step.
import type { ParsedReply, ToolCall, ToolResult, TurnInput } from '../../../contracts/agents/agent';
import type { CloseSessionsInput, ResetSessionsInput } from '../../../contracts/activities';
import { subAgentId } from '../../../contracts/agents/sub-agents';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { parseSessionWorkflowId, sessionWorkflowId } from '../../../contracts/ids';
import type { ModelCall } from '../../../contracts/models/model-call';
import type { PlannedReply } from '../../../contracts/models/model-reply';
import type { ToolInvocation } from '../../../contracts/tools/tools';
import { failedCall } from '../../../contracts/tools/failed-call';
import { valuesOf } from '../server/payloads';
import type { SimulatedServer } from '../server/server';
import type { Activities, Work } from './activity-worker';
import type { Clients } from './client';
import type { Answer, Facts } from './facts';

/** What a step of a turn may be. `spawn` starts a sub-agent and `await` waits for the first one. */
export const WORDS = ['call', 'held', 'shell', 'both', 'spawn', 'await', 'broken'] as const;
export type Word = (typeof WORDS)[number];

const LOOK_MS = 200;
const TOKENS = { inputTokens: 1, outputTokens: 0, cachedTokens: 0, costUsd: null };

export const answerTo = (message: string): string => `answer to ${message}`;

export class AgentActivities {
  /** Keys of tools that may run once, as far as a disk knows. */
  private readonly begun = new Set<string>();

  constructor(
    private readonly server: SimulatedServer,
    private readonly facts: Facts,
    private readonly clients: Clients,
  ) {}

  activities = (): Activities => ({
    callModel: (work, call: ModelCall) =>
      work.then(`the model answers ${call.key}`, () => work.complete(this.reply(call))),
    compact: (work) =>
      work.then('the model sums up', () => work.complete({ text: 'a summary', isCut: false, usage: TOKENS })),
    callTool: (work, input: ToolInvocation) => this.callTool(work, input),
    closeSessions: (work, input: CloseSessionsInput) => this.closeSessions(work, input),
    resetSessions: (work, input: ResetSessionsInput) => this.resetSessions(work, input),
  });

  private reply({ agent, turn, key = '' }: ModelCall): PlannedReply {
    const run = this.server.latest(turn?.workflowId ?? '');
    const [input] = valuesOf(run?.start.args) as [TurnInput | undefined];
    const message = input?.message ?? '';
    const step = Number(key.split('/').at(-1));
    const word = message.split(' ')[step] as Word | undefined;
    this.facts.add({ is: 'model-called', key, of: agent, message });
    if (word === 'broken')
      return { text: 'nothing', parsed: { kind: 'malformed', problem: 'broken' }, usage: TOKENS };
    if (!word) return { parsed: { kind: 'answer', answer: answerTo(message) }, usage: TOKENS };
    const calls = callsOf(word, agent, step);
    const parsed: ParsedReply = { kind: 'calls', calls, headline: null, thoughts: [], prose: '' };
    const spawns = calls.filter(({ tool }) => tool === 'spawn_agent');
    const prompt = `for-${message.split(' ')[0]} held`;
    const plans = Object.fromEntries(spawns.map(({ callId }) => [callId, { role: 'helper', prompt }]));
    return { parsed, usage: TOKENS, ...(spawns.length > 0 && { plans }) };
  }

  private callTool(work: Work, { key, call, agent }: ToolInvocation): void {
    if (call.tool === 'shell') return this.shell(work, agent, key, call);
    // Another attempt cannot know whether the one before had its effect.
    if (work.attempt.number > 1 && this.begun.has(key)) {
      const facts = { what: `the call to ${call.tool}`, reason: 'its worker was lost' };
      return work.complete(failedCall(call, new HoldfastError('unknown_outcome', facts)));
    }
    this.begun.add(key);
    work.then(`the tool of ${key} runs`, () => {
      this.facts.add({ is: 'effect', key, of: agent, isHeld: call.hold !== undefined });
      work.then(`the tool of ${key} is done`, () => work.complete(resultOf(call, 'done')));
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

function callsOf(word: Exclude<Word, 'broken'>, agent: string, step: number): ToolCall[] {
  const call = (tool: string, callId = `${tool}-${step}`): ToolCall => ({ callId, tool, args: {} });
  const reasons = [{ rule: 'risky', found: 'it is', verdict: 'risky' }] as never;
  const place = { host: 'local', cwd: null };
  const hold = { hash: `hash of ${step}`, reasons, expiresMs: 600_000, what: 'a call', place };
  switch (word) {
    case 'call':
      return [call('effect')];
    case 'held':
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
