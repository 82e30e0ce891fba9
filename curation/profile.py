"""The configuration of a curation: thresholds, keep ratios, filters and seed, with the defaults of the format."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError, model_validator

from curation.classes import Thresholds
from curation.filters.settings import Filters
from curation.fingerprints import fingerprint_of
from curation.keep import KeepRatios
from curation.search_settings import ContaminationSettings, DuplicateSettings, Searches, Settings, VolatileSettings
from curation.words import WordRule
from trajectories.errors import InputError
from trajectories.importers.encodings import conversion, not_utf8, wide_encoding
from trajectories.spelling import nearest

_ALLOWED: Final[Mapping[str, str]] = {
    "model_type": "a table is expected, with keys of its own",
    "bool_type": "true or false is expected",
    "int_type": "a whole number is expected",
    "int_from_float": "a whole number is expected",
    "float_type": "a number is expected",
    "finite_number": "a finite number is expected",
}
"""Kind of a validation error → what is allowed, in the words of TOML."""
_TOLD_LINE: Final = re.compile(r"\(at line ([0-9]+),")
"""An error at the end of the file tells no line."""
_SHOWN: Final = 60


class Draw(StrEnum):
    """What a keep ratio is the share of: the two readings of how the classes are thinned out."""

    TURN = "turn"
    """A turn is in the loss or is not."""
    TOKEN = "token"
    """Of every turn so many tokens are in the loss."""


class CurationProfile(Settings):
    """All that a curation's result depends on, beside the data and the benchmarks."""

    seed: int = 0
    draw: Draw = Draw.TURN
    word_rule: WordRule = WordRule.PYTHON_LOWERED
    """The only one there is; recorded so that data judged by another could not be taken for this."""
    thresholds: Thresholds = Thresholds()
    keep_ratios: KeepRatios = KeepRatios()
    filters: Filters = Filters()
    searches: Searches = Searches()
    duplicates: DuplicateSettings = DuplicateSettings()
    contamination: ContaminationSettings = ContaminationSettings()
    volatile: VolatileSettings = VolatileSettings()

    @model_validator(mode="after")
    def _what_is_masked_is_looked_for(self) -> Self:
        # Filters that are on by default mean: if it is looked for.
        if self.filters.duplicate_turn and not self.searches.duplicates:
            raise ValueError("filters.duplicate_turn masks what searches.duplicates = false does not look for")
        return self

    @classmethod
    def from_toml(cls, path: Path) -> CurationProfile:
        """The profile of a TOML file whose keys are the fields' names; what it leaves out has its default.

        Raises:
            InputError: no such file, not TOML, an unknown key (the nearest known one is named), or a value of another
                type or out of range.
        """
        given = _read_toml(path)
        try:
            # As JSON, for its strict mode takes names for enumerations, and yet no text for a number.
            return cls.model_validate_json(json.dumps(given, default=str), strict=True)
        except ValidationError as error:
            raise _profile_error(error, path) from None

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with any setting."""
        return fingerprint_of(self.model_dump())


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        if encoding := wide_encoding(content):
            what = f"the curation profile is not UTF-8, but {encoding}"
            raise InputError(what, where=str(path), mend=conversion(encoding))
        return tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise InputError("the curation profile cannot be read", where=str(path), mend=error.strerror) from None
    except UnicodeDecodeError as error:
        what, mend = not_utf8(error)
        raise InputError(f"the curation profile is {what}", where=str(path), mend=mend) from None
    except tomllib.TOMLDecodeError as error:
        raise _toml_error(error, content.decode("utf-8-sig"), path) from None
    except RecursionError:
        raise InputError("the curation profile is nested too deep", where=str(path)) from None
    except ValueError:  # what is left of them is Python's limit to the digits of a number
        raise InputError("a number in the curation profile has too many digits", where=str(path)) from None


def _toml_error(error: tomllib.TOMLDecodeError, text: str, path: Path) -> InputError:
    """The line that is wrong; one that is right by itself, as those above it are, repeats a key or a table."""
    told = _TOLD_LINE.search(str(error))
    lines = text.rstrip().split("\n")
    above = lines[: int(told[1]) - 1 if told else -1]
    line = "".join(lines[len(above) : len(above) + 1])
    place = f"{path}:{len(above) + 1}"
    try:
        is_repeated = bool(tomllib.loads(line)) and isinstance(tomllib.loads("\n".join(above)), dict)
    except ValueError:
        is_repeated = False
    if not is_repeated:
        return InputError("the curation profile is not TOML", where=place, mend=str(error))
    key = line.partition("=")[0].strip()[:_SHOWN]
    return InputError(f"the curation profile says twice what {key} is", where=place, mend="leave out one of the two")


def _profile_error(error: ValidationError, path: Path) -> InputError:
    """The first thing that is wrong with the values of a profile file, as one line."""
    first = error.errors()[0]
    place = f"{path}, key {'.'.join(map(str, first['loc']))}" if first["loc"] else str(path)
    if first["type"] == "extra_forbidden":
        return InputError("unknown key in the curation profile", where=place, mend=_nearest(first["loc"]))
    allowed = _ALLOWED.get(first["type"], first["msg"].removeprefix("Value error, "))
    if isinstance(first["input"], float) and not math.isfinite(first["input"]):
        allowed = _ALLOWED["finite_number"]
    return InputError("bad value in the curation profile", where=place, mend=allowed)


def _nearest(location: Iterable[int | str]) -> str:
    """Advice for an unknown key, among the keys of its own table."""
    *tables, key = map(str, location)
    known: Mapping[str, object] = CurationProfile().model_dump()
    for table in tables:
        inner = known[table]
        assert isinstance(inner, Mapping)
        known = inner
    return nearest(key, known)
