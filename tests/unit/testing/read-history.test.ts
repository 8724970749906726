import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertReplays, replayHistories } from '../../../testing';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-read-history-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ['no JSON', 'not json'],
  ['JSON that is no history', '{"a": 1}'],
  ['a history without events', '{"history": {"events": []}}'],
  ['a list', '[]'],
  ['nothing', 'null'],
  ['events of something else', '{"events": [{"eventId": "1", "activityTaskStartedEventAttributes": {}}]}'],
])('a file with %s is named, and what would be allowed is said', async (_what, content) => {
  const file = join(folder, 'a.json');
  writeFileSync(file, content);
  for (const named of [file, folder])
    await expect(replayHistories({ files: [named] })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(
        /^What to replay is invalid: got .*a\.json: .*recordHistory\(\)/s,
      ) as string,
    });
});

test('a file that does not exist is named', async () => {
  const file = join(folder, 'none.json');
  await expect(replayHistories({ files: [file] })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/got \S+none\.json: .*ENOENT/) as string,
  });
});

test('no verdicts at all are no proof', () => {
  expect(() => assertReplays([])).toThrow(
    'What to replay is invalid: got no verdicts, allowed at least one history',
  );
});

test('a converter that the bundled workflows do not have is refused', async () => {
  const dataConverter = { payloadConverterPath: '/nope.js' };
  await expect(replayHistories({ files: [folder], dataConverter })).rejects.toThrow(
    'What replayHistories() takes is invalid: got dataConverter',
  );
});
