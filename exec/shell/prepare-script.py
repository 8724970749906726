"""Becomes run-python.py for a script, in an environment with the packages that its PEP 723 block names.

With uv where the session has it; else in a venv of our own for each list of packages, made once.
"""
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys

# The expression of PEP 723, for the type "script".
BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
# uv keeps a script's environment by its path, and each of our scripts has a different one: so this constant script
# asks.
ASKS = "import sys\nprint(sys.executable)\n"
FITS = "from pip._vendor.packaging.specifiers import SpecifierSet; import platform, sys; sys.exit(platform.python_version() not in SpecifierSet(sys.argv[1]))"


class Failed(Exception):
    def __init__(self, status: int, reason: str = "") -> None:
        super().__init__(reason)
        self.status = status if status >= 0 else 128 - status


def main(path: str, report_to: str, failure: str) -> None:
    # Ctrl-C ends this and the installer, without a traceback of ours.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(path, encoding="utf-8-sig") as source:
        block = BLOCK.search(source.read())
    try:
        python = environment(block) if block else sys.executable
    except (Failed, OSError) as error:
        print(*filter(None, [str(error), failure]), sep="\n", file=sys.stderr)
        sys.exit(getattr(error, "status", 73))
    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run-python.py")
    os.execv(python, [python, runner, path, report_to, "script"])


def environment(block: "re.Match[str]") -> str:
    uv = shutil.which("uv")
    python = with_uv(uv, block.group(0)) if uv else with_venv(metadata(block))
    # Like an activated one: programs that the script starts by name come from there too.
    folder = os.path.dirname(python)
    os.environ["VIRTUAL_ENV"] = os.path.dirname(folder)
    os.environ["PATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PATH")]))
    return python


def with_uv(uv: str, block: str) -> str:
    asking = in_cache(block) + ".py"
    draft = f"{asking}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(f"{block}\n{ASKS}")
    os.replace(draft, asking)
    result = subprocess.run([uv, "run", "--no-progress", "--script", asking], stdout=subprocess.PIPE, universal_newlines=True)
    if result.returncode != 0:
        raise Failed(result.returncode)
    return result.stdout.splitlines()[-1]


def metadata(block: "re.Match[str]") -> dict:
    try:
        import tomllib
    except ImportError:
        try:
            from pip._vendor import tomli as tomllib
        except ImportError:
            raise Failed(69, "Without uv this needs Python 3.11 or newer, or pip.") from None
    try:
        return tomllib.loads("".join(line[2:] or "\n" for line in block.group("content").splitlines(True)))
    except ValueError as error:
        raise Failed(65, f"The block is not TOML: {error}") from None


def with_venv(wants: dict) -> str:
    packages = wants.get("dependencies", [])
    versions = wants.get("requires-python", "")
    facts = [sorted(packages), versions, sys.version, os.path.realpath(sys.executable)]
    folder = in_cache(json.dumps(facts))
    python = os.path.join(folder, "bin", "python")
    made = os.path.join(folder, "made")
    # The installer holds the lock too: if only this process is killed, no second installer starts.
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(made):
            make_venv(folder, python, packages, versions, lock.fileno())
            # Last: without it the folder is not used. It is not moved into place, because its scripts would contain the
            # old path.
            open(made, "w").close()
    return python


def make_venv(folder: str, python: str, packages: list, versions: str, lock: int) -> None:
    # A package on PYTHONPATH would count as installed, and a module of the working folder would shadow another of that
    # name.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: str) -> int:
        return subprocess.run(words, pass_fds=[lock], env=env, cwd=os.path.dirname(folder)).returncode

    def need(status: int) -> None:
        if status != 0:
            raise Failed(status)

    shutil.rmtree(folder, ignore_errors=True)
    print(f"Installing {', '.join(packages) or 'an environment'}", file=sys.stderr, flush=True)
    # Creating a venv with its own pip takes seconds.
    lends = pip_reaches_others()
    need(run(sys.executable, "-m", "venv", *(["--without-pip"] if lends else []), folder))
    if versions and run(sys.executable if lends else python, "-c", FITS, versions) != 0:
        raise Failed(69, f"It requires Python {versions}; here is {sys.version.split()[0]}, and no uv that gets others.")
    if packages:
        pip = [sys.executable, "-m", "pip", "--python", python] if lends else [python, "-m", "pip"]
        quietly = ["--quiet", "--no-input", "--disable-pip-version-check"]
        need(run(*pip, "install", *quietly, "--", *packages))


def pip_reaches_others() -> bool:
    try:
        from pip import __version__
    except ImportError:
        return False
    # The first version with --python.
    return tuple(int(part) for part in __version__.split(".")[:2]) >= (22, 3)


def in_cache(key: str) -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    folder = os.path.join(home, "holdfast", "python")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, hashlib.sha256(key.encode()).hexdigest()[:32])


main(*sys.argv[1:])
