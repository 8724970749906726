// The tool `apply_patch`: changes files by a patch in the format of OpenAI's Codex, all of it or nothing.
import { relative } from 'node:path';
import * as z from 'zod/mini';
import { refuseChangedSince } from './changed-since';
import { onHost, plainText } from './host-files';
import { changeFiles } from './patch/change-files';
import { parsePatch } from './patch/parse-patch';
import { planPatch, type PatchPlan } from './patch/plan-patch';
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
    'apply, nothing is changed. A file that exists is updated or deleted, never added or moved over. Give about ' +
    'three lines of context around each change; paths are relative. ' +
    `Format:\n${FORMAT}`,
  args: argsSchema,
  // Applied twice it fails or, if it only adds lines, adds them twice; and a deleted or changed line does not show who
  // changed it. So the files do not show whether it was applied, and the caller must look.
  effects: 'once',
  runsOn: 'host',
  usesFiles: true,
  async run({ input }, context) {
    const folder = onHost(
      hostOf(context),
      '.',
      'Call it from another folder, or use write_file with an absolute path.',
    );
    const plan = await planPatch(folder, parsePatch(input));
    for (const [file, planned] of plan.contents)
      if (planned === null) await refuseChangedSince(context.askedAt, file, { path: relative(folder, file) });
    context.signal.throwIfAborted();
    await changeFiles(plan.contents);
    return summaryOf(plan);
  },
};

function summaryOf({ added, modified, deleted }: PatchPlan): string {
  const lines = [
    ...added.map((path) => `A ${path}`),
    ...modified.map((path) => `M ${path}`),
    ...deleted.map((path) => `D ${path}`),
  ];
  return `Success. Updated the following files:\n${lines.join('\n')}\n`;
}
