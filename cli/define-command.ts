// What the files of the commands are made with: see cli/commands.ts.
import type { Command, OutputConfiguration } from 'commander';
import { DEFAULT_AGENT, LOCAL_HOST } from '../contracts/ids';
import { agentId, hostName, sessionNumber } from './arguments';

/** Gives a command its options, its examples and what it does. */
export type Define = (command: Command) => Command;

/** The outcome of the command line that runs. */
export const outcome = { exitCode: 0, isForProgram: false };

/** Errors are reported by `runCommandLine`; for a program there is one JSON value on stderr, or nothing. */
export const OUTPUT: OutputConfiguration = {
  outputError: () => undefined,
  writeErr: (text) => void (outcome.isForProgram || process.stderr.write(text)),
};

/** What a command does: its exit code is passed on. */
export const action =
  <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
  async (...args: A): Promise<void> => {
    outcome.exitCode = await work(...args);
  };

/** Shown below a command's help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

/** A command below another one, whose options hold for it, too. */
export const below = (command: Command, usage: string, about: string): Command =>
  command.command(usage).description(about).exitOverride().configureOutput(OUTPUT);

/** For one session. */
export const ofSession: Define = (command) =>
  command
    .option('--agent <id>', 'whose session', agentId, DEFAULT_AGENT)
    .option('--host <name>', 'on which host', hostName, LOCAL_HOST)
    .option('--session <n>', 'which session', sessionNumber, 0);
