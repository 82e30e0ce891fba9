"""The configuration of a curation: thresholds, keep ratios, filters and seed, with the defaults of the format."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import ValidationError, model_validator

from curation.classes import Thresholds
from curation.filters.settings import Filters
from curation.fingerprints import fingerprint_of
from curation.keep import KeepRatios
from curation.search_settings import ContaminationSettings, DuplicateSettings, Searches, Settings, VolatileSettings
from curation.words import WordRule
from trajectories.errors import InputError
from trajectories.spelling import nearest


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
            InputError: no such file, not TOML, an unknown key (the nearest known one is named) or a value out of range.
        """
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError("the curation profile cannot be read", where=str(path), mend=str(error.strerror)) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError("the curation profile is not TOML", where=str(path), mend=str(error)) from None
        except ValidationError as error:
            raise _profile_error(error, path) from None

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change with any setting."""
        return fingerprint_of(self.model_dump())


def _profile_error(error: ValidationError, path: Path) -> InputError:
    """The first thing that is wrong with a profile file, as one line."""
    first = error.errors()[0]
    place = f"{path}, key {'.'.join(map(str, first['loc']))}" if first["loc"] else str(path)
    if first["type"] == "extra_forbidden":
        return InputError("unknown key in the curation profile", where=place, mend=_nearest(first["loc"]))
    return InputError("bad value in the curation profile", where=place, mend=first["msg"].removeprefix("Value error, "))


def _nearest(location: Iterable[int | str]) -> str:
    """Advice for an unknown key, among the keys of its own table."""
    *tables, key = map(str, location)
    known: Mapping[str, object] = CurationProfile().model_dump()
    for table in tables:
        inner = known[table]
        assert isinstance(inner, Mapping)
        known = inner
    return nearest(key, known)
