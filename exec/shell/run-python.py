"""Runs a file as __main__ and echoes its last expression, as an interactive Python would."""
import ast
import linecache
import os
import signal
import sys
import types

NAME = "<code>"


def main(path: str) -> None:
    with open(path, encoding="utf-8") as source:
        code = source.read()
    sys.argv = [""]
    sys.path[0] = ""
    # A module of its own: what the code defines must not meet the names of this runner.
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    linecache.cache[NAME] = (len(code), None, code.splitlines(True), NAME)
    try:
        tree = compile(code, NAME, "exec", ast.PyCF_ONLY_AST)  # as ast.parse, without a frame of its own
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Interactive([tree.body.pop()])
        exec(compile(tree, NAME, "exec"), module.__dict__)
        if last is not None:
            exec(compile(last, NAME, "single"), module.__dict__)
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


main(sys.argv[1])
