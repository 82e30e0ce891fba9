"""What is wrong with a turn, so that it leaves the loss: filters that mask, each with a reason code and a switch.

Nothing is rewritten: a masked turn's text stays as context, so that the state is carried forward through it. A filter
that looks at single turns judges a row group (`curation.filters.turns`); what speaks against a whole trajectory is
gathered from all its turns when a sidecar part is joined (`curation.filters.condemned`).
"""

from curation.filters.settings import Filters, Scope

__all__ = ["Filters", "Scope"]
