"""Runs a file as __main__, as python3 runs a script, and echoes its last expression, as an interactive Python would.

Arguments: the file; where to report modules that are not installed; then "script" if nothing is echoed, and "check" if
nothing is to run where an import that comes before anything else would certainly fail."""
import ast
import linecache
import os
import signal
import sys
import types
from importlib.machinery import SourceFileLoader

NAME = "<code>"
#: As in contracts/errors/catalogue.ts, missing_packages.
UNAVAILABLE = 69


def main(path: str, report_to: str, is_script: bool, is_checked: bool) -> None:
    name = path if is_script else NAME
    with open(path, encoding="utf-8-sig") as source:
        code = source.read()
    sys.argv = [path]
    # The file is in a folder of ours: modules are looked up where the program runs, unless PYTHONSAFEPATH forbids it.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.getcwd() if is_script else ""
    # A separate module: names that the code defines must not clash with those of this runner.
    module = types.ModuleType("__main__")
    # What a script finds in its own module. A process that multiprocessing spawns runs the same file, by its path.
    module.__dict__.update(
        __builtins__=__builtins__, __file__=path, __loader__=SourceFileLoader("__main__", path), __cached__=None
    )
    sys.modules["__main__"] = module
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST)  # as ast.parse, without a frame of its own
        if is_checked:
            look_for_imports(tree, report_to)
        last = None
        if not is_script and tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Interactive([tree.body.pop()])
        exec(compile(tree, name, "exec"), module.__dict__)
        if last is not None:
            exec(compile(last, name, "single"), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError):
            tell_missing(error, name, report_to)
        report(error)


def look_for_imports(tree: ast.Module, report_to: str) -> None:
    missing = {}
    for module, member, line in imports_of(tree.body):
        spec = spec_of(module.split(".")[0])
        if spec is None:
            missing.setdefault(module, (member, line))
        elif not is_installed(spec):
            break  # a module of the user's: it may make others available
    if missing:
        write_missing(report_to, False, [(member, module, line) for module, (member, line) in missing.items()])
        sys.exit(UNAVAILABLE)


def spec_of(module: str):
    """None if there is none. True if that cannot be said: the import itself reports what is wrong."""
    from importlib.util import find_spec

    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return True


def is_installed(spec) -> bool:
    origin = getattr(spec, "origin", None)
    if origin in (None, "built-in", "frozen"):
        return True
    import sysconfig

    return "site-packages" in origin or "dist-packages" in origin or origin.startswith(sysconfig.get_path("stdlib"))


def tell_missing(error: ModuleNotFoundError, name: str, report_to: str) -> None:
    """Says which import ended the program. Not for a part of a package that is there: none would provide it."""
    module = error.name
    if not module:
        return
    top = module.split(".")[0]
    if top in getattr(sys, "stdlib_module_names", ()):
        return
    spec = spec_of(top)
    # A part of a namespace such as google.cloud is a separate package.
    if spec is not None and (spec is True or spec.origin is not None):
        return
    line, trace = 0, error.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == name else line
        trace = trace.tb_next
    write_missing(report_to, True, [(module, module, line)])


def write_missing(report_to: str, has_run: bool, missing: list) -> None:
    import json

    reported = [{"member": member, "module": module, "line": line} for member, module, line in missing]
    try:
        with open(report_to, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            json.dump({"hasRun": has_run, "missing": reported}, file)
    except OSError:
        pass  # the disk is full: the error itself is still shown


def imports_of(body: list):
    """Imports that nothing before them could make available: the module, the imported name, and the line."""
    for node in body:
        if may_provide_modules(node):
            return
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
            if not any(is_suppress(item.context_expr) for item in node.items):
                yield from imports_of(node.body)


def catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in ast.walk(handler.type)}
    return not names.isdisjoint({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


#: Calls after which no other modules are there than before.
HARMLESS = frozenset("abs bool bytes dict enumerate float format int isinstance len list max min print range repr "
                     "round set sorted str sum tuple zip".split())


def may_provide_modules(node: ast.AST) -> bool:
    """Whether to run it could write a module, install one, or change where they are looked up."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        return any(map(may_provide_modules, parts))
    if isinstance(node, ast.Lambda):
        return False
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) not in HARMLESS and not is_suppress(node):
        return True
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return True  # sys.path[:0] = …
    if isinstance(node, ast.Await):
        return True
    return any(map(may_provide_modules, ast.iter_child_nodes(node)))


def is_suppress(node: ast.AST) -> bool:
    function = getattr(node, "func", None)
    return "suppress" in (getattr(function, "id", None), getattr(function, "attr", None))


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


options = sys.argv[3:]
main(sys.argv[1], sys.argv[2], "script" in options, "check" in options)
