"""The boundary: exit codes, one line an error, nothing half-written, stdout for what was asked for and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import psutil
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from collectors import CollectSummary
from curation import curate
from tests.curation.recordings import cut_row_groups, record
from tests.curation.test_job import wait_for
from tests.sharding.conftest import write_shards
from tests.worldtape.conftest import PROGRAM, Finished, Worldtape, files_below, make_newer, run_program
from trajectories import Dataset, Status, compact
from worldtape import version
from worldtape.cli import app

TASK = """\
id: look
domain: terminal
instruction: Look around.
actions:
  - ls
"""
VERBS = [
    f"{name} {inner}".strip()
    for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]  # it is a group
    for inner in getattr(command, "commands", {"": None})
]


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_an_example(verb: str) -> None:
    shown = CliRunner().invoke(app, [*verb.split(), "--help"])
    assert shown.exit_code == 0
    assert f"Example: worldtape {verb}" in shown.stdout


def test_the_program_says_its_version() -> None:
    assert run_program("--version") == Finished(0, f"{version()}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["pack", "data"],
        ["inspect", "data", "--unknown"],
        ["collect", "tasks", "--dataset", "d", "--engine", "lxc"],
        ["collect", "tasks", "--dataset", "d", "--num", "0"],
        ["collect", "tasks", "--dataset", "d", "--policy", "unheard-of"],
        ["pack", "data", "--tokenizer", "t", "--overflow", "cut"],
        ["import", "messages", "a", "--dataset", "d", "--stric"],
        ["images", "biuld"],
    ],
)
def test_wrong_usage_leaves_with_2_and_says_what_is_wrong(worldtape: Worldtape, arguments: list[str]) -> None:
    done = worldtape(*arguments)
    assert (done.code, done.out, done.err) == (2, "", f"{done.error}\n")
    assert re.search(r"; see: worldtape( [a-z]+)* --help$", done.error)


@pytest.mark.parametrize(("arguments", "first"), [([], "doctor"), (["images"], "build")])
def test_without_a_verb_the_verbs_are_shown(worldtape: Worldtape, arguments: list[str], first: str) -> None:
    done = worldtape(*arguments)
    assert (done.code, done.out) == (2, "")
    assert f"Commands:\n  {first} " in done.err


@pytest.mark.parametrize("as_json", ["", " --json"])
@pytest.mark.parametrize(
    "line",
    ["curate {}", "inspect {}", "export {} {}/out", "pools a={} b={}", "pack {} --tokenizer {}", "report {}"],
)
def test_a_data_set_that_is_not_there_is_one_line(
    worldtape: Worldtape, tmp_path: Path, line: str, as_json: str
) -> None:
    done = worldtape(*(line + as_json).replace("{}", str(tmp_path / "nothing")).split())
    assert (done.code, done.out, done.err) == (2, "", f"{done.error}\n")
    assert "there is no data set" in done.error or "is not curated" in done.error
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("verb", ["inspect", "curate", "pack"])
def test_a_data_set_of_a_newer_schema_is_one_line(
    worldtape: Worldtape, curated: Dataset, tiny_tokenizer: Path, verb: str
) -> None:
    make_newer(curated)
    before = files_below(curated.folder)
    options = ["--tokenizer", tiny_tokenizer] if verb == "pack" else []
    done = worldtape(verb, curated.folder, *options)
    assert (done.code, done.out) == (2, "")
    assert re.search(r"newer worldtape \(schema version 99; .*\); upgrade worldtape", done.error)
    assert files_below(curated.folder) == before


@pytest.mark.parametrize(
    ("table", "arguments"),
    [
        ("trajectories", ["inspect"]),
        ("turns", ["inspect", "t-one"]),
        ("turns", ["curate", "--overwrite"]),
        ("trajectories", ["curate", "--overwrite"]),
        ("turns", ["pack", "--tokenizer", "{tokenizer}"]),
        ("trajectories", ["pack", "--tokenizer", "{tokenizer}"]),
    ],
)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_damaged_data_set_is_one_line_that_names_the_part(
    worldtape: Worldtape, curated: Dataset, tiny_tokenizer: Path, table: str, arguments: list[str], as_json: list[str]
) -> None:
    """Bytes in the middle of a part are spoilt: its footer still reads. Nothing of the output is printed."""
    for path in (curated.folder / table).rglob("*.parquet"):
        column = pq.read_metadata(path).row_group(0).column(0)
        start = column.dictionary_page_offset or column.data_page_offset
        content = bytearray(path.read_bytes())
        content[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
        path.write_bytes(content)
    verb, *options = (argument.format(tokenizer=tiny_tokenizer) for argument in arguments)
    done = worldtape(verb, curated.folder, *options, *as_json)
    assert (done.code, done.out) == (1, "")
    assert re.search(rf"cannot be read \({curated.folder}/{table}/.*\.parquet\)", done.error)
    assert done.error.endswith("copy it again from its source")


def test_the_traceback_is_shown_where_it_is_asked_for(worldtape: Worldtape, tmp_path: Path) -> None:
    done = worldtape("--debug", "curate", tmp_path / "nothing")
    assert done.code == 2
    assert "Traceback" in done.err
    assert "there is no data set" in done.error


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("id: look\ninstruktion: x\n", r"instruktion.*tasks\.yaml.*did you mean 'instruction'"),
        ("id: [\n", r"tasks\.yaml"),
        (TASK.replace("terminal", "mcp") + "servers: [no-such-server]\n", r"no-such-server"),
    ],
)
def test_a_broken_task_file_is_one_line_that_names_the_place(
    worldtape: Worldtape, tmp_path: Path, text: str, complaint: str
) -> None:
    (tmp_path / "tasks.yaml").write_text(text)
    done = worldtape("collect", tmp_path / "tasks.yaml", "--dataset", tmp_path / "data", "--engine", "bubblewrap")
    assert (done.code, done.out) == (2, "")
    assert re.search(complaint, done.error)
    assert not (tmp_path / "data").exists()


def test_a_secret_that_is_not_in_the_environment_is_one_line(worldtape: Worldtape, tmp_path: Path) -> None:
    (tmp_path / "tasks.yaml").write_text(TASK)
    options = ["--dataset", tmp_path / "data", "--secret", "NO_SUCH_VARIABLE"]
    done = worldtape("collect", tmp_path / "tasks.yaml", *options)
    assert (done.code, done.out) == (2, "")
    assert "NO_SUCH_VARIABLE" in done.error
    assert not (tmp_path / "data").exists()


def test_an_engine_that_does_not_answer_is_one_line(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-engine.sock")
    (tmp_path / "tasks.yaml").write_text(TASK)
    done = worldtape("collect", tmp_path / "tasks.yaml", "--dataset", tmp_path / "data", "--engine", "docker")
    assert (done.code, done.out) == (1, "")
    assert re.search("docker", done.error, re.IGNORECASE)
    assert not (tmp_path / "data").exists()


@pytest.mark.bubblewrap
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_an_image_that_is_not_built_is_one_line_with_the_command_that_builds_it(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLDTAPE_CACHE", str(tmp_path / "empty"))
    (tmp_path / "tasks.yaml").write_text(
        "id: look\ndomain: mcp\ninstruction: x\nservers: [sqlite]\nactions:\n"
        "  - call: {name: list_tables, arguments: {}}\n"
    )
    done = worldtape("collect", tmp_path / "tasks.yaml", "--dataset", tmp_path / "data", "--engine", "bubblewrap")
    assert (done.code, done.out) == (2, "")
    assert "run: worldtape images build mcp --engine bubblewrap" in done.error


def test_a_tokenizer_without_a_chat_template_is_one_line(
    worldtape: Worldtape, curated: Dataset, tokenizer_without_template: Path
) -> None:
    done = worldtape("pack", curated.folder, "--tokenizer", tokenizer_without_template)
    assert (done.code, done.out) == (2, "")
    assert "give one with --chat-template FILE" in done.error
    assert not list((curated.folder / "shards").glob("*"))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a tiny file system needs root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def filled(disk: Path) -> Path:
    """A file that takes all the room there is."""
    ballast = disk / "ballast"
    with pytest.raises(OSError, match="No space left"), ballast.open("wb") as file:
        file.write(bytes(2**20))
    return ballast


def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(
    worldtape: Worldtape, recorded: Dataset, tiny_disk: Path, tiny_tokenizer: Path
) -> None:
    data = tiny_disk / "data"
    for table in ("turns", "trajectories"):
        shutil.copytree(recorded.folder / table, data / table)
    ballast = filled(tiny_disk)
    before = files_below(data)
    done = worldtape("curate", data)
    assert (done.code, done.out) == (1, "")
    assert "the disk is full" in done.error
    assert files_below(data) - before == {"curation/.default.lock"}
    ballast.unlink()
    assert worldtape("curate", data).code == 0
    filled(tiny_disk)
    before = files_below(data)
    done = worldtape("pack", data, "--tokenizer", tiny_tokenizer)
    assert done.code == 1
    assert "the disk is full" in done.error
    assert files_below(data) == before


def test_a_disk_with_too_little_room_is_told_before_a_run_begins(worldtape: Worldtape, tiny_disk: Path) -> None:
    (tiny_disk / "tasks.yaml").write_text(TASK)
    done = worldtape("collect", tiny_disk / "tasks.yaml", "--dataset", tiny_disk / "data")
    assert (done.code, done.out) == (1, "")
    assert done.error


def test_a_run_that_was_stopped_before_its_end_is_no_success(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stopped(*_: object, **__: object) -> CollectSummary:
        return CollectSummary(
            run="r",
            num_turns=4,
            statuses={Status.COMPLETED: 1},
            num_skipped=0,
            failures={},
            interrupted=True,
            duration_s=1.0,
        )

    monkeypatch.setattr("worldtape.verbs.collect._collect", stopped)
    (tmp_path / "tasks.yaml").write_text(TASK)
    done = worldtape("collect", tmp_path / "tasks.yaml", "--dataset", tmp_path / "data", "--run", "r", "--json")
    assert done.code == 1
    assert done.json["interrupted"] is True
    assert "run r, 1 task," in done.err


def test_the_reports_are_one_json_document_on_stdout(
    worldtape: Worldtape, recorded: Dataset, tiny_tokenizer: Path, tmp_path: Path
) -> None:
    curated = worldtape("curate", recorded.folder, "--json")
    assert (curated.code, curated.json["turns"], curated.json["classes"]["other"]["turns"]) == (0, 5, 1)
    assert "curate, statistics: 1/1 MB" in curated.err
    packed = worldtape("pack", recorded.folder, "--tokenizer", tiny_tokenizer, "--context", 128, "--json")
    assert (packed.code, packed.json["num_documents"], packed.json["refused"]) == (0, 1, {"no kept turn": 2})
    assert "pack: 2/2 row groups" in packed.err
    shards, run = packed.json["path"], tmp_path / "run"
    trained = worldtape("train", "--shards", shards, "--output", run, "--steps", 1, "--json")
    assert (trained.code, trained.json["last"]["step"]) == (0, 1)
    assert "train: 1/1 step, loss " in trained.err
    again = worldtape("train", "--shards", shards, "--output", run, "--steps", 1)
    assert (again.code, again.out) == (2, "")
    assert "add --resume" in again.error


def test_training_that_diverges_is_one_line(worldtape: Worldtape, tmp_path: Path) -> None:
    shards = write_shards(tmp_path, [[False] + [True] * 20], context=16)
    options = ["--warmup", 0, "--lr", 1e30, "--steps", 9]
    done = worldtape("train", "--shards", shards.path, "--output", tmp_path / "run", *options)
    assert (done.code, done.out) == (1, "")
    assert "training diverged" in done.error


def shell(line: str) -> Finished:
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False)
    return Finished(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("arguments", ["--json", "", "t-one"])
def test_a_reader_that_has_seen_enough_is_no_failure(curated: Dataset, arguments: str) -> None:
    for reader in ("true", "head -n 1 > /dev/null"):
        assert shell(f"{PROGRAM} inspect {curated.folder} {arguments} | {reader}") == Finished(0, "", "")


def test_streams_that_are_closed_are_no_failure(curated: Dataset) -> None:
    assert shell(f"{PROGRAM} inspect {curated.folder} t-one >&-") == Finished(0, "", "")
    assert shell(f"{PROGRAM} inspect {curated.folder}/nothing 2>&-").code == 2


def test_a_stream_that_is_not_of_unicode_shows_the_rest_by_its_number(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "data")
    record(dataset, "t-one", [("ls\n", "naïve 零")])
    compact(dataset, "r1")
    ascii_only = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0"}
    shown = run_program("inspect", dataset.folder, "t-one", env=ascii_only)
    assert shown.code == 0
    assert r"na\xefve \u96f6" in shown.out
    refused = run_program("inspect", dataset.folder, "零", env=ascii_only)
    assert refused.code == 2
    assert "cannot be a trajectory id" in refused.error


_INTERRUPTED = """
import os, signal, sys

