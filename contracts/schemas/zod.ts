// zod as all schemas use it.
import * as z from 'zod/mini';

// No `new Function`: workflows must not use it, and zod's test for it would be a use.
z.config({ jitless: true });

export { z };

/** As `z.regex`, with a copy of the pattern: zod writes to it, and what modules export is frozen in workflows. */
export const matching = (
  pattern: RegExp,
  params?: Parameters<typeof z.regex>[1],
): ReturnType<typeof z.regex> => z.regex(new RegExp(pattern), params);
