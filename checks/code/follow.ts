// Follows a program in Python or JavaScript: the arguments of its calls, as far as the program itself determines them.
import { PlaceholderRules, isPlaceholderName, UNFILLED } from '../placeholders';
import { REMOTE, UNKNOWN, bounded, isRemote, withoutMarks } from '../text';
import { Scope } from '../bash/scope';
import { constantOf, effectOf, isEnvironment } from './call-table';
import { childrenOf, isNode, many, nameOf, one, templateParts, type EsNode } from './estree';
import { methodOf, onlyMentions } from './methods';
import { Variables, blockNames, ownNames } from './variables';
import {
  allText,
  below,
  formatted,
  isDetermined,
  list,
  moduleName,
  partOf,
  unknown,
  type Call,
  type FollowedProgram,
  type ProgramSetting,
  type Value,
} from './value';

const MAX_CALLS = 5;
const MAX_ROUNDS = 8;
const REQUIRE: EsNode = { type: 'Identifier', name: 'require', start: 0, end: 0 };

type Callee = { callee: Value } & Partial<Pick<Call, 'receiver' | 'method'>>;

export class Program implements FollowedProgram {
  readonly scope = new Scope();
  conditions = 0;
  isEndless = false;
  private readonly variables = new Variables();
  private readonly placeholders: PlaceholderRules;
  /** The first `return` of the function being followed. */
  private returned: Value | undefined;
  /** The elements of the comprehension being followed. */
  private elements: Value[] = [];
  private names: Set<string | undefined> | undefined;
  private calls = 0;
  private silence = 0;

  constructor(
    readonly setting: ProgramSetting,
    private readonly code: string,
    body: EsNode[],
  ) {
    this.placeholders = new PlaceholderRules(setting.check, setting.placing);
    // Bound first, so that a function may be called above its definition.
    for (const node of body)
      if (node.type === 'FunctionDeclaration')
        this.variables.set(nameOf(node.id), { text: UNKNOWN, func: node, node });
    for (const node of body) this.evaluate(node);
  }

  /** The value of an expression or a statement; a statement's is unknown. */
  private evaluate(node: EsNode): Value {
    this.setting.check.spend();
    switch (node.type) {
      case 'Literal':
        return this.literal(node, node.value);
      case 'TemplateElement':
        return this.literal(node, (node.value as { cooked?: unknown }).cooked);
      case 'Identifier':
        return this.name(node);
      case 'MemberExpression':
        return this.member(this.evaluate(one(node.object)), node);
      case 'CallExpression':
      case 'NewExpression':
        return this.called(node);
      case 'ImportExpression':
        return this.called({ ...node, callee: REQUIRE, arguments: node.source });
      case 'TaggedTemplateExpression':
        return this.called({ ...node, callee: node.tag, arguments: node.quasi });
      case 'AwaitExpression':
      case 'SpreadElement':
      case 'ChainExpression':
        return this.evaluate(one(node.argument ?? node.expression));
      case 'BinaryExpression':
        return this.binary(node);
      case 'TemplateLiteral':
        return this.joined(templateParts(node), node);
      case 'UnaryExpression': {
        const value = this.evaluate(one(node.argument));
        return node.operator === '-' ? { text: `-${value.text}`, node } : unknown(node, value);
      }
      case 'LogicalExpression':
        return this.choice(childrenOf(node), node);
      case 'ConditionalExpression':
        return this.choice([one(node.consequent), one(node.alternate), one(node.test)], node);
      case 'ArrayExpression':
        return list(
          many(node.elements).flatMap((part) => this.element(part)),
          node,
        );
      case 'ObjectExpression':
        return this.object(node);
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        return this.define(node);
      case 'AssignmentExpression':
      case 'VariableDeclarator':
        return this.assign(node);
      case 'Comprehension':
        return this.comprehension(node);
      default:
        return this.statement(node);
    }
  }

