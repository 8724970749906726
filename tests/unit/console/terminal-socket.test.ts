// What the page makes of a terminal's connection that its gateway refuses.
import type { WebSocket as ServerSocket } from 'ws';
import { HoldfastError, type ErrorCode } from '../../../contracts/errors/holdfast-error';
import { refuse } from '../../../gateway/terminals/refuse';
import { ERROR_FACTS } from '../../helpers/docs/error-facts';

// Jest cannot load it.
jest.mock('@preact/signals', () => ({
  signal: (value: unknown) => ({ value }),
  computed: () => ({ value: true }),
}));

/** The page's code is not type-checked here, where there is no browser. */
interface Page {
  TerminalSocket: new (path: object, handlers: object) => { close(): void };
}
const { TerminalSocket } = jest.requireActual<Page>('../../../console/terminal/terminal-socket');

/** A browser's, without a network. */
class BrowserSocket {
  static readonly OPEN = 1;
  static all: BrowserSocket[] = [];
  readyState = BrowserSocket.OPEN;
  onopen: () => void = () => undefined;
  onmessage: (event: { data: string }) => void = () => undefined;
  onclose: () => void = () => undefined;
  readonly send = jest.fn();

  constructor() {
    BrowserSocket.all.push(this);
  }

  close(): void {
    this.onclose();
  }

  /** As the gateway does it. */
  refuse(code: ErrorCode): void {
    const send = (data: string): void => this.onmessage({ data });
    refuse(
      { send, terminate: () => undefined } as unknown as ServerSocket,
      HoldfastError.received(code, ERROR_FACTS[code]),
    );
    this.close();
  }
}

const handlers = { ...{ note: jest.fn(), over: jest.fn() }, size: () => ({ cols: 80, rows: 24 }) };
let socket: InstanceType<typeof TerminalSocket>;
const connections = (): number => BrowserSocket.all.length;

beforeEach(() => {
  jest.useFakeTimers();
  jest.clearAllMocks();
  BrowserSocket.all = [];
  Object.assign(globalThis, { WebSocket: BrowserSocket, location: { origin: 'http://localhost:7280' } });
  const path = { agent: 'a', host: 'local', session: 0 };
  socket = new TerminalSocket(path, handlers);
});
afterEach(() => {
  socket.close();
  jest.useRealTimers();
});

test.each<ErrorCode>([
  ...(['not_found', 'host_unreachable', 'no_server', 'no_worker', 'worker_silent'] as const),
  ...(['session_unreachable', 'resources_exhausted'] as const),
])('a terminal that is refused with %s comes back by itself', (code) => {
  for (let n = 1; n <= 5; n++) {
    expect(connections()).toBe(n);
    BrowserSocket.all.at(-1)?.refuse(code);
    jest.advanceTimersByTime(10_000);
  }
  expect(handlers.note).toHaveBeenCalledWith(expect.stringContaining('appears here by itself'));
  expect(handlers.over).not.toHaveBeenCalled();
});

test('a gateway that refuses again and again is asked less and less often', () => {
  for (let n = 0; n < 8; n++) {
    BrowserSocket.all.at(-1)?.refuse('no_server');
    jest.advanceTimersByTime(10_000);
  }
  BrowserSocket.all.at(-1)?.refuse('no_server');
  const before = connections();
  jest.advanceTimersByTime(9_000);
  expect(connections()).toBe(before);
  jest.advanceTimersByTime(1_000);
  expect(connections()).toBe(before + 1);
});

test.each<ErrorCode>(['typist_busy', 'access_denied', 'access_needed', 'invalid_input'])(
  'a terminal that is refused with %s waits for a person',
  (code) => {
    BrowserSocket.all.at(-1)?.refuse(code);
    jest.advanceTimersByTime(60_000);
    expect(connections()).toBe(1);
    expect(handlers.over).toHaveBeenCalledWith(code, expect.any(String));
  },
);
