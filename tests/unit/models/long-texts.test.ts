// What others wrote may be long and hostile: reading it blocks the worker's event loop, so the work may grow no faster
// than the text. The bound is generous: work that grows with the square takes minutes for these texts.
import { createDialects } from '../../../models/dialects/dialects';
import { withMendedCode } from '../../../models/dialects/escaped-code';
import { taggedResults } from '../../../models/dialects/tagged-results';
import { redact } from '../../../models/http/redact';
import { ThinkFilter } from '../../../models/http/think-filter';

const SIZE = 200_000;
const MAX_MS = 20_000;
const long = (part: string): string => part.repeat(SIZE / part.length);
const dialects = createDialects();

const inPieces = (text: string): void => {
  const filter = new ThinkFilter(() => undefined);
  for (let at = 0; at < text.length; at += 2) filter.push(text.slice(at, at + 2));
  filter.end();
};

const mend = (code: string, runtime: string): unknown =>
  withMendedCode(
    { callId: 'a', tool: 'x', args: { code, runtime } },
    { argumentRoles: { code: 'code', runtime: 'runtime' } },
  );

const native = (args: string): unknown =>
  dialects('native').parse({ text: '', calls: [{ id: 'a', tool: 'x', args }] });

/** One more equals sign in each line, in ten megabytes: each shorter mark is taken. */
const sectionLines = Array.from({ length: 4_500 }, (_, at) => `${'='.repeat(at)} `).join('\n');
const shown = (content: string): Parameters<typeof taggedResults>[0][number] => ({
  ...{ callId: 'a', tool: 'x', isError: false, content },
});

test.each<[string, () => unknown]>([
  ['an error page without blanks', () => redact(long('x'), ['secret'])],
  ['an error page of stars', () => redact(long('*a'), ['secret'])],
  ['thinking that streams', () => inPieces(`<think>${long('a')}`)],
  ['blanks that stream', () => inPieces(long(' '))],
  ['a streamed text of tags', () => inPieces(`<think>${long('</thin')}`)],
  ['code of escaped quotes', () => mend(`x=1\\n'${long("\\'")}`, 'python')],
  ['arguments of escapes', () => native(JSON.stringify({ a: long('\n"') }))],
  ['arguments of brackets', () => native(`${'['.repeat(SIZE)}${']'.repeat(SIZE)}`)],
  ['results whose lines begin like sections', () => taggedResults([shown(sectionLines)])],
  ['arguments that end nowhere', () => native(long('{"a":'))],
])('the work for %s grows no faster than the text', (_name, work) => {
  const began = performance.now();
  work();
  expect(performance.now() - began).toBeLessThan(MAX_MS);
});

describe.each(['agent-json', 'tagged', 'native'] as const)('a reply in the dialect %s', (name) => {
  test.each([
    ' ',
    '`',
    '{',
    '"',
    '```a\n \n',
    '<think>',
    '</think>',
    '<think></think>',
    '<tool></tool>',
    '{"tool_name":1}',
    '<tool>[{}]</tool></think>',
  ])('of many %j is read in time', (part) => {
    const began = performance.now();
    dialects(name).parse({ text: `${long('x')}${long(part)}\n!`, calls: [] });
    dialects(name).parse({ text: long(part), calls: [] });
    expect(performance.now() - began).toBeLessThan(MAX_MS);
  });
});
