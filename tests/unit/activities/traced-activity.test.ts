// Spans of attempts: what they hold, and what only if it is wanted.
import { CompleteAsyncError, type Context } from '@temporalio/activity';
import type { Next } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { tracedActivity } from '../../../activities/traced-activity';
import { traceHere } from '../../../client/delivery/traced-client';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { toFailure } from '../../../contracts/errors/failure';
import { headersWith, type SpanData } from '../../../contracts/telemetry/trace';

const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
const next =
  (work: () => unknown): Next<ActivityInboundCallsInterceptor, 'execute'> =>
  () =>
    Promise.resolve().then(work);

async function spanOf(
  activityType: string,
  argument: unknown,
  { work = (): unknown => undefined, content = false, headers = headersWith({}, parent) } = {},
): Promise<SpanData | undefined> {
  let told: SpanData | undefined;
  const context = { info: { activityType, attempt: 2 } } as Context;
  const { inbound } = tracedActivity({ reportSpan: (span) => (told = span), content })(context);
  await inbound?.execute?.({ args: [argument], headers }, next(work)).catch(() => undefined);
  return told;
}

const call = { call: { tool: 'deploy', callId: '1', args: { to: 'SAID' } }, code: 'SAID' };
const reply = {
  text: 'SAID',
  parsed: {},
  usage: { inputTokens: 9, outputTokens: 2, cachedTokens: 4, costUsd: 1 },
};

test('an attempt is part of the trace in its header, and without one there is no span', async () => {
  let seen: unknown;
  expect(await spanOf('runCommand', call, { work: () => (seen = traceHere()) })).toMatchObject({
    traceId: parent.traceId,
    parentSpanId: parent.spanId,
    attributes: { 'holdfast.attempt': 2 },
  });
  expect(seen).toEqual(parent);
  expect(await spanOf('runCommand', call, { headers: {} })).toBeUndefined();
  expect(await spanOf('runCommand', call, { headers: { '_tracer-data': {} } })).toBeUndefined();
});

test('a model call has the attributes of the GenAI conventions', async () => {
  const model = { model: 'mine:large:v2', agent: 'a' };
  expect(await spanOf('callModel', model, { work: () => reply })).toMatchObject({
    name: 'chat large:v2',
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'mine',
      'gen_ai.request.model': 'large:v2',
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 2,
    },
  });
});

test('replies, arguments and code are in a span only if they are wanted', async () => {
  const asked = { model: 'mine:large', agent: 'a' };
  expect(JSON.stringify(await spanOf('callModel', asked, { work: () => reply }))).not.toContain('SAID');
  expect(JSON.stringify(await spanOf('callTool', call))).not.toContain('SAID');
  const wanted = [
    await spanOf('callModel', asked, { work: () => reply, content: true }),
    await spanOf('callTool', call, { content: true }),
  ];
  expect(wanted[0]?.attributes['gen_ai.output.messages']).toContain('SAID');
  expect(wanted[1]?.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"to":"SAID"}',
    'holdfast.code': 'SAID',
  });
});

test('a failure is told by its code, never by its text; one that goes on elsewhere is none', async () => {
  const failing = (err: Error) => ({
    work: () => {
      throw err;
    },
  });
  const known = toFailure(new HoldfastError('model_failed', { reason: 'SAID' }));
  const span = await spanOf('callModel', { model: 'x:y' }, failing(known));
  expect(span?.error).toBe('model_failed');
  expect(JSON.stringify(span)).not.toContain('SAID');
  expect((await spanOf('callTool', call, failing(new TypeError('SAID'))))?.error).toBe('TypeError');
  expect((await spanOf('runCommand', call, failing(new CompleteAsyncError())))?.error).toBeUndefined();
});
