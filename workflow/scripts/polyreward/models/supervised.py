"""Run a command for as long as standard input is open, then end it with all that it started; `serving` runs
this file by itself.

In whatever way the process at the other end of standard input ends, killed or not, nothing that was started
for it is left."""

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command, the arguments after the first, and return its exit code (128 and the signal's number
    where one killed it).

    The first argument is how many seconds it has to end after SIGTERM, before SIGKILL."""
    grace_s, *command = sys.argv[1:]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=(child, float(grace_s)), daemon=True).start()
    code = child.wait()
    _signal_all(child, signal.SIGKILL)  # what it has started and left
    return code if code >= 0 else 128 - code


def _end_with_input(child: subprocess.Popen, grace_s: float) -> None:
    while os.read(0, 1):  # nothing is ever written there; it returns nothing when the other end is closed
        pass
    _signal_all(child, signal.SIGTERM)
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        _signal_all(child, signal.SIGKILL)


def _signal_all(child: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main())
