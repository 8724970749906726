// The command line `holdfast`: its commands and options, and which file implements each command.
import { Command, CommanderError, type OutputConfiguration } from 'commander';
import { DIALECTS } from '../contracts/agents/agent';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { DEFAULT_AGENT, LOCAL_HOST, checkedId, checkedSession } from '../contracts/ids';
import { RUNTIMES } from '../contracts/sessions/session';
import { packageVersion } from '../system/package-root';
import type { ForkOptions, ReasonOptions, SendOptions } from './commands/agents';
import type { PsOptions } from './commands/ps';
import type { WaitOptions } from './commands/wait';
import type { DiffCommandOptions, RewindCommandOptions } from './commands/workspace';
import type { GlobalOptions } from './context';
import { collect, named, port, wholeNumber } from './arguments';
import { EXAMPLES } from './examples';
import { addGatewayCommands } from './gateway/gateway-commands';
import { addHostCommands } from './host-commands';
import {
  approve,
  arm,
  attach,
  chat,
  check,
  close,
  codec,
  cp,
  demo,
  deny,
  diff,
  doctor,
  exec,
  fork,
  input,
  log,
  mcp,
  newKey,
  output,
  ps,
  recover,
  reset,
  rewind,
  run,
  send,
  showTool,
  stop,
  tools,
  tree,
  wait,
} from './lazy-commands';
import { oneOf } from './one-of';
import type { GivenOptions } from './print/next-step';
import { addOperatingCommands } from './operating/operating-commands';
import { reportError } from './print/report-error';
import { recordedServer } from './recorded-server';

const sessionNumber = (text: string): number => checkedSession(/^\d+$/.test(text) ? Number(text) : text);
const collectNames = (value: string, all: string[] = []): string[] => [
  ...all,
  ...value.split(',').filter((name) => name !== ''),
];
const TENANT = 'whose agent it is: tenants take turns at the workers';
const tenant = (id: string): string => checkedId('tenant', id);
const hostName = (id: string): string => checkedId('host', id);
const agentId = (id: string): string => checkedId('agent', id);
const dialect = oneOf('--dialect', DIALECTS);
const runtime = oneOf('--runtime', RUNTIMES);

const TOKEN_FILE = 'token of a listening host (default: HOLDFAST_HOST_TOKEN)';

let exitCode = 0;
let isForProgram = false;
/** Errors are reported below; for a program there is one JSON value on stderr, or nothing. */
const OUTPUT: OutputConfiguration = {
  outputError: () => undefined,
  writeErr: (text) => void (isForProgram || process.stderr.write(text)),
};
type Action<A extends unknown[]> = (...args: A) => Promise<number>;
const action =
  <A extends unknown[]>(work: Action<A>) =>
  async (...args: A): Promise<void> => {
    exitCode = await work(...args);
  };

