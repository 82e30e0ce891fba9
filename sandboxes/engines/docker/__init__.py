"""The Docker engine: containers through the daemon's API."""

from sandboxes.engines.docker.engine import DockerEngine

__all__ = ["DockerEngine"]
