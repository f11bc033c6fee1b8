"""Where the process starts: isolate imports, claim the protocol's descriptors, only then load anything else.

The order is the point of this file. A module that prints while it is imported, or a `json.py` in the folder a
harness happens to run in, must find the stream already out of reach (architecture.md, 'Invariants'). So nothing
is imported at the top but what the interpreter has loaded anyway.
"""

import os
import sys

HELP_FLAGS = frozenset({"-h", "--help", "--version"})


def main() -> None:
    """Run `afterturn`: serve over stdio, or one of the commands for people. Never returns."""
    isolate_imports()
    args = sys.argv[1:]
    if is_command(args):
        from afterturn.cli import run

        sys.exit(run(args))
    from afterturn.wire.descriptors import claim_stdio

    stdin_fd, stdout_fd = claim_stdio()
    serve(args, stdin_fd, stdout_fd)


def is_command(args: list[str]) -> bool:
    """Whether the command line is for a person. A bare `afterturn` serves, except in a terminal."""
    if not args:
        return sys.stdin is not None and sys.stdin.isatty()
    return not args[0].startswith("-") or args[0] in HELP_FLAGS


def serve(args: list[str], stdin_fd: int, stdout_fd: int) -> None:
    """Serve one client on the two descriptors until it goes, then end the process with the page's exit code.

    `os._exit` is deliberate: a handler may still block a worker thread, and interpreter shutdown would wait
    for it. By then the app has saved, flushed and logged what there was.
    """
    import gc
    import signal

    # Until the event loop listens there is nothing to save: leave at once, with the code that is promised.
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(143))
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    # Start-up makes tens of thousands of objects that all stay; collecting among them finds nothing.
    gc.disable()
    from afterturn.options import OptionError, parse_options

    try:
        options = parse_options(args)
    except OptionError as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        sys.exit(2)
    from afterturn.app import run_server

    code = run_server(options, stdin_fd, stdout_fd)
    sys.stderr.flush()
    os._exit(code)


def isolate_imports() -> None:
    """Take the current folder and PYTHONPATH off `sys.path`, as `python -I` does.

    A console script cannot carry `-I`, and both are places where a user's project shadows our modules. What
    belongs to this installation stays: a checkout run through PYTHONPATH is a legitimate way to start.
    """
    if sys.flags.isolated:
        return
    listed = os.environ.get("PYTHONPATH")
    # An empty entry in PYTHONPATH is the current folder.
    foreign = {_absolute(entry or ".") for entry in listed.split(os.pathsep)} if listed else set[str]()
    if not sys.flags.safe_path and sys.path:
        foreign.add(_absolute(sys.path[0]))
    sys.path[:] = [entry for entry in sys.path if _absolute(entry) not in foreign or _is_ours(_absolute(entry))]


def _is_ours(folder: str) -> bool:
    """Whether a folder belongs to this installation: it holds one of our packages, or the interpreter's own."""
    if folder == _absolute(f"{__file__}/../..") or os.path.isdir(f"{folder}/afterturn_protocol"):  # noqa: PTH112
        return True
    return folder.startswith((f"{sys.prefix}/lib", f"{sys.base_prefix}/lib"))


def _absolute(path: str) -> str:
    """`path` as an absolute one; as it is where the current folder has been removed."""
    try:
        return os.path.abspath(path)  # noqa: PTH100 (pathlib is not loaded yet)
    except OSError:
        return path
