// Which requests the guard of the web UI lets through. A page of another site can make a browser send requests here; it
// cannot choose their Host, Origin or Sec-Fetch headers, and does not know the token. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { isSameToken } from '../exec/same-token';

export interface GuardRules {
  /** Names with ports under which people open it: what a name that leads here by rebinding is not among. */
  hosts: readonly string[];
  /** Null: asked of nobody. */
  token: string | null;
}

/** What of a request is judged. */
export interface Asked {
  method: string;
  /** The request target, as it was sent. */
  target: string;
  headers: IncomingHttpHeaders;
  /** How many Host headers there were. */
  hostCount: number;
}

export type Judgement =
  | { kind: 'pass' }
  /** It came with the token in the link: from now on the cookie carries it. */
  | { kind: 'welcome'; target: string }
  | { kind: 'refuse'; status: 400 | 401 | 403; reason: string };

const SAFE = ['GET', 'HEAD'];
const TOKEN_PARAMETER = 'holdfast_token';

const refuse = (status: 400 | 401 | 403, reason: string): Judgement => ({ kind: 'refuse', status, reason });

/** Judges in this order: the name, the page it comes from, the token. */
export function judge(asked: Asked, rules: GuardRules): Judgement {
  const { headers, hostCount, target } = asked;
  const { host = '' } = headers;
  if (hostCount !== 1 || !rules.hosts.includes(host.toLowerCase()))
    return refuse(403, `this web UI is not served under this name: got ${JSON.stringify(host)}`);
  // No absolute form (RFC 9112, 3.2.2), and nothing that a resolver of URLs takes for another host.
  if (!/^\/(?!\/)/.test(target) || target.includes('\\'))
    return refuse(400, 'the request target is not a path of this web UI');
  if (headers.upgrade !== undefined) return refuse(403, 'nothing here is upgraded to another protocol');
  const stranger = strangerIn(asked, host);
  if (stranger) return refuse(403, stranger);
  return admit(asked, host, rules.token);
}

/** Why the request is another page's; undefined where it is this web UI's, a person's, or a program's. */
function strangerIn({ method, target, headers }: Asked, host: string): string | undefined {
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return `it comes from a page of another origin: got ${JSON.stringify(origin)}`;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  // A link elsewhere may lead here: it shows a page to a person and its answer to no other page.
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

/** The same page, so that the token stays in no history and in no Referer. */
function withoutToken(target: string): string {
  const query = queryOf(target);
  query.delete(TOKEN_PARAMETER);
  const rest = query.toString();
  return pathOf(target) + (rest && `?${rest}`);
}

/** A link to a page of the web UI that opens it. */
export function openingLink(url: string, token: string): string {
  const link = new URL(url);
  link.searchParams.set(TOKEN_PARAMETER, token);
  return link.href;
}

/** Of its own for each port: cookies know hosts only, and two data folders have two web UIs. */
export const cookieName = (host: string): string => `holdfast_ui_${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;

function cookieOf(header: string | undefined, name: string): string | undefined {
  const [, value] = new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(header ?? '') ?? [];
  return value;
}

/** The other cookies: ours is nobody's business behind the guard. */
export function withoutCookie(header: string | undefined, name: string): string | undefined {
  const rest = (header ?? '').split(/; */).filter((cookie) => cookie && !cookie.startsWith(`${name}=`));
  return rest.length > 0 ? rest.join('; ') : undefined;
}
