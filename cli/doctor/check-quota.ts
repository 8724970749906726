// `holdfast doctor` on the quota: how much of what agents may use in a day is used.
import type { HoldfastClient } from '../../client/holdfast-client';
import {
  dollars,
  isLimited,
  nextDayMs,
  reachedOf,
  usedAt,
  type DailyQuota,
} from '../../contracts/models/daily-quota';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { configurationSource, readConfiguration } from '../../workers/configuration/configuration';
import { recordedConfig } from '../../workers/configuration/recorded-choice';
import { counted } from '../../contracts/text/counted';

interface Found {
  status: 'ok' | 'warn';
  found: string;
  next?: string;
}

/** Undefined without a quota. Faults of the configuration are for the other checks. */
export async function checkQuota(
  dataDir: string,
  connect: () => Promise<HoldfastClient>,
  now = Date.now(),
): Promise<Found | undefined> {
  const limits = limitsIn(dataDir);
  if (!limits || !isLimited(limits)) return undefined;
  let client: HoldfastClient | undefined;
  try {
    client = await connect();
    const used = usedAt(await client.quota.read(), now);
    const parts = [
      limits.tokens !== null && `${used.tokens} of ${limits.tokens} tokens`,
      limits.costUsd !== null && `${dollars(used.costUsd)} of ${dollars(limits.costUsd)}`,
      limits.costUsd !== null &&
        used.unpriced > 0 &&
        `${counted(used.unpriced, 'call')} of models without prices`,
    ];
    const found = `${parts.filter((part) => part !== false).join(', ')} on ${used.day} (UTC)`;
    const until = new Date(nextDayMs(now)).toISOString();
    if (reachedOf(limits, used))
      return { status: 'warn', found, next: `agents wait until ${until}, or for a higher limit in [quota]` };
    if (limits.costUsd !== null && used.unpriced > 0)
      return { status: 'warn', found, next: 'set `prices` of each model in [models], or limit the tokens' };
    return { status: 'ok', found };
  } catch (err) {
    return { status: 'warn', found: reasonOf(err), next: 'start a worker: it answers what was used' };
  } finally {
    await client?.close();
  }
}

function limitsIn(dataDir: string): DailyQuota | undefined {
  try {
    return readConfiguration(configurationSource({ dataDir, config: recordedConfig(dataDir) ?? undefined }))
      .quota;
  } catch {
    return undefined;
  }
}
