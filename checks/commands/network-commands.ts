// Commands that use the network: what they send, and what they fetch.
import { GIVES_SHELL, SENDS_SECRETS } from '../findings';
import { isSecretPath } from '../paths';
import { REMOTE, UNKNOWN, isSecret, unquoted } from '../text';
import {
  byName,
  hasAny,
  parseArguments,
  pathOf,
  programName,
  type Arguments,
  type Command,
  type Word,
} from './command';

const CURL_TAKING =
  'd F T o H A e u x X b c K m w E r Y y C D U Q t z k-none data data-binary data-raw data-ascii data-urlencode json ' +
  'form form-string upload-file output header user-agent referer user proxy request cookie cookie-jar config ' +
  'max-time write-out cert key cacert range url retry connect-timeout output-dir preproxy socks4 socks4a socks5 socks5-hostname resolve connect-to';
const WGET_TAKING =
  'O o a i U e t T w P l A R D I X B Q directory-prefix output-document output-file post-data post-file body-data body-file header user password method';

/** Addresses on this machine: the host is literal, and what is sent there does not leave it. */
const LOCAL =
  /^(?:https?:\/\/)?(?:[^@/]*@)?(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::[^@/]*)?(?:[/?#]|$)/i;
export const isThisMachine = (address: string): boolean => LOCAL.test(unquoted(address));
/** Commands that keep credentials on this machine, or log in with them. */
const KEEPS = /^(?:aws configure|rclone config|gh auth)$/;
/** With the file behind them; of tar's switches of this name some take none. */
const EXCLUDES = /^(?:--exclude(?:-from|-tag(?:-all|-under)?)?|-x)$/;
/** With these, an address does not say which machine is asked. */
const ELSEWHERE = 'x proxy preproxy socks4 socks4a socks5 socks5-hostname resolve connect-to K config';

/** Without options that exclude files, and their values. */
export const withoutExcluded = (args: Word[]): Word[] =>
  args.filter(
    ({ text }, at) => !EXCLUDES.test(text.replace(/=.*$/s, '')) && !EXCLUDES.test(args[at - 1]?.text ?? ''),
  );

/** Whether a path holds a secret: a key file, or a file that the script filled with one. */
export function holdsSecret(text: string, command: Pick<Command, 'scope'>): boolean {
  const path = pathOf(text, command);
  return isSecretPath(path) || isSecret(command.scope.files.get(path) ?? '') || isSecret(text);
}

/** The command's output; undefined if it does not use the network. Adds findings about the data that it sends. */
export function judgeNetwork(name: string, command: Command): string | undefined {
  const speak = SPEAKERS.get(name);
  const args = command.words.slice(1);
  if (!speak || (name === 'openssl' && !args.some(({ text }) => text === 's_client'))) return undefined;
  if (KEEPS.test(`${name} ${parseArguments(args, 'profile region').rest[0]?.text ?? ''}`)) return UNKNOWN;
  // However it is sent: in an address, a body, a name that is looked up.
  if (args.some(({ text }, at) => isSecret(text) && !isLogin(text, args[at - 1]?.text))) sends(command);
  return speak(command, args);
}

/** Credentials are meant to be sent. */
const isLogin = (text: string, before = ''): boolean =>
  /^(?:-u|--user|-b|--cookie)$/.test(before) ||
  /^(?:--header=)?(?:(?:proxy-)?authorization|cookie|[\w-]*(?:api-?key|token)) *:/i.test(unquoted(text));

function sends(command: Command): void {
  if (!staysHere(command)) command.check.findings.add('exfiltration', command.place, SENDS_SECRETS);
}

function staysHere({ words: [program, ...args] }: Command): boolean {
  const taking = { curl: CURL_TAKING, wget: WGET_TAKING }[programName(program?.text ?? '')];
  if (taking === undefined) return false;
  const { rest, values } = parseArguments(args, taking);
  const addresses = [...rest, ...(values.get('url') ?? [])];
  if (ELSEWHERE.split(' ').some((option) => values.has(option))) return false;
  return addresses.length > 0 && addresses.every(({ text }) => isThisMachine(text));
}

type Speaker = (command: Command, args: Word[]) => string;

const valuesOf = ({ values }: Arguments, names: string): string[] =>
  names.split(' ').flatMap((name) => (values.get(name) ?? []).map(({ text }) => text));

const curl: Speaker = (command, args) => {
  const parsed = parseArguments(args, CURL_TAKING);
  const bodies = valuesOf(parsed, 'd data data-binary data-ascii json data-urlencode');
  const files = [
    ...bodies.flatMap((text) => /^\w*@([^]*)/.exec(text)?.[1] ?? []),
    ...valuesOf(parsed, 'F form').flatMap((text) => /=[@<]([^;]*)/.exec(unquoted(text))?.[1] ?? []),
    ...valuesOf(parsed, 'T upload-file'),
  ];
  if (files.some((text) => (/^[-.]$/.test(text) ? isSecret(command.stdin) : holdsSecret(text, command))))
    sends(command);
  const from = parsed.rest.map(({ text }) => text);
  const folder = valuesOf(parsed, 'output-dir')[0];
  const names = hasAny(parsed, 'O remote-name') ? from.map(baseName) : [];
  for (const text of [...valuesOf(parsed, 'o output'), ...names])
    saves(command, folder === undefined ? text : `${folder}/${text}`);
  return hasAny(parsed, 'o output O remote-name') && !valuesOf(parsed, 'o output').includes('-')
    ? ''
    : REMOTE + UNKNOWN;
};

const wget: Speaker = (command, args) => {
  const parsed = parseArguments(args, WGET_TAKING);
  if (valuesOf(parsed, 'post-file body-file').some((text) => holdsSecret(text, command))) sends(command);
  const targets = valuesOf(parsed, 'O output-document');
  if (targets.includes('-')) return REMOTE + UNKNOWN;
  const folder = valuesOf(parsed, 'P directory-prefix')[0] ?? '.';
  const names = parsed.rest.map(({ text }) => `${folder}/${baseName(text)}`);
  for (const text of targets.length > 0 ? targets : names) saves(command, text);
  return '';
};

const baseName = (url: string): string => url.replace(/[?#].*$/, '').replace(/^.*\//, '');

function saves(command: Command, text: string): void {
  command.scope.files.set(pathOf(text, command), REMOTE + UNKNOWN);
}

/** Its input goes to the other side; its output comes from there. */
const pipe: Speaker = (command, args) => {
  if (isSecret(command.stdin)) sends(command);
  const given = args.map(({ text }) => unquoted(text));
  const runs = given.some(
    (text, at) =>
      /^-(?:[a-z]*[ec]|-exec|-sh-exec)$/.test(text) &&
      /(?:^|\/)(?:ba|z|da|k)?sh\b|cmd/.test(given[at + 1] ?? ''),
  );
  if (runs || given.some((text) => /^(?:exec|system):/i.test(text)))
    command.check.findings.add('remote_code', command.place, GIVES_SHELL);
  return REMOTE + UNKNOWN;
};

/** Copies files to another machine, named by the last argument, or any. */
const copies: Speaker = (command, args) => {
  const { rest } = parseArguments(args, 'i P F o c l S J e rsh exclude include port p-none');
  const isFar = (text: string): boolean => /^[^/]+:|^\w+:\/\//.test(text);
  if (
    rest.length > 1 &&
    isFar(rest.at(-1)?.text ?? '') &&
    rest.slice(0, -1).some(({ text }) => !isFar(text) && holdsSecret(text, command))
  )
    sends(command);
  return UNKNOWN;
};

/** Cloud and mail clients: any argument may be the uploaded file. */
const uploads: Speaker = (command, args) => {
  if (
    isSecret(command.stdin) ||
    withoutExcluded(args).some(({ text }) => holdsSecret(text.replace(/^[\w-]*[=@]@?/, ''), command))
  )
    sends(command);
  return UNKNOWN;
};

/** HTTPie. */
const http: Speaker = (command, args) => {
  uploads(command, args);
  const targets = valuesOf(parseArguments(args, 'o output a auth'), 'o output');
  for (const text of targets) saves(command, text);
  return targets.length > 0 ? '' : REMOTE + UNKNOWN;
};

const typed: Speaker = (command) => {
  if (isSecret(command.stdin)) sends(command);
  return UNKNOWN;
};

const SPEAKERS = byName<Speaker>([
  ['curl', curl],
  ['wget', wget],
  ['nc ncat netcat socat telnet', pipe],
  ['scp rsync sftp', copies],
  ['ssh ftp openssl', typed],
  ['aws gsutil rclone gh mail mailx mutt sendmail', uploads],
  ['http https', http],
  ['dig host nslookup ping', () => UNKNOWN],
  ['lynx w3m', () => REMOTE + UNKNOWN],
]);
