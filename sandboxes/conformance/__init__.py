"""The conformance kit: facts that hold for every container engine, as small checks on real containers."""

from sandboxes.conformance import commands, harm, isolation, lifecycle, streams
from sandboxes.conformance.check import Check, CheckResult, ConformanceError, carry_out
from sandboxes.engines.base import Engine

__all__ = ["CHECKS", "Check", "CheckResult", "ConformanceError", "carry_out", "run_conformance"]

CHECKS: tuple[Check, ...] = tuple(
    value
    for module in (commands, streams, isolation, harm, lifecycle)
    for value in vars(module).values()
    if isinstance(value, Check)
)


async def run_conformance(engine: Engine) -> list[CheckResult]:
    """Run every check on an engine, one after the other; it takes about half a minute.

    Raises nothing for what an engine does wrong: that is in the results.
    """
    return [await carry_out(check, engine) for check in CHECKS]
