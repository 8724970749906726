// The tool `apply_patch`: changes files by a patch in the format of OpenAI's Codex, all of it or nothing.
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { prepareWrite, type Prepared } from './atomic-write';
import { fileError, plainText } from './host-files';
import { parsePatch } from './patch/parse-patch';
import { planPatch, type PatchPlan } from './patch/plan-patch';
import { makeFolders } from '../../system/make-folder';
import { hostOf, type Tool } from '../tool';

const FORMAT = [
  '*** Begin Patch',
  '*** Update File: src/app.py',
  '*** Move to: src/main.py   (only to rename it)',
  '@@ def greet():   (a line above the change, if the lines below are not enough to find it)',
  ' a line that stays',
  '-a line that is removed',
  '+a line that is added',
  '*** Add File: notes.txt',
  '+each line of the new file',
  '*** Delete File: old.txt',
  '*** End Patch',
].join('\n');

const argsSchema = z.strictObject({ input: plainText('The whole patch, from begin to end.') });

export const applyPatchTool: Tool<z.infer<typeof argsSchema>, string> = {
  name: 'apply_patch',
  description:
    'Changes, adds, renames and deletes text files. The whole patch is checked first: if one part does not ' +
    'apply, nothing is changed. Give about three lines of context around each change; paths are relative. ' +
    `Format:\n${FORMAT}`,
  args: argsSchema,
  // Applied twice it fails or, if it only adds lines, adds them twice; and a deleted or changed line does not show who
  // changed it. So the files do not tell whether it was applied, and the caller must look.
  effects: 'once',
  runsOn: 'host',
  usesFiles: true,
  async run({ input }, context) {
    const { cwd } = hostOf(context);
    const plan = await planPatch(cwd, parsePatch(input));
    context.signal.throwIfAborted();
    await write(plan);
    return summaryOf(plan);
  },
};

/** All new contents are written beside their files before the first is moved in: a full disk changes nothing. */
async function write({ contents }: PatchPlan): Promise<void> {
  const prepared: Prepared[] = [];
  let path = '';
  try {
    for (const [file, planned] of contents) {
      path = file;
      if (planned === null) continue;
      await makeFolders(dirname(file));
      prepared.push(await prepareWrite(file, planned.content, planned.modeOf));
    }
    for (const one of prepared) await one.commit();
    for (const [file, planned] of contents) {
      path = file;
      // A file that the same patch adds and deletes never existed.
      if (planned === null) await rm(file, { force: true });
    }
  } catch (err) {
    throw fileError(err, 'changed', path);
  } finally {
    for (const one of prepared) await one.discard();
  }
}

function summaryOf({ added, modified, deleted }: PatchPlan): string {
  const lines = [
    ...added.map((path) => `A ${path}`),
    ...modified.map((path) => `M ${path}`),
    ...deleted.map((path) => `D ${path}`),
  ];
  return `Success. Updated the following files:\n${lines.join('\n')}\n`;
}
