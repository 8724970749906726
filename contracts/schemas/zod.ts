// zod as all schemas use it. A module of its own, because the workflow bundle evaluates it once for a whole
// worker and freezes it: that is most of what starting a workflow would cost.
import * as z from 'zod/mini';

// No `new Function`: workflows may not, and the check whether they may would be one.
z.config({ jitless: true });

export { z };