  private statement(node: EsNode): Value {
    switch (node.type) {
      case 'ImportDeclaration':
        return this.import(node);
      case 'ReturnStatement': {
        const value = this.evaluate(one(node.argument));
        this.returned ??= value;
        return value;
      }
      case 'IfStatement':
      case 'SwitchStatement':
        return this.perhaps(() => this.all(node));
      case 'ForOfStatement':
      case 'ForInStatement':
        return this.loop(node);
      case 'ForStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        return this.repeat(node);
      case 'ExpressionStatement':
        // A text alone, such as a docstring, is not used.
        return one(node.expression).type === 'Literal' ? unknown(node) : this.evaluate(one(node.expression));
      case 'BlockStatement':
        return this.variables.within(blockNames(node, this.setting.language), () => this.all(node));
      case 'VariableDeclaration':
        return this.all(node);
      case 'Element':
        this.elements.push(...many(node.elements).map((part) => this.evaluate(part)));
        return unknown(node);
      case 'ThrowStatement':
        return this.quietly(() => this.all(node));
      default:
        return unknown(node, ...childrenOf(node).map((part) => this.evaluate(part)));
    }
  }

  private assign(node: EsNode): Value {
    const value = this.evaluate(one(node.right ?? node.init));
    const isMore = nameOf(node.operator).startsWith('+');
    for (const target of many(node.left ?? node.id)) this.bind(target, value, isMore);
    return value;
  }

  private all(node: EsNode): Value {
    for (const part of childrenOf(node)) this.evaluate(part);
    return unknown(node);
  }

  private literal(node: EsNode, value: unknown): Value {
    if (typeof value === 'boolean') return { text: UNKNOWN, dotted: value ? 'True' : 'False', node };
    if (typeof value === 'number') return { text: String(value), node };
    if (typeof value !== 'string') return unknown(node);
    if (this.silence === 0) {
      const { check, placing } = this.setting;
      const at = this.code.slice(node.start, node.end).indexOf(value);
      if (at >= 0) this.placeholders.text(value, node.start + at);
      // Written with escapes: the place is the whole text.
      else new PlaceholderRules(check, () => placing(node.start, node.end)).text(value, 0);
    }
    return { text: withoutMarks(value), node };
  }

  /** Names that are assigned anywhere: a function may use what is bound below it. */
  private get assigned(): Set<string | undefined> {
    return (this.names ??= new Set([...this.code.matchAll(/\b(\w+)\s*=(?!=)/g)].map(([, name]) => name)));
  }

  private name(node: EsNode): Value {
    const [name, value] = [nameOf(node), this.variables.get(nameOf(node))];
    if (value) return value.text === UNKNOWN || value.items || value.entries ? value : { ...value, node };
    if (this.silence === 0 && isPlaceholderName(name) && !this.assigned.has(name))
      this.setting.check.findings.add('placeholder', this.setting.placing(node.start, node.end), UNFILLED);
    return { text: UNKNOWN, dotted: name, node };
  }

  private member(value: Value, node: EsNode): Value {
    if (!(node.computed ?? isNode(node.property))) return this.entry(value, nameOf(node.property), node);
    const key = one(node.property);
    const { text } = this.quietly(() => this.evaluate(key));
    const index = key.type === 'Literal' ? key.value : undefined;
    if (typeof index === 'string') return this.entry(value, text, node);
    if (typeof index === 'number' && value.items) return value.items.at(index) ?? unknown(node);
    return unknown(node, isEnvironment(value) ? undefined : value);
  }

  private entry(value: Value, name: string, node: EsNode): Value {
    const entry = value.entries?.get(name);
    if (entry) return entry;
    const dotted = value.dotted === undefined ? undefined : `${value.dotted}.${name}`;
    // A single variable is not the whole environment.
    const plain = (): string => (isEnvironment(value) ? UNKNOWN : unknown(node, value).text);
    return { text: constantOf(dotted) ?? plain(), dotted, node };
  }

