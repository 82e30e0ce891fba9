"""Where actions happen: container engines, and one sandbox a domain.

Importing this package needs none of the optional extras: an engine or a domain brings in its own when it is opened.
"""

from sandboxes.base import Sandbox, SandboxFacts
from sandboxes.engines import Container, ContainerSpec, Engine, ExecResult, Limits, Stream, open_engine
from sandboxes.errors import EngineUnavailableError, ImageMissingError, SandboxDiedError, SandboxError
from sandboxes.leases import Lease
from sandboxes.registry import DOMAINS, open_sandbox

__all__ = [
    "DOMAINS",
    "Container",
    "ContainerSpec",
    "Engine",
    "EngineUnavailableError",
    "ExecResult",
    "ImageMissingError",
    "Lease",
    "Limits",
    "Sandbox",
    "SandboxDiedError",
    "SandboxError",
    "SandboxFacts",
    "Stream",
    "open_engine",
    "open_sandbox",
]
