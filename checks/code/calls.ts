// The effects of calls that matter: they start programs, remove, write, read, send and run code.
import { runCommand } from '../commands/run-command';
import type { Word } from '../commands/command';
import { UNKNOWN, isRemote } from '../text';
import type { CheckRule } from '../../contracts/tools/checks';
import { RUNS_REMOTE } from '../findings';
import { allText, unknown, type Call, type FollowedProgram, type Value } from './value';

export function report({ program: { setting }, node }: Call, rule: CheckRule, reason: string): void {
  setting.check.findings.add(rule, setting.placing(node.start, node.end), reason);
}

const wordOf = ({ setting }: FollowedProgram, { text, node }: Value): Word => ({
  text,
  place: setting.placing(node.start, node.end),
});

/** A text passed to a shell. */
export function runShell(call: Call, value: Value | undefined, input?: Value): Value {
  const { program, node } = call;
  if (!value) return unknown(node);
  const { check, depth } = program.setting;
  const scope = program.scope.copy();
  const stdin = input && allText(input);
  const text = check.nested({ ...wordOf(program, value), language: 'bash', depth, scope, stdin });
  return { text, node };
}

/** A program with its arguments, without a shell in between. */
export function runProgram({ program, node }: Call, values: Value[], input?: Value): Value {
  const { check, placing, depth } = program.setting;
  const words = values.map((value) => wordOf(program, value));
  const stdin = input ? allText(input) : UNKNOWN;
  const place = placing(node.start, node.end);
  const { scope } = program;
  const from = { check, stdin, stdinPlace: place, scope, place, depth, isConnected: false };
  return { text: runCommand({ ...from, words }), node };
}

/** What a call does is what a command does: each effect is judged in one place. */
export function runAs(call: Call, command: string, values: (Value | undefined)[], input?: Value): Value {
  const words = command.split(' ').map((text): Value => ({ text, node: call.node }));
  return runProgram(call, [...words, ...values.filter((value) => value !== undefined)], input);
}

/** A text that the language itself runs. */
export function runCode(call: Call): Value {
  const { program, node, args } = call;
  const [value] = args;
  if (value && isRemote(value.text)) report(call, 'remote_code', RUNS_REMOTE);
  else if (value) program.setting.check.nested({ ...program.setting, ...wordOf(program, value) });
  return unknown(node);
}

/** An argument by position or name. */
export const argument = ({ args, keywords }: Call, at: number, ...names: string[]): Value | undefined =>
  args[at] ?? names.map((name) => keywords.get(name)).find((value) => value !== undefined);

/** Python's keywords; in JavaScript the last object has the options. */
export const option = ({ args, keywords }: Call, name: string): Value | undefined =>
  keywords.get(name) ?? args.findLast(({ entries }) => entries)?.entries?.get(name);

/** Both languages' trees have this name for the constant. */
export const isTrue = (value: Value | undefined): boolean => value?.dotted === 'True';
