// Follows a program in Python or JavaScript: the arguments of its calls, as far as the program itself determines them.
import type { Check } from '../check-run';
import type { Placing } from '../findings';
import { PlaceholderRules, isPlaceholderName } from '../placeholders';
import { BELOW, REMOTE, SECRET, UNKNOWN, bounded, isRemote } from '../text';
import { Scope } from '../bash/scope';
import type { CallTable, FollowedProgram } from './call';
import { boundNames, type FunctionNode, type Node } from './parsed-program';
import { methodOf } from './methods';
import { unknown, allText, moduleName, type Value } from './value';

const MAX_CALLS = 5;
const MAX_ROUNDS = 8;
/** Calls that only mention, search or replace texts. */
const SPEAKS =
  /(?:^|\.)(?:print|log|error|warn|warning|info|debug|exception|write|replace|replaceAll|sub|split|startswith|endswith|startsWith|endsWith|includes|indexOf|index|find|match|matchAll|test|search|count|strip|format_help|add_argument|ArgumentParser|exit|\w*Error|Exception)$/;

export interface ProgramSetting {
  check: Check;
  code: string;
  placing: Placing;
  depth: number;
  table: CallTable;
}

interface Callee {
  callee: Value;
  receiver?: Value | undefined;
  method?: string;
}

export class Program implements FollowedProgram {
  readonly scope = new Scope();
  conditions = 0;
  isEndless = false;
  private readonly variables = new Map<string, Value>();
  private readonly bound: Set<string>;
  private readonly placeholders: PlaceholderRules;
  private calls = 0;
  private silence = 0;

  readonly check: Check;
  readonly code: string;
  readonly placing: Placing;
  readonly depth: number;
  private readonly table: CallTable;

  constructor({ check, code, placing, depth, table }: ProgramSetting, nodes: Node[]) {
    this.check = check;
    this.code = code;
    this.placing = placing;
    this.depth = depth;
    this.table = table;
    this.bound = boundNames(nodes);
    this.placeholders = new PlaceholderRules(check, placing);
    // Bound first, so that a function may be called above its definition.
    for (const node of nodes)
      if (node.k === 'func' && node.n !== null)
        this.variables.set(node.n, { text: UNKNOWN, func: node, node });
    this.all(nodes);
  }

  /** The value of the first `return`, else undefined. */
  private all(nodes: Node[]): Value | undefined {
    let result: Value | undefined;
    for (const node of nodes) {
      const value = this.statement(node);
      result ??= value;
    }
    return result;
  }

  /** The value of a `return` inside the statement. */
  private statement(node: Node): Value | undefined {
    this.check.spend();
    if (node.k === 'return') return this.evaluate(node.v);
    if (node.k === 'branch') return this.perhaps(() => this.all(node.b));
    if (node.k === 'block') return this.all(node.b);
    if (node.k === 'loop') return this.loop(node);
    if (node.k === 'import') this.import(node);
    else this.evaluate(node);
    return undefined;
  }

  private perhaps<T>(work: () => T): T {
    this.conditions += 1;
    try {
      return work();
    } finally {
      this.conditions -= 1;
    }
  }

  private loop({ t, i, b, forever = false }: Extract<Node, { k: 'loop' }>): Value | undefined {
    const before = this.isEndless;
    this.isEndless ||= forever;
    const over = i ? this.evaluate(i) : undefined;
    const rounds = over?.items?.slice(0, MAX_ROUNDS) ?? [over];
    let result: Value | undefined;
    for (const value of rounds) {
      // Elements of a listing below a path are below that path too.
      if (t && i) this.bind(t, value ?? unknown(i));
      result ??= this.all(b);
    }
    this.isEndless = before;
    return result;
  }

  private import({ m, ns, as, ...node }: Extract<Node, { k: 'import' }>): void {
    const dotted = moduleName(m);
    const at = node as Node;
    if (as !== null) this.variables.set(as, { text: UNKNOWN, dotted, node: at });
    for (const [name, here] of ns)
      this.variables.set(here, { text: UNKNOWN, dotted: `${dotted}.${name}`, node: at });
  }

  private define(node: FunctionNode): Value {
    const value: Value = { text: UNKNOWN, func: node, node };
    if (node.n !== null) this.variables.set(node.n, value);
    // Its parameters shadow outer variables with the same names.
    this.within(
      node.ps.map((name) => [name, unknown(node)]),
      () => {
        this.calls += 1;
        if (this.calls <= MAX_CALLS) this.perhaps(() => this.all(node.b));
        this.calls -= 1;
        return undefined;
      },
    );
    return value;
  }

  private within<T>(names: [string, Value][], work: () => T): T {
    const before = names.map(([name]): [string, Value | undefined] => [name, this.variables.get(name)]);
    for (const [name, value] of names) this.variables.set(name, value);
    try {
      return work();
    } finally {
      for (const [name, value] of before) {
        if (value) this.variables.set(name, value);
        else this.variables.delete(name);
      }
    }
  }

