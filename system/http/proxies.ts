// The proxies that the environment names, as curl and Go read it: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, also in lower
// case. This machine itself is never reached through one.
import { BlockList, isIP } from 'node:net';
import { HoldfastError } from '../../contracts/errors/holdfast-error';

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLES = { 'https:': 'HTTPS_PROXY', 'http:': 'HTTP_PROXY' } as const;
type Scheme = keyof typeof VARIABLES;

/** The proxy for an address; undefined if there is none. Throws `config_invalid` for one that cannot be used. */
export function proxyFor(url: URL, env: Environment = process.env): URL | undefined {
  if (!isScheme(url.protocol)) return undefined;
  const name = VARIABLES[url.protocol];
  const value = valueOf(name, env);
  if (value === '' || isLoopback(hostIn(url)) || isExcepted(url, valueOf('NO_PROXY', env))) return undefined;
  const proxy = addressOf(value);
  if (proxy) return proxy;
  const got = shownProxy(value);
  throw new HoldfastError('config_invalid', {
    faults: `the variable ${name}: got ${got}, allowed an address such as http://proxy.example.com:3128`,
  });
}

/** What the environment says, without passwords; undefined if it names no proxy. */
export function describedProxies(env: Environment): { text: string; faults: string[] } | undefined {
  const named = Object.values(VARIABLES).flatMap((name) => {
    const value = valueOf(name, env);
    return value === '' ? [] : [{ name, value }];
  });
  if (named.length === 0) return undefined;
  const except = valueOf('NO_PROXY', env);
  const texts = named.map(({ name, value }) => `${name}=${shownProxy(value)}`);
  return {
    text: [...texts, ...(except === '' ? [] : [`NO_PROXY=${except}`])].join(', '),
    faults: named.filter(({ value }) => !addressOf(value)).map(({ name }) => name),
  };
}

/** `user:password` of a proxy's address, as its header has it. */
export const proxyHeaders = ({ username, password }: URL): Record<string, string> =>
  username === '' && password === ''
    ? {}
    : {
        'proxy-authorization': `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      };

const isScheme = (protocol: string): protocol is Scheme => protocol in VARIABLES;

const valueOf = (name: string, env: Environment): string =>
  (env[name.toLowerCase()] ?? env[name] ?? '').trim();

function addressOf(value: string): URL | undefined {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  return url && isScheme(url.protocol) ? url : undefined;
}

function shownProxy(value: string): string {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (!url) return 'no address';
  return `${url.protocol}//${url.username === '' && url.password === '' ? '' : '***@'}${url.host}`;
}

const hostIn = ({ hostname }: URL): string =>
  hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();

const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '::1' ||
  (isIP(host) === 4 && host.startsWith('127.'));

/** Entries are names, which stand for the names below them, too, addresses and networks; each may have a port. */
function isExcepted(url: URL, list: string): boolean {
  const host = hostIn(url);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  const [, bracketed, plain, entryPort] = /^(?:\[([^\]]+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const name = bracketed ?? plain ?? entry;
  if (name.includes('/')) return isInNetwork(name, host);
  const domain = name.replace(/^\*?\./, '');
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isInNetwork(network: string, host: string): boolean {
  const [address = '', prefix] = network.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(host) === 0 || isIP(address) === 0) return false;
  try {
    const list = new BlockList();
    list.addSubnet(address, Number(prefix), family);
    return list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  } catch {
    return false;
  }
}
