// People who only look, with whatever they ask, never keep others from hearing of a session's changes.
import { Attachments } from '../../../../exec/holder/attachments';
import { Changes } from '../../../../exec/holder/changes';
import type { Session } from '../../../../exec/holder/session';

const { signal } = new AbortController();

test('a watch that does not say what was seen is refused, and leaves nothing that listens', async () => {
  const changes = new Changes();
  const listening = jest.spyOn(changes, 'onChange');
  const place = { command: null, epoch: 1, end: 0 };
  const attachments = new Attachments(
    { changes, place, terminal: { size: { cols: 1, rows: 1 } } } as Session,
    0,
  );
  const request = { from: 1e15 } as Parameters<Attachments['watch']>[0];
  await expect((async () => attachments.watch(request, signal))()).rejects.toThrow(TypeError);
  expect(listening).not.toHaveBeenCalled();
});

test('all who listen hear of a change, whatever one of them does', () => {
  const told = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const changes = new Changes();
  const heard: string[] = [];
  changes.onChange(() => heard.push('before'));
  changes.onChange(() => {
    throw new Error('its own fault');
  });
  changes.onChange(() => heard.push('after'));
  changes.notify();
  changes.notify();
  expect(heard).toEqual(['before', 'after', 'before', 'after']);
  // Dropped, so that it is reported once.
  expect(told).toHaveBeenCalledTimes(1);
  told.mockRestore();
});
