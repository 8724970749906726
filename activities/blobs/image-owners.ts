// Which server an agent's images belong to. A worker may be started with another server, or with an empty one before its
// database is restored: that knows none of the agents, and must not take all of their images for forgotten.
import { createHash } from 'node:crypto';

/** Below an agent's images: one mark for each server that has stored some. Not a possible name of an image. */
export const MARKS = 'of';

/** The server that knows the agents. */
export interface AgentsServer {
  /**
   * Its identity, and the namespace; undefined while it is not known: then nothing is removed. Asked each time: another
   * server may take its place at any moment.
   */
  owner: () => Promise<string | undefined>;
  /** Whether it has forgotten the agent: the conversation cannot be asked for any more. */
  isGone: (agent: string) => Promise<boolean>;
}

/** Where the marks of one agent are kept. */
export interface Marks {
  list: () => Promise<readonly string[]>;
  add: (mark: string) => Promise<void>;
}

export const markOf = (owner: string): string =>
  createHash('sha256').update(owner).digest('hex').slice(0, 32);

/**
 * Whether all images of the agent are this server's, and it has forgotten the agent. Images of an agent that it knows, and
 * that have no mark, get its mark.
 */
export async function mayGo({ owner, isGone }: AgentsServer, agent: string, marks: Marks): Promise<boolean> {
  const id = await owner();
  if (id === undefined) return false;
  const own = markOf(id);
  const found = await marks.list();
  if (found.some((mark) => mark !== own)) return false;
  const isForgotten = await isGone(agent);
  // The server that answered may not be the one that was asked before.
  if ((await owner()) !== id) return false;
  if (!isForgotten && found.length === 0) await marks.add(own);
  return isForgotten && found.length > 0;
}
