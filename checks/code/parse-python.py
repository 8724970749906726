"""Parses Python for the checks: one JSON line with code in, one with the tree out. None of the code is run.

The trees are those of program.ts, with offsets in UTF-16 units."""
import ast
import json
import re
import sys
import warnings

sys.setrecursionlimit(3_000)
warnings.simplefilter("ignore")


def main():
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = {"tree": Lowering(request["code"]).tree()}
        except SyntaxError as error:
            answer = {"fault": f"line {error.lineno} is not Python: {error.msg}"}
        except (RecursionError, MemoryError):
            answer = {"fault": "the code is nested too deeply"}
        except ValueError as error:
            answer = {"fault": f"it is not Python: {error}"}
        try:
            text = json.dumps(answer, separators=(",", ":"), check_circular=False)
        except (RecursionError, ValueError):
            text = json.dumps({"fault": "the code is nested too deeply"})
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


class Lowering:
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

    def tree(self):
        return [self.lower(node) for node in self.module.body]

    def offset(self, line, column):
        if line > len(self.lines):
            return self.starts[-1]
        if self.lines[line - 1].isascii():
            return self.starts[line - 1] + column
        before = self.lines[line - 1].encode("utf-8", "surrogatepass")[:column]
        return self.starts[line - 1] + units(before.decode("utf-8", "replace"))

    def lower(self, node):
        make = MAKERS.get(type(node))
        made = make(self, node) if make else {"k": "other", "p": self.children(node)}
        try:
            first, last = node.lineno, node.end_lineno
        except AttributeError:
            made["s"] = made["e"] = 0
            return made
        if self.is_plain:
            made["s"] = self.starts[first - 1] + node.col_offset
            made["e"] = self.starts[last - 1] + node.end_col_offset
        else:
            made["s"] = self.offset(first, node.col_offset)
            made["e"] = self.offset(last, node.end_col_offset)
        return made

    def all(self, nodes):
        return [self.lower(node) for node in nodes if node is not None]

    def children(self, node):
        return self.all(ast.iter_child_nodes(node))

    def Constant(self, node):
        if isinstance(node.value, str):
            return {"k": "text", "v": node.value}
        if isinstance(node.value, bytes):
            return {"k": "text", "v": node.value.decode("utf-8", "replace")}
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return {"k": "number", "v": str(node.value) if abs(node.value) < 1e15 else "1e15"}
        return {"k": "name", "n": str(node.value)}

    def Name(self, node):
        return {"k": "name", "n": node.id}

    def Attribute(self, node):
        return {"k": "member", "o": self.lower(node.value), "n": node.attr}

    def Subscript(self, node):
        return {"k": "index", "o": self.lower(node.value), "i": self.lower(node.slice)}

    def Call(self, node):
        keywords = [[word.arg or "", self.lower(word.value)] for word in node.keywords]
        return {"k": "call", "f": self.lower(node.func), "a": self.all(node.args), "kw": keywords}

    def JoinedStr(self, node):
        return {"k": "join", "p": self.all(node.values)}

    def FormattedValue(self, node):
        return {"k": "same", "v": self.lower(node.value)}

    Starred = Await = FormattedValue

    def BinOp(self, node):
        left, right = self.lower(node.left), self.lower(node.right)
        if isinstance(node.op, ast.Add):
            return {"k": "join", "p": [left, right]}
        if isinstance(node.op, ast.Mod):
            return {"k": "format", "l": left, "r": right}
        if isinstance(node.op, ast.Div):
            return {"k": "slash", "l": left, "r": right}
        return {"k": "other", "p": [left, right]}

    def UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return {"k": "number", "v": f"-{node.operand.value}"}
        return {"k": "other", "p": self.children(node)}

    def List(self, node):
        return {"k": "list", "p": self.all(node.elts)}

    Tuple = Set = List

    def Dict(self, node):
        keys = [key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "" for key in node.keys]
        return {"k": "object", "kv": [[key, self.lower(value)] for key, value in zip(keys, node.values)]}

    def IfExp(self, node):
        return {"k": "choice", "p": self.all([node.body, node.orelse, node.test])}

    def BoolOp(self, node):
        return {"k": "choice", "p": self.all(node.values)}

    def Compare(self, node):
        return {"k": "compare", "p": self.children(node)}

    Assert = Raise = Compare

    def NamedExpr(self, node):
        return {"k": "assign", "t": self.lower(node.target), "v": self.lower(node.value)}

    def Assign(self, node):
        value = self.lower(node.value)
        all = [{"k": "assign", "t": self.lower(target), "v": value, "s": 0, "e": 0} for target in node.targets]
        return all[0] if len(all) == 1 else {"k": "block", "b": all}

    def AnnAssign(self, node):
        if node.value is None:
            return {"k": "idle"}
        return {"k": "assign", "t": self.lower(node.target), "v": self.lower(node.value)}

    def AugAssign(self, node):
        return {"k": "assign", "t": self.lower(node.target), "v": self.lower(node.value), "more": True}

    def Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return {"k": "idle"}
        return {"k": "other", "p": [self.lower(node.value)]}

    def Import(self, node):
        names = [
            {"k": "import", "m": name.name if name.asname else name.name.split(".")[0], "ns": [],
             "as": name.asname or name.name.split(".")[0], "s": 0, "e": 0}
            for name in node.names
        ]
        return {"k": "block", "b": names}

    def ImportFrom(self, node):
        names = [[name.name, name.asname or name.name] for name in node.names]
        return {"k": "import", "m": node.module or "", "ns": names, "as": None}

    def FunctionDef(self, node):
        words = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        rest = [word for word in (node.args.vararg, node.args.kwarg) if word is not None]
        body = node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]
        name = getattr(node, "name", None)
        return {"k": "func", "n": name, "ps": [word.arg for word in words + rest], "b": self.all(body)}

    AsyncFunctionDef = Lambda = FunctionDef

    def ClassDef(self, node):
        return {"k": "block", "b": self.all(node.body)}

    def Return(self, node):
        return {"k": "return", "v": self.lower(node.value) if node.value else {"k": "idle", "s": 0, "e": 0}}

    def For(self, node):
        body = self.all(node.body + node.orelse)
        return {"k": "loop", "t": self.lower(node.target), "i": self.lower(node.iter), "b": body}

    AsyncFor = For

    def While(self, node):
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return {"k": "loop", "t": None, "i": None, "b": self.all([node.test] + node.body + node.orelse), "forever": forever}

    def comprehension(self, node):
        return {"k": "loop", "t": self.lower(node.target), "i": self.lower(node.iter), "b": []}

    def GeneratorExp(self, node):
        body = [self.lower(part) for part in ([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])]
        for part in reversed(node.generators):
            if part.ifs:
                body = [{"k": "branch", "b": self.all(part.ifs) + body, "s": 0, "e": 0}]
            body = [{"k": "loop", "t": self.lower(part.target), "i": self.lower(part.iter), "b": body, "s": 0, "e": 0}]
        return {"k": "other", "p": body}

    ListComp = SetComp = DictComp = GeneratorExp

    def If(self, node):
        return {"k": "branch", "b": self.all([node.test] + node.body + node.orelse)}

    def Match(self, node):
        return {"k": "branch", "b": self.children(node)}

    def With(self, node):
        items = []
        for item in node.items:
            value = self.lower(item.context_expr)
            items.append({"k": "assign", "t": self.lower(item.optional_vars), "v": value, "s": value["s"], "e": value["e"]} if item.optional_vars else value)
        return {"k": "block", "b": items + self.all(node.body)}

    AsyncWith = With

    def Try(self, node):
        return {"k": "block", "b": self.all(node.body + node.handlers + node.orelse + node.finalbody)}

    TryStar = Try


# By the name of the syntax node; nodes of newer Python versions may be missing.
MAKERS = {getattr(ast, name): make for name, make in vars(Lowering).items() if isinstance(getattr(ast, name, None), type)}


def units(text):
    """Length in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


main()
