"""The program: whoever asks it to end has it end quietly, also while its heavy imports are under way."""

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

_SIGNALLED = 128
"""What shells add to a signal's number to make an exit code of it."""
_AGAIN_S = 0.01


def _end(number: int, _frame: FrameType | None) -> None:
    """End in good order: what is half-written is removed, and worker processes end."""
    sys.exit(_SIGNALLED + number)


def _unheard(unraisable: "sys.UnraisableHookArgs") -> None:
    """Ask again, where what asks us to end has met a place that no exception leaves: a weak reference's callback."""
    asked = {SystemExit: signal.SIGTERM, KeyboardInterrupt: signal.SIGINT}.get(unraisable.exc_type)
    if asked is None:
        sys.__unraisablehook__(unraisable)
        return
    again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), asked))  # not here, where it would be met too
    again.daemon = True
    with suppress(RuntimeError):  # the interpreter is ending
        again.start()


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _end)
    sys.unraisablehook = _unheard
    try:
        from worldtape.cli import main as run

        signal.siginterrupt(signal.SIGINT, True)  # Polars' handler would have a wait for a lock go on
        run()
    except KeyboardInterrupt:
        sys.exit(_SIGNALLED + signal.SIGINT)


if __name__ == "__main__":
    main()
