"""What replays tell: where the same actions were recorded again, and what in the answers differed then.

Times, process ids, temporary names and addresses are part of every recording and cannot be predicted. Where a task was
recorded more than once and the same was done, they show: the spans of an observation that a replay has otherwise.
"""

from curation.replays.job import find_volatile
from curation.replays.table import Volatile, VolatileSummary, open_volatile
from curation.search_settings import VolatileSettings

__all__ = ["Volatile", "VolatileSettings", "VolatileSummary", "find_volatile", "open_volatile"]
