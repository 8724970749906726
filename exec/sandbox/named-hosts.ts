// Which hosts code in a sandbox may reach, by name and port.
import type { LookupFunction } from 'node:net';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { createAddressGuard, hostOf, type AddressGuard } from '../../system/address-guard';

/** The ports of an entry without one: the web. */
const WEB_PORTS = [80, 443];

interface Entry {
  /** With its leading dot if all names below it are meant. */
  name: string;
  port: number | undefined;
  /** A name can be made to lead anywhere: into the host's network only if one host and port is named. */
  guard: AddressGuard;
}

const PUBLIC_ONLY = createAddressGuard({});

export class NamedHosts {
  private readonly entries: readonly Entry[];

  /** @param named from `[sandbox] network`: `pypi.org`, `*.example.org`, `registry.internal:8443` */
  constructor(private readonly named: readonly string[]) {
    this.entries = named.map(entryOf);
  }

  /** Why the URL is refused; undefined if its name and port are allowed. */
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

  /** For the connection to an allowed URL: fails with `address_refused` if its name leads to a forbidden address. */
  lookupFor(url: URL): LookupFunction {
    return (this.entryFor(url)?.guard ?? PUBLIC_ONLY).lookupFor(url);
  }

  private entryFor(url: URL): Entry | undefined {
    const [host, port] = [hostOf(url), portOf(url)];
    const isMeant = (entry: Entry): boolean =>
      (entry.name.startsWith('.') ? host.endsWith(entry.name) : host === entry.name) &&
      (entry.port === undefined ? WEB_PORTS.includes(port) : port === entry.port);
    // An entry that names the port is more specific.
    const meant = this.entries.filter(isMeant);
    return meant.find(isExact) ?? meant[0];
  }
}

/** The reason if a named host leads to a forbidden address; undefined for any other failure. */
export const addressRefusal = (err: unknown): string | undefined =>
  err instanceof HoldfastError && err.code === 'address_refused'
    ? `${err.facts.got} is ${err.facts.reason}: to allow such a host, name it with its port`
    : undefined;

const isExact = ({ name, port }: Omit<Entry, 'guard'>): boolean =>
  port !== undefined && !name.startsWith('.');

function entryOf(text: string): Entry {
  const [, star = '', name = '', port] = /^(\*?)(.*?)(?::(\d+))?$/.exec(text) ?? [];
  // Normalised like a requested address: 127.0.0.1, not 127.1.
  const url = URL.parse(`http://${name.replace(/^\./, '')}`);
  const host = url ? hostOf(url) : name;
  const entry = {
    name: star === '' ? host : `.${host}`,
    port: port === undefined ? undefined : Number(port),
  };
  return { ...entry, guard: isExact(entry) ? createAddressGuard({ allowPrivate: [host] }) : PUBLIC_ONLY };
}

/** The port of a URL, or its default. */
export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);
