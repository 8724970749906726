import { lastNotices, noticeId, readNotice, writeNotice } from '../../../../contracts/agents/notices';

const at = '2026-01-01T00:00:00.000Z';

test('a notice is read as it was written', () => {
  const notice = { ...noticeId('approval', 'born-1/turn/2/3/call_1'), at };
  expect(readNotice(writeNotice(notice))).toEqual(notice);
});

test.each(['with spaces', 'x'.repeat(200), '\ud800', 'line\nbreak', 'ä'])(
  'an id that does not fit (%j) becomes its hash, the same each time',
  (id) => {
    const written = writeNotice({ ...noticeId('input', id), at });
    expect(written).toMatch(/^input \S+ sha256:[0-9a-f]{32}$/);
    expect(written).toBe(writeNotice({ ...noticeId('input', id), at }));
  },
);

test.each([undefined, 3, '', 'input', 'input never x', `shout ${at} x`, `input ${at} x y`, `input ${at}`])(
  '%j is no notice',
  (text) => expect(readNotice(text)).toBeUndefined(),
);

test('the last notices fit into what the server allows for one attribute', () => {
  const all = Array.from({ length: 100 }, (_, n) =>
    writeNotice({ kind: 'input', at, id: `${n}-${'x'.repeat(100)}` }),
  );
  const kept = lastNotices(all);
  expect(kept).toEqual(all.slice(-kept.length));
  expect(kept.length).toBeGreaterThan(5);
  expect(JSON.stringify(kept).length).toBeLessThan(2_048);
});