  call(func: FunctionNode, given: Value[], named = new Map<string, Value>()): Value {
    if (this.calls >= MAX_CALLS || !this.check.mayCall()) return unknown(func, ...given);
    this.calls += 1;
    const values = func.ps.map((name, at): [string, Value] => [
      name,
      named.get(name) ?? given[at] ?? unknown(func),
    ]);
    const result = this.within(values, () => this.all(func.b));
    this.calls -= 1;
    return result ?? unknown(func);
  }

  evaluate(node: Node): Value {
    this.check.spend();
    switch (node.k) {
      case 'text':
        if (this.silence === 0) this.gaps(node);
        return { text: node.v, node };
      case 'number':
        return { text: node.v, node };
      case 'name':
        return this.name(node);
      case 'member':
        return this.member(this.evaluate(node.o), node.n, node);
      case 'index':
        return this.index(node);
      case 'same':
        return this.evaluate(node.v);
      case 'join': {
        const parts = node.p.map((part) => this.evaluate(part));
        const lists = parts.flatMap(({ items }) => (items ? [items] : []));
        if (lists.length > 1 && lists.length === parts.length) return this.list(lists.flat(), node);
        return { text: bounded(parts.map(({ text }) => text).join('')), node };
      }
      case 'format':
        return this.format(node);
      case 'slash': {
        const [left, right] = [this.evaluate(node.l), this.evaluate(node.r)];
        return {
          ...left,
          text: right.text.startsWith('/') ? right.text : `${left.text}/${right.text}`,
          node,
        };
      }
      case 'list':
        return this.list(
          node.p.flatMap((part) => this.element(part)),
          node,
        );
      case 'object': {
        const entries = new Map(node.kv.map(([key, value]) => [key, this.evaluate(value)]));
        return { text: UNKNOWN, entries, node };
      }
      case 'choice':
        return this.choice(node);
      case 'compare':
        this.quietly(() => node.p.map((part) => this.evaluate(part)));
        return { text: UNKNOWN, node };
      case 'call':
        return this.callNode(node);
      case 'tagged':
        return this.apply({ callee: this.evaluate(node.f) }, [this.evaluate(node.v)], new Map(), node);
      case 'func':
        return this.define(node);
      case 'assign': {
        const value = this.evaluate(node.v);
        this.bind(node.t, value, node.more);
        return value;
      }
      case 'idle':
        return { text: UNKNOWN, node };
      case 'other':
        return { ...unknown(node, ...node.p.map((part) => this.evaluate(part))), node };
      case 'return':
      case 'branch':
      case 'block':
      case 'loop':
      case 'import':
        return this.statement(node) ?? unknown(node);
    }
  }

  private element(part: Node): Value[] {
    const value = this.evaluate(part);
    return part.k === 'same' && value.items ? value.items : [value];
  }

  list(items: Value[], node: Node): Value {
    return { text: bounded(items.map(({ text }) => text).join(' ')), items, node };
  }

  private name(node: Extract<Node, { k: 'name' }>): Value {
    const value = this.variables.get(node.n);
    if (value) return value.text === UNKNOWN || value.items || value.entries ? value : { ...value, node };
    if (this.silence === 0 && isPlaceholderName(node.n) && !this.bound.has(node.n))
      this.check.findings.add(
        'placeholder',
        this.placing(node.s, node.e),
        'a placeholder that was not filled in',
      );
    return { text: UNKNOWN, dotted: node.n, node };
  }

  private member(value: Value, name: string, node: Node): Value {
    const entry = value.entries?.get(name);
    if (entry) return entry;
    const dotted = value.dotted === undefined ? undefined : `${value.dotted}.${name}`;
    const constant = dotted === undefined ? undefined : this.table.constants[dotted];
    const plain = this.isEnvironment(value) ? UNKNOWN : unknown(node, value).text;
    return { text: constant ?? plain, dotted, node };
  }

  private index(node: Extract<Node, { k: 'index' }>): Value {
    const value = this.evaluate(node.o);
    const key = this.quietly(() => this.evaluate(node.i));
    if (value.items && node.i.k === 'number') return value.items.at(Number(node.i.v)) ?? unknown(node);
    if (value.entries && node.i.k === 'text') return value.entries.get(node.i.v) ?? unknown(node);
    if (node.i.k === 'text') return this.member(value, key.text, node);
    return unknown(node, this.isEnvironment(value) ? undefined : value);
  }

  /** A single variable is not the whole environment. */
  private isEnvironment({ dotted }: Value): boolean {
    return dotted !== undefined && this.table.constants[dotted] === SECRET + UNKNOWN;
  }

