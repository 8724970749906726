// The command line `holdfast`: which command is given, what all of them have in common, and how a wrong one is reported.
import { Command, CommanderError } from 'commander';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { packageVersion } from '../system/package-root';
import { named } from './arguments';
import { COMMANDS, nameOf, type CommandEntry } from './commands';
import type { GlobalOptions } from './global-options';
import { OUTPUT, outcome } from './define-command';
import type { GivenOptions } from './print/next-step';
import { reportError } from './print/report-error';
import { recordedServer } from './recorded-server';

/** `ps` is `status`, too. */
const OTHER_NAMES: Readonly<Record<string, string>> = { status: 'ps' };
/** Needs no data folder. */
const WITHOUT_SERVER: ReadonlySet<string> = new Set(['check', 'completion']);

/** @param isGiven of these commands the options and the code are loaded; the others are only listed */
export async function program(isGiven: (name: string) => boolean = () => true): Promise<Command> {
  const root = new Command('holdfast')
    .description('Agents whose turns and shells hold fast, on Temporal.')
    .version(packageVersion())
    .commandsGroup('Tools and checks:')
    .exitOverride()
    .configureOutput(OUTPUT)
    // The defaults are the data folder's server and host; only here is the folder known.
    .hook('preAction', async (_root, chosen) => {
      const server = await recordedServer(chosen);
      for (const [name, value] of Object.entries(server ?? {})) chosen.setOptionValue(name, value);
      if (chosen.getOptionValueSource('host') !== 'default') return;
      const { ownHost } = await import('./global-options');
      chosen.setOptionValue('host', await ownHost(chosen.optsWithGlobals<GlobalOptions>()));
    });
  for (const entry of COMMANDS) {
    const command = root.command(entry.usage).description(entry.about).helpGroup(entry.group);
    command.exitOverride().configureOutput(OUTPUT);
    for (const [other, name] of Object.entries(OTHER_NAMES)) if (name === nameOf(entry)) command.alias(other);
    if (!isGiven(nameOf(entry))) continue;
    const { define } = await entry.load();
    addGlobalOptions(define(command), entry);
  }
  return root;
}

/** Last, since people look for what is a command's own. */
function addGlobalOptions(command: Command, entry: CommandEntry): void {
  command.optionsGroup('Global options:');
  if (!WITHOUT_SERVER.has(nameOf(entry)))
    command
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
      );
  // Behind `--config`: before it, commander would take it for an option of its own, which is true by default.
  if (nameOf(entry) === 'up') command.option('--no-config', 'use the configuration in the data folder again');
  command.option('--json', 'one JSON value on stdout').helpOption('-h, --help', 'display help for command');
}

/** The command that is meant, also by `help NAME`; the script for shells knows all of them. */
function givenIn(argv: readonly string[]): (name: string) => boolean {
  const words = argv.filter((word) => !word.startsWith('-'));
  const word = words[0] === 'help' ? words[1] : words[0];
  const meant = OTHER_NAMES[word ?? ''] ?? word;
  return meant === 'completion' ? () => true : (name) => name === meant;
}

/** Runs one command line and returns its exit code; errors go to stderr. */
export async function runCommandLine(argv: string[]): Promise<number> {
  const json = argv.includes('--json');
  outcome.isForProgram = json;
  outcome.exitCode = 0;
  let given: GivenOptions = {};
  const root = await program(givenIn(argv.slice(2)));
  root.hook('preAction', (_root, chosen) => {
    given = chosen.optsWithGlobals<GivenOptions>();
  });
  try {
    await root.parseAsync(argv);
    return outcome.exitCode;
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
