// One client's connection for files, in the host's worker: checks what the host allows, starts the process that does the
// work where the sandbox confines it, and hands on bytes. No file is opened here.
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import { checkedId, ID_PATTERN } from '../../../contracts/ids';
import { compiledEntry } from '../../../system/package-root';
import { withPipes } from '../../../system/processes/with-pipes';
import type { AuditLog } from '../../host/audit-log';
import type { HostAccess } from '../../host/host-access';
import type { Sandbox } from '../../sandbox/sandbox';
import { PULSE_MS, SILENT_PULSES, encodeMessage } from '../channel';
import { effectOf, type FilesRequest, type Name } from '../transfer-messages';
import { pathOf, resolved, shown } from '../names';
import type { FilesConfig } from '../serve-files';
import { sentError } from '../transfer-errors';
import { endOf } from '../../../contracts/text/well-formed';

/** How soon a change of the host's access affects open connections. */
const ACCESS_EVERY_MS = 1_000;
const MAX_CONNECTIONS = 16;
const FULL = {
  reason: `it has ${MAX_CONNECTIONS} transfers`,
  next: 'Start it again when one of them is over.',
};
/** After its client has gone, a process puts what it has in order. */
const TIDY_MS = 10_000;
const MAX_SAID_CHARACTERS = 2_000;

export interface FilesHostOptions {
  host: string;
  /** The folder that relative paths begin in. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** What the files of an agent are confined to. */
  sandboxOf: (agent: string) => Sandbox | undefined;
  access: HostAccess;
  audit: AuditLog;
}

/** What a client asks for, and who asks. */
export interface FilesIntroduction {
  agent: string;
  host: string;
  request: FilesRequest;
}

/** A request that is not checked yet. */
type Asked = Partial<Record<'is' | 'path' | 'base', unknown>>;

export class FilesHost {
  private readonly open = new Set<ChildProcess>();

  constructor(private readonly options: FilesHostOptions) {}

  /**
   * Records what it decides. Throws `invalid_input`, `foreign_session`, `execution_disabled`, `read_only_host`, and
   * `files_unreachable` at the limit.
   */
  admit(got: unknown, from: string): FilesIntroduction {
    const { agent, request } = (got ?? {}) as { agent?: unknown; request?: Asked };
    const entry = {
      what: request?.is === 'put' ? 'writeFiles' : 'readFiles',
      agent: isId(agent) ? agent : '',
      ...{ host: this.options.host, session: null, from },
      ...(typeof request?.path === 'string' && { path: this.meant(request.path, request.base) }),
    };
    try {
      const asked = this.check(got);
      this.options.audit.write({ ...entry, outcome: 'approved', why: 'the access of the host' });
      return asked;
    } catch (err) {
      const why = err instanceof HoldfastError ? err.code : reasonOf(err);
      this.options.audit.write({ ...entry, outcome: 'refused', why });
      throw err;
    }
  }

  /** Until the transfer is over, or either side has gone. */
  serve(socket: Duplex, asked: FilesIntroduction): void {
    const { request } = asked;
    const effect = effectOf(request);
    let child: ChildProcessWithoutNullStreams;
    try {
      child = this.start(asked, effect);
    } catch (err) {
      // Its client has been admitted, and reads frames.
      socket.end(failed(err));
      return;
    }
    this.open.add(child);
    const { stdin, stdout, stderr } = child;
    let said = '';
    let hasSpoken = false;
    stderr.setEncoding('utf8').on('data', (text: string) => (said = endOf(said + text, MAX_SAID_CHARACTERS)));
    stdout.once('data', () => (hasSpoken = true));
    stdin.on('error', () => undefined);
    socket.pipe(stdin);
    stdout.pipe(socket, { end: false });
    const stop = this.watch(socket, effect);
    socket.once('close', () => {
      stop();
      stdin.end();
      setTimeout(() => child.kill('SIGKILL'), TIDY_MS).unref();
    });
    const over = (reason: string): void => {
      this.open.delete(child);
      stop();
      if (!hasSpoken && !socket.destroyed && reason !== '') socket.write(failed(reason));
      socket.end();
    };
    child.once('error', (err) => over(reasonOf(err)));
    child.once('close', () => over(said.trim()));
  }

  /** Ends all transfers; what they hold stays for the next. */
  close(): void {
    for (const child of this.open) child.stdin?.end();
  }

  /** The client names the base as freely as the path: only both together name the file. */
  private meant(path: Name, base: unknown): string {
    try {
      return shown(
        resolved(pathOf(this.options.cwd), { path, base: typeof base === 'string' ? base : null }),
      );
    } catch {
      return shown(path);
    }
  }

  private check(got: unknown): FilesIntroduction {
    const { host, access } = this.options;
    const { agent, host: named, request } = (got ?? {}) as Partial<FilesIntroduction>;
    const asked = {
      ...{ agent: checkedId('agent', agent), host: checkedId('host', named) },
      request: checked(request),
    };
    if (asked.host !== host) throw new HoldfastError('foreign_session', { got: asked.host, host });
    const effect = effectOf(asked.request);
    access.check(effect === 'mutates' ? 'writing files' : 'reading files', effect);
    if (this.open.size >= MAX_CONNECTIONS) throw new HoldfastError('files_unreachable', { host, ...FULL });
    return asked;
  }

  private start(
    { agent, request }: FilesIntroduction,
    effect: FilesConfig['effect'],
  ): ChildProcessWithoutNullStreams {
    const { cwd, env } = this.options;
    const sandbox = this.options.sandboxOf(agent);
    const config: FilesConfig = {
      cwd: pathOf(cwd),
      privateFolders: (sandbox?.privateFolders() ?? []).map(pathOf),
      effect,
    };
    const entry = compiledEntry('exec/transfer/main.js');
    const command = [process.execPath, entry, JSON.stringify(config), JSON.stringify(request)];
    const [program = '', ...args] = sandbox ? sandbox.program('/', command) : command;
    return withPipes(spawn(program, args, { cwd: '/', env: withoutNode(env), stdio: 'pipe' }));
  }

  /** Ends the connection if its client falls silent, or if the host no longer allows what it does. */
  private watch(socket: Duplex, effect: FilesConfig['effect']): () => void {
    const { access } = this.options;
    let silent = 0;
    socket.on('data', () => (silent = 0));
    const pulse = setInterval(() => {
      // Nothing is read while the process has enough.
      if (socket.isPaused()) silent = 0;
      else if (silent++ >= SILENT_PULSES) socket.destroy();
    }, PULSE_MS);
    const look = setInterval(() => {
      try {
        access.check('', effect);
      } catch {
        socket.destroy();
      }
    }, ACCESS_EVERY_MS);
    return () => {
      clearInterval(pulse);
      clearInterval(look);
    };
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && ID_PATTERN.test(value);

function checked(request: unknown): FilesRequest {
  const { is, path, base } = (request ?? {}) as Partial<FilesRequest>;
  const isOne =
    (is === 'get' || is === 'put' || is === 'uploaded') &&
    typeof path === 'string' &&
    (base === null || typeof base === 'string');
  if (isOne) return request as FilesRequest;
  throw new HoldfastError('invalid_input', {
    what: 'A request for files',
    got: String(is),
    allowed: 'get, put or uploaded, with a path',
  });
}

const failed = (why: unknown): Buffer =>
  encodeMessage({
    is: 'fatal',
    error: sentError(
      why instanceof HoldfastError
        ? why
        : new HoldfastError('internal', { reason: `its process did not start: ${reasonOf(why)}` }),
    ),
  });

/** Node's own variables would have it load code. */
const withoutNode = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('NODE_')));
