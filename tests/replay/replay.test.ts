import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKFLOWS } from '../../contracts/messages';
import { packageRoot } from '../../system/package-root';
import { assertReplays, replayHistories } from '../../testing';

const HISTORIES = join(__dirname, '..', 'histories');
const BUNDLE = join(packageRoot(), 'dist', 'workflow-bundle.js');

const files = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-replay-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each does one thing and ends with it: at an upgrade hardly any is open, and its caller asks again. */
const SHORT: readonly string[] = [
  WORKFLOWS.carryBlob,
  WORKFLOWS.offeredTools,
  WORKFLOWS.compareCheckpoints,
  WORKFLOWS.rewindFiles,
];

test('there is a recorded history of each workflow that lasts', () => {
  const recorded = files.map((name) =>
    name.replace(/-\d.*$/, '').replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()),
  );
  const lasting = Object.values(WORKFLOWS).filter((name) => !SHORT.includes(name));
  expect([...new Set(recorded)].sort()).toEqual(lasting.sort());
});

test('every recorded history replays', async () => {
  const verdicts = await replayHistories({ files: [HISTORIES] });
  assertReplays(verdicts);
  expect(verdicts).toHaveLength(files.length);
});

/** A claim and a quota have no activity and no child that could be renamed. */
test.each(files.filter((name) => !/^(?:claim|quota)-/.test(name)))(
  'the recorded history %s does not replay once its first activity or child has another name',
  async (file) => {
    const changed = join(folder, file);
    writeFileSync(changed, renameFirstCommand(readFileSync(join(HISTORIES, file), 'utf8')));
    const verdicts = await replayHistories({ files: [changed] });
    expect(() => assertReplays(verdicts)).toThrow(/does not replay: .*somethingElse/);
  },
);

test('the recorded history of a quota that began anew does not replay once it ended in another way', async () => {
  const changed = join(folder, 'quota.json');
  const recorded = readFileSync(join(HISTORIES, 'quota-0.1.0.json'), 'utf8');
  const ended = recorded
    .replace('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW', 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED')
    .replace('workflowExecutionContinuedAsNewEventAttributes', 'workflowExecutionCompletedEventAttributes');
  const { history, ...rest } = JSON.parse(ended) as { history: { events: Record<string, unknown>[] } };
  const { workflowTaskCompletedEventId } = history.events.at(-1)
    ?.workflowExecutionCompletedEventAttributes as Record<string, string>;
  Object.assign(history.events.at(-1) ?? {}, {
    workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId },
  });
  writeFileSync(changed, JSON.stringify({ ...rest, history }));
  const verdicts = await replayHistories({ files: [changed] });
  expect(() => assertReplays(verdicts)).toThrow(/does not replay/);
});

function renameFirstCommand(json: string): string {
  const recorded = JSON.parse(json) as { history: { events: Record<string, unknown>[] } };
  const scheduled = recorded.history.events.find(
    (event) =>
      'activityTaskScheduledEventAttributes' in event ||
      'startChildWorkflowExecutionInitiatedEventAttributes' in event,
  );
  const attributes = Object.entries(scheduled ?? {}).find(([key]) => key.endsWith('Attributes'))?.[1] as
    Record<string, { name: string }> | undefined;
  const type = attributes?.activityType ?? attributes?.workflowType;
  if (!type) throw new Error('no activity and no child in this history');
  type.name = 'somethingElse';
  return JSON.stringify(recorded);
}

test('a worker evaluates the modules of all workflows once, and not again for each workflow', () => {
  const preloaded = /preloadModules = function[^]*?\n\}/.exec(readFileSync(BUNDLE, 'utf8'))?.[0];
  expect(preloaded).toContain('./dist/workflows/index.js');
});

test('the workflow bundle holds no code of the other contexts and no Node module', () => {
  const bundle = readFileSync(BUNDLE, 'utf8').split('//# sourceMappingURL')[0] ?? '';
  for (const forbidden of [
    'dist/activities/',
    'dist/exec/',
    'dist/system/',
    'dist/client/',
    'dist/models/',
    'node-pty',
    '@temporalio/client',
  ]) {
    expect(bundle.includes(forbidden)).toBe(false);
  }
});
