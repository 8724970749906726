// What a worker reports to the command line about its tools.
import type { ToolDescription } from './tools';

export interface RegistryRecord {
  tools: readonly ToolDescription[];
  /** MCP servers, and what is wrong with the ones that are down. */
  servers: {
    name: string;
    state: 'connecting' | 'connected' | 'down';
    tools: number;
    fault: string | null;
  }[];
  /** Tools that were left out and other problems, one sentence each. */
  faults: string[];
}