number, interrupted = int(sys.argv.pop(1)), sys.argv.pop(1)

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Interrupter())
from worldtape.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["polars", "curation.job"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_during_the_imports_is_quiet(recorded: Dataset, module: str, number: int, code: int) -> None:
    """Of the program, and of a verb."""
    arguments = [sys.executable, "-c", _INTERRUPTED, str(int(number)), module, "curate", str(recorded.folder)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


_UNHEARD = """
import os, sys, threading, weakref
from worldtape import cli
from worldtape.__main__ import main

def run():
    thing = type("Thing", (), {})()
    reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), int(sys.argv[1])))
    del thing
    threading.Event().wait()

cli.main = run
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_a_place_that_no_exception_leaves_is_heard(number: int, code: int) -> None:
    arguments = [sys.executable, "-c", _UNHEARD, str(int(number))]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


_ON_WORKERS = """
import functools, sys
import curation
from worldtape.__main__ import main

if __name__ == "__main__":
    sizes = curation.JobSizes(task_bytes=1, in_process_bytes=0)
    curation.curate = functools.partial(curation.curate, sizes=sizes)
    main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_job_that_is_asked_to_end_takes_its_workers_with_it(tmp_path: Path, number: int, code: int) -> None:
    dataset = Dataset(tmp_path / "data")
    record(dataset, "t", [(f"echo {turn}", f"{turn}\n" * 100) for turn in range(60)])
    compact(dataset, "r1")
    cut_row_groups(dataset, 1)
    (script := tmp_path / "on_workers.py").write_text(_ON_WORKERS)
    command = [sys.executable, str(script), "curate", dataset.url, "--workers", "2"]
    work = dataset.folder / "curation" / "default" / ".work"
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE) as job:
        wait_for(job, lambda: any(work.rglob("*.parquet.*-*")))
        workers = psutil.Process(job.pid).children(recursive=True)
        job.send_signal(number)
        _, said = job.communicate(timeout=60)
    assert job.returncode == code
    assert [line for line in said.decode().splitlines() if not line.startswith("curate, ")] == []
    assert psutil.wait_procs(workers, timeout=60)[1] == []
    assert curate(dataset).num_turns == 60


def test_work_that_is_refused_is_not_announced(worldtape: Worldtape, curated: Dataset, tmp_path: Path) -> None:
    for arguments in (
        ["pack", curated.folder, "--tokenizer", tmp_path],
        ["train", "--shards", tmp_path, "--output", tmp_path / "run"],
    ):
        done = worldtape(*arguments)
        assert done.code == 2
        assert done.err == f"{done.error}\n"


@pytest.mark.parametrize("suffix", ["", ".index", ".loss"])
def test_shards_whose_bytes_are_not_those_packed_are_not_trained_on(
    worldtape: Worldtape, tmp_path: Path, suffix: str
) -> None:
    shards = write_shards(tmp_path, [[False] + [True] * 20], context=16)
    file = shards.data_file.with_name(f"{shards.data_file.name}{suffix}")
    file.write_bytes(bytes(255 - byte for byte in file.read_bytes()))
    done = worldtape("train", "--shards", tmp_path, "--output", tmp_path / "run")
    assert (done.code, done.out) == (1, "")
    assert done.error.endswith("copy the shards again, or pack again")
    assert not (tmp_path / "run").exists()


def test_a_disk_that_is_full_when_a_checkpoint_is_written_is_one_line(
    worldtape: Worldtape, tmp_path: Path, tiny_disk: Path
) -> None:
    """The weights alone are larger than the disk."""
    shards = write_shards(tmp_path, [[False] + [True] * 20], context=16)
    done = worldtape("train", "--shards", shards.path, "--output", tiny_disk / "run", "--steps", 1)
    assert (done.code, done.out) == (1, "")
    assert re.search(r"the disk is full .*step-00000001.*--resume", done.error)
    assert files_below(tiny_disk) == {"run/metrics.jsonl"}


BLOCKED = """
import sys

blocked = sys.argv.pop(1)

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from worldtape.cli import main
main()
"""


@pytest.mark.parametrize(
    ("extra", "module", "arguments"),
    [
        ("collect", "docker", ["collect", "{tasks}", "--dataset", "{data}", "--engine", "docker"]),
        ("curate", "numba", ["curate", "{data}"]),
        ("curate", "jinja2", ["curate", "{data}"]),
        ("pack", "transformers", ["pack", "{data}", "--tokenizer", "x"]),
        ("train", "torch", ["train", "--shards", "x", "--output", "y"]),
    ],
)
def test_an_extra_that_is_not_installed_is_named_in_one_line(
    recorded: Dataset, tmp_path: Path, extra: str, module: str, arguments: list[str]
) -> None:
    (tmp_path / "tasks.yaml").write_text(TASK)
    words = [word.format(data=recorded.folder, tasks=tmp_path / "tasks.yaml") for word in arguments]
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, module, *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"run: pip install 'worldtape[{extra}]'" in done.stderr.splitlines()[-1]
    assert f"module {module}" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
