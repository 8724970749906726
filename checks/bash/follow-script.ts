// Follows a bash script, statement by statement, as far as its effects can be determined from the script itself.
import type { Check, NestedCode } from '../check-run';
import { lineOfVariable } from '../commands/command-lines';
import { runCommand } from '../commands/run-command';
import type { Word } from '../commands/command';
import { judgeWrite } from '../commands/destructive';
import { textOfFile } from '../commands/outputs';
import { SENDS_SECRETS, type Place, type Placing } from '../findings';
import { PlaceholderRules } from '../placeholders';
import { REMOTE, SECRET, SPLIT, UNKNOWN, bounded, isSecret, marksOf, unquoted, wordsOf } from '../text';
import { resolvePath } from '../paths';
import {
  MAX_VARIANTS,
  NETWORK_DEVICE,
  NO_INPUT,
  argumentsBehind,
  audienceOf,
  definedNames,
  isConnection,
  isForkBomb,
  targetsOf,
  variants,
  type Audience,
  type Input,
} from './parts';
import { Scope, runBuiltin, type ShellFunction } from './scope';
import { parseBash, type SyntaxNode } from './syntax-tree';
import { evaluate, inString, type WordContext } from './words';

const MAX_CALLS = 8;
const WORD = /^(?:word|string|raw_string|concatenation|number)$/;

/** The runner of bash. */
export function runBash(check: Check, code: string, placing: Placing, nested: NestedCode): string {
  const tree = parseBash(code, check.isOver);
  if (!tree) {
    check.findings.skip('the bash parser took too long');
    return UNKNOWN;
  }
  if (tree.fault !== null)
    check.findings.skip(
      `line ${check.findings.lineOf(placing(tree.fault, tree.fault).start)} is not bash that the parser knows`,
    );
  if (tree.isCut) check.findings.skip('the code is nested too deeply');
  const scope = nested.scope ?? new Scope();
  const names = definedNames(tree.root, ({ start, end }) => code.slice(start, end));
  if (names.length > 0) scope.declared = new Set([...scope.declared, ...names]);
  const shell = new Shell(check, code, { placing, scope, depth: nested.depth, calls: 0, audience: 'reader' });
  return shell.run(tree.root, { ...NO_INPUT, text: nested.stdin ?? UNKNOWN });
}

interface Surroundings {
  placing: Placing;
  scope: Scope;
  depth: number;
  calls: number;
  audience: Audience;
}

class Shell {
  private readonly words: WordContext;
  private readonly placeholders: PlaceholderRules;

  constructor(
    private readonly check: Check,
    private readonly code: string,
    private readonly around: Surroundings,
  ) {
    const { scope, placing } = around;
    this.placeholders = new PlaceholderRules(check, placing, around.audience);
    this.words = {
      code,
      scope,
      outputOf: (node) => this.substitution(node),
      fileOf: (text) => {
        const path = `/dev/fd/holdfast-${scope.files.size}`;
        scope.files.set(path, text);
        return path;
      },
    };
  }

  private get scope(): Scope {
    return this.around.scope;
  }

  /** Returns the output of the statement. */
  run(node: SyntaxNode, input: Input): string {
    this.check.spend();
    switch (node.type) {
      case 'comment':
      case 'heredoc_start':
      case 'heredoc_end':
        return '';
      case 'command':
        return this.command(node, input, []);
      case 'pipeline':
        return this.pipeline(node, input);
      case 'redirected_statement':
        return this.redirected(node, input);
      case 'variable_assignment':
        this.assign(node);
        return '';
      case 'declaration_command':
        return this.declare(node);
      case 'unset_command':
        for (const child of node.children) this.scope.variables.delete(this.textOf(child));
        return '';
      case 'function_definition':
        return this.define(node);
      case 'for_statement':
        return this.loop(node, input);
      case 'subshell':
        return this.inOther({}, (shell) => shell.all(node, input));
      case 'if_statement':
      case 'while_statement':
      case 'c_style_for_statement':
      case 'case_statement':
        return this.branch(() => this.all(node, input));
      case 'string':
      case 'raw_string':
      case 'concatenation':
      case 'word':
        // Also covers the words of a test or a case.
        evaluate(node, this.words);
        return '';
      case 'file_redirect':
        // `$(<file)`.
        return this.redirectInput(node, NO_INPUT).text;
      case 'ERROR':
        return this.broken(node, input);
      default:
        return this.all(node, input);
    }
  }

