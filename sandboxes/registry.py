"""The domains there are. A new one is one line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Final, get_type_hints

from pydantic import TypeAdapter, ValidationError

from sandboxes.base import Sandbox
from sandboxes.engines.base import Engine, Limits
from trajectories import InputError, MissingExtraError
from trajectories.spelling import nearest

_SANDBOXES: Final = {
    "mcp": "sandboxes.mcp:McpSandbox",
    "terminal": "sandboxes.terminal:TerminalSandbox",
}
"""Domain → the class of its sandbox: it takes an engine and, by keyword, options."""

_VALIDATORS: Final[Mapping[object, Callable[[object], object]]] = {
    int: TypeAdapter(int).validate_python,
    float: TypeAdapter(float).validate_python,
    str: TypeAdapter(str).validate_python,
    Limits | None: TypeAdapter(Limits | None).validate_python,
}

DOMAINS: Final = tuple(_SANDBOXES)


def open_sandbox(domain: str, *, engine: Engine, **options: object) -> Sandbox:
    """A sandbox of ``domain`` in a container of ``engine``, not yet started; it does not close the engine.

    ``options`` are those of the domain's class, such as ``files`` (relative path → content) for every domain; they may
    come from a task's YAML: ``limits`` may be a mapping.

    Raises :class:`~trajectories.InputError` for a domain, an option or an image that does not exist, with the nearest
    that does, and for a value of the wrong type; :class:`~trajectories.MissingExtraError` where the domain needs
    something that is not installed.
    """
    _require_known([domain], _SANDBOXES, "there is no domain")
    make = _load(_SANDBOXES[domain])
    hints = get_type_hints(make.__init__)
    del hints["engine"], hints["return"]
    _require_known(options, hints, f"the {domain} sandbox has no option")
    if "image" in options:
        from sandboxes.images import image_names  # needs the extra that the engine has been opened with

        _require_known([options["image"]], image_names(), "there is no sandbox image")
    limits = options.get("limits")
    if isinstance(limits, Mapping):
        _require_known(limits, [field.name for field in fields(Limits)], "there is no limit")
    return make(engine, **{name: _checked(name, value, hints[name]) for name, value in options.items()})


def _load(path: str) -> Callable[..., Sandbox]:
    module, _, name = path.partition(":")
    try:
        make: Callable[..., Sandbox] = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("sandboxes"):
            raise
        raise MissingExtraError("collect", missing.name) from missing
    return make


def _require_known(names: Iterable[object], known: Iterable[str], complaint: str) -> None:
    known = set(known)
    for name in map(str, names):
        if name not in known:
            raise InputError(f"{complaint} '{name}'", mend=nearest(name, known))


def _checked(name: str, value: object, hint: object) -> object:
    """``value`` as the option wants it, where that can be said in general; the class checks what is richer."""
    validate = _VALIDATORS.get(hint)
    if validate is None:
        return value
    try:
        return validate(value)
    except ValidationError as invalid:
        reasons = sorted({error["msg"] for error in invalid.errors()})
        raise InputError(f"the value of '{name}' is not valid: {'; '.join(reasons)}") from None
