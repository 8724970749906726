// Judges a request before anything else does: the name it was sent to, and the page that it comes from. A page of another
// site can make a browser send requests here, but it cannot choose their Host, Origin or Sec-Fetch headers. Pure.
import type { IncomingHttpHeaders } from 'node:http';

export interface FrontDoor {
  /** Names with ports under which it is served, in lower case; a name rebound to this address is not among them. */
  hosts: readonly string[];
}

const SAFE = ['GET', 'HEAD'];

/** Why the request is refused; undefined if it is not. */
export function refusalOf({
  method,
  headers,
  hosts,
}: { method: string; headers: IncomingHttpHeaders } & FrontDoor): string | undefined {
  const host = headers.host?.toLowerCase() ?? '';
  if (!hosts.includes(host)) return `this gateway is not served under the name ${JSON.stringify(host)}`;
  const { origin } = headers;
  if (origin !== undefined && !isOwn(origin, host))
    return `it comes from a page of another origin, ${JSON.stringify(origin)}`;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  // A link elsewhere may lead to the page: it shows the page to a person, and its answer to no other page.
  const isLink =
    SAFE.includes(method) &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  return isLink ? undefined : `it comes from a page of another site (Sec-Fetch-Site ${String(site)})`;
}

/** Behind a proxy that ends TLS the page's origin is https. */
const isOwn = (origin: string, host: string): boolean =>
  [`http://${host}`, `https://${host}`].includes(origin.toLowerCase());

/** No inline code, nothing from elsewhere, no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** On every answer. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
