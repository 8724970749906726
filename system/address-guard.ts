// Which addresses may be reached for code and models. Checks the address of the connection itself: a name may resolve
// to anything, and to something else on each lookup.
import { lookup as systemLookup } from 'node:dns';
import { networkInterfaces } from 'node:os';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { HoldfastError } from '../contracts/errors/holdfast-error';

type Family = 'ipv4' | 'ipv6';
/** Networks without public addresses, by purpose (IANA's special-purpose registries, RFC 6890). */
const REFUSED: readonly [reason: string, network: string, prefix: number, family: Family][] = [
  ['this host', '0.0.0.0', 8, 'ipv4'],
  ['private', '10.0.0.0', 8, 'ipv4'],
  ['shared by a carrier', '100.64.0.0', 10, 'ipv4'],
  ['this host', '127.0.0.0', 8, 'ipv4'],
  ['link-local, where clouds keep credentials', '169.254.0.0', 16, 'ipv4'],
  ['private', '172.16.0.0', 12, 'ipv4'],
  ['reserved', '192.0.0.0', 24, 'ipv4'],
  ['reserved', '192.0.2.0', 24, 'ipv4'],
  ['reserved', '192.88.99.0', 24, 'ipv4'],
  ['private', '192.168.0.0', 16, 'ipv4'],
  ['reserved', '198.18.0.0', 15, 'ipv4'],
  ['reserved', '198.51.100.0', 24, 'ipv4'],
  ['reserved', '203.0.113.0', 24, 'ipv4'],
  ['multicast', '224.0.0.0', 4, 'ipv4'],
  ['reserved', '240.0.0.0', 4, 'ipv4'],
  ['this host', '::', 128, 'ipv6'],
  ['this host', '::1', 128, 'ipv6'],
  // Gateways translate these to any IPv4 address.
  ['a translated address', '64:ff9b::', 96, 'ipv6'],
  ['a translated address', '64:ff9b:1::', 48, 'ipv6'],
  ['reserved', '100::', 64, 'ipv6'],
  ['reserved', '2001::', 23, 'ipv6'],
  ['reserved', '2001:db8::', 32, 'ipv6'],
  ['a translated address', '2002::', 16, 'ipv6'],
  ['private', 'fc00::', 7, 'ipv6'],
  ['link-local', 'fe80::', 10, 'ipv6'],
  ['site-local', 'fec0::', 10, 'ipv6'],
  ['multicast', 'ff00::', 8, 'ipv6'],
];

const refused = REFUSED.map(([reason, network, prefix, family]) => {
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return { reason, list };
});

