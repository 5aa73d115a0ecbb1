"""The command `referee`, and `python -m referee`."""

import os
import signal
import sys

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the command line of this process.

    The handlers come before any other import: while modules are imported, and again when all is done, a signal ends
    the process without a word. Between the two `referee.cli.interrupts` has handlers of its own.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _quit)
    from referee.cli.guard import guard

    guard(sys.argv[1:])
    from referee.cli.main import main as run

    run()


def _quit(*_: object) -> None:
    os._exit(130)


if __name__ == "__main__":
    main()
