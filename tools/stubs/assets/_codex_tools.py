"""How codex_tools calls a tool: one connection per call, so that threads, forks and tasks share nothing.

Only modules that every Python loads anyway are imported at the top: a script that calls no tool pays nothing.
"""
from __future__ import annotations

import os
import sys

_MAX_FRAME = 16 * 1024 * 1024
_MAX_ANSWER = 256 * 1024 * 1024


class ToolError(Exception):
    """A call failed: code, message, retryable (the same call may succeed later), call_id (None: it had none)."""

    def __init__(self, code: str, message: str, retryable: bool = False, call_id: str | None = None) -> None:
        # Everything goes into `args`, which pickle passes to the constructor.
        super().__init__(code, message, retryable, call_id)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.call_id = call_id

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" (call {self.call_id})" if self.call_id else "")


# Where scripts import it from; tracebacks and pickle use this name, too.
ToolError.__module__ = "codex_tools"


# ---- One call ----


def _unavailable(reason: object) -> ToolError:
    return ToolError(
        "tools_unavailable",
        f"The agent's tools cannot be reached: {reason}. Next: run the script as a command of a Holdfast session "
        "that still exists; the tool has not run.",
    )


def _lost(name: str) -> ToolError:
    return ToolError(
        "call_lost",
        f"The connection closed before {name} answered. Next: find out whether it took effect before you call "
        "it again; its outcome is unknown.",
    )


