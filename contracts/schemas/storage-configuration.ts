// Shape of `[storage]` in `holdfast.toml`: how much of the disk a host may use.
import { DAY_MS, DEFAULT_QUOTAS, MIB } from '../sessions/quotas';
import { z } from './zod';

const megabytes = (bytes: number) => z._default(z.int().check(z.positive()), bytes / MIB);

export const storageSchema = z.strictObject({
  session_log_mb: megabytes(DEFAULT_QUOTAS.sessionLogBytes),
  host_logs_mb: megabytes(DEFAULT_QUOTAS.hostLogBytes),
  values_mb: megabytes(DEFAULT_QUOTAS.valueBytes),
  agent_values_mb: megabytes(DEFAULT_QUOTAS.agentValueBytes),
  closed_session_days: z._default(
    z.int().check(z.positive(), z.maximum(36_500)),
    DEFAULT_QUOTAS.closedSessionMs / DAY_MS,
  ),
});

export type StorageEntry = z.infer<typeof storageSchema>;
