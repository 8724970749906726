// The connection to one terminal (contracts/gateway/terminal.ts): bytes by offset, and back again after any break.
import type { FromClient, FromServer, Hello } from '../../contracts/gateway/terminal';
import { pathOf } from '../api/call-api';
import { setTrouble, SILENT_MS, waitBefore } from '../api/event-streams';
import { WaitingKeys } from './waiting-keys';

const PROTOCOL = 'holdfast.terminal.1';
const OFFSET_BYTES = 8;
/** Codes of a terminal that the gateway cannot reach, as yet: to look again costs little. */
const NOT_THERE = ['not_found', 'host_unreachable'];
const LOOK_AGAIN_MS = 1_000;
/** Passes by itself, too, but a person decides who gets the keyboard. */
const BUSY = 'typist_busy';
const UNSURE = 'What you typed last may not have arrived';
const REASONS = {
  late: 'the connection was lost for too long',
  'other program': 'the program that it was for has ended',
  taken: 'somebody else has the keyboard',
} as const;
const NOT_TYPED = 'Not typed: the program has ended or does not read, or somebody else has the keyboard.';

export interface SessionPath {
  agent: string;
  host: string;
  session: number;
}

type State = Extract<FromServer, { kind: 'state' }>;
type Problem = Extract<FromServer, { kind: 'refused' }>['problem'];

export interface TerminalHandlers {
  /** Clear, resize, draw. */
  snapshot(message: Extract<FromServer, { kind: 'snapshot' }>): void;
  /** Call `drawn` when these are on the screen: the server waits for it. */
  output(data: Uint8Array, drawn: () => void): void;
  state(message: State): void;
  /** A line for the person; null: none any more. */
  note(text: string | null): void;
  /** Keys that are not typed, or perhaps not. */
  dropped(text: string): void;
  /** It does not come back by itself. `code` says why, null: the terminal has ended. */
  over(code: string | null, text: string): void;
  size(): { cols: number; rows: number };
}

export class TerminalSocket {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private attempt = 0;
  /** After the last byte that was received. */
  private offset: number | null = null;
  private isOver = false;
  private readonly keys = new WaitingKeys();
  /** Whether this connection has said what runs there. */
  private isKnown = false;
  /** Id of the command that runs, as last reported. */
  private running: string | null = null;
  /** A connection that comes back is known by it. */
  private readonly client = crypto.randomUUID();
  private types = false;
  private take = false;
  private readonly who = {};

  constructor(
    private readonly path: SessionPath,
    private readonly handlers: TerminalHandlers,
  ) {
    this.connect();
  }

  /** Asks for the keyboard, or gives it back; `take`: also from somebody else. */
  setTypes(types: boolean, take = false): void {
    Object.assign(this, { types, take, isOver: false, attempt: 0 });
    this.keys.drop();
    this.drop();
    this.connect();
  }

  /** While the connection is lost, it waits for the next one, like what was sent and not answered. */
  type(text: string): void {
    if (this.running === null) return this.handlers.note('Nothing runs here that would read what you type.');
    this.keys.add(text, this.running);
    this.sendKeys();
  }

  resize(cols: number, rows: number): void {
    if (this.types) this.send({ kind: 'resize', cols, rows });
  }

  close(): void {
    this.isOver = true;
    this.keys.drop();
    this.drop();
    setTrouble(this.who, false);
  }