  private format({ l, r, ...at }: Extract<Node, { k: 'format' }>): Value {
    const left = this.evaluate(l);
    const right = this.evaluate(r);
    const values = [...(right.items ?? [right])];
    const text = left.text.replace(/%[-+ #0]*\d*(?:\.\d+)?[sdrifx]/g, () => values.shift()?.text ?? UNKNOWN);
    return { text: bounded(text), node: at as Node };
  }

  /** The first known value; if there is none, an unknown one with the marks of all. */
  private choice(node: Extract<Node, { k: 'choice' }>): Value {
    const values = node.p.map((part) => this.evaluate(part));
    return (
      values.find(
        ({ text, items, func, dotted }) => (items ?? func ?? dotted) !== undefined || text !== UNKNOWN,
      ) ?? unknown(node, ...values)
    );
  }

  private callNode(node: Extract<Node, { k: 'call' }>): Value {
    const receiver = node.f.k === 'member' ? this.evaluate(node.f.o) : undefined;
    const callee =
      receiver && node.f.k === 'member' ? this.member(receiver, node.f.n, node.f) : this.evaluate(node.f);
    const method = node.f.k === 'member' ? node.f.n : node.f.k === 'name' ? node.f.n : '';
    const speaks = SPEAKS.test(callee.dotted ?? method) || SPEAKS.test(method);
    const read = (): [Value[], Map<string, Value>] => [
      node.a.flatMap((part) => this.element(part)),
      new Map((node.kw ?? []).map(([name, value]) => [name, this.evaluate(value)])),
    ];
    const [given, named] = speaks ? this.quietly(read) : read();
    return this.apply({ callee, receiver, method: receiver ? method : '' }, given, named, node);
  }

  private apply(
    { callee, receiver, method = '' }: Callee,
    args: Value[],
    named: Map<string, Value>,
    node: Node,
  ): Value {
    if (callee.func) return this.call(callee.func, args, named);
    const call = { program: this, node, args, named, receiver, method, dotted: callee.dotted ?? '' };
    const result = this.table.call(call) ?? methodOf(call);
    // Functions passed as arguments receive data of the same origin as the result.
    const source = result ?? unknown(node, receiver, ...args, ...named.values());
    const given =
      isRemote(allText(source)) || (receiver && isRemote(receiver.text))
        ? { text: REMOTE + UNKNOWN, node }
        : unknown(node);
    for (const { func } of args)
      if (func)
        this.call(
          func,
          func.ps.map(() => ({ ...given })),
        );
    const dotted = callee.dotted === undefined ? undefined : `${callee.dotted}()`;
    return { dotted, ...source };
  }

  private bind(target: Node, value: Value, more = false): void {
    if (target.k === 'name') this.bindName(target, value, more);
    else if (target.k === 'same') this.bind(target.v, value, more);
    else if (target.k === 'list') {
      for (const [at, part] of target.p.entries())
        this.bind(part, value.items?.[at] ?? this.part(value, target));
    } else if (target.k === 'object') {
      for (const [key, part] of target.kv) this.bind(part, this.member(value, key, part));
    } else if (target.k === 'member' || target.k === 'index') {
      const key = target.k === 'member' ? target.n : target.i.k === 'text' ? target.i.v : '';
      this.evaluate(target.o).entries?.set(key, value);
    } else this.evaluate(target);
  }

  private bindName(target: Extract<Node, { k: 'name' }>, value: Value, more: boolean): void {
    const before = this.variables.get(target.n);
    if (!more) this.variables.set(target.n, value);
    else if (before?.items && value.items)
      this.variables.set(target.n, this.list([...before.items, ...value.items], target));
    else {
      const text = bounded((before?.text ?? UNKNOWN) + value.text);
      this.variables.set(target.n, { text, node: target });
    }
  }

  /** A part of a destructured value; a path below something stays one. */
  private part(value: Value, node: Node): Value {
    return value.text.includes(BELOW) ? { ...value, node } : unknown(node, value);
  }

  private quietly<T>(work: () => T): T {
    this.silence += 1;
    try {
      return work();
    } finally {
      this.silence -= 1;
    }
  }

  private gaps(node: Extract<Node, { k: 'text' }>): void {
    const at = this.exactStart(node);
    if (at === null) {
      // Written with escapes: the place is the whole text.
      new PlaceholderRules(this.check, () => this.placing(node.s, node.e)).text(node.v, 0);
    } else this.placeholders.text(node.v, at);
  }

  exactStart(node: Node): number | null {
    if (node.k !== 'text') return null;
    for (const quotes of [1, 3, 0, 2, 4])
      for (const end of [quotes > 3 || quotes === 2 ? quotes - 1 : quotes])
        if (this.code.slice(node.s + quotes, node.e - end) === node.v) return node.s + quotes;
    return null;
  }
}
