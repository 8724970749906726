// Which requests the guard of the web UI lets through. A page of another site can make a browser send requests here,
// but it cannot choose their Host, Origin or Sec-Fetch headers, and does not know the token. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { isSameToken } from '../../system/same-token';

export interface GuardRules {
  /** Host names with ports under which people open it; a name rebound to this address is not among them. */
  hosts: readonly string[];
  /** Null: not required. */
  token: string | null;
}

/** The parts of a request that are judged. */
export interface Asked {
  method: string;
  /** The request target, as sent. */
  target: string;
  headers: IncomingHttpHeaders;
  /** How many Host headers there were. */
  hostCount: number;
}

export type Judgement =
  | { kind: 'pass' }
  /** The link contained the token: from now on the cookie carries it. */
  | { kind: 'welcome'; target: string }
  | { kind: 'refuse'; status: 400 | 401 | 403; reason: string };

const SAFE = ['GET', 'HEAD'];
const TOKEN_PARAMETER = 'holdfast_token';

const refuse = (status: 400 | 401 | 403, reason: string): Judgement => ({ kind: 'refuse', status, reason });

/** Judges in this order: the name, the requesting page, the token. */
export function judge(asked: Asked, rules: GuardRules): Judgement {
  const { headers, hostCount, target } = asked;
  const { host = '' } = headers;
  if (hostCount !== 1 || !rules.hosts.includes(host.toLowerCase()))
    return refuse(403, `this web UI is not served under this name: got ${JSON.stringify(host)}`);
  // No absolute form (RFC 9112, 3.2.2), and nothing that a URL parser takes for another host.
  if (!/^\/(?!\/)/.test(target) || target.includes('\\'))
    return refuse(400, 'the request target is not a path of this web UI');
  if (headers.upgrade !== undefined) return refuse(403, 'protocol upgrades are not supported here');
  const stranger = strangerIn(asked, host);
  if (stranger) return refuse(403, stranger);
  return admit(asked, host, rules.token);
}

/** Why the request counts as another page's; undefined if it is from this web UI, a person, or a program. */
function strangerIn({ method, target, headers }: Asked, host: string): string | undefined {
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return `it comes from a page of another origin: got ${JSON.stringify(origin)}`;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  // Links elsewhere may lead here: a link shows a page to a person, and the answer to no other page.
  const isLink =
    SAFE.includes(method) &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    !pathOf(target).startsWith('/api/');
  return isLink ? undefined : `it comes from a page of another site: got Sec-Fetch-Site ${String(site)}`;
}

function admit({ method, target, headers }: Asked, host: string, token: string | null): Judgement {
  if (token === null) return { kind: 'pass' };
  const [, bearer] = /^Bearer +(.*)$/i.exec(headers.authorization ?? '') ?? [];
  const shown = SAFE.includes(method) ? tokenIn(target) : undefined;
  const given = [bearer, cookieOf(headers.cookie, cookieName(host)), shown];
  if (!given.some((each) => each !== undefined && isSameToken(each, token)))
    return refuse(401, 'this web UI opens with the link that `holdfast up` prints');
  return shown === undefined ? { kind: 'pass' } : { kind: 'welcome', target: withoutToken(target) };
}

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';
const queryOf = (target: string): URLSearchParams =>
  new URLSearchParams(target.slice(pathOf(target).length + 1));
const tokenIn = (target: string): string | undefined => queryOf(target).get(TOKEN_PARAMETER) ?? undefined;

/** The same page, so that the token appears in no history and no Referer. */
function withoutToken(target: string): string {
  const query = queryOf(target);
  query.delete(TOKEN_PARAMETER);
  const rest = query.toString();
  return pathOf(target) + (rest && `?${rest}`);
}

/** A link that opens a page of the web UI. */
export function openingLink(url: string, token: string): string {
  const link = new URL(url);
  link.searchParams.set(TOKEN_PARAMETER, token);
  return link.href;
}

/** Different for each port: cookies know only hosts, and two data folders have two web UIs. */
export const cookieName = (host: string): string => `holdfast_ui_${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

function cookieOf(header: string | undefined, name: string): string | undefined {
  const [, value] = new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(header ?? '') ?? [];
  return value;
}

/** The other cookies: the server behind the guard must not see ours. */
export function withoutCookie(header: string | undefined, name: string): string | undefined {
  const rest = (header ?? '').split(/; */).filter((cookie) => cookie && !cookie.startsWith(`${name}=`));
  return rest.length > 0 ? rest.join('; ') : undefined;
}
