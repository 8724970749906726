"""Parses Python for the checks: one JSON line with code in, one with the tree out. None of the code is run.

The trees are ESTree as far as JavaScript has the same (estree.ts), with offsets in UTF-16 units."""
import ast
import gc
import json
import re
import signal
import sys
import warnings

# Processor time, more than the longest allowed code takes; the signal ends the process.
PARSE_SECONDS = 3

sys.setrecursionlimit(3_000)
warnings.simplefilter("ignore")
# Trees have no cycles, and looking for some takes a fifth of the time.
gc.disable()


encode = json.JSONEncoder(separators=(",", ":")).encode
quoted = json.encoder.encode_basestring_ascii


def main():
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_PROF, PARSE_SECONDS)
        tree = None
        try:
            tree, text = answer(json.loads(line))
        except (RecursionError, MemoryError):
            text = '{"fault":"the code is nested too deeply"}'
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        # Freeing takes a while, too: the result need not wait for it.
        tree = None


def answer(code):
    """The tree, and the JSON text to answer with."""
    try:
        tree = Tree(code)
        return tree, tree.text()
    except SyntaxError as error:
        fault = f"line {error.lineno} is not Python: {error.msg}"
    except ValueError as error:
        fault = f"it is not Python: {error}"
    return None, encode({"fault": fault})


class Tree:
    def __init__(self, code):
        self.module = ast.parse(code)
        # The way the parser counts lines: form feeds and other separators do not end one.
        parts = re.split("(\r\n|\r|\n)", code)
        self.lines = parts[::2]
        self.starts = []
        at = 0
        for line, ending in zip(self.lines, parts[1::2] + [""]):
            self.starts.append(at)
            at += units(line) + len(ending)
        self.is_plain = code.isascii() and "\f" not in code

    def offset(self, line, column):
        if line > len(self.lines):
            return self.starts[-1]
        text = self.lines[line - 1]
        if not text.isascii():
            column = units(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.starts[line - 1] + column

    def text(self):
        """As JSON, written piece by piece: trees of dicts, to be encoded, would take twice the time."""
        pieces = []
        self.put = pieces.append
        self.put('{"body":')
        self.all(self.module.body)
        self.put("}")
        return "".join(pieces)

    def node(self, node):
        """What writes a node's fields leaves the object open for its place."""
        write = SPECIAL.get(type(node))
        if write:
            write(self, node)
        else:
            self.plain(node)
        if not hasattr(node, "lineno"):
            start = end = 0
        elif self.is_plain:
            start = self.starts[node.lineno - 1] + node.col_offset
            end = self.starts[node.end_lineno - 1] + node.end_col_offset
        else:
            start = self.offset(node.lineno, node.col_offset)
            end = self.offset(node.end_lineno, node.end_col_offset)
        self.put(f',"start":{start},"end":{end}}}')

    def plain(self, node):
        head, fields = KINDS[type(node)]
        self.put(head)
        for field, name in fields:
            value = getattr(node, field, None)
            kind = type(value)
            if value is None:
                continue
            if kind is str:
                self.put(name + quoted(value))
            elif kind is list:
                if value:
                    self.put(name)
                    self.all(value)
            elif kind is ast.arguments:
                self.put(name)
                self.parameters(value)
            elif not isinstance(value, ast.AST):
                self.put(name + encode(value))
            elif value._fields:
                self.put(name)
                self.node(value)
            elif kind in OPERATORS:
                self.put(name + quoted(OPERATORS[kind]))

    def parameters(self, given):
        names = given.posonlyargs + given.args
        defaults = [None] * (len(names) - len(given.defaults)) + given.defaults + given.kw_defaults
        self.put("[")
        for at, (name, default) in enumerate(zip(names + given.kwonlyargs, defaults)):
            self.put("," if at else "")
            if default is None:
                self.node(name)
                continue
            self.put('{"type":"AssignmentPattern","left":')
            self.node(name)
            self.put(',"right":')
            self.node(default)
            self.put("}")
        rest = [name for name in (given.vararg, given.kwarg) if name]
        self.put("," if names + given.kwonlyargs and rest else "")
        self.several(rest)
        self.put("]")

    def all(self, nodes):
        self.put("[")
        self.several(nodes)
        self.put("]")

    def several(self, nodes):
        comma = False
        for node in nodes:
            # Operators have no fields.
            if isinstance(node, ast.AST) and node._fields:
                if comma:
                    self.put(",")
                comma = True
                self.node(node)

    def constant(self, node):
        value = node.value
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, (int, float)):
            value = value if abs(value) < 1e15 else 1e15
        elif not isinstance(value, str):
            value = None
        self.put('{"type":"Literal","value":' + encode(value))

    def dictionary(self, node):
        self.put('{"type":"ObjectExpression","properties":[')
        for at, (key, value) in enumerate(zip(node.keys, node.values)):
            name = getattr(key, "value", None)
            self.put("," if at else "")
            # Any other key, and none before `**`, is a name of its own.
            named = f'"key":{{"name":{quoted(name)}}}' if isinstance(name, str) else '"computed":true'
            self.put(f'{{"type":"Property",{named},"value":')
            self.node(value)
            self.put("}")
        self.put("]")

    def imports(self, node):
        specifiers = []
        for name in node.names:
            module = getattr(node, "module", None) or ("" if isinstance(node, ast.ImportFrom) else name.name)
            if isinstance(node, ast.Import) and not name.asname:
                module = module.split(".")[0]
            imported = name.name if isinstance(node, ast.ImportFrom) else None
            local = name.asname or imported or module
            specifiers.append({"type": "ImportSpecifier", "module": module, "imported": imported, "local": local})
        self.put('{"type":"ImportDeclaration","specifiers":' + encode(specifiers))

    def shared(self, node):
        self.put('{"type":"Global","names":' + encode(node.names))

    def generator(self, node):
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.put('{"type":"Comprehension","body":[')
        for part in node.generators:
            self.put('{"type":"ForOfStatement","left":')
            self.node(part.target)
            self.put(',"right":')
            self.node(part.iter)
            self.put(',"body":[')
            if part.ifs:
                self.put('{"type":"IfStatement","body":[')
                self.several(part.ifs)
                self.put(",")
        self.put('{"type":"Element","elements":[')
        self.several(made)
        self.put("]}")
        for part in reversed(node.generators):
            self.put("]}]}" if part.ifs else "]}")
        self.put("]")


