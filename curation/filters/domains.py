"""The kinds of environment that filters tell apart."""

from typing import Final

from trajectories.model import DOMAINS

TOOLS: Final = frozenset({"mcp", "swe"})
"""What is done is a call of a declared tool."""
ENVIRONMENTS: Final = frozenset(DOMAINS)
"""What answers is a world with a state. Elsewhere (text collections) a single turn is the whole of it."""
