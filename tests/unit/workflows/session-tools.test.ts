// What a session answers about its scripts' calls.
import { jsonBytes } from '../../../contracts/payload-size';
import type { ToolOutcome } from '../../../contracts/tools/tools';
import type { SessionCall } from '../../../workflows/session/call-record';
import type { SessionRecord } from '../../../workflows/session/session-record';
import { SessionTools } from '../../../workflows/session/session-tools';

const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;

const request: SessionCall['request'] = {
  ...{ id: '', commandId: 'c', tool: 'read', args: {}, cwd: '/', effects: 'read_only' },
  ...{ runsOn: 'anywhere', timeoutMs: 1 },
};

function sessionWith(outcomes: Record<string, ToolOutcome>): SessionTools {
  const calls = Object.entries(outcomes).map(([id, outcome]): [string, SessionCall] => [
    id,
    { request: { ...request, id }, state: { is: 'ended', outcome, recorded: true }, hash: undefined },
  ]);
  return new SessionTools({ calls: Object.fromEntries(calls) } as SessionRecord, undefined as never);
}

test('outcomes that do not fit into one answer come in several, each once asked for', async () => {
  const value = 'x'.repeat(60_000);
  const all = Array.from({ length: 60 }, (_, index) => `call-${index}`);
  const tools = sessionWith(Object.fromEntries(all.map((id) => [id, { ok: true, value }])));
  const told: string[] = [];
  for (let rounds = 0; told.length < all.length; rounds++) {
    expect(rounds).toBeLessThan(10);
    const answer = await tools.results({ ids: all.filter((id) => !told.includes(id)) });
    expect(jsonBytes(answer)).toBeLessThan(MAX_PAYLOAD_BYTES);
    told.push(...Object.keys(answer.outcomes));
  }
  expect(told).toEqual(all);
});

test('an outcome that is larger than an answer should be comes alone', async () => {
  const value = 'x'.repeat(1_200_000);
  const tools = sessionWith({ large: { ok: true, value }, next: { ok: true, value: 1 } });
  expect(Object.keys((await tools.results({ ids: ['large', 'next'] })).outcomes)).toEqual(['large']);
  expect(Object.keys((await tools.results({ ids: ['next'] })).outcomes)).toEqual(['next']);
});
