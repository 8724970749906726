// Spans of attempts to run an activity. What an attempt sends belongs to the span that the workflow reports, not to the
// attempt's: one that is killed reports nothing, and nothing that follows from it may hang in the air.
import { randomBytes } from 'node:crypto';
import { CompleteAsyncError, type Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import { inTrace } from '../client/delivery/traced-client';
import { fromFailure } from '../contracts/errors/failure';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { ToolCall } from '../contracts/agents/agent';
import type { ModelCall } from '../contracts/models/model-call';
import type { PlannedReply } from '../contracts/models/model-reply';
import { contextInHeaders, type SpanData, type ReportSpan } from '../contracts/telemetry/trace';

export interface Tracing {
  reportSpan: ReportSpan;
  /** Whether spans hold what was said: replies, arguments, code. */
  content: boolean;
}

type Attributes = SpanData['attributes'];

/** For a worker's option `interceptors.activity`. */
export const tracedActivity =
  ({ reportSpan, content }: Tracing) =>
  ({ info }: Context): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        const parent = contextInHeaders(input.headers);
        if (!parent) return next(input);
        const startMs = Date.now();
        const { activityType, attempt } = info;
        const { attributes, ...span } = spanOf(activityType, input.args[0]);
        const end = (more: Attributes, error?: string): void =>
          reportSpan({
            ...{
              traceId: parent.traceId,
              spanId: randomBytes(8).toString('hex'),
              parentSpanId: parent.spanId,
            },
            ...{ startMs, endMs: Date.now(), error },
            ...span,
            attributes: {
              'holdfast.attempt': attempt,
              ...attributes,
              ...(content && contentOf(input.args[0])),
              ...more,
            },
          });
        try {
          const result = await inTrace(parent, () => next(input));
          end(activityType === 'callModel' ? ofReply(result as PlannedReply, content) : {});
          return result;
        } catch (err) {
          // It goes on elsewhere.
          if (err instanceof CompleteAsyncError) end({});
          else end({}, codeOf(err));
          throw err;
        }
      },
    },
  });

function spanOf(activityType: string, argument: unknown): Pick<SpanData, 'name' | 'kind' | 'attributes'> {
  if (activityType !== 'callModel' && activityType !== 'compact')
    return { name: `attempt of ${activityType}`, kind: 'internal', attributes: {} };
  const { model, agent } = argument as ModelCall;
  const [provider = '', ...name] = model.split(':');
  return {
    name: `chat ${name.join(':')}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': name.join(':'),
      'gen_ai.conversation.id': agent,
    },
  };
}

const ofReply = ({ usage, text }: PlannedReply, content: boolean): Attributes => ({
  ...(usage && {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'holdfast.cached_tokens': usage.cachedTokens,
    ...(usage.costUsd !== null && { 'holdfast.cost_dollars': usage.costUsd }),
  }),
  ...(content &&
    text !== undefined && {
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: text }] },
      ]),
    }),
});

function contentOf(argument: unknown): Attributes {
  const { call, code } = (argument ?? {}) as { call?: ToolCall; code?: unknown };
  return {
    ...(call && { 'gen_ai.tool.call.arguments': JSON.stringify(call.args) }),
    ...(typeof code === 'string' && { 'holdfast.code': code }),
  };
}

const codeOf = (err: unknown): string =>
  err instanceof HoldfastError
    ? err.code
    : (fromFailure(err)?.code ?? (err instanceof Error ? err.name : 'internal'));