def _plain(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _check_numbers(name: str, arguments: dict, text: str) -> None:
    """The tool gets every number as a double: a larger whole one would reach it as another."""
    import re

    values = [arguments] if re.search("[0-9]{16}", text) else []
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            values.extend(value)
        elif isinstance(value, int) and abs(value) > 2**53:
            raise ToolError(
                "invalid_input",
                f"The arguments of {name} would be rounded: got {str(int(value))[:60]}, which is beyond 2**53, allowed "
                "whole numbers up to that. Next: pass it as text, or as a float if it may be rounded; the tool has "
                "not run.",
            )


def _frame(name: str, arguments: dict) -> bytes:
    import json

    try:
        folder = os.getcwd()
    except OSError:  # It was deleted.
        folder = os.environ.get("PWD", "/")
    body = {"tool": name, "args": arguments, "cwd": folder}
    token = os.environ.get("HOLDFAST_TOOL_TOKEN", "")
    request = {"id": 1, "token": token, "version": 1, "verb": "call", "body": body}
    try:
        text = json.dumps(request, ensure_ascii=False, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError("invalid_input", f"The arguments of {name} are not JSON: {error}") from None
    _check_numbers(name, arguments, text)
    try:
        frame = text.encode()
    except UnicodeEncodeError:  # Half a character, as in names of files that are not UTF-8.
        frame = json.dumps(request, allow_nan=False, default=_plain).encode()
    if len(frame) > _MAX_FRAME:
        raise ToolError(
            "arguments_too_large",
            f"The arguments of {name} are too large: got {len(frame)} bytes, allowed {_MAX_FRAME}. Next: write the "
            "data to a file and pass its path; the tool has not run.",
        )
    return len(frame).to_bytes(4, "big") + frame


def _value(name: str, text: bool, answer: bytes) -> object:
    import json

    try:
        reply = json.loads(answer)
        if "ok" not in reply:
            error = reply["error"]
            facts = error.get("facts") or {}
            message = error.get("message") or facts.get("message") or f"The call was refused: {json.dumps(facts)}"
            raise ToolError(error["code"], message, bool(error.get("retryable")))
        outcome = reply["ok"]
        if not outcome["ok"]:
            error = outcome["error"]
            raise ToolError(error["code"], error["message"], bool(error.get("retryable")), outcome.get("callId"))
        value = outcome.get("value")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _lost(name) from None
    return json.dumps(value, ensure_ascii=False) if text and not isinstance(value, str) else value


def _socket():
    """A socket and where it connects to."""
    import socket

    path = os.environ.get("HOLDFAST_TOOL_SOCKET")
    if not path:
        raise _unavailable("HOLDFAST_TOOL_SOCKET is not set")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    return connection, path, getattr(socket, "MSG_NOSIGNAL", 0)


def _close(connection) -> None:
    # A forked child may hold it, too: only this closes it for both sides.
    try:
        connection.shutdown(2)
    except OSError:
        pass
    connection.close()


def _length(name: str, head: bytes) -> int:
    length = int.from_bytes(head, "big")
    if length > _MAX_ANSWER:
        raise _lost(name)
    return length


def _exchange(name: str, text: bool, arguments: dict) -> object:
    frame = _frame(name, arguments)
    connection, path, flags = _socket()
    try:
        connection.settimeout(None)  # The script's default timeout is for its own connections.
        try:
            connection.connect(path)
        except OSError as error:
            raise _unavailable(error) from None
        try:
            connection.sendall(frame, flags)
        except OSError:
            pass  # It may have answered before it hung up.
        head = _receive(connection, 4, name)
        return _value(name, text, _receive(connection, _length(name, head), name))
    finally:
        _close(connection)


def _receive(connection, length: int, name: str) -> bytes:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        try:
            got = connection.recv_into(view)
        except OSError:
            got = 0
        if got == 0:
            raise _lost(name)
        view = view[got:]
    return bytes(data)


async def _exchange_async(name: str, text: bool, arguments: dict) -> object:
    import asyncio

    frame = _frame(name, arguments)
    loop = asyncio.get_running_loop()
    connection, path, _ = _socket()
    try:
        connection.setblocking(False)
        while True:
            try:
                connection.connect(path)
                break
            except BlockingIOError:  # Its queue is full, and a Unix socket never signals when it no longer is.
                await asyncio.sleep(0.005)
            except OSError as error:
                raise _unavailable(error) from None
        try:
            await loop.sock_sendall(connection, frame)
        except OSError:
            pass
        head = await _receive_async(loop, connection, 4, name)
        return _value(name, text, await _receive_async(loop, connection, _length(name, head), name))
    finally:
        _close(connection)


async def _receive_async(loop, connection, length: int, name: str) -> bytes:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        try:
            got = await loop.sock_recv_into(connection, view)
        except OSError:
            got = 0
        if got == 0:
            raise _lost(name)
        view = view[got:]
    return bytes(data)


# ---- The functions of a module ----


class _Annotation(str):
    """The text of a type, shown by help() without quotes."""

    __repr__ = str.__str__


def _manifest() -> list:
    import json

    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (os.environ.get("HOLDFAST_TOOLS"), beside):
        try:
            with open(os.path.join(folder or "", "tools.json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            continue
    return []


class Stubs:
    """Backs the module: what its functions call, and the tools that were added after its import."""

    def __init__(self, module: str, table: dict) -> None:
        self.module = sys.modules[module]
        self.table = table
        self.defaults: dict = {}
        self.aio = AsyncTools(self)

    def publish(self) -> None:
        """Finishes the functions, once all are defined."""
        for name in self.table:
            function = self.module.__dict__[name]
            function.__annotations__ = {key: _Annotation(text) for key, text in function.__annotations__.items()}

    def run(self, function: str, values: dict) -> object:
        """Makes the call with a function's parameters, as they are when it begins."""
        defaults = self.defaults.get(function)
        if defaults is None:
            defined = self.module.__dict__[function]
            names = defined.__code__.co_varnames[: defined.__code__.co_argcount]
            defaults = dict(zip(reversed(names), reversed(defined.__defaults__ or ())))
            self.defaults[function] = defaults
        # Omitted arguments stay omitted: the tool itself knows its defaults best.
        given = {key: value for key, value in values.items() if value is not defaults.get(key, values)}
        return _exchange(*self.request(function, given))

    def request(self, function: str, given: dict) -> tuple:
        """Tool, whether it returns a text, and its arguments under their own names."""
        tool, text, renamed, rest = self.table[function]
        arguments = {}
        for key, value in given.items():
            if value is ...:
                continue
            if key == rest:
                arguments.update(value)
            else:
                arguments[renamed[key][0] if key in renamed else key] = value
        missing = [own for own, required in renamed.values() if required and own not in arguments]
        if missing:
            raise TypeError(f"{function}() is missing the arguments {', '.join(map(repr, missing))}")
        return tool, text, arguments

    def call(self, name: str, args: dict | None = None) -> object:
        """Calls the tool with this name."""
        return _exchange(name, False, dict(args or {}))

    def tools(self) -> list:
        """The names of the current tools."""
        return [entry["name"] for entry in _manifest()] or [entry[0] for entry in self.table.values()]

    def late(self, name: str) -> object:
        """An attribute that the module lacks: a tool that was registered after the import."""
        entries = {} if name.startswith("__") else {entry["function"]: entry for entry in _manifest()}
        # A name with another meaning in Python gets a trailing "_".
        entry = entries.get(name) or (entries.get(name[:-1]) if self.is_renamed(name) else None)
        if entry is None:
            raise AttributeError(self.unknown(name, entries))
        known = {tool: function for function, (tool, *_) in self.table.items()}
        if entry["name"] in known:
            return self.module.__dict__[known[entry["name"]]]
        function = self.define(name, entry)
        return self.module.__dict__.setdefault(name, function)

    def is_renamed(self, name: str) -> bool:
        from keyword import iskeyword

        return name.endswith("_") and (iskeyword(name[:-1]) or name[:-1] in self.module.__dict__)

    def unknown(self, name: str, entries: dict) -> str:
        if name.startswith("__"):
            return f"module 'codex_tools' has no attribute {name!r}"
        from difflib import get_close_matches

        close = get_close_matches(name, {*entries, *self.table, "aio", "call", "tools", "ToolError"})
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        return f"codex_tools has no tool {name!r}{hint} codex_tools.tools() lists all."

    def names(self) -> list:
        """What dir() shows."""
        return sorted({*self.module.__dict__, *(entry["function"] for entry in _manifest())})

    def define(self, name: str, entry: dict):
        """A function for a tool of the manifest."""
        from inspect import Parameter, Signature

        schema = _dict(entry.get("parameters"))
        properties = {own: _dict(value) for own, value in _dict(schema.get("properties")).items()}
        required = schema.get("required")
        required = required if isinstance(required, list) else []
        named = _parameters(list(properties))
        renamed = {to: (own, own in required) for own, to in named.items() if own != to}
        parameters = []
        for own, to in named.items():
            mandatory = own in required and to not in renamed
            default = Parameter.empty if mandatory else properties[own].get("default", ...)
            annotation = _annotation(properties[own])
            parameters.append(Parameter(to, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation))
        parameters.sort(key=lambda parameter: parameter.default is not Parameter.empty)
        rest = None
        if renamed or "properties" not in schema or schema.get("additionalProperties"):
            rest = "arguments"
            while rest in named.values():
                rest += "_"
            parameters.append(Parameter(rest, Parameter.VAR_KEYWORD))
        result = entry.get("result")
        text = result is None or result.get("type") == "string"
        returns = _Annotation("str") if text else _annotation(result)
        signature = Signature(parameters, return_annotation=returns)

        def function(*args, **kwargs):
            return _exchange(*self.request(name, signature.bind(*args, **kwargs).arguments))

        self.table[name] = (entry["name"], text, renamed, rest)
        function.__signature__ = signature
        function.__doc__ = entry.get("description")
        function.__name__ = function.__qualname__ = name
        function.__module__ = "codex_tools"
        return function


class AsyncTools:
    """The tools for asyncio: `await codex_tools.aio.NAME(...)`. Cancelling the task cancels the call."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs

    async def call(self, name: str, args: dict | None = None) -> object:
        """Calls the tool with this name."""
        return await _exchange_async(name, False, dict(args or {}))

    def __getattr__(self, name: str) -> object:
        from inspect import signature

        stubs = self.__dict__["_stubs"] if "_stubs" in self.__dict__ else None
        if stubs is None or (name.startswith("__") and name not in stubs.table):
            raise AttributeError(name)
        function = stubs.module.__dict__.get(name) if name in stubs.table else stubs.late(name)
        key = function.__name__
        expected = signature(function)

        async def call(*args, **kwargs):
            return await _exchange_async(*stubs.request(key, expected.bind(*args, **kwargs).arguments))

        call.__signature__ = expected
        call.__doc__ = function.__doc__
        call.__name__ = key
        call.__qualname__ = f"aio.{key}"
        call.__module__ = "codex_tools"
        return self.__dict__.setdefault(name, call)

    def __dir__(self) -> list:
        return sorted({"call", *self._stubs.table, *(entry["function"] for entry in _manifest())})


def _dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _annotation(schema: object) -> _Annotation:
    kinds = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
    kind = _dict(schema).get("type")
    return _Annotation(kinds.get(kind, "Any") if isinstance(kind, str) else "Any")


def _parameters(names: list) -> dict:
    """Argument -> parameter, as the generator names them."""
    from keyword import iskeyword

    def is_taken(name: str) -> bool:
        return iskeyword(name) or name in ("__debug__", "_run", "_locals")

    letters = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
    allowed = letters | frozenset("0123456789")
    kept = {name for name in names if name[:1] in letters and allowed.issuperset(name) and not is_taken(name)}
    parameters = {}
    taken = set(kept)
    for name in names:
        parameter = "".join(character if character in allowed else "_" for character in name)
        if parameter[:1] not in letters:
            parameter = "_" + parameter
        while name not in kept and (parameter in taken or is_taken(parameter)):
            parameter += "_"
        taken.add(parameter)
        parameters[name] = parameter
    return parameters
