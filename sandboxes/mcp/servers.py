"""Which tool servers an MCP sandbox can run, and how each is started inside the ``mcp`` image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trajectories import InputError, JsonValue
from trajectories.spelling import nearest

_GIT_SETUP = """
git config --global user.name user
git config --global user.email user@sandbox
git config --global init.defaultBranch main
[ -e repo/.git ] || git init -q repo
cd repo
git rev-parse -q --verify HEAD > /dev/null && exit
git add -A
GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z \
    git commit -q --allow-empty -m 'Initial commit'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A tool server that speaks MCP over stdin and stdout, run in ``/workspace`` of the sandbox."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    setup: Sequence[str] = ()
    """Shell commands that make what the server needs, run once in ``/workspace`` before it starts."""


ServerChoice: TypeAlias = str | Mapping[str, JsonValue] | McpServer
"""The name of a known server, or a server of one's own: ``{"name", "command", "env"?, "setup"?}``."""

KNOWN_SERVERS: Mapping[str, McpServer] = {
    server.name: server
    for server in (
        McpServer(
            name="filesystem",
            command=(
                "node",
                "/opt/mcp/filesystem/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
                "/workspace",
            ),
        ),
        McpServer(
            name="git",
            command=("python3", "-m", "mcp_server_git", "--repository", "/workspace/repo"),
            env={"PYTHONPATH": "/opt/mcp/git"},
            setup=(_GIT_SETUP,),
        ),
        McpServer(
            name="sqlite",
            command=("python3", "/opt/mcp/sqlite/bin/mcp-server-sqlite", "--db-path", "/workspace/data.db"),
            env={"PYTHONPATH": "/opt/mcp/sqlite"},
        ),
    )
}


class _ServerModel(BaseModel):
    """The shape of a user's own server in a task file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    command: list[str] = Field(min_length=1)
    env: dict[str, str] = Field(default_factory=dict)
    setup: list[str] = Field(default_factory=list)


def choose_servers(choices: Sequence[ServerChoice]) -> list[McpServer]:
    """The servers meant by ``choices``. Raises ``InputError`` for an unknown, malformed or doubled one, or for none."""
    servers = [_choose(choice, f"servers[{index}]") for index, choice in enumerate(choices)]
    if not servers:
        raise InputError("no MCP server is named", where="servers", mend=f"name some of: {', '.join(KNOWN_SERVERS)}")
    names = [server.name for server in servers]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"the MCP server '{doubled[0]}' is named twice", where="servers", mend="name each once")
    return servers


def _choose(choice: ServerChoice, where: str) -> McpServer:
    if isinstance(choice, McpServer):
        return choice
    if isinstance(choice, str):
        return _known(choice, where)
    try:
        model = _ServerModel.model_validate(choice)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise InputError(
            f"not an MCP server: {first['msg']}",
            where=f"{where}.{key}" if key else where,
            mend="write {name, command: [program, argument …], env?, setup?}",
        ) from error
    return McpServer(name=model.name, command=tuple(model.command), env=model.env, setup=tuple(model.setup))


def _known(name: str, where: str) -> McpServer:
    if server := KNOWN_SERVERS.get(name):
        return server
    raise InputError(f"there is no MCP server '{name}'", where=where, mend=nearest(name, KNOWN_SERVERS))
