"""The vocabulary of worldtape, the store, and the renderers that make text of raw observations."""

from trajectories.blobs import BlobStore
from trajectories.compaction import compact, recover
from trajectories.dataset import Dataset, Part, Trajectory
from trajectories.errors import DamagedFileError, InputError, MissingExtraError, StorageError, WorldtapeError
from trajectories.journal import JournalWriter
from trajectories.model import (
    DOMAINS,
    Action,
    Ending,
    ErrorKind,
    Header,
    JsonValue,
    Observation,
    Status,
    SystemPrompt,
    Turn,
    canonical_json,
)
from trajectories.recording import EventSpool, RawEvent, SessionRecording
from trajectories.renderers import replay

__all__ = [
    "DOMAINS",
    "Action",
    "BlobStore",
    "DamagedFileError",
    "Dataset",
    "Ending",
    "ErrorKind",
    "EventSpool",
    "Header",
    "InputError",
    "JournalWriter",
    "JsonValue",
    "MissingExtraError",
    "Observation",
    "Part",
    "RawEvent",
    "SessionRecording",
    "Status",
    "StorageError",
    "SystemPrompt",
    "Trajectory",
    "Turn",
    "WorldtapeError",
    "canonical_json",
    "compact",
    "recover",
    "replay",
]
