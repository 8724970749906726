// Shape of `[storage]` in `holdfast.toml`: how much of the disk a host may use, and where large values are stored.
import { DAY_MS, DEFAULT_QUOTAS, MIB } from '../../sessions/quotas';
import { z } from '../zod';

const megabytes = (bytes: number) => z._default(z.int().check(z.positive()), bytes / MIB);

/** `s3://BUCKET/PREFIX` */
export const BUCKET_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9!_.*'()/-]*))?$/;
const isEndpoint = (text: string): boolean => {
  const url = URL.parse(text);
  // Credentials in a URL would be shown with it.
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};

export const storageSchema = z.strictObject({
  values: z.optional(
    z.string().check(z.regex(BUCKET_URL, { error: 'must be s3://BUCKET or s3://BUCKET/PREFIX' })),
  ),
  s3_endpoint: z.optional(
    z.string().check(z.refine(isEndpoint, { error: 'must be an http or https URL without credentials' })),
  ),
  s3_region: z.optional(z.string().check(z.minLength(1))),
  s3_path_style: z._default(z.boolean(), false),
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
