// Traces in workflows: the context of a message goes on to all that follows from it, and each activity, turn and update
// has a span. Everything here follows from headers, which are in history, and nothing is awaited: a later turn of the
// event loop would change the order of commands. Without headers it does nothing. Ids come from a random stream of their
// own, so that a replay makes the same.
import {
  AsyncLocalStorage,
  ContinueAsNew,
  getRandomStream,
  proxySinks,
  workflowInfo,
  type ActivityInput,
  type Sinks,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import type { ToolCall, TurnInput, TurnResult } from '../../contracts/agents/agent';
import { fromFailure } from '../../contracts/errors/failure';
import { WORKFLOWS } from '../../contracts/messages';
import {
  contextInHeaders,
  headersWith,
  type SpanData,
  type ReportSpan,
  type TraceContext,
} from '../../contracts/telemetry/trace';

export interface SpanSinks extends Sinks {
  holdfastSpans: { report: ReportSpan };
}

type Begun = Pick<SpanData, 'name' | 'kind' | 'attributes'>;
type Inbound<K extends keyof WorkflowInboundCallsInterceptor> = NonNullable<
  WorkflowInboundCallsInterceptor[K]
>;
type Outbound<K extends keyof WorkflowOutboundCallsInterceptor> = NonNullable<
  WorkflowOutboundCallsInterceptor[K]
>;

class Traced
  implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor, WorkflowInternalsInterceptor
{
  /** Made for the first header: most workflows have none. */
  private storage: InstanceType<typeof AsyncLocalStorage<TraceContext>> | undefined;
  /** The trace of the start. */
  private base: TraceContext | undefined;
  /** The trace of the last message: an agent's next turn follows from that. */
  private latest: TraceContext | undefined;

  execute: Inbound<'execute'> = (input, next) => {
    this.base = contextInHeaders(input.headers);
    if (!this.base) return next(input);
    if (workflowInfo().workflowType !== WORKFLOWS.turn) return this.within(this.base, () => next(input));
    const [{ agent, turn, settings }] = input.args as [TurnInput];
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': agent,
      'gen_ai.conversation.id': agent,
      'gen_ai.request.model': settings.model,
      'holdfast.turn': turn,
    };
    const span = { name: 'invoke_agent', kind: 'internal', attributes } as const;
    return this.spanning(this.base, span, () => next(input), outcomeOfTurn);
  };

  handleSignal: Inbound<'handleSignal'> = (input, next) => {
    const context = contextInHeaders(input.headers);
    if (!context) return next(input);
    this.latest = context;
    return this.within(context, () => next(input));
  };

  handleUpdate: Inbound<'handleUpdate'> = (input, next) => {
    const context = contextInHeaders(input.headers);
    if (!context) return next(input);
    this.latest = context;
    const attributes = { 'holdfast.workflow': workflowInfo().workflowId };
    const span = { name: `update ${input.name}`, kind: 'server', attributes } as const;
    return this.spanning(context, span, () => next(input));
  };

  scheduleActivity: Outbound<'scheduleActivity'> = (input, next) => {
    const parent = this.storage?.getStore();
    if (!parent) return next(input);
    return this.spanning(parent, spanOf(input), (context) =>
      next({ ...input, headers: headersWith(input.headers, context) }),
    );
  };

  startChildWorkflowExecution: Outbound<'startChildWorkflowExecution'> = (input, next) => {
    // An agent starts its turns in its own loop, not where it takes messages.
    const ofTurn = input.workflowType === WORKFLOWS.turn ? this.latest : undefined;
    const context = ofTurn ?? this.storage?.getStore();
    return next(context ? { ...input, headers: headersWith(input.headers, context) } : input);
  };

  signalWorkflow: Outbound<'signalWorkflow'> = (input, next) => {
    const context = this.storage?.getStore();
    return next(context ? { ...input, headers: headersWith(input.headers, context) } : input);
  };

  continueAsNew: Outbound<'continueAsNew'> = (input, next) =>
    next(this.base ? { ...input, headers: headersWith(input.headers, this.base) } : input);

  dispose: NonNullable<WorkflowInternalsInterceptor['dispose']> = (input, next) => {
    this.storage?.disable();
    next(input);
  };

  private within<T>(context: TraceContext, work: () => T): T {
    this.storage ??= new AsyncLocalStorage<TraceContext>();
    return this.storage.run(context, work);
  }

  /** Returns the promise of `work` itself. */
  private spanning<T>(
    parent: TraceContext,
    span: Begun,
    work: (context: TraceContext) => Promise<T>,
    describe: (result: T) => SpanData['attributes'] = () => ({}),
  ): Promise<T> {
    const context = { traceId: parent.traceId, spanId: newSpanId() };
    const startMs = Date.now();
    const end = (more: Partial<SpanData> & Pick<SpanData, 'attributes'>): void =>
      proxySinks<SpanSinks>().holdfastSpans.report({
        ...{ ...context, parentSpanId: parent.spanId, startMs, endMs: Date.now() },
        ...{ ...span, ...more, attributes: { ...span.attributes, ...more.attributes } },
      });
    const done = this.within(context, () => work(context));
    done.then(
      (result) => end({ attributes: describe(result) }),
      (err: unknown) =>
        end({ attributes: {}, ...(!(err instanceof ContinueAsNew) && { error: codeOf(err) }) }),
    );
    return done;
  }
}

const newSpanId = (): string => getRandomStream('holdfast/trace').uuid4().replaceAll('-', '').slice(16);

const codeOf = (err: unknown): string =>
  fromFailure(err)?.code ?? (err instanceof Error ? err.name : 'internal');

/** Tools by their names, the rest by that of the activity. */
function spanOf({ activityType, args }: ActivityInput): Begun {
  const call = (args[0] as { call?: ToolCall } | undefined)?.call;
  if (!call) return { name: activityType, kind: 'internal', attributes: {} };
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.tool,
    'gen_ai.tool.call.id': call.callId,
  };
  return { name: `execute_tool ${call.tool}`, kind: 'internal', attributes };
}

function outcomeOfTurn(result: unknown): SpanData['attributes'] {
  const { reason, steps, usage } = result as TurnResult;
  return {
    'holdfast.outcome': reason,
    'holdfast.steps': steps,
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
    }),
  };
}

/** For Temporal's bundler. */
export const interceptors = (): WorkflowInterceptors => {
  const traced = new Traced();
  return { inbound: [traced], outbound: [traced], internals: [traced] };
};
