// A module of own tools: for `createWorkers` in one's own process, or for the command line's worker by
// `holdfast up --tools ./own-tools.js`. What counts is the exported list `tools`.
import { defineTool, HoldfastError } from 'holdfast/tools';
import { z } from 'zod';

const STOCK: Record<string, number> = { bolts: 12, nuts: 0 };

const stockLevel = defineTool({
  name: 'stock_level',
  description: 'Says how many pieces of an article are in stock.',
  args: z.object({ article: z.string().describe('for example "bolts"') }),
  effects: 'read_only',
  async run({ article }) {
    const pieces = STOCK[article];
    // What the model can mend is told to it as an error of the catalogue: what it gave, what is allowed.
    if (pieces === undefined) {
      const allowed = Object.keys(STOCK).join(', ');
      throw new HoldfastError('invalid_input', { what: 'The article', got: article, allowed });
    }
    return `${pieces} pieces of ${article}`;
  },
});

export const tools = [stockLevel];
