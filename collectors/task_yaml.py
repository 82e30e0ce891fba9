"""YAML as it may come from anybody: read whole into nodes that know their lines, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import yaml

from trajectories import InputError

_DEEPEST = 100
_MOST_REPEATED_NODES = 10_000
"""An alias stands for all of what it names: nine levels of nine of them stand for 387 million values."""


class TaskFileError(InputError):
    """A task file is broken; the message names file, line and task."""


def read_root(path: Path) -> yaml.Node | None:
    """The root of a YAML file, None of an empty one. Raises :class:`TaskFileError` where there is none to be had."""
    try:
        return yaml.SafeLoader(path.read_text(encoding="utf-8")).get_single_node()
    except OSError as error:
        raise TaskFileError(f"the file cannot be read: {error.strerror}", where=str(path)) from None
    except yaml.MarkedYAMLError as error:
        raise _marked_error(path, error) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise TaskFileError(f"this is not YAML: {error}", where=str(path)) from None
    except RecursionError:
        raise _too_deep(str(path)) from None


def construct(path: Path, node: yaml.MappingNode) -> dict[str, object]:
    """What a mapping says. Raises :class:`TaskFileError` for what is no value, too large, or means two things."""
    _Check(path).walk(node, depth=0)
    try:
        content: dict[str, object] = yaml.SafeLoader("").construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise _marked_error(path, error) from None
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        # How PyYAML fails at a value that is not what its tag says: a number of 10,000 digits, !!bool maybe.
        raise TaskFileError(f"a value cannot be read: {error}", where=place(path, node)) from None
    return content


def place(path: Path, node: yaml.Node) -> str:
    """File and line, as messages name them."""
    return f"{path}:{node.start_mark.line + 1}"


class _Check:
    """A walk over all that a node stands for, aliases followed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: set[int] = set()
        self._num_repeated = 0

    def walk(self, node: yaml.Node, *, depth: int) -> None:
        if depth > _DEEPEST:  # as an alias for what it stands in is, without end
            raise _too_deep(place(self._path, node))
        self._num_repeated += id(node) in self._seen
        if self._num_repeated > _MOST_REPEATED_NODES:
            raise self._error("the aliases stand for too many values", node, mend="write out what is meant")
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self._walk_mapping(node, depth)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self.walk(item, depth=depth + 1)
        elif any("\ud800" <= character <= "\udfff" for character in node.value):
            raise self._error("a text holds half a surrogate pair", node)

    def _walk_mapping(self, node: yaml.MappingNode, depth: int) -> None:
        names: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error("a key must be a plain text", key)
            if key.value in names:
                raise self._error(f"key '{key.value}' is given twice", key)
            names.add(key.value)
            self.walk(key, depth=depth + 1)
            self.walk(value, depth=depth + 1)

    def _error(self, what: str, node: yaml.Node, mend: str | None = None) -> TaskFileError:
        return TaskFileError(what, where=place(self._path, node), mend=mend)


def _marked_error(path: Path, error: yaml.MarkedYAMLError) -> TaskFileError:
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    return TaskFileError(f"this is not YAML: {error.problem}", where=f"{path}:{line}")


def _too_deep(where: str) -> TaskFileError:
    return TaskFileError(f"the values are nested more than {_DEEPEST} levels deep", where=where)
