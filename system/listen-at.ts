// Opens a server at the address that a person has named.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';

/** Addresses that mean all of this machine's. */
export const WILDCARDS: readonly string[] = ['0.0.0.0', '[::]'];

export interface Listening {
  /** As it was named, such as `127.0.0.1` or `[::1]`. */
  address: string;
  port: number;
}

/** What `ADDRESS:PORT` may be. */
export const LISTEN_ALLOWED = 'ADDRESS:PORT, for example 127.0.0.1:7280';

/** The parts of `ADDRESS:PORT`; undefined for anything else. */
export function parseListen(listen: string): Listening | undefined {
  const [, address = '', port] = /^(\[[0-9a-f:]+\]|[\w.-]+):(\d{1,5})$/i.exec(listen) ?? [];
  return address === '' || Number(port) > 65_535 ? undefined : { address, port: Number(port) };
}

/** Whether a server could listen there: throws like `listenAt`. */
export async function tryListening(listen: string, option: string): Promise<void> {
  const server = createServer();
  await listenAt(server, listen, option);
  await new Promise((resolve) => server.close(resolve));
}

/**
 * @param listen `ADDRESS:PORT`; port 0 picks a free one
 * @param option the option that named it
 * Throws `invalid_input` and `port_in_use`.
 */
export async function listenAt(server: Server, listen: string, option: string): Promise<Listening> {
  const place = parseListen(listen);
  if (!place)
    throw new HoldfastError('invalid_input', { what: option, got: listen, allowed: LISTEN_ALLOWED });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (err: NodeJS.ErrnoException) =>
      reject(
        err.code === 'EADDRINUSE'
          ? new HoldfastError('port_in_use', { got: listen, next: `Name another address with ${option}.` })
          : new HoldfastError('invalid_input', {
              what: option,
              got: listen,
              allowed: `an address and a port that this process may use (${reasonOf(err)})`,
              next: `Name another address with ${option}, for example 127.0.0.1:7280.`,
            }),
      ),
    );
    server.listen(place.port, place.address.replaceAll(/[[\]]/g, ''), resolve);
  });
  return { address: place.address, port: (server.address() as AddressInfo).port };
}