  private all(node: SyntaxNode, input: Input): string {
    let output = '';
    for (const child of node.children) output = bounded(output + this.run(child, input));
    return output;
  }

  private branch(work: () => string): string {
    this.scope.branches += 1;
    const output = work();
    this.scope.branches -= 1;
    return output;
  }

  /** In another shell, whose variables are a copy unless given. */
  private inOther(changes: Partial<Surroundings>, work: (shell: Shell) => string): string {
    return work(new Shell(this.check, this.code, { ...this.around, scope: this.scope.copy(), ...changes }));
  }

  /** The same shell, while its output goes elsewhere. */
  private facing(audience: Audience): Shell {
    if (audience === this.around.audience) return this;
    return new Shell(this.check, this.code, { ...this.around, audience });
  }

  /** The audience of output that the script itself uses. */
  private get captured(): Audience {
    return this.around.audience === 'template' ? 'template' : 'program';
  }

  private substitution(node: SyntaxNode): string {
    return this.inOther({ audience: this.captured }, (shell) => shell.all(node, NO_INPUT));
  }

  /** Words outside any known statement: still a command. */
  private broken(node: SyntaxNode, input: Input): string {
    const start = node.children.findIndex(({ type }) => type === 'command_name');
    if (start >= 0) {
      const words = node.children.slice(start);
      const end = words.findIndex((child, at) => at > 0 && !WORD.test(child.type));
      this.command({ ...node, children: end === -1 ? words : words.slice(0, end) }, input, []);
    }
    return this.all(node, input);
  }

