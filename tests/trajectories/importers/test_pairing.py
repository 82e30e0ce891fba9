"""Which call an answer belongs to."""

from __future__ import annotations

from trajectories import Action
from trajectories.importers import LossReport, TurnList, answer
from trajectories.importers.pairing import Call, Pairing


def _pairs(*events: str | tuple[str, ...], by_order: bool = False) -> tuple[list[tuple[str, str]], LossReport]:
    """``"id"`` is an answer to that id; ``("id", …)`` a message with calls of those ids. Texts are ``id/position``."""
    loss = LossReport()
    turns = TurnList(loss)
    pairing = Pairing(turns, loss, by_order=by_order)
    for position, event in enumerate(events):
        if isinstance(event, str):
            pairing.answer(event, answer(f"{event}/{position}"))
        else:
            pairing.call([Call(name, Action.of(f"{name}/{position}")) for name in event])
    pairing.finish()
    return [(str(turn.action.payload), turn.observation.text) for turn in turns.turns], loss


def test_parallel_calls_are_answered_in_any_order() -> None:
    assert _pairs(("a", "b"), "b", "a")[0] == [("b/0", "b/1"), ("a/0", "a/2")]


def test_an_id_that_is_used_again_means_the_latest_call() -> None:
    assert _pairs(("0",), "0", ("0",), "0")[0] == [("0/0", "0/1"), ("0/2", "0/3")]


def test_an_answer_of_a_foreign_id_is_no_turn_unless_the_ids_do_not_agree_at_all() -> None:
    pairs, loss = _pairs(("a",), "x")
    assert (pairs, loss.skipped) == (
        [],
        {"observation without its action": 1, "action without an observation": 1},
    )
    pairs, loss = _pairs(("a",), ("b",), "x", "y", by_order=True)
    assert pairs == [("b/1", "x/2"), ("a/0", "y/3")]
    assert loss.inferred["answer joined to its call by order"] == 2


def test_an_answer_without_an_id_belongs_to_the_latest_message() -> None:
    assert _pairs(("a", "b"), "", "")[0] == [("a/0", "/1"), ("b/0", "/2")]
