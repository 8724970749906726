// `holdfast codec`: lets Temporal's web UI and command line read encrypted payloads; `codec new-key` makes a key.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { serveCodec, type CodecServer } from '../../encryption/codec-server';
import { encryptingCodec } from '../../encryption/data-converter';
import { enginePaths, readRecord } from '../../engine/record';
import { makeFolder } from '../../system/make-folder';
import { readPrivateFile } from '../../system/private-file';
import { readClientSettings } from '../../workers/configuration/read-client-settings';
import { configOf, dataDirOf, type GlobalOptions } from '../global-options';
import { printJson, visibleJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import type { Command } from 'commander';
import { collect, named, port } from '../arguments';
import { action, below, examples, type Define } from '../define-command';

interface CodecOptions extends GlobalOptions {
  port: number;
  listen: string;
  origin?: string[];
  tokenFile?: string;
}
interface NewKeyOptions extends GlobalOptions {
  file?: string;
}

export const define: Define = (command) => {
  below(command, 'new-key', 'make a key, and print what to write into holdfast.toml')
    .option('--file <file>', 'where to write it (default: keys/DATE.key in the data folder)', named)
    .action(action((_options: object, self: Command) => newKey(self.optsWithGlobals())));
  return command
    .option('--port <n>', 'port of the endpoint', port, 8234)
    .option('--listen <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--origin <url>',
      'origin of web pages that may use it; may be repeated (default: our own web UI)',
      collect,
    )
    .option('--token-file <file>', 'file with the token that clients must send', named)
    .addHelpText('after', examples('holdfast codec new-key', 'holdfast codec --port 8234'))
    .action(action(codec));
};

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;
const MIN_TOKEN_CHARS = 16;
/** Like a program ended by SIGINT. */
const INTERRUPTED = 128 + 2;

/** Serves until Ctrl-C. */
async function codec(options: CodecOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const { encryption: settings } = readClientSettings(dataDir, configOf(options));
  if (settings.keys.length === 0)
    throw new HoldfastError('config_invalid', {
      faults: '[encryption] has no keys (`holdfast codec new-key` makes one and prints what to write).',
    });
  const token = tokenOf(options);
  if (token === null && !LOOPBACK.test(options.listen))
    throw new HoldfastError('invalid_input', {
      what: '--listen',
      got: `${options.listen} without a token`,
      allowed: '127.0.0.1, or another address with --token-file',
    });
  const origins = (options.origin ?? ownOrigins(dataDir)).map(checkedOrigin);
  const { port, listen: address } = options;
  const server = await serveCodec({
    codec: encryptingCodec(settings, process.env),
    origins,
    token,
    port,
    address,
  });
  printEndpoint(server, origins, token !== null, options.json);
  const signal = await Promise.race(
    (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => once(process, name).then(() => name)),
  );
  await server.close();
  return signal === 'SIGINT' ? INTERRUPTED : 0;
}

function printEndpoint(
  { url }: CodecServer,
  origins: readonly string[],
  token: boolean,
  json?: boolean,
): void {
  if (json) printJson({ url, origins, token });
  else {
    process.stdout.write(`codec endpoint   ${url}\n`);
    process.stdout.write(`web pages        ${origins.join(', ') || 'none'}\n`);
    note(
      `Enter it in the web UI (the glasses icon at the top), and with \`temporal ... --codec-endpoint ${url}\`.`,
    );
    if (!token)
      note('Every program on this machine can use it; with --token-file, only those with the token.');
  }
}

/** The web UI of the data folder’s own server, by both names of this machine. */
function ownOrigins(dataDir: string): string[] {
  const record = readRecord(enginePaths(dataDir));
  return record ? [record.uiUrl, record.uiUrl.replace('127.0.0.1', 'localhost')] : [];
}

function checkedOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/') return url.origin;
  throw new HoldfastError('invalid_input', {
    what: '--origin',
    got: text,
    allowed: 'scheme, name and port, such as http://127.0.0.1:8233',
  });
}

function tokenOf({ tokenFile }: CodecOptions): string | null {
  if (tokenFile === undefined) return null;
  const got = (text: string): HoldfastError =>
    new HoldfastError('invalid_input', {
      what: '--token-file',
      got: text,
      allowed: `a file of mode 600 with at least ${MIN_TOKEN_CHARS} characters`,
    });
  let token: string;
  try {
    token = readPrivateFile(resolve(tokenFile)).trim();
  } catch (err) {
    throw got(reasonOf(err));
  }
  if (token.length < MIN_TOKEN_CHARS) throw got(`${token.length} characters`);
  return token;
}

/** Never overwrites a key: data encrypted with it could no longer be read. */
function newKey(options: NewKeyOptions): Promise<number> {
  const id = new Date().toISOString().slice(0, 10);
  const file = options.file ? resolve(options.file) : join(dataDirOf(options), 'keys', `${id}.key`);
  try {
    makeFolder(dirname(file));
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (err) {
    throw new HoldfastError('invalid_input', {
      what: '--file',
      got: `${file} (${reasonOf(err)})`,
      allowed: 'a file that does not exist yet',
      next: 'Name another file; keys are never overwritten.',
    });
  }
  const line = `{ id = ${JSON.stringify(id)}, file = ${visibleJson(file)} }`;
  if (options.json) printJson({ id, file, line });
  else {
    process.stdout.write(`[encryption]\nkeys = [\n  ${line},\n]\n`);
    note('Write that into holdfast.toml. If there are keys already, put the line before them: the first one');
    note(
      'encrypts, all of them decrypt. Give a second key of the same day another id. Keep a copy of the file.',
    );
  }
  return Promise.resolve(0);
}
