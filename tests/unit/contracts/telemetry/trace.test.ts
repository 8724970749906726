// `traceparent` of W3C Trace Context, and the header in which it travels.
import {
  commandSpan,
  contextInHeaders,
  headersWith,
  readTraceparent,
  writeTraceparent,
} from '../../../../contracts/telemetry/trace';

const context = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const text = `00-${context.traceId}-${context.spanId}-01`;

test('a context survives its text and its header', () => {
  expect(writeTraceparent(context)).toBe(text);
  expect(readTraceparent(text)).toEqual(context);
  expect(contextInHeaders(headersWith({}, context))).toEqual(context);
});

test('a later version with more fields is read as the one that is known', () => {
  expect(readTraceparent(`cc-${context.traceId}-${context.spanId}-01-what-the-future-will-be-like`)).toEqual(
    context,
  );
});

test.each([
  ['nothing', undefined],
  ['no text', 7],
  ['other text', 'hello'],
  ['an impossible version', text.replace('00-', 'ff-')],
  ['no trace', text.replace(context.traceId, '0'.repeat(32))],
  ['capitals', text.toUpperCase()],
  ['more than it may have', `${text}x`],
  ['one that is not to be sampled', text.replace(/01$/, '00')],
])('%s is no context', (_, given) => expect(readTraceparent(given)).toBeUndefined());

test('a header that somebody else has made up is no context', () => {
  expect(contextInHeaders({})).toBeUndefined();
  expect(contextInHeaders({ '_tracer-data': { metadata: {}, data: Buffer.from('{') } })).toBeUndefined();
  expect(contextInHeaders({ '_tracer-data': {} })).toBeUndefined();
});

test('the span of a command has the same id whoever tells it, and another in another trace', () => {
  expect(commandSpan(context, 'c1')).toEqual(commandSpan({ ...context, spanId: '1'.repeat(16) }, 'c1'));
  expect(commandSpan(context, 'c1').spanId).not.toBe(commandSpan(context, 'c2').spanId);
  expect(commandSpan({ ...context, traceId: '1'.repeat(32) }, 'c1').spanId).not.toBe(
    commandSpan(context, 'c1').spanId,
  );
  expect(commandSpan(context, 'c1').spanId).toMatch(/^[0-9a-f]{16}$/);
});
