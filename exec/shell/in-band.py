"""The tools of the agent whose terminal this is: codex_tools.NAME(argument=...), or codex_tools.call(NAME, {...}).

Calls go out as frames in what the terminal prints, and their answers come in as if they were typed. Threads call at
the same time; processes take turns, so that none reads another's answers. Needs Python 3.6.
"""
import base64
import collections
import fcntl
import json
import os
import re
import select
import signal
import sys
import termios
import threading
import time
import types

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_MARK, _END = "<<TOOL_CALL>>", "<<END_TOOL_CALL>>"
_ANSWER, _ANSWER_END = b"<<TOOL_RESULT>>", b"<<END_TOOL_RESULT>>"
_LONGEST = 4 * 1024 * 1024
_SILENCE = 15
_TICK = 0.2
_NOBODY = (
    "Nobody answers in this terminal. Next: connect this shell again (holdfast arm, or the tool connect_tools); look "
    "first whether the call took effect."
)


class ToolError(Exception):
    """A call failed: code, message, retryable (the same call may succeed later), call_id (None: it had none)."""

    def __init__(self, code, message, retryable=False, call_id=None):
        super().__init__(code, message, retryable, call_id)
        self.code, self.message, self.retryable, self.call_id = code, message, retryable, call_id

    def __str__(self):
        return "%s: %s" % (self.code, self.message) + (" (call %s)" % self.call_id if self.call_id else "")


ToolError.__module__ = "codex_tools"


def _unavailable(reason):
    return ToolError("tools_unavailable", "The agent's tools cannot be reached: %s. The tool has not run." % reason)


