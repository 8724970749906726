// Tools that run beside the agents, as a host without agents offers them to its scripts: the agents' worker describes
// them, and their calls go there.
import * as z from 'zod/mini';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { OfferedTool } from '../contracts/tools/offered-tools';
import type { Tool, ToolSource } from './tool';

export class OfferedTools implements ToolSource {
  private current: readonly Tool[] = [];
  private readonly listeners = new Set<() => void>();

  tools(): readonly Tool[] {
    return this.current;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  replace(offered: readonly OfferedTool[]): void {
    this.current = offered.map(asTool);
    for (const listener of [...this.listeners]) listener();
  }
}

function asTool({ parameters, result, timeoutMs, secret = false, ...described }: OfferedTool): Tool {
  return {
    ...described,
    // The agents' worker checks the arguments: only it has the whole schema.
    args: z.record(z.string(), z.unknown()),
    parameters,
    ...(result && { result: { jsonSchema: result } }),
    ...(timeoutMs && { timeoutMs }),
    secret,
    run: () =>
      Promise.reject(new HoldfastError('internal', { reason: 'a tool of the agents was run on a host' })),
  };
}