  private element(part: EsNode): Value[] {
    const value = this.evaluate(part);
    return part.type === 'SpreadElement' && value.items ? value.items : [value];
  }

  private object(node: EsNode): Value {
    const entries = many(node.properties).map((part, at): [string, Value] => {
      const isNamed = part.type === 'Property' && (!part.computed || one(part.key).type === 'Literal');
      return [isNamed ? nameOf(part.key) : String(at), this.evaluate(one(part.value ?? part.argument))];
    });
    return { text: UNKNOWN, entries: new Map(entries), node };
  }

  private binary(node: EsNode): Value {
    const sides = [one(node.left), one(node.right)];
    if (node.operator === '+') return this.joined(sides, node);
    // Texts in a comparison are searched for, not used.
    if (node.operator !== '%' && node.operator !== '/') return this.quietly(() => this.all(node));
    const [left, right] = sides.map((side) => this.evaluate(side)) as [Value, Value];
    return node.operator === '/' ? below(left, right, node) : formatted(left, right, node);
  }

  private joined(nodes: EsNode[], node: EsNode): Value {
    const parts = nodes.map((part) => this.evaluate(part));
    const lists = parts.flatMap(({ items }) => (items ? [items] : []));
    if (lists.length > 1 && lists.length === parts.length) return list(lists.flat(), node);
    return { text: bounded(parts.map(({ text }) => text).join('')), node };
  }

  /** The first known value; if there is none, an unknown one with the marks of all. */
  private choice(nodes: EsNode[], node: EsNode): Value {
    const values = nodes.map((part) => this.evaluate(part));
    return values.find(isDetermined) ?? unknown(node, ...values);
  }

  private import(node: EsNode): Value {
    for (const { module, imported, local } of many(node.specifiers)) {
      const dotted = moduleName(nameOf(module ?? node.source));
      const name = imported ? `${dotted}.${nameOf(imported)}` : dotted;
      this.variables.set(nameOf(local), { text: UNKNOWN, dotted: name, node });
    }
    return unknown(node);
  }

  private loop(node: EsNode): Value {
    const over = this.evaluate(one(node.right));
    for (const value of over.items?.slice(0, MAX_ROUNDS) ?? [over]) {
      // Elements of a listing below a path are below that path too.
      this.bind(one(node.left), value);
      for (const part of [...many(node.body), ...many(node.orelse)]) this.evaluate(part);
    }
    return unknown(node);
  }

  private comprehension(node: EsNode): Value {
    const outer = this.elements;
    this.elements = [];
    this.variables.within(ownNames(node, 'python'), () => this.all(node));
    const made = list(this.elements, node);
    this.elements = outer;
    return made;
  }

  private repeat(node: EsNode): Value {
    const before = this.isEndless;
    this.isEndless ||= !isNode(node.test) || (node.test.type === 'Literal' && Boolean(node.test.value));
    this.all(node);
    this.isEndless = before;
    return unknown(node);
  }

  private define(node: EsNode): Value {
    const value: Value = { text: UNKNOWN, func: node, node };
    if (nameOf(node.id) !== '') this.variables.set(nameOf(node.id), value);
    if (this.calls < MAX_CALLS) this.perhaps(() => this.inside(node, () => unknown(node)));
    return value;
  }

  call(func: EsNode, given: Value[], keywords = new Map<string, Value>()): Value {
    if (this.calls >= MAX_CALLS || !this.setting.check.mayCall()) return unknown(func, ...given);
    return this.inside(func, (name, at) => keywords.get(name) ?? given[at]);
  }

