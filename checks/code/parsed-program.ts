// The common form of Python and JavaScript for the checks: both parsers' trees are converted to this.

interface At {
  /** Offsets in the code, in UTF-16 units. */
  s: number;
  e: number;
}

/** Expressions and statements. Field names are short because Python's come as JSON. */
export type Node = At &
  (
    | { k: 'text'; v: string }
    | { k: 'number'; v: string }
    | { k: 'name'; n: string }
    | { k: 'member'; o: Node; n: string }
    | { k: 'index'; o: Node; i: Node }
    | { k: 'call'; f: Node; a: Node[]; kw?: [string, Node][] }
    /** `await`, spread and the like: the same value. */
    | { k: 'same'; v: Node }
    /** Concatenated texts: `+`, f-strings, templates. */
    | { k: 'join'; p: Node[] }
    /** Python's `%` on texts. */
    | { k: 'format'; l: Node; r: Node }
    /** Python's `/` on paths. */
    | { k: 'slash'; l: Node; r: Node }
    | { k: 'list'; p: Node[] }
    | { k: 'object'; kv: [string, Node][] }
    /** One of these. */
    | { k: 'choice'; p: Node[] }
    /** Texts in it are searched for, not used. */
    | { k: 'compare'; p: Node[] }
    | { k: 'tagged'; f: Node; v: Node }
    | { k: 'func'; n: string | null; ps: string[]; b: Node[] }
    | { k: 'assign'; t: Node; v: Node; more?: boolean }
    /** `ns`: names in the module and their local names; `as`: the module's local name. */
    | { k: 'import'; m: string; ns: [string, string][]; as: string | null }
    | { k: 'return'; v: Node }
    | { k: 'loop'; t: Node | null; i: Node | null; b: Node[]; forever?: boolean }
    /** May not run. */
    | { k: 'branch'; b: Node[] }
    | { k: 'block'; b: Node[] }
    /** An unused text, such as a docstring. */
    | { k: 'idle' }
    | { k: 'other'; p: Node[] }
  );

export type FunctionNode = Extract<Node, { k: 'func' }>;

/** Names that the program binds. */
export function boundNames(nodes: Node[]): Set<string> {
  const names = new Set<string>();
  const open: Node[] = [...nodes];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.k === 'assign' || node.k === 'loop') namesIn(node.t, names);
    if (node.k === 'func') for (const name of [...node.ps, node.n]) if (name !== null) names.add(name);
    if (node.k === 'import')
      for (const name of [...node.ns.map(([, as]) => as), node.as]) if (name !== null) names.add(name);
    open.push(...childrenOf(node));
  }
  return names;
}

function namesIn(target: Node | null, names: Set<string>): void {
  if (!target) return;
  if (target.k === 'name') names.add(target.n);
  if (target.k === 'list') for (const part of target.p) namesIn(part, names);
  if (target.k === 'object') for (const [, part] of target.kv) namesIn(part, names);
  if (target.k === 'same') namesIn(target.v, names);
}

function childrenOf(node: Node): Node[] {
  switch (node.k) {
    case 'member':
      return [node.o];
    case 'index':
      return [node.o, node.i];
    case 'call':
      return [node.f, ...node.a, ...(node.kw ?? []).map(([, value]) => value)];
    case 'same':
    case 'return':
      return [node.v];
    case 'join':
    case 'list':
    case 'choice':
    case 'compare':
    case 'other':
      return node.p;
    case 'format':
    case 'slash':
      return [node.l, node.r];
    case 'object':
      return node.kv.map(([, value]) => value);
    case 'tagged':
      return [node.f, node.v];
    case 'func':
    case 'branch':
    case 'block':
      return node.b;
    case 'assign':
      return [node.t, node.v];
    case 'loop':
      return [...[node.t, node.i].filter((part) => part !== null), ...node.b];
    case 'idle':
    case 'import':
    case 'name':
    case 'number':
    case 'text':
      return [];
  }
}