const familyOf = (address: string): Family => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The IPv4 address that an IPv6 address maps (RFC 4291, 2.5.5.2) or is compatible with, else the address itself. */
function unmapped(address: string): string {
  // URLs normalise to the shortest form, with the last two groups in hexadecimal.
  const bare = address.split('%')[0] ?? '';
  if (isIP(bare) !== 6) return bare;
  const [, high, low] =
    /^::(?:ffff:(?:0:)?)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(
      new URL(`http://[${bare}]/`).hostname.slice(1, -1),
    ) ?? [];
  if (high === undefined || low === undefined) return bare;
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

export interface AddressGuard {
  /** Throws `address_refused` if the host is an address, not a name, and is refused. */
  checkHost(url: URL): void;
  /**
   * For a request to `url` through a proxy, which resolves the name itself: refuses what this machine would refuse. A name
   * that is not known here is left to the proxy, unless it is one of a local network.
   */
  checkName(url: URL): Promise<void>;
  /** For the connection to `url`: resolves its name, or fails with `address_refused`. */
  lookupFor(url: URL): LookupFunction;
}

export interface GuardOptions {
  /** Private names and addresses that are allowed anyway: `wiki.internal`, `10.1.2.3`, `10.0.0.0/8`. */
  allowPrivate?: readonly string[] | undefined;
  /** Addresses of this machine: services there may be meant for the local network only. Default: all interfaces. */
  own?: (() => string[]) | undefined;
  /** Resolves names. Default: the system's resolver. */
  lookup?: LookupFunction | undefined;
}

/** Throws `config_invalid` for an entry that is neither a name nor an address. */
export function createAddressGuard({
  allowPrivate = [],
  own = ownAddresses,
  lookup = systemLookup,
}: GuardOptions): AddressGuard {
  const { names, networks } = readAllowed(allowPrivate);
  const reasonAgainst = (address: string): string | undefined => {
    const plain = unmapped(address);
    if (networks.check(plain, familyOf(plain))) return undefined;
    const reason = refused.find(({ list }) => list.check(plain, familyOf(plain)))?.reason;
    return reason ?? (own().includes(plain) ? 'this host' : undefined);
  };
  const refusal = (url: URL, address: string): HoldfastError | undefined => {
    const reason = reasonAgainst(address);
    if (reason === undefined || names.has(hostOf(url))) return undefined;
    const got = address === hostOf(url) ? url.href : `${url.href} at ${address}`;
    return new HoldfastError('address_refused', { got, reason });
  };
  const guard: AddressGuard = {
    checkHost(url) {
      const fault = isIP(hostOf(url)) === 0 ? undefined : refusal(url, hostOf(url));
      if (fault) throw fault;
    },
    checkName: (url) =>
      new Promise((resolve, reject) => {
        guard.checkHost(url);
        guard.lookupFor(url)(hostOf(url), {}, (err) => {
          if (!err) return resolve();
          if (err instanceof HoldfastError) return reject(err);
          if (!isLocalName(hostOf(url)) || names.has(hostOf(url))) return resolve();
          reject(
            new HoldfastError('address_refused', { got: url.href, reason: 'a name of a local network' }),
          );
        });
      }),
    lookupFor: (url) => (hostname, options, callback) => {
      // Check all addresses, because Node may try one after the other: a single refused address refuses the name.
      lookup(hostname, { ...options, all: true }, (err, found) => {
        const addresses = Array.isArray(found) ? found : [];
        const fault = err ?? addresses.map(({ address }) => refusal(url, address)).find(Boolean);
        const [first] = addresses;
        if (fault || !first) callback(fault ?? new Error(`${hostname} has no address`), '', 0);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    },
  };
  return guard;
}

/** Names without a public address, by what they end in (RFC 6761, 6762, 8375) or by use. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|private|corp|home|lan|home\.arpa)$/i;
const isLocalName = (host: string): boolean =>
  isIP(host) === 0 && (!host.includes('.') || LOCAL_NAME.test(host));

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

/** Without IPv6 brackets and the trailing dot of a fully qualified name. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

type Allowed = { name: string } | { address: string; length: number };

/** What an entry may be. */
export const ALLOWED_PRIVATE = 'a host name, or an address such as 10.1.2.3 or 10.0.0.0/8';
export const isAllowedPrivate = (entry: string): boolean => allowedBy(entry) !== undefined;

function allowedBy(entry: string): Allowed | undefined {
  const [address = '', prefix, ...more] = entry.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : Number(prefix);
  if (isIP(address) !== 0 && more.length === 0 && /^\d+$/.test(prefix ?? '0') && length <= bits)
    return { address, length };
  return /^[a-z0-9._-]+$/i.test(entry) && isIP(entry) === 0 ? { name: entry.toLowerCase() } : undefined;
}

function readAllowed(entries: readonly string[]): { names: Set<string>; networks: BlockList } {
  const names = new Set<string>();
  const networks = new BlockList();
  const faults: string[] = [];
  for (const entry of entries) {
    const allowed = allowedBy(entry);
    if (!allowed) faults.push(`${entry} must be ${ALLOWED_PRIVATE}`);
    else if ('name' in allowed) names.add(allowed.name);
    else networks.addSubnet(allowed.address, allowed.length, familyOf(allowed.address));
  }
  if (faults.length > 0) throw new HoldfastError('config_invalid', { faults: faults.join('; ') });
  return { names, networks };
}
