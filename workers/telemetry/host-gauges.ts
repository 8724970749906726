// Metrics of a host that are looked for on its disk: terminals, logs, running commands.
import type { MetricMeter } from '@temporalio/common';
import { gauge } from '../../contracts/telemetry/metrics';
import type { Terminals } from '../../exec/terminals';
import { RepeatedLook } from '../repeated-look';

export interface HostGaugesOptions {
  host: string;
  sessions: Terminals;
  meter: MetricMeter;
  /** As of the last look at the logs' limit. */
  logBytes: () => number;
  commands: () => number;
  everyMs: number;
  log: (message: string, facts: object) => void;
}

/** Start and stop it with the host's worker. */
export function hostGauges(options: HostGaugesOptions): RepeatedLook {
  const { host, sessions, meter, logBytes, commands, everyMs, log } = options;
  const look = (): Promise<void> => {
    const open = sessions.list().filter((ref) => ref.host === host && sessions.isOpen(ref)).length;
    gauge(meter, 'holdfast_holders', { host }, open);
    gauge(meter, 'holdfast_commands_running', { host }, commands());
    gauge(meter, 'holdfast_log_bytes', { host }, logBytes());
    return Promise.resolve();
  };
  return new RepeatedLook(look, (reason) => log('metrics could not be looked up', { reason }), everyMs);
}
