// Which branches of the workflows a run of the simulation has taken, as V8 counts them.
import { readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { SourceMap } from 'node:module';
import { parse } from 'acorn';
import { workflowBundle } from '../../workers/workflow-bundle';
import { BUNDLE_FILE, PREFIX } from './worker/workflow-code';

/** Of the syntax tree: what is looked at here. */
interface Syntax {
  type: string;
  start: number;
  end: number;
  [part: string]: unknown;
}

interface Branch {
  file: string;
  at: number;
  isTaken: boolean;
  text: string;
}

const MODULE = /^\.\/dist\/(workflows\/.+)\.js$/;
const SHOWN = 90;

export class Coverage {
  private readonly session = new Session();

  /** Before the bundle is loaded. */
  start(): void {
    this.session.connect();
    this.session.post('Profiler.enable');
    this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** A line for each file, then one for each branch that was not taken. */
  report(): string {
    let functions: Profiler.FunctionCoverage[] = [];
    this.session.post('Profiler.takePreciseCoverage', (_err, { result }) => {
      functions = result.find(({ url }) => url.endsWith(BUNDLE_FILE))?.functions ?? [];
    });
    this.session.disconnect();
    const text = PREFIX + readFileSync(workflowBundle(undefined).codePath, 'utf8');
    return reportOf(branchesOf(text, functions), text);
  }
}

function branchesOf(text: string, functions: readonly Profiler.FunctionCoverage[]): Branch[] {
  const ranges = functions.flatMap((one) => one.ranges);
  // A range that begins later, or ends earlier, lies within one before it, and is the more exact one.
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const countAt = (at: number): number => {
    const inside = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
    return inside.at(-1)?.count ?? 0;
  };
  const all: Branch[] = [];
  for (const { file, body } of modulesOf(text)) {
    const add = (node: Syntax, isTaken: boolean): void => {
      const line = text.slice(node.start, node.end).replaceAll(/\s+/g, ' ');
      all.push({ file, at: node.start, isTaken, text: line.slice(0, SHOWN) });
    };
    eachOf(body, (node) => {
      for (const part of partsOf(node)) add(part, countAt(part.start) > 0);
      if (node.type === 'IfStatement' && !node.alternate && countAt(node.start) > 0)
        add(node, countAt(node.start) > countAt((node.consequent as Syntax).start));
      else if (node.type === 'IfStatement' && !node.alternate) add(node, false);
    });
  }
  return all;
}

/** What may be left out when a node is carried out: each is a branch. */
function partsOf(node: Syntax): Syntax[] {
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return [node.consequent, node.alternate].filter(Boolean) as Syntax[];
    case 'LogicalExpression':
      return [node.right as Syntax];
    case 'SwitchCase':
      return (node.consequent as Syntax[]).slice(0, 1);
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [node.body as Syntax];
    default:
      return [];
  }
}

function modulesOf(text: string): { file: string; body: Syntax }[] {
  const modules: { file: string; body: Syntax }[] = [];
  eachOf(parse(text, { ecmaVersion: 'latest' }) as unknown as Syntax, (node) => {
    const file = node.type === 'Property' && MODULE.exec(String((node.key as Syntax).value))?.[1];
    if (file) modules.push({ file, body: (node.value as Syntax).body as Syntax });
  });
  return modules;
}

function eachOf(node: Syntax, visit: (node: Syntax) => void): void {
  visit(node);
  for (const part of Object.values(node).flat())
    if (part !== null && typeof part === 'object' && 'type' in part) eachOf(part as Syntax, visit);
}

function reportOf(all: readonly Branch[], text: string): string {
  const lineOf = linesOf(text);
  const files = [...new Set(all.map(({ file }) => file))];
  const rows = [...files, 'all'].map((file) => {
    const branches = file === 'all' ? all : all.filter((one) => one.file === file);
    const taken = branches.filter(({ isTaken }) => isTaken).length;
    const percent = ((taken / branches.length) * 100).toFixed(1);
    return `${percent.padStart(6)} %  ${String(taken).padStart(5)} of ${String(branches.length).padStart(4)}  ${file}`;
  });
  const missing = all.filter(({ isTaken }) => !isTaken);
  return [...rows, '', ...missing.map((one) => `${one.file}.ts:${lineOf(one)}  ${one.text}`)].join('\n');
}

/** The line of the source: by the map of the bundle, and the one of the build. */
function linesOf(text: string): (branch: Branch) => number {
  const encoded = text.slice(text.lastIndexOf('base64,') + 'base64,'.length).trim();
  const bundle = mapOf(Buffer.from(encoded, 'base64').toString());
  const builds = new Map<string, SourceMap>();
  return ({ file, at }) => {
    const before = text.slice(0, at).split('\n');
    const built = bundle.findEntry(before.length - 1, 0);
    const build = builds.get(file) ?? mapOf(readFileSync(`dist/${file}.js.map`, 'utf8'));
    builds.set(file, build);
    if (!('originalLine' in built)) return 0;
    const source = build.findEntry(built.originalLine, (before.at(-1) ?? '').length);
    return 'originalLine' in source ? source.originalLine + 1 : 0;
  };
}

const mapOf = (text: string): SourceMap =>
  new SourceMap(JSON.parse(text) as ConstructorParameters<typeof SourceMap>[0]);
