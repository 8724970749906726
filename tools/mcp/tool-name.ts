// Names of MCP tools, as models and scripts see them.
import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * `mcp__SERVER__TOOL`. Invalid characters become "_"; the end of a name that is too long is replaced by a hash of the
 * whole. The same on every machine; the registry refuses names that collide.
 */
export function mcpToolName(server: string, tool: string): string {
  const full = `mcp__${server}__${tool}`;
  const name = full.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (name.length <= MAX_LENGTH) return name;
  const hash = createHash('sha256').update(full).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
