"""Which servers a task may name."""

import pytest

from sandboxes.mcp import KNOWN_SERVERS, McpServer
from sandboxes.mcp.servers import ServerChoice, choose_servers
from trajectories import InputError


def test_a_known_server_is_had_by_its_name() -> None:
    assert choose_servers(["git"]) == [KNOWN_SERVERS["git"]]


def test_a_server_of_ones_own_is_named_with_its_command() -> None:
    own: ServerChoice = {"name": "own", "command": ["python3", "x.py"], "env": {"A": "b"}}
    assert choose_servers([own]) == [McpServer(name="own", command=("python3", "x.py"), env={"A": "b"})]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([], r"no MCP server is named \(servers\); name some of: filesystem, git, sqlite"),
        (["gti"], r"there is no MCP server 'gti' \(servers\[0\]\); did you mean 'git'\?"),
        (["git", "git"], r"the MCP server 'git' is named twice"),
        (["git", {"name": "own"}], r"Field required \(servers\[1\]\.command\)"),
        ([{"name": "own", "command": ["x"], "enviroment": {}}], r"servers\[0\]\.enviroment"),
        ([{"name": "own", "command": []}], r"at least 1 item"),
        ([{"name": "a b", "command": ["x"]}], r"servers\[0\]\.name"),
    ],
)
def test_a_wrong_choice_is_refused_in_one_clear_line(choices: list[ServerChoice], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_servers(choices)
