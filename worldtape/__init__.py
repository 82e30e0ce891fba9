"""The command line and its wiring; the logic lives in the packages it calls."""

from importlib.metadata import version as _installed_version


def version() -> str:
    """The installed version of worldtape."""
    return _installed_version("worldtape")
