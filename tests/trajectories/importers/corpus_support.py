"""Collections of texts to import, made here, and what was made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trajectories.importers import Corpus, CorpusSettings, Field, Imported, NoTrajectory, Problem, Result


def results(path: Path, **settings: Any) -> list[Result]:
    corpus = Corpus(CorpusSettings(field=Field.LAW, **settings))
    if not path.is_dir():
        return list(corpus.read(path))
    return [result for source in corpus.sources(path) for result in corpus.within(path).read(source)]


def documents(path: Path, **settings: Any) -> list[Imported]:
    """The documents of a collection without a problem."""
    found = results(path, **settings)
    assert not [result for result in found if isinstance(result, Problem)]
    return [result for result in found if isinstance(result, Imported)]


def document(path: Path, **settings: Any) -> Imported:
    (found,) = documents(path, **settings)
    return found


def problems(path: Path, **settings: Any) -> list[Problem]:
    return [result for result in results(path, **settings) if isinstance(result, Problem)]


def skipped(path: Path, **settings: Any) -> list[str]:
    return [result.kind for result in results(path, **settings) if isinstance(result, NoTrajectory)]


def title(imported: Imported) -> Any:
    (turn,) = imported.turns
    payload: Any = turn.action.payload
    assert payload["name"] == "read_document"
    return payload["arguments"]["title"]


def text(imported: Imported) -> str:
    (turn,) = imported.turns
    return turn.observation.text
