// Shape of `[checkpoints]` in `holdfast.toml`: which workspaces have checkpoints, and what these may hold.
import { MIB } from '../../sessions/quotas';
import { CHECKPOINTS_ENABLED, DEFAULT_CHECKPOINTS } from '../../workspaces/settings';
import { z } from '../zod';

const positive = z.int().check(z.positive());

export const checkpointsSchema = z.strictObject({
  enabled: z._default(
    z.enum(CHECKPOINTS_ENABLED, {
      error: `must be one of ${CHECKPOINTS_ENABLED.map((one) => `"${one}"`).join(', ')}`,
    }),
    DEFAULT_CHECKPOINTS.enabled,
  ),
  include: z._default(z.array(z.string().check(z.minLength(1))), [...DEFAULT_CHECKPOINTS.include]),
  max_file_mb: z._default(positive, DEFAULT_CHECKPOINTS.maxFileBytes / MIB),
  max_mb: z._default(positive, DEFAULT_CHECKPOINTS.maxBytes / MIB),
  max_files: z._default(positive, DEFAULT_CHECKPOINTS.maxFiles),
  store_mb: z._default(positive, DEFAULT_CHECKPOINTS.storeBytes / MIB),
});

export type CheckpointsEntry = z.infer<typeof checkpointsSchema>;
