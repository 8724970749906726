// Which hosts code in a sandbox may reach, by name and port.
import type { LookupFunction } from 'node:net';
import { HoldfastError } from '../../contracts/errors';
import { createAddressGuard, hostOf, type AddressGuard } from '../address-guard';

/** What an entry opens that names no port: the web. */
const WEB_PORTS = [80, 443];

interface Entry {
  /** With its dot in front where all names below it are meant. */
  name: string;
  port: number | undefined;
  /** A name can be made to lead anywhere: inside of the host's network only where one host and port is meant. */
  guard: AddressGuard;
}

const PUBLIC_ONLY = createAddressGuard({});

export class NamedHosts {
  private readonly entries: readonly Entry[];

  /** @param named as `[sandbox] network` has them: `pypi.org`, `*.example.org`, `registry.internal:8443` */
  constructor(private readonly named: readonly string[]) {
    this.entries = named.map(entryOf);
  }

  /** Why it may not be reached; undefined where it may, as far as its name and port tell. */
  refusal(url: URL): string | undefined {
    const entry = this.entryFor(url);
    const got = `${hostOf(url)}:${portOf(url)}`;
    if (!entry) return `${got} is not among the hosts of this sandbox (${this.named.join(', ')})`;
    try {
      entry.guard.checkHost(url);
      return undefined;
    } catch (err) {
      const reason = addressRefusal(err);
      if (reason !== undefined) return reason;
      throw err;
    }
  }

  /** For the connection to what was not refused: fails with `address_refused` for what its name may not lead to. */
  lookupFor(url: URL): LookupFunction {
    return (this.entryFor(url)?.guard ?? PUBLIC_ONLY).lookupFor(url);
  }

  private entryFor(url: URL): Entry | undefined {
    const [host, port] = [hostOf(url), portOf(url)];
    const isMeant = (entry: Entry): boolean =>
      (entry.name.startsWith('.') ? host.endsWith(entry.name) : host === entry.name) &&
      (entry.port === undefined ? WEB_PORTS.includes(port) : port === entry.port);
    // One that names the port says more.
    const meant = this.entries.filter(isMeant);
    return meant.find(isExact) ?? meant[0];
  }
}

/** Of a host that is named and leads where it may not; undefined for any other failure. */
export const addressRefusal = (err: unknown): string | undefined =>
  err instanceof HoldfastError && err.code === 'address_refused'
    ? `${err.facts.got} is ${err.facts.reason}: such a host is named with its port`
    : undefined;

const isExact = ({ name, port }: Omit<Entry, 'guard'>): boolean =>
  port !== undefined && !name.startsWith('.');

function entryOf(text: string): Entry {
  const [, star = '', name = '', port] = /^(\*?)(.*?)(?::(\d+))?$/.exec(text) ?? [];
  // As an address that is asked for is written: 127.0.0.1 and not 127.1.
  const url = URL.parse(`http://${name.replace(/^\./, '')}`);
  const host = url ? hostOf(url) : name;
  const entry = {
    name: star === '' ? host : `.${host}`,
    port: port === undefined ? undefined : Number(port),
  };
  return { ...entry, guard: isExact(entry) ? createAddressGuard({ allowPrivate: [host] }) : PUBLIC_ONLY };
}

/** What a URL says, and what it means where it says none. */
export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);
