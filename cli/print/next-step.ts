// What a person types next: the catalogue names tools and runtimes where a model reads it, too.
import type { ErrorFacts } from '../../contracts/errors/error-entry';
import type { ErrorCode, HoldfastError } from '../../contracts/errors/holdfast-error';
import { DEFAULT_AGENT, LOCAL_HOST } from '../../contracts/ids';
import { readableWord } from '../../contracts/text/shell-word';

/** Options of the command line that failed, as far as it was understood. */
export interface GivenOptions {
  agent?: string;
  host?: string | undefined;
  session?: number | undefined;
  data?: string;
  address?: string;
  namespace?: string;
  profile?: string;
}

/** The options that lead another command to the same session, to be pasted behind its name. */
export function sameSession(given: GivenOptions): string {
  const { agent, host, session } = given;
  return [
    ...(agent !== undefined && agent !== DEFAULT_AGENT ? [`--agent ${readableWord(agent)}`] : []),
    ...(host !== undefined && host !== LOCAL_HOST ? [`--host ${readableWord(host)}`] : []),
    ...(session ? [`--session ${session}`] : []),
  ]
    .map((option) => ` ${option}`)
    .concat(sameServer(given))
    .join('');
}

/** The options that lead another command to the same server. */
export const sameServer = ({ data, address, namespace, profile }: GivenOptions): string =>
  Object.entries({ data, address, namespace, profile })
    .map(([name, value]) => (value === undefined ? '' : ` --${name} ${readableWord(value)}`))
    .join('');

type PersonalStep = (to: string, facts: ErrorFacts, given: GivenOptions) => string | undefined;

const STEPS: Partial<Record<ErrorCode, PersonalStep>> = {
  busy: (to) =>
    `Look at it with \`holdfast output${to}\`, answer it with \`holdfast input${to} TEXT\`, end it with ` +
    `\`holdfast reset${to}\`, or use another session (\`--session N\`).`,
  no_running_process: (to) => `Start one with \`holdfast exec${to} CODE\`, then send it input.`,
  session_limit: (_to, { closable }, given) =>
    closable
      ? undefined
      : 'All of them are at work: wait for one, or end what runs in one with ' +
        `\`holdfast reset${sameSession({ ...given, session: undefined })} --session N\`.`,
};

/** What the catalogue says, for a person who gave these options. */
export const nextStep = ({ code, facts, next }: HoldfastError, given: GivenOptions): string =>
  STEPS[code]?.(sameSession(given), facts, given) ?? withOptions(next, given);

const OF_SESSIONS = ['attach', 'close', 'exec', 'input', 'output', 'reset'];
/** Those about a machine, such as `up` and `host`, have none of the options: it may be another one than this. */
const OF_SERVERS = [
  'approve',
  'chat',
  'cp',
  'deny',
  'fork',
  'log',
  'ps',
  'recover',
  'rewind',
  'stop',
  'tree',
];

/** A command must not look, or end something, on another server, on another host or in another agent's session. */
const withOptions = (next: string, given: GivenOptions): string =>
  next.replace(/`holdfast ([a-z]+)([^`]*)`/g, (command, name: string, rest: string) => {
    // One that was made for these options.
    if (/ --(data|address|namespace|profile) /.test(rest)) return command;
    if (OF_SESSIONS.includes(name) && !/ --(agent|host) /.test(rest)) {
      const session = rest.includes(' --session ') ? undefined : given.session;
      return `\`holdfast ${name}${sameSession({ ...given, session })}${rest}\``;
    }
    const isOfServer = OF_SESSIONS.includes(name) || OF_SERVERS.includes(name);
    return isOfServer ? `\`holdfast ${name}${rest}${sameServer(given)}\`` : command;
  });
