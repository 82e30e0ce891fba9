"""Opening a sandbox by the name of its domain."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sandboxes import DOMAINS, open_sandbox
from sandboxes.engines import Container, ContainerSpec, Resource
from trajectories import InputError


class UnusedEngine:
    """Opening a sandbox starts nothing: no engine is asked for anything."""

    name = "unused"

    async def create(self, spec: ContainerSpec) -> Container:
        raise AssertionError(f"{spec} was asked for")

    async def owned(self) -> list[Resource]:
        raise AssertionError("what is there was asked for")

    async def remove(self, resource: Resource) -> None:
        raise AssertionError(f"{resource} was to be removed")

    async def close(self) -> None: ...


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_domain_opens_with_files_and_setup_and_without_starting_anything(domain: str) -> None:
    sandbox = open_sandbox(domain, engine=UnusedEngine(), files={"a": b"b"}, setup=["true"])
    assert callable(sandbox.start)


def test_an_unknown_domain_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"^there is no domain 'terminl'; did you mean 'terminal'\?$"):
        open_sandbox("terminl", engine=UnusedEngine())


def test_a_domain_like_no_other_is_refused_with_all_there_are() -> None:
    with pytest.raises(InputError, match=r"known are: mcp, terminal$"):
        open_sandbox("xyz", engine=UnusedEngine())


def test_an_unknown_option_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"^the terminal sandbox has no option 'colums'; did you mean 'columns'\?$"):
        open_sandbox("terminal", engine=UnusedEngine(), colums=80)


def test_a_screen_of_no_size_is_refused() -> None:
    with pytest.raises(InputError, match="a screen has"):
        open_sandbox("terminal", engine=UnusedEngine(), rows=0)


def test_an_option_of_the_wrong_type_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^the value of 'rows' is not valid: Input should be a valid integer"):
        open_sandbox("terminal", engine=UnusedEngine(), rows="many")


def test_limits_may_come_as_a_mapping_and_unknown_ones_are_refused() -> None:
    open_sandbox("terminal", engine=UnusedEngine(), limits={"num_cpus": 2})
    with pytest.raises(InputError, match=r"^there is no limit 'cpus'; did you mean 'num_cpus'\?$"):
        open_sandbox("terminal", engine=UnusedEngine(), limits={"cpus": 2})


def test_options_of_another_domain_are_not_the_terminals() -> None:
    open_sandbox("mcp", engine=UnusedEngine(), servers=["git"])
    with pytest.raises(InputError, match="the terminal sandbox has no option 'servers'"):
        open_sandbox("terminal", engine=UnusedEngine(), servers=["git"])


def test_importing_the_package_needs_no_optional_extra() -> None:
    script = "import sys, sandboxes; sys.exit(any(name in sys.modules for name in ('docker', 'mcp', 'jsonschema')))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
