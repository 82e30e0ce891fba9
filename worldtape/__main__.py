"""The program: an interrupt ends it quietly, also while its heavy imports are under way."""

import sys

_INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""


def main() -> None:
    """Run the command line."""
    try:
        from worldtape.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
