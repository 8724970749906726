// What code may do on this host. Kept in a file on the host, so that a change takes effect with the next call, and only
// this machine's user can make one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { ACCESS, type Access } from '../../contracts/sessions/remote-hosts';
import { readJson, writeJson } from '../../system/json-file';

/** What a call does: changes something, only looks, or ends what runs. */
export type Effect = 'mutates' | 'looks' | 'ends';

export class HostAccess {
  private readonly file: string;

  constructor(
    dataDir: string,
    private readonly host: string,
  ) {
    this.file = join(dataDir, `access.${host}.json`);
  }

  /** A damaged file forbids everything: its author wanted to restrict something. */
  get current(): Access {
    // Before it is read: it may be written for the first time just now.
    const isThere = existsSync(this.file);
    const found = readJson<{ access?: unknown } | null>(this.file);
    if (found === undefined && !isThere) return 'read-write';
    return ACCESS.find((access) => access === found?.access) ?? 'off';
  }

  /** Not even a power failure takes it back. Throws `storage_failed`. */
  set(access: Access): void {
    writeJson(this.file, { access }, { flush: true });
  }

  /** Throws `execution_disabled` or `read_only_host`. Ending what runs is always allowed. */
  check(what: string, effect: Effect): void {
    const { current, host } = this;
    if (effect === 'ends' || current === 'read-write') return;
    if (current === 'off') throw new HoldfastError('execution_disabled', { host });
    if (effect === 'mutates') throw new HoldfastError('read_only_host', { host, what });
  }
}
