// What a worker tells the command line of its tools.
import type { ToolDescription } from './tools';

export interface RegistryRecord {
  tools: readonly ToolDescription[];
  /** MCP servers, and what is wrong with those that are down. */
  servers: {
    name: string;
    state: 'connecting' | 'connected' | 'down';
    tools: number;
    fault: string | null;
  }[];
  /** Tools that are left out and other things that are amiss, each a sentence. */
  faults: string[];
}
