"""OSWorld's results: traj.jsonl, a line an action, whose screenshot shows what came after it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, Result
from trajectories.importers.file_names import files_named
from trajectories.importers.json_text import parse
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import ContradictionError, Problem, UnreadableError
from trajectories.importers.sources import read_rows
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, as_object, plain, shown, sub
from trajectories.model import Action, JsonValue, Status

sources = files_named("traj.jsonl")

_FIELDS: Final = {"step_num", "action_timestamp", "action", "response", "reward", "done", "screenshot_file", "Error"}
_TIMES: Final = ("%Y%m%d@%H%M%S", "%Y%m%d@%H%M%S%f")
_ENDINGS: Final = frozenset({"DONE", "FAIL"})
"""Actions that only tell the harness that the agent has finished."""
_IMAGES: Final = frozenset({".png", ".jpg", ".jpeg", ".webp"})


def read(source: Path) -> Iterator[Result]:
    """The one trajectory that the file is. Lines that cannot be read are problems, and the rest counts."""
    rollout = _Rollout(source)
    for row in read_rows(source):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            rollout.add(as_object(row.value, "a step"), row.digest)
        except ContradictionError as error:
            yield row.problem(str(error))
            return
        except UnreadableError as error:
            yield row.problem(error.what)
    if rollout.num_rows:
        yield rollout.imported()


class _Rollout:
    """Reads steps in their order."""

    def __init__(self, source: Path) -> None:
        self.num_rows = 0
        self._source = source
        self._loss = LossReport()
        self._turns = TurnList(self._loss)
        self._digest = hashlib.sha256()
        self._error: str | None = None
        self._outcome: dict[str, JsonValue] = {}
        self._screenshots: dict[int, Path] = {}
        self._last_step = 0

    def add(self, row: Object, digest: str) -> None:
        """Raises ``UnreadableError`` for what is no step."""
        if sub(row, "verifier_metadata").get("osworld_steps") is not None:
            raise UnreadableError("a NeMo-Gym rollout, of which no observation of any kind was kept")
        if "Error" not in row and "action" not in row:
            raise UnreadableError("the row has neither an action nor an error")
        self._check_order(row.get("step_num"))
        self.num_rows += 1
        self._digest.update(digest.encode())
        self._loss.drop_fields("step", row, _FIELDS)
        self._outcome |= {name: row[name] for name in ("reward", "done") if name in row}
        if "Error" in row:
            self._error = shown(row["Error"])
            self._loss.skip("error in place of a step")
        elif plain(row["action"]) in _ENDINGS:
            self._outcome["ended_by"] = row["action"]
            self._loss.skip(f"{shown(row['action'])} of the agent")
        else:
            self._step(row)

    def _check_order(self, number: JsonValue) -> None:
        """Several actions may be of one step; none is of an earlier one."""
        if not isinstance(number, int):
            return
        if number < self._last_step:
            raise ContradictionError(
                f"step_num {number} comes after {self._last_step}", mend="give each rollout a file of its own"
            )
        self._last_step = number

    def imported(self) -> Imported:
        self._loss.infer("instruction, which the file does not hold")
        if not (self._error or self._outcome.get("done") is True or "ended_by" in self._outcome):
            self._loss.infer("status")
        return Imported(
            domain="os",
            digest=self._digest.hexdigest(),
            source_id="/".join(self._source.absolute().parts[-3:-1]),
            place=str(self._source),
            instruction="",
            turns=self._turns.turns,
            loss=self._loss,
            status=Status.FAILED if self._error else Status.COMPLETED,
            outcome=self._outcome | self._score(),
            error=self._error,
            sandbox="OSWorld",
            screenshots=self._screenshots,
        )

    def _step(self, row: Object) -> None:
        action = row["action"]
        reasoning = shown(row.get("response")) or None
        # What was seen is an image; that there is no text does not mean that there was nothing to see.
        turn = self._turns.add(
            Action(shown(action), action, reasoning),
            answer("", tree_status="missing"),
            started_at=_time(plain(row.get("action_timestamp"))),
        )
        image = self._image(plain(row.get("screenshot_file")))
        if image is None:
            self._loss.skip("screenshot whose file is not there")
        else:
            self._loss.drop("text of an observation, which was kept as an image")
            self._screenshots[turn.number] = image

    def _score(self) -> dict[str, JsonValue]:
        """What the evaluation wrote beside the file."""
        try:
            score = parse(self._source.with_name("result.txt").read_bytes())
        except (OSError, ValueError):
            return {}
        return {"score": score} if isinstance(score, int | float) else {}

    def _image(self, name: str) -> Path | None:
        """The screenshot beside the file; a name that leads elsewhere is none."""
        image = self._source.with_name(name) if name and Path(name).name == name else None
        return image if image is not None and image.suffix.lower() in _IMAGES and image.is_file() else None


def _time(text: str) -> datetime | None:
    for pattern in _TIMES:
        try:
            return datetime.strptime(text, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
