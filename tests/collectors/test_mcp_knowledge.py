"""What tool servers answer becomes what later calls are about."""

from collectors.policies.mcp_knowledge import Knowledge
from sandboxes.base import SandboxFacts
from trajectories import Action, ErrorKind, Observation, SystemPrompt


def answer(text: str, error_kind: ErrorKind | None = None) -> Observation:
    return Observation(text=text, renderer="mcp-text@1", error_kind=error_kind)


def test_the_files_that_the_sandbox_begins_with_are_known() -> None:
    state = "Servers:\n- git (git 1): git_log\n\nFiles in /workspace:\na b.txt (3 bytes)\nrepo/\nrepo/x.py (0 bytes)"
    knowledge = Knowledge()
    knowledge.start_from(
        SandboxFacts(
            domain="mcp", sandbox="mcp@1", engine=None, image_digest=None, prompt=SystemPrompt(initial_state=state)
        )
    )
    assert knowledge.context("read_file")["path"] == ["/workspace/a b.txt", "/workspace/repo/x.py"]
    assert knowledge.context("list_directory")["path"] == ["/workspace", "/workspace/repo"]
    assert knowledge.context("git_add")["repo_file"] == ["x.py"]


def test_a_listing_tells_of_files_and_a_move_of_where_they_are() -> None:
    knowledge = Knowledge()
    knowledge.learn(Action.call("list_directory", {"path": "/workspace/d"}), answer("[FILE] a.txt\n[DIR] e"))
    assert knowledge.paths == ["/workspace", "/workspace/d", "/workspace/d/a.txt", "/workspace/d/e"]
    move = {"source": "/workspace/d/a.txt", "destination": "/workspace/d/b.txt"}
    knowledge.learn(Action.call("move_file", move), answer("Successfully moved"))
    assert knowledge.context("read_file")["path"] == ["/workspace/d/b.txt"]


def test_tables_columns_branches_and_commits_are_learnt() -> None:
    knowledge = Knowledge()
    knowledge.learn(Action.call("list_tables", {}), answer("[{'name': 'orders'}]"))
    knowledge.learn(Action.call("create_table", {"query": "CREATE TABLE stock (n INTEGER)"}), answer("created"))
    knowledge.learn(
        Action.call("describe_table", {"table_name": "stock"}), answer("[{'name': 'n', 'type': 'INTEGER'}]")
    )
    knowledge.learn(Action.call("git_branch", {}), answer("* main\n  topic"))
    knowledge.learn(Action.call("git_log", {}), answer(f"Commit: {'ab' * 20}"))
    context = knowledge.context("read_query")
    assert (context["table"], context["column"]) == (["orders", "stock"], ["n"])
    assert context["revision"] == ["HEAD", "main", "topic", "ab" * 20]


def test_nothing_is_learnt_from_an_error() -> None:
    knowledge = Knowledge()
    knowledge.learn(Action.call("read_file", {"path": "/workspace/no.txt"}), answer("ENOENT", ErrorKind.TOOL))
    assert knowledge.paths == ["/workspace"]
