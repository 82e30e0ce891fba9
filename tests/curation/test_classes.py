"""The classes: the first rule that holds decides, one turn at a time or many at once."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.classes import CLASSES, Thresholds, TurnClass, classify, classify_batch
from curation.statistics import TurnStatistics

EDGES = sorted({float(value) for value in Thresholds().model_dump().values() if value <= 1.5} | {0.0, 1.0})
near_an_edge = st.sampled_from([math.nextafter(edge, side) for edge in EDGES for side in (-1.0, edge, 9.0)])
shares = st.one_of(st.floats(0, 1), near_an_edge.map(lambda value: min(max(value, 0.0), 1.0)))
ratios = st.one_of(st.floats(0, 1e6), near_an_edge.map(abs), st.just(math.inf))
turns = st.tuples(shares, shares, shares, ratios, st.sampled_from([0, 1, 31, 32, 33, 1000]))


@pytest.mark.parametrize(
    ("ol", "nov", "r", "length", "expected"),
    [
        (0.0, 0.6, 1.01, 100, TurnClass.RETRIEVAL),
        (0.5, 0.59, 1.51, 100, TurnClass.EXPANSION),
        (0.0, 0.5, 1.0, 100, TurnClass.ACTION),
        (0.0, 0.5, 1.5, 32, TurnClass.ACTION),
        (0.0, 0.5, 1.5, 33, TurnClass.OTHER),
        (0.7, 0.29, 1.0, 100, TurnClass.ECHO),
        (0.7, 0.3, 1.0, 100, TurnClass.BOILERPLATE),
        (0.5, 0.49, 1.0, 100, TurnClass.BOILERPLATE),
        (0.49, 0.49, 0.99, 100, TurnClass.TRANSFORM),
        (0.49, 0.49, 1.0, 100, TurnClass.OTHER),
        (0.0, 0.0, 0.0, 0, TurnClass.OTHER),
    ],
)
def test_each_rule_holds_up_to_its_edge(ol: float, nov: float, r: float, length: int, expected: TurnClass) -> None:
    assert classify(TurnStatistics(ol, nov, 0.0, r), len_observation=length) is expected


@given(st.lists(turns, min_size=1, max_size=20))
@settings(max_examples=300)
def test_many_turns_at_once_get_the_same_classes(rows: list[tuple[float, float, float, float, int]]) -> None:
    ol, nov, _, r, length = (np.array(column) for column in zip(*rows, strict=True))
    codes = classify_batch(ol, nov, r, length, Thresholds())
    expected = [classify(TurnStatistics(*row[:4]), len_observation=row[4]) for row in rows]
    assert [CLASSES[code] for code in codes] == expected


def test_thresholds_are_configuration() -> None:
    stats = TurnStatistics(0.0, 0.55, 0.0, 2.0)
    assert classify(stats, len_observation=100) is TurnClass.OTHER
    loose = Thresholds(retrieval_nov=0.5)
    assert classify(stats, len_observation=100, thresholds=loose) is TurnClass.RETRIEVAL


def test_the_classes_are_those_of_the_format_in_its_order() -> None:
    assert list(CLASSES) == ["retrieval", "expansion", "action", "echo", "boilerplate", "transform", "other"]
