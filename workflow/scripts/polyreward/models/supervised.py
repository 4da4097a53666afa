"""Run a command until standard input ends, then end it with all that it started; `serving` runs this file.

However the process at the other end of standard input ends, nothing that was started for it is left."""

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command, the arguments after the first; return its exit code (128 and the number of a
    signal).

    The first argument is how many seconds it has to end after SIGTERM, before SIGKILL."""
    grace_s, *command = sys.argv[1:]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def signal_all(number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)

    def end_with_input() -> None:
        os.read(0, 1)  # nothing is ever written there; it returns when the other end is closed
        signal_all(signal.SIGTERM)
        try:
            child.wait(float(grace_s))
        except subprocess.TimeoutExpired:
            signal_all(signal.SIGKILL)

    threading.Thread(target=end_with_input, daemon=True).start()
    code = child.wait()
    signal_all(signal.SIGKILL)  # what it has started and left
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
