"""Whether a shell asks for another line."""

import pytest

from trajectories.importers.asciicast.shell_syntax import is_complete


@pytest.mark.parametrize(
    "command",
    [
        "",
        "ls -la",
        "echo 'a' \"b\" `c` $(d)",
        "echo it\\'s",
        "cat <<EOF\nit's\nEOF",
        "cat <<-'END' | wc\n\tone\n\tEND",
        "cat <<< word",
        "for i in 1 2; do\necho $i\ndone",
        "if true; then echo for; fi",
        "case $x in\na) echo 1;;\nesac",
        "f() {\n  ls\n}",
        "echo if then for",
        "a | \\\nb",
        "ls # it's a comment",
        "echo a && # and\n b",
        "echo $((1 + 2))",
        "for i in 1 2\necho $i\nend",
        "awk '/Events:/,/pod to node/'",
    ],
)
def test_a_whole_command_is_complete(command: str) -> None:
    assert is_complete(command)


@pytest.mark.parametrize(
    "command",
    [
        "echo 'a",
        "echo \"it's",
        "echo \\",
        "cat <<EOF",
        "cat <<EOF\nEO",
        "cat <<'A' <<B\nA\n",
        "ls |",
        "ls &&",
        "ls || # or",
        "for i in 1 2; do",
        "if true; then",
        "while true\ndo\nls",
        "f() {",
        "echo $(ls",
        "(cd /tmp",
        "case $x in",
        "for i in 1 2\necho $i",
    ],
)
def test_a_command_that_goes_on_is_not(command: str) -> None:
    assert not is_complete(command)
