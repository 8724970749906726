// Viewers of a terminal on another machine who leave while it is being reached.
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { RemoteTerminal } from '../../../exec/attach/remote-terminal';
import type { Caller } from '../../../gateway/access/grants';
import type { GatewayContext } from '../../../gateway/gateway-context';
import { TerminalConnection } from '../../../gateway/terminals/terminal-connection';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

const caller: Caller = { id: 'v', name: 'v', role: 'viewer', agents: ['*'], expiresAt: null };
const ref = { agent: 'a', host: 'far', session: 0 };
const gone = new HoldfastError('not_found', { what: 'A terminal', got: 'none', next: 'x' });

/** Resolves when it is asked to. */
function gate(): { open: () => void; passed: Promise<void> } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
}

/** A connection to the host that can be made at any moment, and then says that there is no such terminal. */
function reaching(end: number): {
  context: GatewayContext;
  asked: Promise<void>;
  reach: () => void;
  closed: Promise<void>;
} {
  const [asked, reached, closed] = [gate(), gate(), gate()];
  const terminal = {
    ask: () => Promise.reject(gone),
    end: () => Promise.resolve(end),
    readUpTo: (from: number, to: number) => Promise.resolve({ data: Buffer.from('x'), from, to }),
    close: closed.open,
  } as unknown as RemoteTerminal;
  jest.spyOn(RemoteTerminal, 'open').mockImplementation(async () => {
    asked.open();
    await reached.passed;
    return terminal;
  });
  const state = { status: 'online', facts: { listens: {} } };
  const context = {
    dataDir: '/nonexistent',
    isLocal: () => false,
    isElsewhere: () => false,
    hostToken: 'x',
    client: { hosts: { state: () => Promise.resolve(state) } },
  } as unknown as GatewayContext;
  return { context, asked: asked.passed, reach: reached.open, closed: closed.passed };
}

afterEach(() => jest.restoreAllMocks());

test.each([
  ['that is gone', 0],
  ['of which a log is left', 1],
])(
  'a viewer who leaves while a terminal %s is reached leaves no connection to its host',
  async (_, end) => {
    const { context, asked, reach, closed } = reaching(end);
    const client = Object.assign(new EventEmitter(), { send: () => undefined, close: () => undefined });
    const connection = new TerminalConnection(client as unknown as WebSocket, ref, {
      ...{ context, caller, audit: () => undefined },
    });
    const hello = { kind: 'hello', from: null, cols: 80, rows: 24, types: false };
    client.emit('message', Buffer.from(JSON.stringify(hello)), false);
    await asked;
    connection.close();
    reach();
    await closed;
  },
  10_000,
);
