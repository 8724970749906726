// A folder that patches change.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toolOnHost, type ToolOnHost } from './tool-call';

export type Files = Record<string, string>;

export interface PatchTrial extends ToolOnHost {
  put(files: Files): void;
  /** By name; links are left out. */
  filesNow(): Files;
  apply(input: string): Promise<unknown>;
}

export function patchTrial(): PatchTrial {
  const tool = toolOnHost('apply_patch');
  const { directory } = tool;
  return {
    ...tool,
    put(files) {
      for (const [name, content] of Object.entries(files)) {
        const path = join(directory, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
    },
    filesNow: () =>
      Object.fromEntries(
        readdirSync(directory, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => join(parentPath, name))
          .map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]),
      ),
    apply: (input) => tool.value({ input }),
  };
}

export const wrap = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
export const update = (...lines: string[]): string => wrap('*** Update File: a', ...lines);
