"""The bubblewrap engine: sandboxes without a daemon."""

from sandboxes.engines.bubblewrap.container import BubblewrapContainer
from sandboxes.engines.bubblewrap.engine import BubblewrapEngine

__all__ = ["BubblewrapContainer", "BubblewrapEngine"]