  private drop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    const { socket } = this;
    this.socket = undefined;
    socket?.close();
  }

  private connect(): void {
    const { agent, host, session } = this.path;
    const base = location.origin.replace(/^http/, 'ws');
    const socket = new WebSocket(`${base}${pathOf('sessions', agent, host, session)}/terminal`, PROTOCOL);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    this.isKnown = false;
    socket.onopen = () => {
      const { offset: from, types, take, client } = this;
      const hello: Hello = { kind: 'hello', from, types, take, client, ...this.handlers.size() };
      this.send(hello);
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.socket !== socket) return;
      this.heard(socket);
      if (typeof data === 'string') this.hear(JSON.parse(data) as FromServer);
      else this.receive(data);
    };
    socket.onclose = () => this.lost(socket);
    this.heard(socket);
  }

  /** A connection that is cut without a word stays open for the browser. */
  private heard(socket: WebSocket): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.lost(socket), SILENT_MS);
  }

  private lost(socket: WebSocket): void {
    if (this.socket !== socket || this.isOver) return;
    this.drop();
    setTrouble(this.who, true);
    this.handlers.note('Connection lost. Trying again.');
    this.timer = setTimeout(() => this.connect(), waitBefore(this.attempt++));
  }

  /** What waits is typed only for the program that it was meant for, and only while no other connection types. */
  private sendAgain({ running, isTypist }: State): void {
    const doubt = isTypist ? this.keys.doubt(running) : 'taken';
    if (doubt) this.dropKeys(doubt);
    this.keys.sendAgain();
  }

  private sendKeys(): void {
    // Before the first state of a connection it is not known what runs there.
    if (this.isKnown) for (const input of this.keys.next()) this.send(input);
  }

  private dropKeys(why: keyof typeof REASONS): void {
    if (this.keys.drop()) this.handlers.dropped(`${UNSURE}: ${REASONS[why]}.`);
  }

  private hear(message: FromServer): void {
    switch (message.kind) {
      case 'snapshot':
        this.offset = message.at;
        return this.handlers.snapshot(message);
      case 'state':
        this.attempt = 0;
        setTrouble(this.who, false);
        // Only the first connection takes the keyboard: one that comes back must not win it again and again.
        this.take = false;
        if (this.types && !message.isTypist && message.typist !== null) this.types = false;
        this.running = message.running;
        if (!this.isKnown) this.sendAgain(message);
        this.isKnown = true;
        this.handlers.state(message);
        return this.sendKeys();
      case 'alive':
        return;
      case 'typed':
        if (!this.keys.answered(message.id)) return;
        if (message.typed) return this.sendKeys();
        this.keys.drop();
        return this.handlers.dropped(NOT_TYPED);
      case 'missing':
        this.offset = message.to;
        return this.handlers.note(
          `Output ${message.from} to ${message.to} no longer exists: ${message.cause}`,
        );
      case 'refused':
        return this.refused(message.problem);
      case 'ended':
        return this.end(null, 'This terminal has ended.');
    }
  }

  private refused({ code, detail, next, retryable }: Problem): void {
    if (NOT_THERE.includes(code)) this.waitFor(detail, LOOK_AGAIN_MS);
    else if (retryable && code !== BUSY) this.waitFor(`${detail} ${next}`, waitBefore(this.attempt++));
    else this.end(code, `${detail} ${next}`);
  }

  private end(code: string | null, text: string): void {
    this.isOver = true;
    setTrouble(this.who, false);
    this.dropKeys(code === BUSY ? 'taken' : 'late');
    this.handlers.over(code, text);
  }

  /** A session that has not begun, or whose host, worker or server is away: it appears when it is there. */
  private waitFor(reason: string, pauseMs: number): void {
    this.drop();
    setTrouble(this.who, false);
    this.handlers.note(`Not there now; it appears here by itself. ${reason}`);
    this.timer = setTimeout(() => this.connect(), pauseMs);
  }

  private receive(frame: ArrayBuffer): void {
    const from = Number(new DataView(frame).getBigUint64(0));
    const bytes = new Uint8Array(frame, OFFSET_BYTES);
    const to = from + bytes.length;
    // After a reconnection the server begins where this side ended; what it has is never drawn twice.
    const known = Math.max(0, (this.offset ?? from) - from);
    this.offset = Math.max(to, this.offset ?? 0);
    const { socket } = this;
    this.handlers.output(bytes.subarray(known), () => {
      if (this.socket === socket) this.send({ kind: 'ack', to });
    });
  }

  private send(said: FromClient): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(said));
  }
}
