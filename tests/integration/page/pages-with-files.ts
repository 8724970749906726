// Agents whose folder belongs to the test, and their pages in Chromium.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pageSetting, type ConsolePage, type PageSetting } from '../../helpers/gateway/console';
import { call, QUICK_YIELD, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

export const run = (code: string): Reply => ({
  text: call('code_execution_tool', { runtime: 'terminal', code }),
});

/** Steps 1 and 2 write a.txt, step 3 answers. */
export const TWO_STEPS = [run('echo one > a.txt'), run('echo two > a.txt; mkdir empty'), { text: 'written' }];

export interface FilesSetting {
  readonly setting: PageSetting;
  /** The workspace of the current test. */
  readonly folder: string;
  at: (name: string) => string;
  text: (name: string) => string;
  /** An agent that has done its first turn in the folder. */
  worked: (replies: Reply[], mode?: 'conversation' | 'task') => Promise<string>;
  /** Its page. */
  shown: (id: string, role?: 'operator' | 'viewer') => Promise<ConsolePage>;
}

/** Each test has a folder of its own. */
export function filesSetting(): FilesSetting {
  const setting = pageSetting();
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-workspace-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  return {
    ...{ setting, at },
    get folder() {
      return folder;
    },
    text: (name) => readFileSync(at(name), 'utf8'),
    worked: async (replies, mode = 'conversation') => {
      const id = uniqueId('files');
      await setting.operator.post('/v1/agents', {
        ...{ id, task: 'write', mode, cwd: folder, yield: QUICK_YIELD },
        model: setting.files.model(replies),
      });
      const status = async (): Promise<string> =>
        (await setting.operator.get<{ status: string }>(`/v1/agents/${id}`)).status;
      await until(async () => ['idle', 'ended'].includes(await status()));
      return id;
    },
    shown: async (id, role = 'operator') => {
      const opened = await setting.open(role);
      await opened.goto(`agents/${id}`);
      await opened.page.getByRole('heading', { level: 1, name: id }).waitFor();
      return opened;
    },
  };
}
