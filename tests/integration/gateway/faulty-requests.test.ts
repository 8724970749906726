// Each route, asked with one fault at a time (tests/helpers/gateway/faulty-requests.ts).
import { request } from 'node:http';
import type { Problem } from '../../../gateway/http/problem';
import type { Route } from '../../../gateway/http/route';
import { ALL_ROUTES } from '../../../gateway/routes/all-routes';
import { CATALOGUE } from '../../../contracts/errors/catalogue';
import { faultyRequests, type FaultyRequest } from '../../helpers/gateway/faulty-requests';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';

const own = new GatewayOfItsOwn();
beforeAll(() => own.start({ role: 'admin' }), 60_000);
afterAll(() => own.end(), 60_000);

/** Log-ins need no token, and have tests of their own. */
const routes = (ALL_ROUTES as unknown as Route[]).filter(({ role }) => role !== 'none');
const classes = [...new Set(routes.map(({ tag }) => tag))];

interface Answer {
  status: number;
  type: string;
  body: string;
}

/** As it stands: `fetch` corrects some paths and headers. */
function send({ what, method, path, headers, body }: FaultyRequest): Promise<Answer> {
  const { hostname, port, host } = new URL(own.gateway.url);
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers: { Host: host, ...length, ...headers } },
      (answer) => {
        let text = '';
        const [status, type] = [answer.statusCode ?? 0, String(answer.headers['content-type'])];
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve({ status, type, body: text }));
        // A stream would not end.
        if (!type.startsWith('text/event-stream')) return;
        resolve({ status, type, body: '' });
        answer.destroy();
      },
    );
    sent.on('error', (err) => reject(new Error(what, { cause: err }))).end(body);
  });
}

/** All that a request could have changed. */
const state = async (): Promise<unknown[]> =>
  Promise.all(
    ['/v1/agents', '/v1/sessions', '/v1/approvals', '/v1/inbox', '/v1/webhooks', '/v1/tokens'].map((path) =>
      own.api.get(path),
    ),
  );

test.each(classes)(
  'no faulty request to %s is answered as a good one or as our own failure, and none changes anything',
  async (tag) => {
    const ofClass = routes.filter((route) => route.tag === tag);
    const requests = ofClass.flatMap((route) =>
      faultyRequests(
        route,
        own.api.token ?? '',
        (ALL_ROUTES as unknown as Route[])
          .filter(({ path }) => path === route.path)
          .map(({ method }) => method),
      ),
    );
    expect(requests.length).toBeGreaterThanOrEqual(24);
    const before = await state();
    const wrong: unknown[] = [];
    for (const faulty of requests) {
      const answer = await send(faulty);
      const fault = faultOf(faulty, answer);
      if (fault) wrong.push([faulty.what, fault, answer.status, answer.body.slice(0, 300)]);
    }
    expect(wrong).toEqual([]);
    expect(await state()).toEqual(before);
  },
  60_000,
);

function faultOf({ statuses }: FaultyRequest, { status, type, body }: Answer): string | undefined {
  if (!statuses.includes(status)) return `not ${statuses.join(' or ')}`;
  if (type !== 'application/problem+json') return `as ${type}`;
  const problem = JSON.parse(body) as Problem;
  if (problem.status !== status || !Object.hasOwn(CATALOGUE, problem.code)) return 'not of the catalogue';
  if (/undefined|\[object/.test(`${problem.detail} ${problem.next}`)) return 'with a hole';
  if (body.length > 6_000) return 'too long';
  return problem.detail && problem.next ? undefined : 'no detail or no next step';
}