/** All commands; the code of each is loaded when it is given. */
export function program(): Command {
  const root = new Command('holdfast')
    .description('Agents whose turns and shells hold fast, on Temporal.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput(OUTPUT)
    // The defaults are the data folder's server and host; only here is the folder known.
    .hook('preAction', async (_root, chosen) => {
      const server = await recordedServer(chosen);
      for (const [name, value] of Object.entries(server ?? {})) chosen.setOptionValue(name, value);
      if (chosen.getOptionValueSource('host') !== 'default') return;
      const { ownHost } = await import('./context');
      chosen.setOptionValue('host', ownHost(chosen.optsWithGlobals<GlobalOptions>()));
    });
  const command = (name: string, description: string): Command =>
    root
      .command(name)
      .description(description)
      .option('--data <dir>', 'data folder (default: HOLDFAST_DATA, else the user’s state folder)', named)
      .option(
        '--address <host:port>',
        'Temporal server (default: TEMPORAL_ADDRESS, a Temporal profile, else the embedded one)',
        named,
      )
      .option('--namespace <name>', 'Temporal namespace', named)
      .option('--profile <name>', 'profile of the Temporal configuration file', named)
      .option(
        '--config <file>',
        'holdfast.toml, kept for later starts (default: the one in the data folder)',
        named,
      )
      .option('--json', 'one JSON value on stdout')
      .exitOverride()
      .configureOutput(OUTPUT);
  const sessionCommand = (name: string, description: string): Command =>
    command(name, description)
      .option('--agent <id>', 'whose session', (id) => checkedId('agent', id), DEFAULT_AGENT)
      .option('--host <name>', 'on which host', hostName, LOCAL_HOST)
      .option('--session <n>', 'which session', sessionNumber, 0);

  addOperatingCommands(command, action);
  command('run <task>', 'give an agent a task and watch it')
    .option('--model <provider:name>', 'for example anthropic:NAME, openai:NAME or scripted:replies.yaml')
    .option('--dialect <name>', `how the model calls tools: ${DIALECTS.join(', ')}`, dialect)
    .option('--agent <id>', 'id of the new agent', (id) => checkedId('agent', id))
    .option('--host <name>', 'host of its shells', hostName, LOCAL_HOST)
    .option('--remote-host <name>', 'host of code_execution_remote', hostName)
    .option('--tenant <id>', TENANT, tenant)
    .option('--cwd <dir>', 'where its shells start', named)
    .option('--keep', 'leave its sessions open')
    .option('--max-steps <n>', 'maximum number of model calls', wholeNumber)
    .action(action(run));
  command('chat', 'talk to an agent: see its steps as they happen, its answers as they are written')
    .option('--agent <id>', 'the conversation: joined if it runs, else started', (id) =>
      checkedId('agent', id),
    )
    .option('--model <provider:name>', 'for a new conversation, for example openai:gpt-5')
    .option('--dialect <name>', `how the model calls tools: ${DIALECTS.join(', ')}`, dialect)
    .option('--cwd <dir>', 'where its shells start', named)
    .option('--host <name>', 'host of its shells', hostName, LOCAL_HOST)
    .option('--serve-host [name]', 'be the host of code_execution_remote while this chat is open')
    .option('--remote-host <name>', 'host of code_execution_remote', hostName)
    .option('--tenant <id>', TENANT, tenant)
    .option(
      '--tools <names>',
      'the tools that it may call, separated by commas; may be repeated',
      collectNames,
    )
    .option('--resume', 'the latest running conversation; with --agent, also one that has ended')
    .addHelpText('after', EXAMPLES.chat)
    .action(action(chat));
  command('send <agent> <message>', 'send a message to an agent and print the answer (- reads stdin)')
    .option('--interrupt', 'interrupt the current turn')
    .option('--no-wait', 'send without waiting for the answer')
    .addHelpText('after', EXAMPLES.send)
    .action(action((id: string, text: string, options: SendOptions) => send(agentId(id), text, options)));
  command('stop <agent>', 'end an agent, its turn and its sessions')
    .option('--reason <text>', 'recorded and shown')
    .addHelpText('after', EXAMPLES.stop)
    .action(action((id: string, options: ReasonOptions) => stop(agentId(id), options)));
  command(
    'recover <agent>',
    'end the turn and everything running in the sessions; the conversation continues',
  )
    .option('--reason <text>', 'recorded and shown')
    .addHelpText('after', EXAMPLES.recover)
    .action(action((id: string, options: ReasonOptions) => recover(agentId(id), options)));
  command('fork <agent> <new-id> [message]', 'start another conversation with the beginning of this one')
    .option('--at <n>', 'how many messages it begins with (default: all)', wholeNumber)
    .option('--model <provider:name>', 'another model (default: the same)')
    .option('--files', 'in a folder of its own, with the files of that moment (default: in the same folder)')
    .addHelpText('after', EXAMPLES.fork)
    .action(
      action((id: string, newId: string, text: string | undefined, options: ForkOptions) =>
        fork(agentId(id), agentId(newId), text, options),
      ),
    );
  command('log <agent>', 'the steps of an agent, and what each did to files')
    .addHelpText('after', EXAMPLES.log)
    .action(action((id: string, options: GlobalOptions) => log(agentId(id), options)));
  command('diff <agent>', 'what an agent changed in its files (default: all of it)')
    .option('--step <n>', 'in one step', wholeNumber)
    .option('--from <n>', 'after the end of this step', wholeNumber)
    .option('--to <n>', 'up to the end of this step', wholeNumber)
    .option('--turn <n>', 'in one turn', wholeNumber)
    .option('--stat', 'only which files')
    .addHelpText('after', EXAMPLES.diff)
    .action(action((id: string, options: DiffCommandOptions) => diff(agentId(id), options)));
  command('rewind <agent>', 'bring back files, conversation or both as they were after a step')
    .requiredOption('--to <n>', 'the step; 0: before the first', wholeNumber)
    .option('--files', 'only the files')
    .option('--conversation', 'only the conversation')
    .option('--both', 'both (default; for an agent that has ended: only the files)')
    .option('--dry-run', 'say what would change, and change nothing')
    .option('--force', 'also where somebody else has changed files; theirs stay in a checkpoint')
    .option('--stop', 'end what runs in its sessions first')
    .addHelpText('after', EXAMPLES.rewind)
    .action(action((id: string, options: RewindCommandOptions) => rewind(agentId(id), options)));
  sessionCommand('exec <code>', 'run code ("-": stdin) in a session; its exit code is passed on')
    .option('--runtime <name>', RUNTIMES.join(', '), runtime, 'terminal')
    .option(
      '--yield-ms <ms>',
      'return after this long if it has not ended; counted from its start, so after an approval',
      wholeNumber,
    )
    .option('--reset', 'end what runs in the session first')
    .option('--check-imports', 'run nothing of a script whose first imports are not installed')
    .option('--cwd <dir>', 'where a new session starts', named)
    .option('--id <id>', 'repeating an id returns the same result and runs nothing; other code is refused')
    .option('--token-file <file>', TOKEN_FILE, named)
    .action(action(exec));
  sessionCommand('output', 'show the output of a session')
    .option('--from <offset>', 'all output from this byte on', wholeNumber)
    .option('--wait <what>', 'exit, output, idle, needs_input or pattern:RE', named)
    .option('--wait-ms <ms>', 'the longest wait', wholeNumber)
    .action(action(output));
  sessionCommand('input [text]', 'type text and Enter into the running process; "" is Enter alone')
    .option('--key <name>', 'press a key, for example ctrl-c, f5 or y; may be repeated', collect)
    .option('--no-enter', 'type the text without Enter')
    .option('--yield-ms <ms>', 'how long to wait for the reaction', wholeNumber)
    .option('--id <id>', 'repeating an id types nothing; other text is refused')
    .action(action(input));
  sessionCommand('reset', 'end everything that runs in a session')
    .option('--reason <text>', 'recorded and shown')
    .action(action(reset));
  sessionCommand('attach', 'the terminal of a session in your own; ctrl-] leaves')
    .option('--run <code>', 'run this code with you at the terminal; its exit code is passed on')
    .option('--watch', 'watch without typing')
    .option('--take', 'take over the keyboard from someone else')
    .option('--detach-key <key>', 'the key that leaves', 'ctrl-]')
    .option('--token-file <file>', TOKEN_FILE, named)
    .action(action(attach));
  sessionCommand(
    'arm',
    'let scripts call tools in places that only the terminal reaches (ssh): prints a line to paste there',
  )
    .option('--type', 'type the line into the session')
    .option('--off', 'allow no more calls')
    .action(action(arm));
  sessionCommand('close', 'end a session and everything in it')
    .option('--reason <text>', 'recorded and shown')
    .action(action(close));
  command('cp <from> <to>', 'copy files and folders to an agent’s host, or back: PATH AGENT:PATH')
    .option('--host <name>', 'on which host (default: the agent’s)', hostName)
    .option('--no-clobber', 'leave files that exist as they are')
    .option('--token-file <file>', TOKEN_FILE, named)
    .addHelpText('after', EXAMPLES.cp)
    .action(action(cp));
  for (const [name, description, work] of [
    ['approve', 'approve a pending command or call; the id may be omitted if only one is pending', approve],
    ['deny', 'deny a pending command or call; the id may be omitted if only one is pending', deny],
  ] as const) {
    const answer = command(name, description)
      .argument('[id]', '', named)
      .option('--agent <id>', 'only those of this agent', agentId)
      .option('--host <name>', 'only those of sessions on this host', hostName)
      .option('--session <n>', 'only those of sessions with this number', sessionNumber)
      .option('--list', 'only show what is pending')
      .option('--show', 'only show one in full, however long it is');
    if (name === 'approve') answer.option('--for-session', 'do not ask about the same rules again there');
    else answer.option('--reason <text>', 'shown to the model');
    answer.addHelpText('after', EXAMPLES.approve).action(action(work));
  }
  command('wait <sessions...>', 'wait for sessions; exits with 75 on timeout')
    .option('--agent <id>', 'whose sessions', (id) => checkedId('agent', id), DEFAULT_AGENT)
    .option('--host <name>', 'on which host', hostName, LOCAL_HOST)
    .option('--for <what>', 'exit, output, idle, needs_input or pattern:RE', 'exit')
    .option('--any', 'any one of them is enough')
    .option('--timeout-ms <ms>', 'the longest wait', wholeNumber, 3_600_000)
    .action(action((sessions: string[], options: WaitOptions) => wait(sessions.map(sessionNumber), options)));
  command('ps', 'agents, turns and sessions: what each is doing, what it waits for, who ended what')
    .alias('status')
    .option('--all', 'also what has ended lately, and who ended it')
    .option('--watch', 'keep refreshing')
    .action(action(ps));
  command('tree [agent]', 'like ps, but each agent with its turns, sessions, sub-agents and their tokens')
    .option('--all', 'also what has ended lately, and who ended it')
    .option('--watch', 'keep refreshing')
    .addHelpText('after', EXAMPLES.tree)
    .action(
      action((id: string | undefined, options: PsOptions) =>
        tree(id === undefined ? id : agentId(id), options),
      ),
    );
  command('tools', 'the tools of models and scripts, and why any are missing')
    .action(action(tools))
    .command('show <name>')
    .description('one tool: its arguments, its result, how a script calls it')
    .exitOverride()
    .configureOutput(OUTPUT)
    .action(
      action((name: string, _options: object, self: Command) => showTool(name, self.optsWithGlobals())),
    );
  addGatewayCommands(command, action);
  addHostCommands(command('host', 'machines whose shells agents use: serve this one, list all'), action);
  root
    .command('check <file>')
    .description(
      'check code for placeholders, destructive commands and the like; runs nothing (- reads stdin)',
    )
    .option(
      '--runtime <name>',
      `${RUNTIMES.join(', ')} (default: from the file’s name or first line)`,
      runtime,
    )
    .option('--json', 'one JSON value on stdout')
    .addHelpText('after', EXAMPLES.check)
    .exitOverride()
    .configureOutput(OUTPUT)
    .action(action(check));
  command('mcp', 'an MCP server over stdio: sessions and agents for any MCP client').action(action(mcp));
  command('codec', 'let Temporal’s web UI and command line read encrypted payloads; Ctrl-C ends it')
    .option('--port <n>', 'port of the endpoint', port, 8234)
    .option('--listen <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--origin <url>',
      'origin of web pages that may use it; may be repeated (default: our own web UI)',
      collect,
    )
    .option('--token-file <file>', 'file with the token that clients must send', named)
    .action(action(codec))
    .command('new-key')
    .description('make a key, and print what to write into holdfast.toml')
    .option('--file <file>', 'where to write it (default: keys/DATE.key in the data folder)', named)
    .exitOverride()
    .configureOutput(OUTPUT)
    .action(action((_options: object, self: Command) => newKey(self.optsWithGlobals())));
  command('doctor', 'check each part and say what is missing').action(action(doctor));
  command('demo', 'watch an agent work while its worker is killed and nothing is lost').action(action(demo));
  return root;
}

/** Runs one command line and returns its exit code; errors go to stderr. */
export async function runCommandLine(argv: string[]): Promise<number> {
  const json = argv.includes('--json');
  isForProgram = json;
  exitCode = 0;
  let given: GivenOptions = {};
  const root = program().hook('preAction', (_root, chosen) => {
    given = chosen.optsWithGlobals<GivenOptions>();
  });
  try {
    await root.parseAsync(argv);
    return exitCode;
  } catch (err) {
    if (err instanceof CommanderError) return usageError(root, err, json);
    return reportError(err, json, given);
  }
}

/** As commander words a value that an option or an argument does not take. */
const WRONG_VALUE =
  /^(?:option '(--[\w-]+).*' argument '.*' is invalid|command-argument value '.*' is invalid for argument '(.*)')\. got (.*), allowed (.*?)\.?$/s;

function usageError(root: Command, err: CommanderError, json: boolean): number {
  if (err.exitCode === 0) return 0;
  const [got = '', guess = ''] = err.message.replace(/^error: /, '').split('\n');
  const [, option, argument, value, allowed] = WRONG_VALUE.exec(got) ?? [];
  const named = namedCommand(root);
  const help = `See \`holdfast ${[...named.path, '--help'].join(' ')}\`.`;
  // Of a command that only has others.
  if (err.code === 'commander.help') {
    const allowed = named.command.commands.map((one) => one.name()).join(', ');
    const got = `\`${['holdfast', ...named.path].join(' ')}\` without one`;
    return reportError(
      new HoldfastError('invalid_input', { what: 'The command', got, allowed, next: help }),
      json,
    );
  }
  const quoting = err.code === 'commander.excessArguments' ? 'Put a text of several words in quotes.' : '';
  const next = [guess.replace(/^\((.*)\)$/, '$1'), quoting, help].filter(Boolean).join(' ');
  const what = option ?? argument;
  const facts = what
    ? {
        what: option ?? `[${argument}]`,
        got: value ?? 'nothing',
        allowed: allowed ?? 'what --help lists',
        next,
      }
    : { what: 'The command line', got: got.replace(/\.$/, ''), allowed: 'what --help lists', next };
  return reportError(new HoldfastError('invalid_input', facts), json);
}

/** The innermost command that the arguments name. */
function namedCommand(root: Command): { command: Command; path: string[] } {
  let command = root;
  const path: string[] = [];
  for (const arg of root.args) {
    const next = command.commands.find((one) => one.name() === arg || one.aliases().includes(arg));
    if (!next) break;
    command = next;
    path.push(arg);
  }
  return { command, path };
}
