"""What can go wrong with a sandbox, by whose fault and what to do about it."""

from trajectories.errors import InputError, WorldtapeError


class SandboxError(WorldtapeError):
    """The environment could not be had, or failed while it was set up."""


class EngineUnavailableError(SandboxError):
    """No container engine answers; the message says how to get one."""


class ImageMissingError(InputError, SandboxError):
    """A sandbox image is not built; the message says how to build it."""

    exit_code = 2


class SandboxDiedError(SandboxError):
    """The container is gone (killed, out of memory, out of lifetime)."""
