// `turn`: one message in, one answer out. A loop of steps: a model call and the tool calls it asks for.
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  patched,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { AgentActivities } from '../contracts/activities';
import {
  DEFAULT_LIMITS,
  type EndReason,
  type Message,
  type ModelReply,
  type ToolCall,
  type ToolResult,
  type TurnError,
  type TurnInput,
  type TurnResult,
} from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { fitText, FULL_TURN_BYTES, MAX_TURN_BYTES } from '../contracts/payload-size';
import { fromFailure } from '../contracts/failure';
import { label } from '../contracts/labels';
import { transcriptQuery } from './agent-definitions';
import { callTool } from './tool-activities';
import { Transcript } from './transcript';
import { sessionOf, TurnProgress } from './turn-progress';

const { callModel } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '31 days',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
});

export async function turn(input: TurnInput): Promise<TurnResult> {
  const current = new Turn(input);
  setHandler(transcriptQuery, (request) => current.transcript.page(request), {
    description: 'The messages so far, by pages: {} or {"from":0,"limit":100}',
  });
  try {
    return await CancellationScope.withTimeout(current.limits.wallMs, () => current.run());
  } catch (err) {
    if (!isCancellation(err)) throw err;
    const stopped = CancellationScope.current().consideredCancelled;
    return current.result(stopped ? 'stopped' : 'time_limit');
  }
}

class Turn {
  readonly transcript = new Transcript();
  readonly limits: typeof DEFAULT_LIMITS;
  private steps = 0;
  private calls = 0;
  private readonly sessions = new Set<number>();
  private readonly progress: TurnProgress;

  constructor(private readonly input: TurnInput) {
    this.transcript.push({ role: 'user', text: input.message });
    this.limits = { ...DEFAULT_LIMITS, ...input.settings.limits };
    this.progress = new TurnProgress(input, this.limits.steps);
  }

  async run(): Promise<TurnResult> {
    let repairs = 0;
    while (this.steps < this.limits.steps) {
      if (this.isFull()) return this.result('size_limit');
      this.steps += 1;
      let reply: ModelReply;
      try {
        reply = await this.askModel();
      } catch (err) {
        if (isCancellation(err)) throw err;
        return this.result('model_error', null, errorOf(err));
      }
      const { text, parsed } = reply;
      this.transcript.push({ role: 'assistant', text, parsed });
      if (parsed.kind === 'answer') return this.result('answered', parsed.answer);
      if (parsed.kind === 'calls') {
        repairs = 0;
        this.progress.runs(parsed);
        await this.callTools(parsed.calls, parsed.headline);
        continue;
      }
      repairs += 1;
      const left = this.limits.formatRepairs - repairs;
      const problem = fitText(parsed.problem, SHOWN_BYTES);
      if (left < 0) {
        const error = new HoldfastError('format_error', { attempts: repairs, problem });
        return this.result('format_error', null, asData(error));
      }
      this.transcript.push({ role: 'repair', text: repairText(problem, left) });
    }
    return this.result('step_limit');
  }

  result(reason: EndReason, answer: string | null = null, error: TurnError | null = null): TurnResult {
    const { steps } = this;
    const { messages } = this.transcript;
    const sessions = [...this.sessions];
    const result = { answer: answer ?? lastProse(messages), reason, error, steps, messages, sessions };
    this.progress.ended(result);
    return result;
  }

  /**
   * What a turn returns is one payload, and a reply is its largest addition. Up to 0.1.0 a turn went on until
   * its result could not be recorded; the patch may go when no turn of 0.1.0 runs any more.
   */
  private isFull(): boolean {
    return this.transcript.bytes >= FULL_TURN_BYTES && patched('turn-size-limit');
  }

  private askModel(): Promise<ModelReply> {
    const { workflowId, runId } = workflowInfo();
    const { agent, settings, earlier } = this.input;
    const turn = { workflowId, runId, count: this.transcript.messages.length };
    const call = { agent, model: settings.model, tools: settings.tools, turn, earlier };
    this.progress.asksModel(this.steps);
    return callModel.executeWithOptions({ summary: label(`step ${this.steps}: ${settings.model}`) }, [call]);
  }

  /** Calls of one reply run in parallel; their results are recorded in the order of the calls. */
  private async callTools(calls: ToolCall[], headline: string | null): Promise<void> {
    const { agent, born, turn: number, settings } = this.input;
    const results = await Promise.all(
      calls.map(async (call) => {
        const session = sessionOf(call);
        if (session !== null) this.sessions.add(session);
        const key = `${born}/turn/${number}/${this.steps}/${call.callId}`;
        const summary = label(headline ?? '') || label(call.tool);
        const callsLeft = this.limits.toolCalls - ++this.calls;
        const invocation = { agent, key, call, settings, callsLeft };
        const result =
          callsLeft < 0 ? overBudget(call, this.limits.toolCalls) : await callTool(invocation, summary);
        this.progress.saw(call, result);
        return result;
      }),
    );
    for (const [index, result] of results.entries()) {
      // Near the end of the room each of the rest gets its part of it; the calls have run, so each is recorded.
      const room = (MAX_TURN_BYTES - this.transcript.bytes) / (results.length - index);
      const content = fitText(result.content, Math.max(0, room - MESSAGE_OVERHEAD_BYTES));
      this.transcript.push({ role: 'tool', ...result, content });
    }
  }
}

function overBudget({ callId, tool }: ToolCall, allowed: number): ToolResult {
  const { code, message } = new HoldfastError('budget_exceeded', {
    what: 'tool calls',
    got: allowed + 1,
    allowed,
  });
  return { callId, tool, content: `Error ${code}: ${message}`, isError: true };
}

/** A tool's message without its content. */
const MESSAGE_OVERHEAD_BYTES = 500;
const SHOWN_BYTES = 4_000;

const repairText = (problem: string, left: number): string =>
  `Your reply could not be used: ${problem} Nothing was run. ` +
  `Send the corrected reply; ${left === 0 ? 'this is the last attempt' : `${left} further attempts are left`}.`;

/** What there is of an answer when a turn ends without one. */
function lastProse(messages: Message[]): string | null {
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant' && message.parsed.kind === 'calls' && message.parsed.prose) {
      return message.parsed.prose;
    }
  }
  return null;
}

function errorOf(err: unknown): TurnError {
  const cause = err instanceof ActivityFailure ? err.cause : err;
  return asData(
    fromFailure(err) ?? new HoldfastError('model_failed', { reason: fitText(reasonOf(cause), SHOWN_BYTES) }),
  );
}

const asData = ({ code, message, facts }: HoldfastError): TurnError => ({ code, message, facts });