class _Terminal:
    """The calls that this process has open. The terminal is silent and takes no lines while there is one."""

    def __init__(self):
        self.pid = os.getpid()
        self.turn = threading.Condition()
        self.inbox = {}
        self.count = 0
        self.is_read = False
        self.text = bytearray()
        self.heard = 0.0

    def call(self, nonce, body):
        """The answer to a frame. A Ctrl-C waits until the terminal is as it was."""
        interrupted = []
        handler = None
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            signal.signal(signal.SIGINT, lambda *seen: interrupted.append(seen))
        try:
            return self._call(nonce, body, interrupted)
        finally:
            if callable(handler):
                signal.signal(signal.SIGINT, handler)
                if interrupted:
                    handler(*interrupted[0])

    def _call(self, nonce, body, interrupted):
        with self.turn:
            self.count += 1
            number = "%d.%d" % (self.pid, self.count)
            text = _frame(nonce, number, body)
            if not self.inbox:
                self._enter(interrupted)
            self.inbox[number] = collections.deque()
            try:
                self._write(text)
            except BaseException:
                self._leave(number)
                raise
        try:
            done = self._take(number, _SILENCE, interrupted)
            if done is None and not interrupted:
                with self.turn:
                    self._write(_frame(nonce, number, {"cancel": True}))
                raise ToolError("call_lost", _NOBODY)
            if done and "accepted" in done:
                done = self._take(number, None, interrupted)
            if interrupted:
                with self.turn:
                    self._write(_frame(nonce, number, {"cancel": True}))
                while (self._take(number, _SILENCE, []) or {"cancelled": True}).get("cancelled") is None:
                    pass
                raise KeyboardInterrupt
        finally:
            with self.turn:
                self._leave(number)
        return json.loads(base64.b64decode(done["data"]).decode())

    def _enter(self, interrupted):
        try:
            self.lock = os.open(os.path.join(_FOLDER, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
            self.fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError as error:
            raise _unavailable(error) from None
        try:
            while True:
                # A background job would be stopped for trying what follows.
                if os.tcgetpgrp(self.fd) != os.getpgrp():
                    raise _unavailable("a background job cannot read its terminal")
                try:
                    fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if interrupted:
                        raise KeyboardInterrupt
                    time.sleep(0.01)
            self.before = termios.tcgetattr(self.fd)
            mode = termios.tcgetattr(self.fd)
            mode[0] &= ~(termios.IXON | termios.ISTRIP)
            mode[3] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            # If it were stopped during a call, the rest of the answer would go to the shell.
            mode[6][termios.VSUSP] = bytes([os.fpathconf(self.fd, "PC_VDISABLE") & 255])
            termios.tcsetattr(self.fd, termios.TCSADRAIN, mode)
            del self.text[:]
            self.heard = time.monotonic()
        except BaseException:
            self._close()
            raise

    def _leave(self, number):
        del self.inbox[number]
        if not self.inbox:
            try:
                termios.tcsetattr(self.fd, termios.TCSADRAIN, self.before)
            finally:
                self._close()

    def _close(self):
        os.close(self.fd)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_UN)
        finally:
            os.close(self.lock)

    def _write(self, text):
        rest = memoryview(text.encode("ascii"))
        while rest:
            rest = rest[os.write(self.fd, rest) :]

    def _take(self, number, silence, interrupted):
        """The next answer for a call; None after so many seconds without a byte, or when interrupted."""
        with self.turn:
            since = time.monotonic()
            while not self.inbox[number]:
                if interrupted or silence and time.monotonic() - max(since, self.heard) > silence:
                    return None
                if self.is_read:
                    self.turn.wait(_TICK)
                    continue
                self.is_read = True
                self.turn.release()
                frame = None
                try:
                    frame = self._read()
                finally:
                    self.turn.acquire()
                    self.is_read = False
                    if frame and frame.get("id") in self.inbox:
                        self.inbox[frame["id"]].append(frame)
                    self.turn.notify_all()
            return self.inbox[number].popleft()

    def _read(self):
        """A frame, if one is complete within a moment. Other input that arrives meanwhile is dropped."""
        at = self.text.find(_ANSWER_END)
        # Including the newline after it: it must not become the next program's input.
        while at < 0 or len(self.text) == at + len(_ANSWER_END):
            if not select.select([self.fd], [], [], _TICK)[0]:
                return None
            chunk = os.read(self.fd, 65536)
            if not chunk:
                raise _unavailable("the terminal is gone")
            self.heard = time.monotonic()
            start = max(0, len(self.text) - len(_ANSWER_END))
            self.text += chunk
            if at < 0:
                at = self.text.find(_ANSWER_END, start)
        head = self.text.rfind(_ANSWER, 0, at)
        text = bytes(self.text[head + len(_ANSWER) : at]) if head >= 0 else b"{}"
        del self.text[: at + len(_ANSWER_END) + 1]
        try:
            return json.loads(text.decode("ascii"))
        except ValueError:
            return None


def _plain(value):
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError("%s is not JSON" % type(value).__name__)


def _check_numbers(body, text):
    """The tool gets every number as a double: a larger whole one would reach it as another."""
    values = [body] if re.search("[0-9]{16}", text) else []
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values.extend(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            values.extend(value)
        elif isinstance(value, int) and abs(value) > 2**53:
            message = (
                "The arguments would be rounded: got %s, which is beyond 2**53, allowed whole numbers up to that. "
                "Next: pass it as text, or as a float if it may be rounded; the tool has not run."
            )
            raise ToolError("invalid_input", message % str(int(value))[:60])


def _frame(nonce, number, body):
    try:
        text = json.dumps(dict(body, id=number), allow_nan=False, default=_plain, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError("invalid_input", "The arguments are not JSON: %s" % error) from None
    _check_numbers(body, text)
    # No mark may occur in the arguments.
    text = _MARK + '{"nonce":"%s",' % nonce + text[1:].replace("<", "\\u003c") + _END
    if len(text) > _LONGEST:
        message = "The arguments are too large for a terminal: got %d bytes, allowed %d. Next: write them to a file."
        raise ToolError("arguments_too_large", message % (len(text), _LONGEST))
    return text


_terminal = _Terminal()


def _exchange(nonce, body):
    global _terminal
    if _terminal.pid != os.getpid():
        _terminal = _Terminal()
    return _terminal.call(nonce, body)


def call(name, args=None):
    """Calls the tool with this name; returns its result. Throws ToolError."""
    try:
        with open(os.path.join(_FOLDER, "nonce")) as file:
            nonce = file.read()
    except OSError as error:
        raise _unavailable(error) from None
    try:
        folder = os.getcwd()
    except OSError:
        folder = os.environ.get("PWD", "/")
    answer = _exchange(nonce, {"tool": name, "args": dict(args or {}), "cwd": folder})
    if answer["ok"]:
        return answer.get("value")
    error = answer["error"]
    raise ToolError(error["code"], error["message"], bool(error.get("retryable")), answer.get("callId"))


class _Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError("module 'codex_tools' has no attribute %r" % name)

        def tool(**args):
            return call(name, args)

        tool.__name__ = tool.__qualname__ = name
        tool.__doc__ = "Calls the tool %s. Pass its arguments by name." % name
        return tool


sys.modules[__name__].__class__ = _Module


def _connect():
    nonce = _exchange(sys.stdin.read(), {})["nonce"]
    path = os.path.join(_FOLDER, "nonce")
    with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(nonce)
    os.rename(path + ".new", path)
    # The terminal is restored: typing from now on reaches the shell.
    with open("/dev/tty", "w") as tty:
        tty.write("Tools can be called here: codex_tools in Python, tool NAME in this shell.\n")
        tty.write(_frame(nonce, "ready", {"ready": True}))


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def _usage(message):
    print(message, file=sys.stderr)
    sys.exit(64)


def _main(words):
    if words == ["--connect"]:
        return _connect()
    if not words or words[0].startswith("-"):
        _usage("usage: tool NAME [--argument VALUE]... or tool NAME '{JSON}'")
    name, rest, args = words[0], collections.deque(words[1:]), {}
    if len(rest) == 1 and rest[0].startswith("{"):
        args = json.loads(rest.popleft())
    while rest:
        option, has_value, value = rest.popleft().partition("=")
        if not option.startswith("--"):
            _usage("got %s, allowed --argument VALUE" % option)
        if not has_value:
            value = rest.popleft() if rest and not rest[0].startswith("--") else "true"
        args[option[2:]] = _value(value)
    _show(call(name, args))


def _show(result):
    """Text goes unchanged into a pipe, in UTF-8 whatever the locale."""
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False) + "\n"
    if sys.stdout.isatty() and not text.endswith("\n"):
        text += "\n"
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has closed its end; avoid another error when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    try:
        _main([os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv[1:]])
    except ToolError as error:
        print(error, file=sys.stderr)
        sys.exit(69 if error.code == "tools_unavailable" else 75 if error.retryable else 1)
    except KeyboardInterrupt:
        sys.exit(130)
