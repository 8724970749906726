// A worker whose data folder is no longer writable: its work continues, and it is not mistaken for a hung one.
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '@temporalio/activity';
import { writeJson } from '../../../system/json-file';
import { identityOf } from '../../../system/processes/process-identity';
import { TaskJournal } from '../../../workers/process/task-journal';
import { findSilentWorker, workerPaths } from '../../../workers/process/worker-record';
import { immutableFiles, isPossible, readOnlyMount } from '../../helpers/hosts/unwritable';

describe.each([readOnlyMount, immutableFiles])('by $name', (way) => {
  const isThere = isPossible(way);
  const whereThere = isThere ? test : test.skip;
  const why = isThere ? '' : ` (not checked: ${way.needs})`;
  let folder: string;
  let isForbidden: boolean;
  const forbid = (): void => {
    way.forbid(folder);
    isForbidden = true;
  };
  const allow = (): void => {
    if (isForbidden) way.allow(folder);
    isForbidden = false;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-worker-'));
    isForbidden = false;
  });
  afterEach(() => {
    allow();
    rmSync(folder, { recursive: true, force: true });
  });

  whereThere(
    `an activity is done and keeps its result where its journal cannot be written, before or meanwhile${why}`,
    async () => {
      const journal = new TaskJournal(join(folder, 'tasks'), 'instance');
      const info = { taskToken: new Uint8Array([1]), workflowExecution: { workflowId: 'w', runId: 'r' } };
      const execute = journal.interceptor({ info } as unknown as Context).inbound.execute;
      const run = (work: () => void): Promise<unknown> | undefined =>
        execute?.({ args: [], headers: {} }, async () => (work(), 'done'));
      expect(await run(forbid)).toBe('done');
      expect(await run(() => undefined)).toBe('done');
      allow();
      journal.close();
      expect(readdirSync(join(folder, 'tasks'))).toEqual([]);
    },
  );

  whereThere(`a worker that beats in vain is not told as silent${why}`, () => {
    const { record, beat } = workerPaths(folder);
    writeJson(record, { identity: identityOf(process.pid) });
    writeFileSync(beat, '');
    utimesSync(beat, new Date(0), new Date(0));
    expect(findSilentWorker(folder)).toMatchObject({ code: 'worker_silent', facts: { pid: process.pid } });
    forbid();
    expect(existsSync(beat)).toBe(true);
    expect(findSilentWorker(folder)).toBeUndefined();
  });
});
