// `turn`: one message in, one answer out. A loop of steps: a model call and the tool calls it asks for.
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
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
  type TurnError,
  type TurnInput,
  type TurnResult,
} from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { isSessionNumber } from '../contracts/ids';
import { fromFailure } from '../contracts/failure';
import { transcriptQuery } from './agent-definitions';
import { transcriptPage } from './transcript';

const { callModel, callTool } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '31 days',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
});

export async function turn(input: TurnInput): Promise<TurnResult> {
  const current = new Turn(input);
  setHandler(transcriptQuery, (request) => transcriptPage(current.messages, request));
  try {
    return await CancellationScope.withTimeout(current.limits.wallMs, () => current.run());
  } catch (err) {
    if (!isCancellation(err)) throw err;
    const stopped = CancellationScope.current().consideredCancelled;
    return current.result(stopped ? 'stopped' : 'time_limit');
  }
}

class Turn {
  readonly messages: Message[];
  readonly limits: typeof DEFAULT_LIMITS;
  private steps = 0;
  private readonly sessions = new Set<number>();

  constructor(private readonly input: TurnInput) {
    this.messages = [{ role: 'user', text: input.message }];
    this.limits = { ...DEFAULT_LIMITS, ...input.settings.limits };
  }

  async run(): Promise<TurnResult> {
    let repairs = 0;
    while (this.steps < this.limits.steps) {
      this.steps += 1;
      let reply: ModelReply;
      try {
        reply = await this.askModel();
      } catch (err) {
        if (isCancellation(err)) throw err;
        return this.result('model_error', null, errorOf(err));
      }
      const { text, parsed } = reply;
      this.messages.push({ role: 'assistant', text, parsed });
      if (parsed.kind === 'answer') return this.result('answered', parsed.answer);
      if (parsed.kind === 'calls') {
        repairs = 0;
        setCurrentDetails(`**step ${this.steps}** ${parsed.headline ?? ''}\n\n${parsed.thoughts.join('\n')}`);
        await this.callTools(parsed.calls, parsed.headline);
        continue;
      }
      repairs += 1;
      const left = this.limits.formatRepairs - repairs;
      if (left < 0) {
        const error = new HoldfastError('format_error', { attempts: repairs, problem: parsed.problem });
        return this.result('format_error', null, asData(error));
      }
      this.messages.push({ role: 'repair', text: repairText(parsed.problem, left) });
    }
    return this.result('step_limit');
  }

  result(reason: EndReason, answer: string | null = null, error: TurnError | null = null): TurnResult {
    const { steps, messages, sessions } = this;
    return { answer: answer ?? lastProse(messages), reason, error, steps, messages, sessions: [...sessions] };
  }

  private askModel(): Promise<ModelReply> {
    const { workflowId, runId } = workflowInfo();
    const { agent, settings, earlier } = this.input;
    const turn = { workflowId, runId, count: this.messages.length };
    const call = { agent, model: settings.model, turn, earlier };
    return callModel.executeWithOptions({ summary: `step ${this.steps}: ${settings.model}` }, [call]);
  }

  /** Calls of one reply run in parallel; their results are recorded in the order of the calls. */
  private async callTools(calls: ToolCall[], headline: string | null): Promise<void> {
    const { agent, born, turn: number, settings } = this.input;
    const results = await Promise.all(
      calls.map(async (call) => {
        const { session = 0 } = call.args;
        if (isSessionNumber(session)) this.sessions.add(session);
        const key = `${born}/turn/${number}/${this.steps}/${call.callId}`;
        const summary = headline ?? call.tool;
        return callTool.executeWithOptions({ summary }, [{ agent, key, call, settings }]);
      }),
    );
    for (const result of results) this.messages.push({ role: 'tool', ...result });
  }
}

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
  return asData(fromFailure(err) ?? new HoldfastError('model_failed', { reason: reasonOf(cause) }));
}

const asData = ({ code, message, facts }: HoldfastError): TurnError => ({ code, message, facts });
