// People at terminals of another machine: directly, if it listens, else through Temporal.
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { HostFacts } from '../../../contracts/schemas/remote-hosts';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../../contracts/ids';
import { attachCertificate } from '../../../exec/attach/attach-keys';
import { proofOf } from '../../../exec/attach/attach-proof';
import { sessionPaths } from '../../../exec/session-paths';
import { RemoteTerminal } from '../../../exec/attach/remote-terminal';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { longTest } from '../../helpers/run/long-run';
import { LEAVE, Person, TELL_SIZE } from '../../helpers/terminals/person';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { QUICK_YIELD, scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { holderRecord } from '../../helpers/terminals/holder-record';
import { fileNeeds } from '../../helpers/run/programs';

fileNeeds('openssl');

const engine = new EngineOfItsOwn();
const files = scratch();
let pi: RemoteHost;
let deaf: RemoteHost;
let token: string;
let tokenFile: string;
let listens: NonNullable<HostFacts['listens']>;
let agents = 0;

beforeAll(async () => {
  await engine.start();
  pi = new RemoteHost('pi', engine.server().address);
  deaf = new RemoteHost('deaf', engine.server().address);
  await Promise.all([pi.serve('--listen', '127.0.0.1:0'), deaf.serve()]);
  token = (await pi.cli('host', 'token', 'pi')).trim();
  tokenFile = join(files.directory, 'token');
  writeFileSync(tokenFile, `${token}\n`);
  const known = async (name: string) => (await engine.client.hosts.state(name).catch(() => null))?.facts;
  await until(async () => Boolean((await known('pi'))?.listens && (await known('deaf'))));
  listens = (await known('pi'))?.listens ?? { address: '', fingerprint: '' };
}, 60_000);
afterAll(async () => {
  await Promise.all([pi.end(), deaf.end()]);
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const newAgent = (): string => `person-${++agents}`;
async function running(agent: string, code: string, host = 'pi'): Promise<void> {
  const session = engine.client.session({ agent, host, session: 0 });
  await session.exec({ code, yield: QUICK_YIELD });
}
const person = (agent: string, ...args: string[]): Person =>
  new Person(engine.dataDir, ['--agent', agent, '--host', 'pi', '--token-file', tokenFile, ...args]);
const open = (given: { token?: string; fingerprint?: string; host?: string } = {}): Promise<RemoteTerminal> =>
  RemoteTerminal.open({
    listens: { ...listens, fingerprint: given.fingerprint ?? listens.fingerprint },
    token: given.token ?? token,
    ref: { agent: 'nobody', host: given.host ?? 'pi', session: 0 },
  });
const endpointOf = (address: string): { host: string; port: number } => {
  const [host = '', port] = address.split(':');
  return { host, port: Number(port) };
};

/** What the host says to a client that answers its nonce so, until it ends the connection. */
function say(answer: string | ((hostNonce: string) => string)): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect({ ...endpointOf(listens.address), rejectUnauthorized: false });
    socket.on('data', (chunk: Buffer) => (got += chunk.toString()));
    socket.once('data', (chunk: Buffer) => {
      const { hostNonce } = JSON.parse(chunk.toString()) as { hostNonce: string };
      socket.write(typeof answer === 'string' ? answer : answer(hostNonce));
    });
    socket.on('error', () => undefined).on('close', () => resolve(got));
  });
}

/** Of a person with the token. */
const introduced =
  (ref: SessionRef, then = '') =>
  (hostNonce: string): string => {
    const handshake = { host: 'pi', fingerprint: listens.fingerprint, hostNonce, personNonce: 'x' };
    const proof = proofOf('person', token, handshake);
    return `${JSON.stringify({ ref, personNonce: 'x', proof })}\n${then}`;
  };
const audit = (): string => readFileSync(join(pi.dataDir, 'audit.pi.jsonl'), 'utf8');