  private assign(node: SyntaxNode): void {
    const [target, operator, value] = node.children;
    if (!target) return;
    const name = this.textOf(target).replace(/\[.*$/s, '');
    const values = value ? evaluate(value, this.words) : [''];
    if (value) this.placeholders.word(this.code, value);
    const before = this.scope.get(name) ?? [''];
    const isMore = operator?.type === '+=';
    const gap = value?.type === 'array' ? SPLIT : '';
    const next = isMore ? before.flatMap((text) => values.map((more) => text + gap + more)) : values;
    this.scope.set(name, next.slice(0, MAX_VARIANTS));
    if (value) for (const text of next) this.runsLater(lineOfVariable(name, text), this.placeOf(value));
  }

  /** A command line that another program runs, or the shell at its next prompt. */
  private runsLater(text: string | undefined, place: Place): void {
    const scope = Object.assign(this.scope.copy(), { isLater: true });
    if (text) this.check.nested({ language: 'bash', text, place, depth: this.around.depth, scope });
  }

  private declare(node: SyntaxNode): string {
    const children = node.children;
    for (const child of children) if (child.type === 'variable_assignment') this.assign(child);
    const rest = children.slice(1).filter(({ type }) => type !== 'variable_assignment');
    for (const child of rest) evaluate(child, this.words);
    const isListing = rest.every((child) => this.textOf(child).startsWith('-'));
    return isListing && rest.length === children.length - 1 ? SECRET + UNKNOWN : '';
  }

  private define(node: SyntaxNode): string {
    const name = node.children.find(({ type }) => type === 'word');
    const body = node.children.at(-1);
    if (!name || !body) return '';
    const text = this.textOf(name);
    const place = this.placeOf(node);
    if (isForkBomb(text, body, (child) => this.textOf(child)))
      this.check.findings.add('destructive', place, 'it starts itself without end');
    this.scope.functions.set(text, { body, code: this.code, placing: this.around.placing });
    const scope = this.scope.copy();
    scope.branches += 1;
    scope.parameters = null;
    scope.isLater = true;
    return this.inOther({ scope }, (shell) => (shell.run(body, NO_INPUT), ''));
  }

  private loop(node: SyntaxNode, input: Input): string {
    const variable = node.children.find(({ type }) => type === 'variable_name');
    const body = node.children.find(({ type }) => type === 'do_group' || type === 'compound_statement');
    const values = node.children.filter(
      (child) => child !== variable && child !== body && !/^(?:for|select|in|;|\n)$/.test(child.type),
    );
    const texts = values.flatMap((child) => evaluate(child, this.words).flatMap(wordsOf));
    return this.branch(() => {
      if (variable) {
        this.scope.variables.delete(this.textOf(variable));
        this.scope.set(this.textOf(variable), texts.length > 0 ? texts : [UNKNOWN]);
      }
      return body ? this.run(body, input) : '';
    });
  }

  private pipeline(node: SyntaxNode, input: Input): string {
    const stages = node.children.filter(({ type }) => type !== '|' && type !== '|&' && type !== 'comment');
    let current = input;
    for (const [at, stage] of stages.entries()) {
      const next = stages[at + 1];
      const isConnected = input.isConnected || (next !== undefined && isConnection(next, this.code));
      const audience = next ? this.captured : this.around.audience;
      const text = this.inOther({ audience }, (shell) => shell.run(stage, { ...current, isConnected }));
      current = { text, place: null, isConnected: false };
    }
    return current.text;
  }

  private redirected(node: SyntaxNode, input: Input): string {
    const isRedirect = ({ type }: SyntaxNode): boolean => type.endsWith('_redirect');
    const redirects = node.children.filter(isRedirect);
    const bodies = node.children.filter((child) => !isRedirect(child));
    let current = input;
    for (const redirect of redirects) current = this.redirectInput(redirect, current);
    // The grammar treats arguments after the target as more targets.
    const more = redirects.flatMap((redirect) => argumentsBehind(redirect, this.code));
    const shell = this.facing(audienceOf(redirects, this.code, this.around.audience));
    for (const { children } of redirects)
      for (const text of children)
        if (text.type === 'heredoc_body') shell.placeholders.input(this.code, text, bodies[0]);
    let output = '';
    for (const body of bodies)
      output += body.type === 'command' ? shell.command(body, current, more) : shell.run(body, current);
    for (const redirect of redirects) output = this.redirectOutput(redirect, output, node);
    for (const redirect of redirects) output = this.behindHeredoc(redirect, output);
    return output;
  }

  /** The input of a command, after a redirection. */
  private redirectInput(node: SyntaxNode, input: Input): Input {
    if (node.type === 'heredoc_redirect') return this.heredoc(node, input);
    const [target] = targetsOf(node);
    if (!target) return input;
    const [text = UNKNOWN] = evaluate(target, this.words);
    if (node.type === 'herestring_redirect') {
      return { ...input, text: `${unquoted(text)}\n`, place: this.placeOf(target) };
    }
    if (NETWORK_DEVICE.test(text)) return { text: REMOTE + UNKNOWN, place: null, isConnected: true };
    if (!node.children.some(({ type }) => type === '<')) return input;
    this.placeholders.redirection(this.code, target);
    return { ...input, text: textOfFile(text, this.scope), place: null };
  }

  private heredoc(node: SyntaxNode, input: Input): Input {
    const start = node.children.find(({ type }) => type === 'heredoc_start');
    const body = node.children.find(({ type }) => type === 'heredoc_body');
    if (!start || !body) return { ...input, text: '' };
    const isRaw = /['"\\]/.test(this.textOf(start));
    const [text = UNKNOWN] = isRaw ? [this.textOf(body)] : inString(body, this.words, false);
    const isIndented = node.children[0]?.type === '<<-';
    const plain = isIndented ? unquoted(text).replace(/^\t+/gm, '') : unquoted(text);
    return { ...input, text: plain, place: this.placeOf(body) };
  }

  /** Returns the output that is not redirected. */
  private redirectOutput(node: SyntaxNode, output: string, whole: SyntaxNode): string {
    if (node.type !== 'file_redirect') return output;
    const operator = node.children.find(({ type }) => /^(?:&?>{1,2}[|&]?|<>)$/.test(type))?.type;
    const [target] = targetsOf(node);
    if (!operator || !target || target.type === 'number') return output;
    const place = this.placeOf(whole);
    for (const text of evaluate(target, this.words)) {
      if (!operator.includes('>>') || text.startsWith('/dev/'))
        judgeWrite({ check: this.check, place, scope: this.scope }, text);
      if (NETWORK_DEVICE.test(text) && isSecret(output))
        this.check.findings.add('exfiltration', place, SENDS_SECRETS);
      const path = resolvePath(text, this.scope.cwd);
      if (node.children[0]?.type === 'file_descriptor' || path.startsWith('/dev/')) continue;
      const before = operator.includes('>>') ? (this.scope.files.get(path) ?? '') : '';
      this.scope.files.set(path, bounded(before + output));
    }
    return '';
  }

  /** `cmd <<EOF | sh`: in the tree, the rest of the line is inside the redirection. */
  private behindHeredoc(node: SyntaxNode, output: string): string {
    if (node.type !== 'heredoc_redirect') return output;
    let text = output;
    for (const child of node.children) {
      if (child.type === 'pipeline') text = this.pipeline(child, { text, place: null, isConnected: false });
      else if (child.type === 'file_redirect') text = this.redirectOutput(child, text, node);
      else if (/^(?:command|redirected_statement|list|subshell|compound_statement)$/.test(child.type))
        text = bounded(text + this.run(child, NO_INPUT));
    }
    return text;
  }

  private command(node: SyntaxNode, given: Input, more: SyntaxNode[]): string {
    let input = given;
    const nodes: SyntaxNode[] = [];
    const assignments: SyntaxNode[] = [];
    for (const child of [...node.children, ...more]) {
      if (child.type === 'variable_assignment') assignments.push(child);
      else if (child.type.endsWith('_redirect')) {
        input = this.redirectInput(child, input);
        nodes.push(...argumentsBehind(child, this.code));
      } else if (child.type !== 'comment') nodes.push(child);
    }
    for (const child of assignments) this.assign(child);
    const shell = this.placeholders.command(this.code, nodes) ? this.facing('template') : this;
    let output = '';
    for (const words of variants(nodes, shell.words, this.around.placing))
      output = this.execute(words, input, node);
    return output;
  }

  private execute(words: Word[], input: Input, node: SyntaxNode): string {
    const [program] = words;
    if (!program) return '';
    const name = unquoted(program.text);
    const called = this.scope.functions.get(name);
    if (called && this.around.calls < MAX_CALLS && this.check.mayCall())
      return this.call(called, words.slice(1), input);
    if (this.scope.isLater && this.scope.declared.has(name)) return marksOf(input.text);
    const alias = this.scope.aliases.get(name);
    if (alias !== undefined && this.around.calls < MAX_CALLS) {
      const text = [alias, ...words.slice(1).map((word) => word.text)].join(' ');
      const { depth } = this.around;
      return this.check.nested({ language: 'bash', text, place: program.place, depth });
    }
    if (runBuiltin(this.scope, name, words)) return '';
    const { scope, depth } = this.around;
    const { text: stdin, place: stdinPlace, isConnected } = input;
    const from = { check: this.check, scope, depth, place: this.placeOf(node) };
    return runCommand({ ...from, words, stdin, stdinPlace, isConnected });
  }

  private call({ body, code, placing }: ShellFunction, args: Word[], input: Input): string {
    const { scope } = this;
    const before = scope.parameters;
    scope.parameters = args.map(({ text }) => text);
    const around = { ...this.around, placing, calls: this.around.calls + 1 };
    const output = new Shell(this.check, code, around).run(body, input);
    scope.parameters = before;
    return output;
  }

  private textOf({ start, end }: SyntaxNode): string {
    return this.code.slice(start, end);
  }

  private placeOf({ start, end }: SyntaxNode): Place {
    return this.around.placing(start, end);
  }
}