SPECIAL = {ast.Constant: Tree.constant, ast.Dict: Tree.dictionary}
SPECIAL |= dict.fromkeys((ast.Import, ast.ImportFrom), Tree.imports)
SPECIAL |= dict.fromkeys((ast.Global, ast.Nonlocal), Tree.shared)
SPECIAL |= dict.fromkeys((ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp), Tree.generator)
OPERATORS = {ast.Add: "+", ast.Mod: "%", ast.Div: "/", ast.USub: "-"}
# Python's nodes, the type in ESTree, and the fields that have other names there.
RENAMED = """
Name Identifier id:name
arg Identifier arg:name
Attribute MemberExpression value:object attr:property
Subscript MemberExpression value:object slice:property
Call CallExpression func:callee args:arguments
keyword Property arg:key
JoinedStr TemplateLiteral values:expressions
FormattedValue,Await AwaitExpression value:argument
Starred SpreadElement value:argument
BinOp BinaryExpression op:operator
UnaryOp UnaryExpression op:operator operand:argument
List,Tuple,Set ArrayExpression elts:elements
IfExp ConditionalExpression body:consequent orelse:alternate
BoolOp LogicalExpression
Compare,Assert,Raise ThrowStatement
Assign AssignmentExpression targets:left value:right
NamedExpr,AnnAssign,AugAssign AssignmentExpression target:left value:right op:operator
Expr ExpressionStatement value:expression
FunctionDef,AsyncFunctionDef,Lambda FunctionDeclaration name:id args:params
Return ReturnStatement value:argument
For,AsyncFor ForOfStatement target:left iter:right
While WhileStatement
If,Match IfStatement
With,AsyncWith,Try,TryStar,ClassDef BlockStatement
ExceptHandler CatchClause type:param
withitem VariableDeclarator context_expr:init optional_vars:id
"""
UNREAD = {"annotation", "conversion", "ctx", "level", "ops", "returns", "simple", "type_comment"}


def kinds():
    renamed = {}
    for line in RENAMED.split("\n")[1:-1]:
        names, kind, *fields = line.split(" ")
        for name in names.split(","):
            renamed[name] = kind, dict(field.split(":") for field in fields)
    for name, kind in vars(ast).items():
        if isinstance(kind, type) and issubclass(kind, ast.AST):
            new, fields = renamed.get(name, (name, {}))
            read = [field for field in kind._fields if field not in UNREAD]
            yield kind, (f'{{"type":"{new}"', [(field, f',"{fields.get(field, field)}":') for field in read])


KINDS = dict(kinds())


def units(text):
    """Length in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


main()
