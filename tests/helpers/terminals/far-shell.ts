// A session of a real holder whose tools a test answers, and shells in it that are reached only through the terminal.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '../../../contracts/tools/tools';
import { armSession } from '../../../exec/client/arm-session';
import type { ScriptCall } from '../../../exec/protocol';
import { sessionPaths } from '../../../exec/session-paths';
import { StubFolder } from '../../../exec/host/stub-folder';
import { testHost, type TestHost } from './session-host';
import { until } from '../until';

const AT_ONCE = { firstOutputMs: 0, betweenOutputMs: 0, maxMs: 0 };

/** What the tool `big` answers: 1 MB with all that JSON, terminals and shells take for something else. */
export const MEGABYTE = Array.from({ length: 65_536 }, (_, i) => `${i} <é$\`"\n`.padEnd(16, '~')).join('');

export class FarShell {
  readonly calls: ScriptCall[] = [];
  readonly cancelled: string[] = [];
  /** Calls whose answers the holder has. */
  readonly answered: string[] = [];
  readonly t: TestHost;
  private readonly stubs = mkdtempSync(join(tmpdir(), 'holdfast-stubs-'));
  private readonly over = new AbortController();
  private readonly meeting: (() => void)[] = [];
  private inputs = 0;

  constructor() {
    this.t = testHost({ stubs: new StubFolder(this.stubs) });
  }

  get transcript(): string {
    return readFileSync(this.t.host.logPath(this.t.ref), 'utf8');
  }

  get holderLog(): string {
    return readFileSync(sessionPaths(this.t.dataDir, this.t.ref).holderLog, 'utf8');
  }

  /** Runs `code`, which opens a shell, and resolves at its prompt. */
  async open(code: string, prompt = 'far> '): Promise<void> {
    await this.t.run(code, { yield: AT_ONCE });
    void this.serve();
    await this.untilPrinted(prompt);
  }

  /** `type` connects the shell; `print` yields the line that does. */
  arm(mode: 'type' | 'print' | 'off'): Promise<string | null> {
    return armSession(this.t.dataDir, this.t.ref, mode);
  }

  type(text: string | null, ...keys: ['ctrl-c'] | []): Promise<unknown> {
    return this.t.host.input(this.t.ref, { id: `i${++this.inputs}`, text, keys });
  }

  /** Runs a line in the shell waiting at its prompt; resolves with its output. */
  async run(line: string): Promise<string> {
    await until(() => this.transcript.endsWith('far> '));
    const from = this.transcript.length;
    const mark = `over-${++this.inputs}`;
    // In two pieces, so that the echo is not taken for it.
    await this.type(`${line}; echo ${mark.slice(0, 4)}''${mark.slice(4)}`);
    await until(() => this.transcript.slice(from).endsWith(`${mark}\r\nfar> `));
    return this.transcript.slice(from, this.transcript.lastIndexOf(mark)).replace(/^.*''.*\r\n/, '');
  }

  /** Connects the shell, and waits for its prompt. */
  async connect(): Promise<void> {
    const from = this.transcript.length;
    await this.arm('type');
    await this.untilConnected(from);
  }

  async untilConnected(from = 0): Promise<void> {
    await until(() => /Tools can be called.*\s+far> $/.test(this.transcript.slice(from)));
  }

  async untilPrinted(text: string): Promise<void> {
    await until(() => this.transcript.includes(text));
  }

  async end(): Promise<void> {
    this.over.abort();
    await this.t.end();
    rmSync(this.stubs, { recursive: true, force: true });
  }

  private async serve(): Promise<void> {
    const { host, ref } = this.t;
    for (let seen = 0; !this.over.signal.aborted;) {
      const news = await host.toolCalls(ref, seen, this.over.signal).catch(() => undefined);
      if (!news) return;
      seen = news.version;
      for (const { id } of news.cancelled) {
        this.cancelled.push(id);
        await host.answerCall(ref, { id, answer: { callId: id, ok: true, value: null } });
      }
      for (const call of news.calls) {
        this.calls.push(call);
        void this.answer(call);
      }
    }
  }

  private async answer(call: ScriptCall): Promise<void> {
    const { host, ref } = this.t;
    const { id } = call;
    const error = { code: 'tool_failed', message: 'it is not there', retryable: true };
    const outcome =
      call.tool === 'fail'
        ? { ok: false as const, error }
        : { ok: true as const, value: await this.valueOf(call) };
    await host.answerCall(ref, { id, answer: { callId: id, ...outcome } });
    this.answered.push(id);
  }

  private valueOf({ tool, args }: ScriptCall): JsonValue | Promise<JsonValue> {
    if (tool === 'big') return MEGABYTE;
    if (tool === 'never') return new Promise(() => undefined);
    if (tool === 'meet')
      return new Promise((resolve) => {
        this.meeting.push(() => resolve('met'));
        if (this.meeting.length === 2) for (const meet of this.meeting.splice(0)) meet();
      });
    return args as JsonValue;
  }
}