  /** The result of a function. What is not given is its default. */
  private inside(func: EsNode, valueOf: (name: string, at: number) => Value | undefined): Value {
    const returned = this.returned;
    this.returned = undefined;
    this.calls += 1;
    const result = this.variables.within(ownNames(func, this.setting.language), () => {
      for (const [at, param] of many(func.params).entries()) {
        const target = one(param.left ?? param.argument ?? param);
        const byDefault = param.right === undefined ? unknown(func) : this.evaluate(one(param.right));
        this.bind(target, valueOf(nameOf(target), at) ?? byDefault);
      }
      const values = many(func.body).map((part) => this.evaluate(part));
      const isExpression = isNode(func.body) && func.body.type !== 'BlockStatement';
      return isExpression ? values[0] : this.returned;
    });
    this.calls -= 1;
    this.returned = returned;
    return result ?? unknown(func);
  }

  private called(node: EsNode): Value {
    const target = one(node.callee);
    const isMember = target.type === 'MemberExpression';
    const receiver = isMember ? this.evaluate(one(target.object)) : undefined;
    const callee = receiver ? this.member(receiver, target) : this.evaluate(target);
    const method = nameOf(isMember ? target.property : target);
    const read = (): [Value[], Map<string, Value>] => [
      many(node.arguments).flatMap((part) => this.element(part)),
      new Map(many(node.keywords).map((word) => [nameOf(word.key), this.evaluate(one(word.value))])),
    ];
    const first = (): Value => this.quietly(() => this.evaluate(one(many(node.arguments)[0])));
    const mentions = onlyMentions(callee.dotted, method, { receiver, first });
    const [args, keywords] = mentions ? this.quietly(read) : read();
    return this.apply(receiver ? { callee, receiver, method } : { callee }, args, node, keywords);
  }

  private apply(
    { callee, receiver, method = '' }: Callee,
    args: Value[],
    node: EsNode,
    keywords = new Map<string, Value>(),
  ): Value {
    if (callee.func) return this.call(callee.func, args, keywords);
    const call = { program: this, node, args, keywords, receiver, method, dotted: callee.dotted ?? '' };
    const source = effectOf(call) ?? methodOf(call) ?? unknown(node, receiver, ...args, ...keywords.values());
    // Functions passed as arguments receive data of the same origin. With nothing known they were followed already.
    if (isRemote(allText(source)) || (receiver && isRemote(receiver.text))) {
      const given = { text: REMOTE + UNKNOWN, node };
      for (const { func } of args)
        if (func)
          this.call(
            func,
            many(func.params).map(() => given),
          );
    }
    return { dotted: callee.dotted === undefined ? undefined : `${callee.dotted}()`, ...source };
  }

  private bind(target: EsNode, value: Value, isMore = false): void {
    switch (target.type) {
      case 'Identifier':
        this.bindName(target, value, isMore);
        break;
      case 'VariableDeclaration':
        this.bind(one(many(target.declarations)[0]?.id), value);
        break;
      case 'AssignmentPattern':
      case 'RestElement':
      case 'SpreadElement':
        this.bind(one(target.left ?? target.argument), value);
        break;
      case 'ArrayExpression':
      case 'ArrayPattern':
        for (const [at, part] of many(target.elements).entries())
          this.bind(part, value.items?.[at] ?? partOf(value, target));
        break;
      case 'ObjectPattern':
        for (const part of many(target.properties))
          this.bind(one(part.value ?? part.argument), this.entry(value, nameOf(part.key), part));
        break;
      case 'MemberExpression':
        this.evaluate(one(target.object)).entries?.set(nameOf(target.property), value);
        break;
      default:
        this.evaluate(target);
    }
  }

  private bindName(target: EsNode, value: Value, isMore: boolean): void {
    const name = nameOf(target);
    const before = this.variables.get(name);
    if (!isMore) this.variables.set(name, value);
    else if (before?.items && value.items)
      this.variables.set(name, list([...before.items, ...value.items], target));
    else this.variables.set(name, { text: bounded((before?.text ?? UNKNOWN) + value.text), node: target });
  }

  private perhaps(work: () => Value): Value {
    this.conditions += 1;
    const value = work();
    this.conditions -= 1;
    return value;
  }

  private quietly<T>(work: () => T): T {
    this.silence += 1;
    const value = work();
    this.silence -= 1;
    return value;
  }
}
