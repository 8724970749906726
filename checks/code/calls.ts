// The effects of a language's calls that matter: they start programs, remove, write, read, send and run code.
import type { Site } from '../check-run';
import { runCommand } from '../commands/run-command';
import type { Word } from '../commands/command';
import { isCritical, isDisk, isSecretPath, isVital, resolvePath } from '../paths';
import type { Language } from '../findings';
import { BELOW, REMOTE, SECRET, UNKNOWN, isRemote, isSecret, unquoted } from '../text';
import type { CheckRule } from '../../contracts/tools/checks';
import type { Call, FollowedProgram } from './call';
import { allText, unknown, type Value } from './value';

export function report({ program, node }: Call, rule: CheckRule, reason: string): void {
  program.check.findings.add(rule, program.placing(node.s, node.e), reason);
}

const shown = (path: string): string => unquoted(path).replaceAll(BELOW, '…');

function siteOf(program: FollowedProgram, { node }: Value): Site {
  return { place: program.placing(node.s, node.e), exact: program.exactStart(node) };
}

/** A text passed to a shell. */
export function runShell(call: Call, value: Value | undefined, input?: Value): Value {
  const { program, node } = call;
  if (!value) return unknown(node);
  const { check, placing, depth, scope } = program;
  const stdin = input ? allText(input) : undefined;
  const text = check.nested({
    language: 'bash',
    text: value.text,
    site: siteOf(program, value),
    placing,
    depth,
    scope: scope.copy(),
    stdin,
  });
  return { text, node };
}

/** A program with its arguments, without a shell in between. */
export function runProgram(call: Call, values: Value[], input?: Value): Value {
  const { program, node } = call;
  const { check, placing, depth, scope } = program;
  const words = values.map((value): Word => ({ text: value.text, ...siteOf(program, value) }));
  const place = placing(node.s, node.e);
  const stdin = input ? allText(input) : UNKNOWN;
  const text = runCommand({
    check,
    words,
    stdin,
    stdinSite: null,
    scope,
    place,
    placing,
    depth,
    isConnected: false,
  });
  return { text, node };
}

const pathOf = ({ program }: Call, { text }: Value): string => resolvePath(text, program.scope.cwd);

/** A folder with everything in it. */
export function removeTree(call: Call, value: Value | undefined): void {
  if (!value) return;
  const path = pathOf(call, value);
  if (isVital(path) && !isSpared(call, path))
    report(call, 'destructive', `it removes ${shown(path)} with all that is in it`);
}

export function removeFile(call: Call, value: Value | undefined): void {
  if (!value) return;
  const path = pathOf(call, value);
  if (isDisk(path) || isCritical(path)) report(call, 'destructive', `it removes ${shown(path)}`);
  else if (path.includes(BELOW) && isVital(path) && !isSpared(call, path))
    report(call, 'destructive', `it removes the files of ${shown(path)}`);
}

/** Files below are removed only under a condition, so only some of them. */
const isSpared = ({ program }: Call, path: string): boolean => path.includes(BELOW) && program.conditions > 0;

export function writeFile(call: Call, value: Value | undefined): void {
  if (!value) return;
  const path = pathOf(call, value);
  if (isDisk(path) || isCritical(path)) report(call, 'destructive', `it writes over ${shown(path)}`);
}

export function moveFile(call: Call, from: Value | undefined, to: Value | undefined): void {
  if (from) {
    const path = pathOf(call, from);
    if (isVital(path) && !path.startsWith('~')) report(call, 'destructive', `it moves ${shown(path)} away`);
  }
  writeFile(call, to);
}

/** The content of a file. */
export function readFile(call: Call, value: Value | undefined): Value {
  if (!value) return unknown(call.node);
  const path = pathOf(call, value);
  const known = call.program.scope.files.get(path);
  return { text: known ?? (isSecretPath(path) ? SECRET + UNKNOWN : UNKNOWN), node: call.node };
}

/** Remembers the new content of a file. */
export function keepFile(call: Call, path: Value | undefined, content: string): void {
  if (path) call.program.scope.files.set(pathOf(call, path), content);
}

/** Sends over the network; the answer is remote. */
export function sends(call: Call, ...values: (Value | undefined)[]): Value {
  if (values.some((value) => isSecret(allText(value))))
    report(call, 'exfiltration', 'it sends keys, passwords or the environment over the network');
  return { text: REMOTE + UNKNOWN, node: call.node };
}

/** A file uploaded by path. */
export function uploads(call: Call, path: Value | undefined): void {
  if (path && (isSecretPath(pathOf(call, path)) || isSecret(readFile(call, path).text)))
    report(call, 'exfiltration', 'it sends keys, passwords or the environment over the network');
}

/** A text that the language itself runs. */
export function runCode(call: Call, language: Language, value: Value | undefined): Value {
  const { program, node } = call;
  if (!value) return unknown(node);
  if (isRemote(value.text)) {
    report(call, 'remote_code', 'it runs what the network sent');
    return unknown(node);
  }
  const { check, placing, depth } = program;
  check.nested({ language, text: value.text, site: siteOf(program, value), placing, depth });
  return unknown(node);
}

/** Any path below the given one. */
export const below = (call: Call, value: Value | undefined, narrow = false): Value => ({
  text: narrow || !value ? UNKNOWN : `${value.text.replace(/\/$/, '')}/${BELOW}`,
  node: call.node,
});

/** An argument by position or name. */
export const argument = ({ args, named }: Call, at: number, ...names: string[]): Value | undefined =>
  args[at] ?? names.map((name) => named.get(name)).find((value) => value !== undefined);

/** Both parsers use this name for the constant. */
export const isTrue = (value: Value | undefined): boolean => value?.dotted === 'True';

/** The words of a command given as a list or as one text. */
export const wordsOfList = (value: Value | undefined): Value[] => value?.items ?? (value ? [value] : []);
