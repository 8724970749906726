import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { packageRoot } from '../../exec/package-root';

const HISTORIES = join(__dirname, '..', 'histories');
const BUNDLE = join(packageRoot(), 'dist', 'workflow-bundle.js');

interface Recorded {
  workflowId: string;
  history: { events: Record<string, unknown>[] };
}

const load = (file: string): Recorded => JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as Recorded;

const replay = ({ workflowId, history }: Recorded): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle: { codePath: BUNDLE } }, history, workflowId);

const files = readdirSync(HISTORIES).filter((name) => name.endsWith('.json'));

test('there is a recorded history of each workflow', () => {
  const kinds = new Set(files.map((name) => name.replace(/-\d.*$/, '')));
  expect([...kinds].sort()).toEqual(['agent', 'exec-session', 'turn']);
});

test.each(files)('the released history %s replays', async (file) => {
  await replay(load(file));
});

test.each(files)(
  'the released history %s does not replay once its first activity or child has another name',
  async (file) => {
    const recorded = load(file);
    const scheduled = recorded.history.events.find(
      (event) =>
        'activityTaskScheduledEventAttributes' in event ||
        'startChildWorkflowExecutionInitiatedEventAttributes' in event,
    );
    const attributes = Object.entries(scheduled ?? {}).find(([key]) =>
      key.endsWith('Attributes'),
    )?.[1] as Record<string, { name: string }>;
    const type = attributes.activityType ?? attributes.workflowType;
    if (!type) throw new Error('no activity and no child in this history');
    type.name = 'somethingElse';
    await expect(replay(recorded)).rejects.toThrow(/[Nn]ondeterminism/);
  },
);

test('the workflow bundle holds no code of the other contexts and no Node module', () => {
  const bundle = readFileSync(BUNDLE, 'utf8').split('//# sourceMappingURL')[0] ?? '';
  for (const forbidden of [
    'dist/activities/',
    'dist/exec/',
    'dist/client/',
    'dist/models/',
    'node-pty',
    '@temporalio/client',
  ]) {
    expect(bundle.includes(forbidden)).toBe(false);
  }
});
