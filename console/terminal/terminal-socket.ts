// The connection to one terminal (contracts/gateway/terminal.ts): bytes by offset, and back again after any break.
import type { FromClient, FromServer, Hello } from '../../contracts/gateway/terminal';
import { pathOf } from '../api/call-api';
import { setTrouble, waitBefore } from '../api/event-streams';

const PROTOCOL = 'holdfast.terminal.1';
const OFFSET_BYTES = 8;
/** Codes of a terminal that the gateway cannot reach, as yet. */
const NOT_THERE = ['not_found', 'host_unreachable'];
const LOOK_AGAIN_MS = 1_000;
/** Keys that were meant for what was on the screen then are not typed later than this. */
const SENT_AGAIN_MS = 10_000;

export interface SessionPath {
  agent: string;
  host: string;
  session: number;
}

export interface TerminalHandlers {
  /** Clear, resize, draw. */
  snapshot(told: Extract<FromServer, { kind: 'snapshot' }>): void;
  /** Call `drawn` when these are on the screen: the server waits for it. */
  output(data: Uint8Array, drawn: () => void): void;
  state(told: Extract<FromServer, { kind: 'state' }>): void;
  /** A line for the person; null: none any more. */
  note(text: string | null): void;
  /** It does not come back by itself. `code` says why, null: the terminal has ended. */
  over(code: string | null, text: string): void;
  size(): { cols: number; rows: number };
}

export class TerminalSocket {
  private socket: WebSocket | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private attempt = 0;
  /** After the last byte that was received. */
  private offset: number | null = null;
  private isOver = false;
  /** Not sent yet, or sent and perhaps typed: the same id again is typed once. In the order of the keys. */
  private readonly unanswered = new Map<string, { said: FromClient; at: number }>();
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
    this.drop();
    this.connect();
  }

  /** While the connection is lost, it waits for the next one, like what was sent and not answered. */
  type(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const id = crypto.randomUUID();
    const said: FromClient = { kind: 'input', id, data: btoa(String.fromCharCode(...bytes)) };
    this.unanswered.set(id, { said, at: Date.now() });
    this.send(said);
  }

  resize(cols: number, rows: number): void {
    if (this.types) this.send({ kind: 'resize', cols, rows });
  }

  close(): void {
    this.isOver = true;
    this.drop();
    setTrouble(this.who, false);
  }

  private drop(): void {
    clearTimeout(this.timer);
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
    socket.onopen = () => {
      const hello: Hello = {
        ...{ kind: 'hello', from: this.offset, types: this.types, take: this.take },
        ...this.handlers.size(),
      };
      this.send(hello);
      if (this.types) this.sendAgain();
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.socket !== socket) return;
      if (typeof data === 'string') this.hear(JSON.parse(data) as FromServer);
      else this.receive(data);
    };
    socket.onclose = () => {
      if (this.socket !== socket || this.isOver) return;
      setTrouble(this.who, true);
      this.handlers.note('Connection lost. Trying again.');
      this.timer = setTimeout(() => this.connect(), waitBefore(this.attempt++));
    };
  }

  private sendAgain(): void {
    const tooOld = [...this.unanswered].filter(([, { at }]) => Date.now() - at > SENT_AGAIN_MS);
    for (const [id] of tooOld) this.unanswered.delete(id);
    if (tooOld.length > 0) this.handlers.note('What you typed last may not have arrived.');
    for (const { said } of this.unanswered.values()) this.send(said);
  }

  private hear(told: FromServer): void {
    switch (told.kind) {
      case 'snapshot':
        this.offset = told.at;
        return this.handlers.snapshot(told);
      case 'state':
        this.attempt = 0;
        setTrouble(this.who, false);
        // Only the first connection takes the keyboard: one that comes back must not win it again and again.
        this.take = false;
        if (this.types && !told.isTypist && told.typist !== null) this.types = false;
        return this.handlers.state(told);
      case 'typed':
        this.unanswered.delete(told.id);
        if (!told.typed) this.handlers.note('That was not typed: somebody else has the keyboard.');
        return;
      case 'missing':
        this.offset = told.to;
        return this.handlers.note(`Output ${told.from} to ${told.to} no longer exists: ${told.cause}`);
      case 'refused':
        if (NOT_THERE.includes(told.problem.code)) return this.waitFor(told.problem.detail);
        return this.end(told.problem.code, `${told.problem.detail} ${told.problem.next}`);
      case 'ended':
        return this.end(null, 'This terminal has ended.');
    }
  }

  private end(code: string | null, text: string): void {
    this.isOver = true;
    setTrouble(this.who, false);
    this.handlers.over(code, text);
  }

  /** A session that has not begun, or whose host is offline: it appears when it is there. */
  private waitFor(reason: string): void {
    this.drop();
    setTrouble(this.who, false);
    this.handlers.note(`Not there now; it appears here by itself. ${reason}`);
    this.timer = setTimeout(() => this.connect(), LOOK_AGAIN_MS);
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
