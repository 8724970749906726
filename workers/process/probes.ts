// `/healthz` and `/readyz` of a worker, for service managers and Kubernetes.
import { createServer } from 'node:http';
import { listenAt } from '../../system/listen-at';

export interface Probes {
  close: () => void;
}

/**
 * `/healthz` answers as long as the process does; `/readyz` with 503 and a reason while it serves no new work. Whatever
 * else is asked is not found.
 * @param listen `ADDRESS:PORT`
 * @param unready why it serves no new work; null if it does
 * Throws `invalid_input` and `port_in_use`.
 */
export async function serveProbes(listen: string, unready: () => Promise<string | null>): Promise<Probes> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      response.end(JSON.stringify(body));
    };
    if (request.url === '/healthz') answer(200, { ok: true });
    else if (request.url !== '/readyz') answer(404, { ok: false });
    else
      void unready().then((reason) =>
        answer(reason === null ? 200 : 503, { ok: reason === null, ...(reason !== null && { reason }) }),
      );
  });
  await listenAt(server, listen, '--probes');
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