describe('a host that listens', () => {
  test('typed text reaches the program at once, in the person’s size, and the detach key leaves it running', async () => {
    const agent = newAgent();
    // A read whose time is over keeps what it got of the line.
    const reads = 'if read -r -t 0.1 more; then echo "got $line$more"; line=; else line+=$more; fi';
    const loop = `while :; do ${TELL_SIZE}; ${reads}; done`;
    await running(agent, `bash -c 'echo hello; ${loop}'`);
    const ann = person(agent);
    await ann.sees('attached; ctrl-] leaves');
    await ann.sees('hello');
    await ann.sees('24 80');
    ann.resize(101, 33);
    await ann.sees('33 101');
    ann.types('fine\r');
    await ann.sees('got fine');
    const bob = person(agent, '--watch');
    await bob.sees('attached to watch');
    await bob.sees('got fine');
    ann.types(LEAVE);
    expect(await ann.exits()).toBe(0);
    expect(ann.text).not.toContain('Temporal');
    bob.types(LEAVE);
    await bob.exits();
    const state = await engine.client.session({ agent, host: 'pi', session: 0 }).output();
    expect(state).toMatchObject({ exitCode: null });
  });

  test('the lost part of a truncated log is reported in its place, on attach and to exec', async () => {
    const agent = newAgent();
    await running(agent, 'echo hello; until [ -e go ]; do sleep 0.02; done; echo behind');
    const { log } = sessionPaths(pi.dataDir, { agent, host: 'pi', session: 0 });
    truncateSync(log);
    const watcher = person(agent, '--watch');
    await watcher.sees('[7 bytes are lost: the log was truncated or deleted]');
    watcher.types(LEAVE);
    expect(await watcher.exits()).toBe(0);
    await engine.client.session({ agent, host: 'pi', session: 0 }).reset({});
    const way = ['--agent', agent, '--host', 'pi', '--token-file', tokenFile];
    const code = `echo first; truncate -s 0 '${log}'; echo second; (exit 3)`;
    const { stdout, code: exitCode } = await engine.cliInTurn(['exec', ...way, code]);
    // Bytes read before they were lost are not a loss.
    expect(stdout).toMatch(/^(first|\n?\[7 bytes are lost: .*\])\nsecond\n$/);
    expect(exitCode).toBe(3);
  });

  test('code runs with the person at its terminal, and its exit code is theirs', async () => {
    const ann = person(newAgent(), '--run', 'read -r -p "name? " name; echo "hello $name"; exit 7');
    await ann.sees('name? ');
    ann.types('ann\r');
    expect(await ann.exits()).toBe(7);
    expect(ann.text).toContain('hello ann');
  });

  test('exec prints the whole output of its command and nothing of an earlier one', async () => {
    const agent = newAgent();
    await running(agent, 'echo earlier');
    const args = ['exec', '--agent', agent, '--host', 'pi'];
    const whole = Array.from({ length: 30_000 }, (_, n) => `${n + 1}\n`).join('');
    for (const way of [['--token-file', tokenFile], []]) {
      const { stdout, code } = await engine.cliInTurn([...args, ...way, 'seq 30000; exit 3']);
      expect(code).toBe(3);
      expect(stdout === whole).toBe(true);
    }
  });

  test('only its user can read its key and its token', () => {
    for (const name of ['attach.pi.token', 'attach.pi.key.pem'])
      expect(statSync(join(pi.dataDir, name)).mode & 0o777).toBe(0o600);
  });

  test('a client that shows a wrong token, or asks for another host’s session, is refused and recorded', async () => {
    writeFileSync(`${tokenFile}-wrong`, 'wrong');
    const ann = person(newAgent(), '--token-file', `${tokenFile}-wrong`);
    expect(await ann.exits()).toBe(77);
    expect(ann.text).toContain('attach_refused');
    await expect(open({ token: '' })).rejects.toMatchObject({ code: 'attach_refused' });
    // A proof for a host of another name is none here.
    await expect(open({ host: 'local' })).rejects.toMatchObject({ code: 'attach_refused' });
    expect(await say(introduced({ agent: 'nobody', host: 'local', session: 0 }))).toContain(
      'foreign_session',
    );
    expect(audit()).toMatch(
      /"why":"attach_refused","agent":"","host":"pi","session":null,"from":"127.0.0.1"/,
    );
    expect(audit()).toMatch(/"why":"foreign_session".*"from":"127.0.0.1"/);
    expect(audit()).not.toContain(token);
  });

  longTest(
    'a session whose holder is stopped is reported as such to people who are attached or attach',
    async () => {
      const agent = newAgent();
      await running(agent, 'echo hello; sleep 1234');
      const ref = { agent, host: 'pi', session: 0 };
      const { pid } = holderRecord(pi, ref).identity;
      const watcher = person(agent, '--watch');
      await watcher.sees('hello');
      process.kill(pid, 'SIGSTOP');
      try {
        const late = person(agent);
        for (const each of [watcher, late]) {
          expect(await each.exits()).toBe(75);
          expect(each.text).toContain('session_unreachable');
        }
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      // The host does accept connections.
      expect(audit()).not.toContain('session_unreachable');
    },
  );

  test('to a machine with another certificate no token is shown', async () => {
    const fingerprint = listens.fingerprint.replaceAll('A', 'B').replaceAll('1', '2');
    const refused = await open({ fingerprint }).catch((err: unknown) => err);
    expect(refused).toMatchObject({ code: 'attach_refused' });
    expect((refused as HoldfastError).message).toContain('another certificate');
  });

  test('a machine that announces itself as the host, with a certificate of its own, gets neither token nor input', async () => {
    const other = attachCertificate(files.directory, 'pi');
    let heard = '';
    const thief = createServer({ key: other.key, cert: other.cert }, (socket) => {
      socket.on('error', () => undefined);
      socket.write('{"hostNonce":"x"}\n');
      socket.on('data', (chunk: Buffer) => {
        heard += chunk.toString();
        socket.write('{"ok":true,"proof":"x"}\n');
      });
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(thief.address() as AddressInfo).port}`;
    const announced = { address, fingerprint: other.fingerprint };
    const ref = { agent: 'nobody', host: 'pi', session: 0 };
    await expect(RemoteTerminal.open({ listens: announced, token, ref })).rejects.toThrow(
      /cannot prove that it has the token/,
    );
    expect(heard).toContain('"proof"');
    expect(heard).not.toContain(token);
    // Nor is what it received of any use at the host itself.
    const { proof, personNonce } = JSON.parse(heard) as Record<string, string>;
    const answers = await say(`${JSON.stringify({ ref, personNonce, proof })}\n`);
    expect(answers).toContain('attach_refused');
    thief.close();
  });

  test('only what people at terminals do is heard: no command, no end, no call', async () => {
    const agent = newAgent();
    await running(agent, 'sleep 1234');
    const ref = { agent, host: 'pi', session: 0 };
    const terminal = await RemoteTerminal.open({ listens, token, ref });
    await terminal.client.request('attach', { typist: null, size: null });
    for (const verb of ['run', 'input', 'reset', 'close', 'arm', 'call', 'answer', 'toString'])
      await expect(
        terminal.client.request(verb as 'cancel', { id: 'x', by: 'reset' } as never),
      ).rejects.toMatchObject({ code: 'invalid_input' });
    // A watcher stays one.
    expect(await terminal.client.request('type', { bytes: 'eA==' })).toEqual({ typed: false });
    terminal.close();
    expect(await engine.client.session(ref).output()).toMatchObject({ exitCode: null });
  });

  test('a connection that sends no token at all is ended, and the host continues', async () => {
    for (const text of [
      'no json\n',
      'POST / HTTP/1.1\r\nHost: pi\r\n\r\n{}',
      'x'.repeat(100_000),
      '[]\n',
      'null\n',
    ])
      expect(await say(text)).toContain('attach_refused');
    const ref = { agent: 'nobody', host: 'pi', session: 0 };
    for (const frame of ['null', '7', '{"verb":"read"}', '{']) {
      const said = await say(introduced(ref, `\0\0\0${String.fromCharCode(frame.length)}${frame}`));
      expect(said).toMatch(/\n\{"ok":true,"proof":"[\w-]+"\}\n$/);
    }
    const terminal = await open();
    for (const body of [null, { from: -1 }, { from: 'x' }])
      await expect(terminal.client.request('read', body as never)).rejects.toThrow(HoldfastError);
    terminal.close();
    (await open()).close();
  });

  test('however many connect and show no token, a person with one is let in', async () => {
    const [address = '', port] = listens.address.split(':');
    const strangers = Array.from({ length: 200 }, () =>
      createConnection({ host: address, port: Number(port) }),
    );
    for (const stranger of strangers) stranger.on('error', () => undefined);
    await until(() => strangers.every(({ connecting }) => !connecting));
    (await open()).close();
    for (const stranger of strangers) stranger.destroy();
  });

  test('a read-only host is only watched, and one that is off shows nothing; people already attached are affected too', async () => {
    const agent = newAgent();
    await running(agent, 'while read -r line; do echo "got $line"; done');
    const typist = person(agent);
    await typist.sees('attached;');
    const watcher = person(agent, '--watch');
    await watcher.sees('attached to watch');
    await pi.cli('host', 'access', 'pi', 'read-only');
    await typist.exits();
    const late = person(agent);
    expect(await late.exits()).toBe(77);
    expect(late.text).toContain('read_only_host');
    expect(watcher.exitCode).toBeNull();
    await pi.cli('host', 'access', 'pi', 'off');
    await watcher.exits();
    await expect(open()).rejects.toMatchObject({ code: 'execution_disabled' });
    await pi.cli('host', 'access', 'pi', 'read-write');
    (await open()).close();
  }, 30_000);

  test('a person is told that the host went away, and not that the terminal is gone: it goes on', async () => {
    const agent = newAgent();
    await running(agent, 'echo hello; while read -r line; do echo "got $line"; done');
    const ann = person(agent);
    await ann.sees('hello');
    await pi.kill();
    expect(await ann.exits()).toBe(69);
    expect(ann.text).toContain('host_unreachable');
    expect(ann.text).not.toContain('the terminal is gone');
    await pi.serve('--listen', '127.0.0.1:0');
    const isThere = async (): Promise<boolean> => {
      const { facts } = await engine.client.hosts.state('pi');
      return facts?.listens !== null && facts?.listens.address !== listens.address;
    };
    await until(isThere);
    const again = person(agent);
    await again.sees('hello');
    again.types('fine\r');
    await again.sees('got fine');
    again.types(LEAVE);
    expect(await again.exits()).toBe(0);
    // A host and two command lines are started, and two ends of a host waited for.
  }, 180_000);
});

describe('a host whose worker is replaced', () => {
  test('exec shows all the output of its command, and passes its exit code on', async () => {
    const agent = newAgent();
    const code = 'echo begun; until [ -e go-on ]; do sleep 0.02; done; seq 30000; exit 3';
    const way = ['--agent', agent, '--host', 'pi', '--token-file', tokenFile];
    const running = engine.spawnCli(['exec', ...way, code]);
    const said = { stdout: '', stderr: '' };
    running.stdout?.on('data', (data: Buffer) => (said.stdout += data.toString()));
    running.stderr?.on('data', (data: Buffer) => (said.stderr += data.toString()));
    const ended = once(running, 'close');
    await until(() => said.stdout.includes('begun'));
    const before = (await engine.client.hosts.state('pi')).facts?.listens?.address;
    await pi.kill();
    await pi.serve('--listen', '127.0.0.1:0');
    await until(async () => {
      const address = (await engine.client.hosts.state('pi')).facts?.listens?.address;
      return address !== undefined && address !== before;
    });
    writeFileSync(join(pi.root, 'go-on'), '');
    expect(await ended).toEqual([3, null]);
    expect(said.stderr).not.toContain('unreachable');
    const whole = ['begun', ...Array.from({ length: 30_000 }, (_, n) => String(n + 1)), ''].join('\n');
    expect(said.stdout === whole).toBe(true);
  }, 180_000);
});

describe('a host that does not listen', () => {
  test('is followed through Temporal, and typed lines are sent there as inputs', async () => {
    const agent = newAgent();
    await running(agent, 'echo hello; while read -r line; do echo "got $line"; done', 'deaf');
    const ann = new Person(engine.dataDir, ['--agent', agent, '--host', 'deaf']);
    await ann.sees('followed through Temporal, once a second: it was started without --listen');
    await ann.sees('hello');
    ann.types('one\r');
    await ann.sees('got one');
    ann.types('twx\x7fo\r');
    await ann.sees('got two');
    ann.types(LEAVE);
    expect(await ann.exits()).toBe(0);
    expect(ann.text).toContain('detached; the session keeps running');
    expect(existsSync(join(deaf.dataDir, 'attach.deaf.token'))).toBe(false);
  });

  test('attach without the name of the host says which one has the session', async () => {
    const agent = newAgent();
    await running(agent, 'read -r x', 'deaf');
    const ann = new Person(engine.dataDir, ['--agent', agent]);
    expect(await ann.exits()).toBe(66);
    expect(ann.text.replaceAll(/\s+/g, ' ')).toContain(
      `allowed host deaf. Next: Attach there: \`holdfast attach --agent ${agent} --host deaf`,
    );
  });

  test('without a token a host that listens is followed so too', async () => {
    const agent = newAgent();
    await running(agent, 'echo hello; read -r x');
    const ann = new Person(engine.dataDir, ['--agent', agent, '--host', 'pi']);
    await ann.sees('no token is given');
    await ann.sees('hello');
    ann.types('\x03');
    ann.types(LEAVE);
    expect(await ann.exits()).toBe(0);
  });
});
