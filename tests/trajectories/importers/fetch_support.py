"""Archives of every kind, and a server on this machine that hands out a folder."""

from __future__ import annotations

import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import zstandard

from trajectories import Dataset
from trajectories.importers import ImportReport, import_trajectories

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
TEMPORARY = ".incoming-*"


def archive(path: Path, members: Mapping[str, bytes]) -> Path:
    """An archive of files, of the kind that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, content in members.items():
                zipped.writestr(name, content)
        return path
    packing = path.suffix.removeprefix(".").replace("tgz", "gz")
    tarred = tar_bytes(members, "w" if packing in ("tar", "zst") else f"w:{packing}")
    path.write_bytes(zstandard.compress(tarred) if packing == "zst" else tarred)
    return path


def tar_bytes(members: Mapping[str, bytes | tarfile.TarInfo], mode: str = "w") -> bytes:
    """A tar of files; a header stands for a member without content."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=mode) as tarred:  # type: ignore[call-overload]
        for name, content in members.items():
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
            tarred.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return written.getvalue()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The URL at which a folder, and its listings, can be read."""
    with serving(partial(_Files, directory=str(folder))) as url:
        yield url


@contextmanager
def serving(handler: Callable[..., SimpleHTTPRequestHandler]) -> Iterator[str]:
    # Where a proxy leads out of here, it does not lead back.
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, patch.dict(os.environ, no_proxy="127.0.0.1"):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class BrokenOff(_Files):
    """Promises more than it gives."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(b'{"messages": []}\n')


class SaysEncoded(_Files):
    """Calls the compression of a file one of the transfer, as some servers do."""

    def end_headers(self) -> None:
        self.send_header("Content-Encoding", "gzip")
        super().end_headers()


class Forbidden(_Files):
    def do_GET(self) -> None:
        self.send_error(403)


def imported_rows(data: Path, source_format: str, *paths: Path | str) -> dict[str, str]:
    """Trajectory id → source of what an import into a new data set brings; nothing of fetching is left there."""
    report = imported_report(data, source_format, *paths)
    assert not report.problems
    rows = Dataset(data).scan_trajectories().select("trajectory_id", "source").collect()
    return dict(rows.iter_rows())


def imported_report(data: Path, source_format: str, *paths: Path | str) -> ImportReport:
    report = import_trajectories(Dataset(data), source_format, paths)
    assert not list(data.glob(TEMPORARY))
    return report
