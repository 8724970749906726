// What callers that only the terminal reaches learn about their calls.
import { ToolCalls } from '../../../../exec/holder/calls/tool-calls';
import { InBand } from '../../../../exec/holder/in-band/in-band';
import type { ScriptAnswer } from '../../../../exec/protocol';
import { until } from '../../../helpers/until';

interface Caller {
  inBand: InBand;
  calls: ToolCalls;
  /** What has been typed for it as answers. */
  answers: () => ScriptAnswer[];
  call: (id: string, args: string) => void;
}

/** A shell that has connected. */
function connected(): Caller {
  let typed = '';
  const calls = new ToolCalls(1);
  const token = calls.issue('c');
  const inBand = new InBand({
    call: (body, gone) => calls.call(token, body, gone),
    type: (bytes) => {
      typed += bytes.toString();
      return true;
    },
    release: () => undefined,
    log: () => undefined,
  });
  const data = (): unknown[] =>
    [...typed.matchAll(/<<TOOL_RESULT>>(.*)<<END_TOOL_RESULT>>/g)]
      .map(([, body = '']) => (JSON.parse(body) as { data?: string }).data)
      .flatMap((base64) => base64 ?? [])
      .map((base64) => JSON.parse(Buffer.from(base64, 'base64').toString()) as unknown);
  const frame = (nonce: string, rest: string): void =>
    void inBand.pass(Buffer.from(`<<TOOL_CALL>>{"nonce":"${nonce}",${rest}}<<END_TOOL_CALL>>`));
  const secretIn = (text: string): string => /[0-9a-f]{32}/.exec(text)?.[0] ?? '';
  frame(secretIn(inBand.newLine()), '"id":"line"');
  frame(secretIn(typed), '"id":"connect"');
  const { nonce } = data()[0] as { nonce: string };
  typed = '';
  const call = (id: string, args: string): void =>
    frame(nonce, `"id":"${id}","tool":"echo","args":${args},"cwd":"/"`);
  return { inBand, calls, answers: () => data() as ScriptAnswer[], call };
}

test('a call whose arguments cannot be written out is refused, and calls after it are taken', async () => {
  const { inBand, calls, answers, call } = connected();
  call('deep', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
  await until(() => answers().length === 1);
  expect(answers()[0]).toMatchObject({ ok: false, error: { code: 'internal' } });
  expect(inBand.isCalling).toBe(false);
  call('next', '{}');
  const { calls: open } = await calls.poll({ seen: 0 }, new AbortController().signal);
  expect(open).toMatchObject([{ tool: 'echo', args: {} }]);
  inBand.end();
});

test('an answer that cannot be written out is reported to its caller', async () => {
  const { inBand, calls, answers, call } = connected();
  call('a', '{}');
  const value = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as never;
  calls.answer({ id: 'e1c1', answer: { callId: 'e1c1', ok: true, value } });
  await until(() => answers().length === 1);
  expect(answers()[0]).toMatchObject({ ok: false, error: { code: 'internal' } });
  expect(inBand.isCalling).toBe(false);
});
