"""Parses Python for the checks: one JSON line with code in, one with the tree out. None of the code is run.

The trees are ESTree as far as JavaScript has the same (estree.ts), with offsets in UTF-16 units."""
import ast
import gc
import json
import re
import signal
import sys
import warnings

# More than the longest allowed code takes; the signal ends the process.
PARSE_SECONDS = 3

sys.setrecursionlimit(3_000)
warnings.simplefilter("ignore")
# Trees have no cycles, and looking for some takes a fifth of the time.
gc.disable()


def main():
    for line in sys.stdin.buffer:
        signal.alarm(PARSE_SECONDS)
        try:
            text = json.dumps(answer(json.loads(line)), separators=(",", ":"), check_circular=False)
        except (RecursionError, MemoryError):
            text = '{"fault":"the code is nested too deeply"}'
        signal.alarm(0)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def answer(code):
    try:
        tree = Tree(code)
        return {"body": tree.all(tree.module.body)}
    except SyntaxError as error:
        return {"fault": f"line {error.lineno} is not Python: {error.msg}"}
    except ValueError as error:
        return {"fault": f"it is not Python: {error}"}


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

    def node(self, node):
        make = SPECIAL.get(type(node))
        made = make(self, node) if make else self.plain(node)
        if not hasattr(node, "lineno"):
            made["start"] = made["end"] = 0
        elif self.is_plain:
            made["start"] = self.starts[node.lineno - 1] + node.col_offset
            made["end"] = self.starts[node.end_lineno - 1] + node.end_col_offset
        else:
            made["start"] = self.offset(node.lineno, node.col_offset)
            made["end"] = self.offset(node.end_lineno, node.end_col_offset)
        return made

    def plain(self, node):
        kind, fields = KINDS[type(node)]
        made = {"type": kind}
        for field, name in fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.arguments):
                value = value.posonlyargs + value.args + value.kwonlyargs + [value.vararg, value.kwarg]
            if isinstance(value, list):
                if value:
                    made[name] = self.all(value)
            elif isinstance(value, ast.AST):
                # Operators have no fields.
                made[name] = self.node(value) if value._fields else OPERATORS.get(type(value), "")
            elif value is not None:
                made[name] = value
        return made

    def all(self, nodes):
        return [self.node(node) for node in nodes if isinstance(node, ast.AST) and node._fields]

    def constant(self, node):
        value = node.value
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, (int, float)):
            value = value if abs(value) < 1e15 else 1e15
        elif not isinstance(value, str):
            value = None
        return {"type": "Literal", "value": value}

    def dictionary(self, node):
        keys = [getattr(key, "value", "") for key in node.keys]
        values = [self.node(value) for value in node.values]
        properties = [
            {"type": "Property", "key": {"name": key if isinstance(key, str) else ""}, "value": value}
            for key, value in zip(keys, values)
        ]
        return {"type": "ObjectExpression", "properties": properties}

    def imports(self, node):
        specifiers = []
        for name in node.names:
            module = getattr(node, "module", None) or ("" if isinstance(node, ast.ImportFrom) else name.name)
            if isinstance(node, ast.Import) and not name.asname:
                module = module.split(".")[0]
            imported = name.name if isinstance(node, ast.ImportFrom) else None
            local = name.asname or imported or module
            specifiers.append({"type": "ImportSpecifier", "module": module, "imported": imported, "local": local})
        return {"type": "ImportDeclaration", "specifiers": specifiers}

    def generator(self, node):
        body = self.all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        for part in reversed(node.generators):
            if part.ifs:
                body = [{"type": "IfStatement", "body": self.all(part.ifs) + body}]
            over = {"left": self.node(part.target), "right": self.node(part.iter)}
            body = [{"type": "ForOfStatement", **over, "body": body}]
        return {"type": "BlockStatement", "body": body}


SPECIAL = {ast.Constant: Tree.constant, ast.Dict: Tree.dictionary}
SPECIAL |= dict.fromkeys((ast.Import, ast.ImportFrom), Tree.imports)
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
UNREAD = {"annotation", "conversion", "ctx", "level", "returns", "simple", "type_comment"}


def kinds():
    renamed = {}
    for line in RENAMED.split("\n")[1:-1]:
        names, kind, *fields = line.split(" ")
        for name in names.split(","):
            renamed[name] = kind, dict(field.split(":") for field in fields)
    for name, kind in vars(ast).items():
        if isinstance(kind, type) and issubclass(kind, ast.AST):
            new, fields = renamed.get(name, (name, {}))
            yield kind, (new, [(field, fields.get(field, field)) for field in kind._fields if field not in UNREAD])


KINDS = dict(kinds())


def units(text):
    """Length in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


main()
