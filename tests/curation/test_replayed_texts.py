"""What differs in texts that were observed in each other's stead, whatever their lines and however many they are."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.replays import VolatileSettings
from curation.replays.alignment import Block, common_blocks
from curation.replays.differences import Differences, Outcome
from curation.replays.shapes import shape
from curation.replays.spans import Spans, outside, runs, shifted, union
from tests.curation.replay_support import marked


def spans_of(*texts: str, settings: VolatileSettings | None = None) -> list[Spans]:
    """The spans of texts that were observed in each other's stead, none of which has diverged."""
    differences = Differences(texts, settings or VolatileSettings())
    assert differences.outcomes == [None] * len(texts)
    return [differences.spans_of(number) for number in range(len(texts))]


SHELL = """$ ls -l
total {total}
-rw-r--r-- 1 user user {size} Mar {day:>2} {hour}:{minute} notes.txt
-rw-r--r-- 1 user user 40 Mar {day:>2} {hour}:07 {name}
$ """


def test_lines_are_found_again_though_all_of_them_have_changed() -> None:
    one = SHELL.format(total=8, size=12, day=5, hour="09", minute="31", name="tmp.aB3xY")
    other = SHELL.format(total=12, size=12, day=17, hour="11", minute="02", name="tmp.q91Zz")
    spans, others = spans_of(one, other)
    assert (
        marked(one, spans)
        == """$ ls -l
total [8]
-rw-r--r-- 1 user user 12 Mar[  5] [09]:[31] notes.txt
-rw-r--r-- 1 user user 40 Mar[  5] [09]:07 tmp.[aB3xY]
$ """
    )
    assert (
        marked(other, others)
        == """$ ls -l
total [12]
-rw-r--r-- 1 user user 12 Mar[ 17] [11]:[02] notes.txt
-rw-r--r-- 1 user user 40 Mar[ 17] [11]:07 tmp.[q91Zz]
$ """
    )


def test_a_line_that_only_one_has_is_volatile_as_a_whole() -> None:
    one, other = "start\nwarning: slow disk\ndone and well\n", "start\ndone and well\n"
    spans, others = spans_of(one, other)
    assert marked(one, spans) == "start\n[warning: slow disk\n]done and well\n"
    assert others == []


LINES = st.lists(st.text("ab 1:\n", max_size=6), max_size=8).map("\n".join)


@given(LINES, LINES)
def test_blocks_are_the_same_in_both_texts_and_in_order(one: str, other: str) -> None:
    blocks = common_blocks(one, other, 10**6)
    assert blocks is not None
    reached = (0, 0)
    for block in blocks:
        assert block.size > 0
        assert (block.first, block.second) >= reached
        assert block.first >= reached[0]
        assert block.second >= reached[1]
        assert one[block.first : block.first + block.size] == other[block.second : block.second + block.size]
        reached = block.first + block.size, block.second + block.size


@given(LINES, st.lists(LINES, max_size=4))
def test_the_volatile_characters_are_all_that_tells_replays_apart(reference: str, others: list[str]) -> None:
    """Without their spans all of them are the same text."""
    spans, *of_others = spans_of(reference, *others, settings=VolatileSettings(max_differing=1.0))
    left = "".join(reference[start:end] for start, end in outside(spans, len(reference)))
    for other, own in zip(others, of_others, strict=True):
        assert "".join(other[start:end] for start, end in outside(own, len(other))) == left


def plainly(reference: str, others: Sequence[str], settings: VolatileSettings) -> list[Spans | Outcome]:
    """What `Differences` finds, with all that any two texts have in common in memory at once."""
    found: list[tuple[list[Block], Spans, Spans] | Outcome] = []
    for other in others:
        blocks = common_blocks(reference, other, settings.max_cells)
        if blocks is None:
            found.append(Outcome.SKIPPED)
            continue
        spans = outside([(block.first, block.first + block.size) for block in blocks], len(reference))
        own = outside([(block.second, block.second + block.size) for block in blocks], len(other))
        sizes = [(sum(end - start for start, end in spans), len(reference))]
        sizes += [(sum(end - start for start, end in own), len(other))]
        has_diverged = any(differing > settings.max_differing * size for differing, size in sizes)
        found.append(Outcome.DIVERGED if has_diverged else (blocks, spans, own))
    everywhere = union(one[1] for one in found if not isinstance(one, Outcome))
    of_others = (one if isinstance(one, Outcome) else union([one[2], shifted(everywhere, one[0])]) for one in found)
    return [everywhere, *of_others]


@given(
    LINES,
    st.lists(LINES, max_size=4),
    st.builds(VolatileSettings, max_differing=st.sampled_from([0.2, 0.5, 1.0]), max_cells=st.sampled_from([5, 10**6])),
)
def test_what_texts_have_in_common_may_wait_elsewhere(
    reference: str, others: list[str], settings: VolatileSettings
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("curation.replays.differences._IN_MEMORY", 50)
        differences = Differences([reference, *others], settings)
        found = [outcome or differences.spans_of(number) for number, outcome in enumerate(differences.outcomes)]
    assert found == plainly(reference, others, settings)


def test_memory_does_not_grow_with_the_number_of_replays() -> None:
    def log(seed: int) -> str:
        rng = random.Random(seed)
        return "".join(f"{rng.randrange(10**8):08d} line {line} of the log\n" for line in range(300))

    def peak(num_replays: int) -> int:
        tracemalloc.start()
        differences = Differences(map(log, range(1 + num_replays)), VolatileSettings())
        assert all(len(differences.spans_of(number)) > 250 for number in range(1 + num_replays))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("curation.replays.differences._IN_MEMORY", 0)
        few, many = peak(3), peak(15)
    assert many - few < 12 * 1000


@given(st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=5), max_size=3))
def test_spans_are_sets_of_code_points(drawn: list[list[tuple[int, int]]]) -> None:
    several = [union([[(start, start + size)] for start, size in spans]) for spans in drawn]
    points = {point for spans in several for start, end in spans for point in range(start, end)}
    united = union(several)
    assert {point for start, end in united for point in range(start, end)} == points
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(united))
    assert {point for start, end in outside(united, 40) for point in range(start, end)} == set(range(40)) - points
    assert runs(np.isin(np.arange(40), list(points))) == united
    moved = shifted(united, [(3, 103, 10), (15, 120, 4)])
    assert {point for start, end in moved for point in range(start, end)} == {
        point + there - here
        for here, there, size in ((3, 103, 10), (15, 120, 4))
        for point in points
        if here <= point < here + size
    }


def test_ten_megabytes_whose_every_line_has_its_time_are_compared_line_by_line() -> None:
    """No step looks at more pairs than there are cells for, so this cannot take quadratic time."""
    one, other = (
        "".join(f"{hour}:{line % 60:02} GET /page{line} {'x' * 500}\n" for line in range(20_000)) for hour in (1, 2)
    )
    assert len(one) > 10**7
    spans, others = spans_of(one, other)
    assert marked(one[:40], spans[:1]).startswith("[1]:00 GET /page0 xx")
    assert len(spans) == len(others) == 20_000


def test_shapes_lose_words_with_digits_and_the_width_of_columns() -> None:
    assert shape("Mar  5 12:31 tmp.aB3 v1.2-rc\tx\n\n") == "Mar 0 0 0 0 x\n\n"
    assert shape("no figures") == "no figures"
