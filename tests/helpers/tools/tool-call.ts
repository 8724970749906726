// A built-in tool with its own folder, called as the registry calls it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolResult } from '../../../contracts/agents/agent';
import type { ToolOutcome } from '../../../contracts/tools/tools';
import { createToolRegistry } from '../../../tools/registry';
import type { Tool, ToolContext } from '../../../tools/tool';

export interface ToolOnHost {
  directory: string;
  /** The value that a script gets. Throws the outcome's error. */
  value(args: Record<string, unknown>, changes?: Partial<ToolContext>): Promise<unknown>;
  /** The error that its caller gets. Throws if there is none. */
  error(
    args: Record<string, unknown>,
    changes?: Partial<ToolContext>,
  ): Promise<{ code: string; message: string }>;
  /** What a model reads. */
  text(args: Record<string, unknown>): Promise<string>;
  /** The same with its call. */
  result(args: Record<string, unknown>, changes?: Partial<ToolContext>): Promise<ToolResult>;
  remove(): void;
}

/** `tool`: its name, or one that is not registered. `env` is the whole environment of the host. */
export function toolOnHost(tool: string | Tool, env: Record<string, string> = {}): ToolOnHost {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-tool-'));
  const registry = createToolRegistry(typeof tool === 'string' ? [] : [tool]);
  const name = typeof tool === 'string' ? tool : tool.name;
  const context = (changes: Partial<ToolContext> = {}): ToolContext =>
    ({
      agent: 'a',
      settings: {},
      key: 'key',
      attempt: 1,
      signal: new AbortController().signal,
      caller: null,
      host: { name: 'local', cwd: directory, env: { PATH: process.env.PATH ?? '', ...env } },
      ...changes,
    }) as ToolContext;
  const call = (args: Record<string, unknown>): { callId: string; tool: string; args: typeof args } => ({
    callId: 'c',
    tool: name,
    args,
  });
  const outcome = (args: Record<string, unknown>, changes?: Partial<ToolContext>): Promise<ToolOutcome> =>
    registry.invoke(call(args), context(changes));
  return {
    directory,
    async value(args, changes) {
      const result = await outcome(args, changes);
      if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
      return 'value' in result ? result.value : undefined;
    },
    async error(args, changes) {
      const result = await outcome(args, changes);
      if (result.ok) throw new Error('it did not fail');
      return result.error;
    },
    result: (args, changes) => registry.call(call(args), context(changes)),
    text: async (args) => (await registry.call(call(args), context())).content,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
