// `[checkpoints]` of `holdfast.toml`, and which places it means.
import { dirname } from 'node:path';
import type { Place } from '../../contracts/tools/approvals';
import { LOCAL_HOST } from '../../contracts/ids';
import type { CheckpointsEntry } from '../../contracts/schemas/configuration/checkpoints-configuration';
import { MIB } from '../../contracts/sessions/quotas';
import { WITHOUT_LIMITS } from '../../contracts/workspaces/file-reach';
import type { CheckpointSettings } from '../../contracts/workspaces/settings';
import { repositoryIn } from '../../workspaces/look/repository';

export const configuredCheckpoints = (entry: CheckpointsEntry): CheckpointSettings => ({
  enabled: entry.enabled,
  include: entry.include,
  maxFileBytes: entry.max_file_mb * MIB,
  maxBytes: entry.max_mb * MIB,
  maxFiles: entry.max_files,
  storeBytes: entry.store_mb * MIB,
});

/**
 * Whether steps in a place end with checkpoints, as far as the agents' worker knows. `auto`: in a folder that the
 * agent names, and in the host's own where that is a repository. The `work` folder that all agents of a host share is
 * neither.
 */
export const placesWithCheckpoints =
  ({ enabled }: CheckpointSettings, workdir: string) =>
  ({ host, cwd }: Place): boolean => {
    if (enabled !== 'auto') return enabled === 'on';
    return cwd !== null || (host === LOCAL_HOST && inRepository(workdir));
  };

/**
 * True also where something cannot be looked at, a link to itself for instance: the checkpoint says why it is missing.
 * An error here would cost the model's answer, which is paid for.
 */
function inRepository(folder: string): boolean {
  try {
    for (let at = folder; ; at = dirname(at)) {
      if (repositoryIn(at, WITHOUT_LIMITS)) return true;
      if (at === dirname(at)) return false;
    }
  } catch {
    return true;
  }
}
