"""Runs a file as __main__ and echoes its last expression, as an interactive Python would.

With "script" after the file it is an ordinary program: under its own path, and with nothing echoed. With
"imports=FILE" it runs nothing where an import is not installed; the file says how that is told."""
import ast
import linecache
import os
import signal
import sys
import types

NAME = "<code>"


def main(path: str, is_script: bool, imports: str) -> None:
    name = path if is_script else NAME
    with open(path, encoding="utf-8") as source:
        code = source.read()
    sys.argv = [path if is_script else ""]
    # The file is in a folder of ours: modules are looked up where the program runs.
    sys.path[0] = os.getcwd() if is_script else ""
    # A separate module: names that the code defines must not clash with those of this runner.
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    if is_script:
        module.__dict__["__file__"] = path
    sys.modules["__main__"] = module
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST)  # as ast.parse, without a frame of its own
        if imports:
            look_for_imports(tree, imports)
        last = None
        if not is_script and tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Interactive([tree.body.pop()])
        exec(compile(tree, name, "exec"), module.__dict__)
        if last is not None:
            exec(compile(last, name, "single"), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        report(error)


def look_for_imports(tree: ast.Module, imports: str) -> None:
    import json
    from importlib.util import find_spec

    def is_there(module: str) -> bool:
        try:
            return module in sys.modules or find_spec(module) is not None
        except (ImportError, ValueError):
            return True  # the import itself reports what is wrong

    missing = {}
    for module, member, line in imports_of(tree.body):
        if not is_there(module.split(".")[0]):
            missing.setdefault(module, (member, line))
    if not missing:
        return
    with open(imports, encoding="utf-8") as file:
        request = json.load(file)
    packages = request["packages"]
    told = [
        {"module": module, "package": package_of(member, packages), "line": line}
        for module, (member, line) in missing.items()
    ]
    with open(request["answer"], "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        json.dump(told, file)
    modules = ", ".join(f"{each['module']} (line {each['line']})" for each in told)
    wanted = " ".join(dict.fromkeys(each["package"] for each in told))
    print(request["message"].replace("{modules}", modules).replace("{packages}", wanted), file=sys.stderr)
    sys.exit(request["exitCode"])


def imports_of(body: list):
    """Unconditional imports: the module, the imported name, and the line."""
    for node in body:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                # A part of a namespace such as google.cloud is a separate package.
                yield node.module, f"{node.module}.{node.names[0].name}", node.lineno
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            if not any(map(catches_imports, node.handlers)):
                yield from imports_of(node.body)
            yield from imports_of(node.finalbody)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            if not any("suppress" in ast.dump(item.context_expr) for item in node.items):
                yield from imports_of(node.body)


def catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in ast.walk(handler.type)}
    return not names.isdisjoint({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def package_of(module: str, packages: dict) -> str:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = packages.get(".".join(parts[:length]))
        if name:
            return name
    return parts[0]


def report(error: BaseException) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # skip the frames of this runner
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    sys.stdout.flush()
    if isinstance(error, KeyboardInterrupt):
        # Dies from the signal itself, so that the exit code is 130, as for any interrupted program.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)


options = sys.argv[2:]
main(sys.argv[1], "script" in options, next((word[8:] for word in options if word.startswith("imports=")), ""))
