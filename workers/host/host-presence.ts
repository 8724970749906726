// Announces that a host is online: at each change, and again whenever the server has given up its lease.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Presence } from '../../activities/host/presence';
import type { HostDirectory } from '../../client/hosts/host-directory';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { HostFacts } from '../../contracts/schemas/remote-hosts';
import { HOST_PROTOCOL } from '../../contracts/sessions/remote-hosts';
import type { HostAccess } from '../../exec/host/host-access';
import { ageOf, LONG_AGO, thisMoment } from '../../system/elapsed';
import { packageVersion } from '../../system/package-root';
import type { Terminals } from '../../exec/terminals';

/** A change of the host's access is announced within this time; it takes effect at once. */
const LOOK_EVERY_MS = 1_000;
/** By then the server has granted the lease, or the request was lost. */
const LEASE_MS = 12_000;

export interface HostPresenceOptions {
  host: string;
  dataDir: string;
  sessions: Terminals;
  access: HostAccess;
  directory: HostDirectory;
  /** Where it accepts connections, once it does. */
  listens: () => HostFacts['listens'];
  log: (message: string, facts: object) => void;
}

export class HostPresence {
  readonly presence = new Presence(randomUUID());
  private readonly version = packageVersion();
  private isStopping = false;
  private timer: NodeJS.Timeout | undefined;
  private announced: HostFacts | undefined;
  private reportedAt = LONG_AGO;
  private looking: Promise<void> = Promise.resolve();

  constructor(private readonly options: HostPresenceOptions) {}

  /**
   * Throws `host_taken` if another machine serves a host of this name. Asks the server alone: this process may be about
   * to be the only one that serves agents.
   */
  async claim(): Promise<void> {
    const { host, directory } = this.options;
    let before: number | null = null;
    for (;;) {
      const beat = await directory.lastBeat(host);
      // The lease is free. That of a host that died a moment ago expires: only a further beat proves that it lives.
      if (beat === null) return;
      if (before !== null && beat !== before)
        throw new HoldfastError('host_taken', {
          host,
          got: this.options.dataDir,
          allowed: 'the one that is online',
          since: new Date(before).toISOString(),
        });
      before = beat;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Announces from now on, until `stop`. */
  start(): void {
    const look = (): void => {
      this.looking = this.look()
        .catch((err: unknown) =>
          this.options.log('the host could not be announced', { error: reasonOf(err) }),
        )
        .then(() => {
          if (!this.isStopping) this.timer = setTimeout(look, LOOK_EVERY_MS);
        });
    };
    look();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    this.presence.end();
    await this.looking;
  }

  private async look(): Promise<void> {
    const { facts } = this;
    const isLost = !this.presence.holdsLease && ageOf(this.reportedAt) > LEASE_MS;
    if (!isLost && isDeepStrictEqual(facts, this.announced)) return;
    await this.options.directory.announce(this.options.host, facts);
    this.announced = facts;
    this.reportedAt = thisMoment();
  }

  private get facts(): HostFacts {
    const { sessions, access } = this.options;
    const listens = this.options.listens();
    const { cwd, treeKill, sandbox } = sessions.options;
    return {
      instance: this.presence.instance,
      version: this.version,
      protocol: HOST_PROTOCOL,
      access: access.current,
      root: cwd,
      treeKill,
      sandbox: sandbox ? 'bubblewrap' : null,
      capabilities: listens ? ['attach'] : [],
      listens,
    };
  }
}
