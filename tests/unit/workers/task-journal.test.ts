import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeJson } from '../../../system/json-file';
import { identityOf } from '../../../system/processes/process-identity';
import { TaskJournal } from '../../../workers/process/task-journal';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'holdfast-journal-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The journal of a worker that was killed while it ran an activity of `workflowId`. */
function leftBy(instance: string, workflowId: string): string {
  const folder = join(root, instance);
  mkdirSync(folder);
  // Of this boot, but started at another moment: the pid is somebody else's now.
  writeJson(join(folder, 'owner.json'), { ...identityOf(process.pid), startTime: '0', instance });
  writeFileSync(join(folder, 'one.token'), JSON.stringify({ token: '', workflowId }));
  return folder;
}

test('what killed workers left is kept until it was given back, and what was left meanwhile is kept longer', () => {
  const first = leftBy('first', 'agent/a');
  const journal = new TaskJournal(root, 'own');
  const given = journal.lost();
  expect([given, journal.lostWorkflows()]).toEqual([['first'], ['agent/a']]);
  const second = leftBy('second', 'agent/b');
  expect(existsSync(first)).toBe(true);
  journal.forget(given);
  expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
  expect([journal.lost(), journal.lostWorkflows()]).toEqual([['second'], ['agent/b']]);
  journal.close();
});

test('what a disk has damaged keeps no worker from starting', () => {
  writeFileSync(join(leftBy('first', 'agent/a'), 'two.token'), '{"token":"');
  const journal = new TaskJournal(root, 'own');
  expect(journal.lostWorkflows()).toEqual(['agent/a']);
  journal.close();
});
