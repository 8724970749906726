// Raw replies and how they are parsed, with code that was escaped twice repaired: tests/fixtures/dialects/
// NAME.replies.yaml, with the examples of the tools' documentation letter by letter. UPDATE_GOLDEN=1 writes the current
// results; read the diff before you commit it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { DIALECTS, type DialectName } from '../../../../contracts/models/dialect-names';
import type { ParsedReply } from '../../../../contracts/agents/agent';
import { createDialects } from '../../../../models/dialects/dialects';
import { withMendedCode } from '../../../../models/dialects/escaped-code';
import type { RawReply } from '../../../../models/provider';
import { createToolRegistry } from '../../../../tools/registry';

interface Golden extends RawReply {
  name: string;
  parsed: ParsedReply;
}

const find = createDialects();
const fileOf = (dialect: DialectName): string =>
  join(__dirname, '..', '..', '..', 'fixtures', 'dialects', `${dialect}.replies.yaml`);
const goldens = (dialect: DialectName): Golden[] => parse(readFileSync(fileOf(dialect), 'utf8')) as Golden[];

const registry = createToolRegistry();
const names = registry.describe().map(({ name }) => name);
/** As it is run. */
function read(dialect: DialectName, reply: RawReply): ParsedReply {
  const parsed = find(dialect).parse(reply);
  if (parsed.kind !== 'calls') return parsed;
  const calls = parsed.calls.map((call) =>
    names.includes(call.tool) ? withMendedCode(call, registry.find(call.tool)) : call,
  );
  return { ...parsed, calls };
}

if (process.env.UPDATE_GOLDEN)
  for (const dialect of DIALECTS) {
    const now = goldens(dialect).map((golden) => ({ ...golden, parsed: read(dialect, golden) }));
    writeFileSync(fileOf(dialect), stringify(now, { lineWidth: 0 }));
  }

describe.each(DIALECTS)('%s', (dialect) => {
  test.each(goldens(dialect))('reads $name as its golden file says', (golden) => {
    expect(read(dialect, golden)).toEqual(golden.parsed);
  });
});

test('the prompts hold the examples of the golden replies letter by letter', () => {
  const prompt = find('tagged').instructions([]);
  for (const { text } of goldens('tagged').slice(0, 3)) expect(prompt).toContain(text);
});

test('the example of Python code comes out as Python', () => {
  const [, { parsed } = {}] = goldens('tagged');
  const code = parsed?.kind === 'calls' ? parsed.calls[0]?.args.code : undefined;
  const ast = 'import ast, sys; print(len(ast.parse(sys.stdin.read()).body))';
  expect(execFileSync('python3', ['-c', ast], { input: code as string, encoding: 'utf8' }).trim()).toBe('3');
});

describe('a reply cut off anywhere', () => {
  const whole = DIALECTS.filter((dialect) => dialect !== 'native').flatMap((dialect) =>
    goldens(dialect)
      .filter(({ parsed }) => parsed.kind === 'calls')
      .map(({ name, text }) => [dialect, name, text] as const),
  );

  test.each(whole)('%s: %s, is no call and no answer that holds a part of one', (dialect, _name, text) => {
    // After the end of the call there may only be a fence, which changes nothing.
    const call = Math.max(text.lastIndexOf('</tool>') + '</tool>'.length, text.lastIndexOf('}') + 1);
    // Thinking and prose may come before it; an answer may be part of these.
    const begin = dialect === 'tagged' ? text.lastIndexOf('<tool>\n') : text.indexOf('{');
    for (let end = 0; end < call; end++) {
      const reply = find(dialect).parse({ text: text.slice(0, end) });
      expect([end, reply.kind]).not.toEqual([end, 'calls']);
      if (reply.kind !== 'answer') continue;
      expect([end, end <= begin]).toEqual([end, true]);
      expect(text.slice(0, begin)).toContain(reply.answer);
    }
    expect(find(dialect).parse({ text: text.slice(0, call) }).kind).toBe('calls');
  });

  test('or has anything cut out of it, or put in it, never throws', () => {
    const noise = ['<tool>', '</tool>', '<think>', '</think>', '"', '\\', '`', '```', '[', '}', '$a', '\n'];
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (const [, , text] of whole) {
      for (let round = 0; round < 300; round++) {
        const [a, b] = [random(text.length), random(text.length)];
        const changed = text.slice(0, a) + (noise[random(noise.length)] ?? '') + text.slice(b);
        for (const dialect of DIALECTS) {
          const reply = find(dialect).parse({
            text: changed,
            calls: [{ id: 'a', tool: 'x', args: changed }],
          });
          expect(['answer', 'calls', 'malformed']).toContain(reply.kind);
        }
      }
    }
  });
});
