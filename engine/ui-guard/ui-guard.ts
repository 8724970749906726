// The guard in front of the web UI: a reverse proxy that lets through what the rules allow. The web UI itself answers
// any Host and requires nothing, and listens where browsers refuse to connect.
import * as http from 'node:http';
import { pipeline } from 'node:stream';
import { cookieName, judge, withoutCookie, type GuardRules, type Judgement } from './ui-guard-rules';

export interface GuardTarget {
  address: string;
  port: number;
}

/** Headers of the connection, not of the resource (RFC 9110, 7.6.1). */
const OF_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
];
/** Set by proxies in front of us, of which there are none. */
const OF_PROXIES = /^(?:forwarded|via|x-real-ip|x-forwarded-.*|x-http-method-override)$/;
/** The maximum that browsers keep a cookie (RFC 6265bis). */
const COOKIE_SECONDS = 400 * 24 * 60 * 60;
/** A page that opened or framed this one gets no handle on it; addresses are not sent to other sites. */
const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
};

/** Not yet listening. */
export function createUiGuard(target: GuardTarget, rules: GuardRules): http.Server {
  const agent = new http.Agent({ keepAlive: true });
  const guard = http.createServer((request, response) => {
    const verdict = judge(
      {
        method: request.method ?? '',
        target: request.url ?? '',
        headers: request.headers,
        hostCount: request.rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length,
      },
      rules,
    );
    for (const [name, value] of Object.entries(ISOLATION)) response.setHeader(name, value);
    if (verdict.kind === 'pass') forward(request, response, { target, agent });
    else if (verdict.kind === 'refuse') refuse(response, verdict);
    else welcome(request, response, verdict.target, rules);
  });
  // A request for a history waits for its next event.
  guard.requestTimeout = 0;
  guard.on('close', () => agent.destroy());
  return guard;
}

function refuse(
  response: http.ServerResponse,
  { status, reason }: Extract<Judgement, { kind: 'refuse' }>,
): void {
  // Do not wait for the rest of the request.
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`Refused: ${reason}.\n`);
}

function welcome(
  { headers: { host = '' } }: http.IncomingMessage,
  response: http.ServerResponse,
  target: string,
  { token }: GuardRules,
): void {
  // Lax, so that a link in a document or a mail works; what such a link may do is judged separately.
  const cookie = `${cookieName(host)}=${token}; Path=/; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax`;
  response.writeHead(303, { location: target, 'set-cookie': cookie, 'cache-control': 'no-store' }).end();
}

function forward(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { target, agent }: { target: GuardTarget; agent: http.Agent },
): void {
  const { method, url, headers } = request;
  const { address, port } = target;
  const onward = http.request({ host: address, port, agent, method, path: url, headers: forwarded(headers) });
  onward.once('response', (answer) => {
    // The web UI's own values are equally strict or laxer.
    const own = Object.entries(withoutConnection(answer.headers)).filter(([name]) => !(name in ISOLATION));
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(own));
    pipeline(answer, response, () => undefined);
  });
  onward.once('error', (err) => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`The Temporal server’s web UI does not answer: ${err.message}\n`);
  });
  // When a browser disconnects, abort the request made for it.
  response.once('close', () => onward.destroy());
  pipeline(request, onward, () => undefined);
}

function forwarded(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const { cookie, authorization, ...rest } = withoutConnection(headers);
  const others = withoutCookie(cookie, cookieName(headers.host ?? ''));
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => !OF_PROXIES.test(name))),
    ...(others !== undefined && { cookie: others }),
    // Replaces the anti-forgery token that the web UI's own pages send; the token goes no further than this.
    ...(authorization !== undefined && { authorization: 'none' }),
  };
}

/** Also removes the headers that `Connection` names. */
function withoutConnection(headers: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = [...OF_CONNECTION, ...named.filter((name) => name !== 'content-length')];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name)));
}
