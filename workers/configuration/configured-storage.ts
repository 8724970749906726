// `[storage]` of `holdfast.toml`: limits, and where large values are stored.
import { BUCKET_URL, type StorageEntry } from '../../contracts/schemas/configuration/storage-configuration';
import { DAY_MS, MIB, type BucketPlace, type StorageSettings } from '../../contracts/sessions/quotas';

export const configuredStorage = (entry: StorageEntry): StorageSettings => ({
  sessionLogBytes: entry.session_log_mb * MIB,
  hostLogBytes: entry.host_logs_mb * MIB,
  valueBytes: entry.values_mb * MIB,
  agentValueBytes: entry.agent_values_mb * MIB,
  closedSessionMs: entry.closed_session_days * DAY_MS,
  bucket: bucketOf(entry),
});

function bucketOf({ values, ...entry }: StorageEntry): BucketPlace | null {
  const [, bucket, prefix = ''] = BUCKET_URL.exec(values ?? '') ?? [];
  if (bucket === undefined) return null;
  return {
    bucket,
    prefix: prefix.replace(/^\/+|\/+$/g, ''),
    endpoint: entry.s3_endpoint,
    region: entry.s3_region,
    pathStyle: entry.s3_path_style,
  };
}
