"""The one error tree of worldtape: every error a user can meet is one line that says what, where and how to mend it."""

from collections.abc import Callable


class WorldtapeError(Exception):
    """A failure a person must read: ``what (where): mend``.

    Args:
        what: what happened, in one clause.
        where: the file, row, key, container or URL it happened at.
        mend: what the reader can do about it, in one clause.

    The command line prints it as one line and leaves with ``exit_code``.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, mend: str | None = None) -> None:
        self.what, self.where, self.mend = what, where, mend
        place = f" ({where})" if where else ""
        advice = f"; {mend}" if mend else ""
        super().__init__(" ".join(f"{what}{place}{advice}".split()))

    def reword(self, change: Callable[[str], str]) -> None:
        """Change each of its texts."""
        where, mend = self.where and change(self.where), self.mend and change(self.mend)
        WorldtapeError.__init__(self, change(self.what), where=where, mend=mend)

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders whole, whatever arguments their class takes."""
        return _rebuilt, (type(self), self.what, self.where, self.mend)


def _rebuilt(kind: type[WorldtapeError], what: str, where: str | None, mend: str | None) -> WorldtapeError:
    error = kind.__new__(kind)
    WorldtapeError.__init__(error, what, where=where, mend=mend)
    return error


class InputError(WorldtapeError):
    """The user's input, configuration or data is wrong: exit code 2, nothing half-written."""

    exit_code = 2


class StorageError(WorldtapeError):
    """The disk would not take or give the bytes (full, read-only, failing); nothing half-written was left."""


class DamagedFileError(WorldtapeError):
    """A file of the store is not what was written; the message says which line or part."""


class MissingExtraError(InputError):
    """A verb needs an optional dependency group that is not installed."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"this needs the '{extra}' extra, which is not installed",
            where=f"module {module}",
            mend=f"run: pip install 'worldtape[{extra}]'",
        )
