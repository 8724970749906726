// A module with your own tools: for `createWorkers` in your own process, or for the command line's worker with
// `holdfast up --tools ./own-tools.ts`. It exports the list `tools`.
import { statfs } from 'node:fs/promises';
import { defineTool, HoldfastError, hostOf } from 'holdfast/tools';
import { z } from 'zod';

/** Stands for a database. */
const STOCK: Record<string, number> = { bolts: 12, nuts: 0 };
const article = z.string().describe('for example "bolts"');

function piecesOf(name: string): number {
  const pieces = STOCK[name];
  // Report mistakes that the caller can correct as an error from the catalogue: what was given, what is allowed.
  if (pieces === undefined) {
    const allowed = Object.keys(STOCK).join(', ');
    throw new HoldfastError('invalid_input', { what: 'The article', got: name, allowed });
  }
  return pieces;
}

const stockLevel = defineTool({
  name: 'stock_level',
  description: 'Says how many pieces of an article are in stock.',
  args: z.strictObject({ article }),
  effects: 'read_only',
  run: async ({ article: name }) => `${piecesOf(name)} pieces of ${name}`,
});

/** A second attempt would take twice as much, and the stock does not record who took: so run it only once. */
const takeOut = defineTool({
  name: 'take_out',
  description: 'Takes pieces of an article out of the stock.',
  args: z.strictObject({ article, pieces: z.int().min(1) }),
  // Scripts get the value, the model reads the text.
  result: z.object({ left: z.int() }),
  text: ({ left }) => `${left} pieces are left.`,
  effects: 'once',
  async run({ article: name, pieces }, { signal }) {
    const left = piecesOf(name) - pieces;
    if (left < 0)
      throw new HoldfastError('invalid_input', {
        what: 'The number of pieces',
        got: pieces,
        allowed: `at most ${piecesOf(name)}`,
      });
    // The result is not waited for any more: better not to take them.
    signal.throwIfAborted();
    STOCK[name] = left;
    return { left };
  },
});

/** Useful only on the machine of the agent's shells. */
const freeSpace = defineTool({
  name: 'free_space',
  description: 'Says how much room is left on the disk of the working folder.',
  args: z.strictObject({}),
  result: z.object({ host: z.string(), bytes: z.number() }),
  effects: 'read_only',
  runsOn: 'host',
  async run(_args, context) {
    const { name, cwd } = hostOf(context);
    const { bavail, bsize } = await statfs(cwd);
    return { host: name, bytes: bavail * bsize };
  },
});

export const tools = [stockLevel, takeOut, freeSpace];
