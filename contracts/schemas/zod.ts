// zod as all schemas use it. A separate module, because the workflow bundle evaluates it once per worker and
// freezes it: that is most of the cost of starting a workflow.
import * as z from 'zod/mini';

// No `new Function`: workflows must not use it, and zod's test for it would be a use.
z.config({ jitless: true });

export { z };
