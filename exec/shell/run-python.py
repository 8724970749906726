"""Runs a file as __main__ and echoes its last expression, as an interactive Python would.

With "script" behind the file it is a program like any other: under its own path, and with nothing echoed."""
import ast
import linecache
import os
import signal
import sys
import types

NAME = "<code>"


def main(path: str, is_script: bool) -> None:
    name = path if is_script else NAME
    with open(path, encoding="utf-8") as source:
        code = source.read()
    sys.argv = [path if is_script else ""]
    # The file lies in a folder of ours: modules are looked for where the program runs.
    sys.path[0] = os.getcwd() if is_script else ""
    # A module of its own: what the code defines must not meet the names of this runner.
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    if is_script:
        module.__dict__["__file__"] = path
    sys.modules["__main__"] = module
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST)  # as ast.parse, without a frame of its own
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


def report(error: BaseException) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # the frames of this runner would only distract
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    sys.stdout.flush()
    if isinstance(error, KeyboardInterrupt):
        # Ends by the signal itself, so that the exit code is 130 as of any interrupted program.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)


main(sys.argv[1], "script" in sys.argv[2:])
