"""The work an exploring policy does in a shell, as a grammar: what it types, and what that presupposes and makes.

A line is typed with Enter. A session is a whole exchange with a program: lines, and keys with how long to watch.
See :mod:`collectors.policies.grammar` for the symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from collectors.policies.grammar import Grammar
from collectors.policies.shell_contents import CITIES, CONTENTS, NAMES, WORDS


class Keys(NamedTuple):
    """Keys pressed as they are, and for how many seconds the screen is watched."""

    text: str
    seconds: float


Step = str | Keys
Production = tuple[Step, ...]

GRAMMAR = Grammar(
    kinds={
        "folder": ("data", "docs*", "src*", "logs*", "build*"),
        "note": ("notes*.md", "TODO*.txt", "README*.md"),
        "log": ("app*.log", "server*.log", "worker-*.log"),
        "table": ("sales*.csv", "people*.csv", "orders*.csv"),
        "json": ("stock*.json", "inventory*.json"),
        "settings": ("settings*.ini", "service*.conf"),
        "script": ("report*.py", "tool*.py", "main*.py"),
        "broken": ("draft*.py", "wip*.py"),
        "result": ("out*.txt", "summary*.txt", "sorted*.txt"),
        "archive": ("backup*.tar.gz", "release*.tgz"),
        "variable": ("NAME*", "COUNT*", "TARGET*"),
        "database": ("store*.db", "shop*.sqlite"),
        "repository": (".",),
        "branch": ("feature-*", "fix-*", "try-*"),
    },
    rules={
        **CONTENTS,
        "word": WORDS,
        "name": NAMES,
        "city": CITIES,
        "small": ("1", "2", "3", "4", "5"),
        "number": ("7", "12", "25", "64", "100", "255", "1000", "4096"),
        "level": ("INFO", "WARN", "ERROR", "DEBUG", "FATAL"),
        "project": ("harbor", "atlas", "pebble", "quill", "tern", "maple"),
        "file": ("<note>", "<log>", "<table>", "<json>", "<settings>", "<script>", "<result>"),
        "mode": ("644", "600", "755", "400", "u+x", "go-r", "a-w"),
    },
)

OPENING: Sequence[Production] = (
    ("mkdir -p <project>/{src,docs,data} && cd <project> && pwd",),
    ("mkdir <project>", "cd <project>"),
    ("cd $(mktemp -d) && pwd",),
)

CREATION: Sequence[Production] = (
    ("cat > <new log> <<'EOF'\n<loglines>\nEOF",),
    ("cat > <new table> <<'EOF'\n<tablelines>\nEOF",),
    ("cat > <new json> <<'EOF'\n<jsondocument>\nEOF",),
    ("cat > <new note> <<'EOF'\n<notelines>\nEOF",),
    ("cat > <new settings> <<'EOF'\n<settingslines>\nEOF",),
    ("cat > <new script> <<'EOF'\n<program>\nEOF",),
    ("cat > <new broken> <<'EOF'\n<brokenprogram>\nEOF",),
    ("printf '%s\\n' <word> <city> <name> <number> > <new result>",),
    ("seq <number> | awk 'NR % 6 == <small>' | tail -n 8 | tee <new result>",),
    ("mkdir -v <new folder>",),
)

FILES: Sequence[Production] = (
    ("ls",),
    ("ls -la",),
    ("ls -lhS --time-style=+%Y",),
    ("pwd; ls -A | wc -l",),
    ("cat <file>",),
    ("cat -A <settings> | head -n <small>",),
    ("head -n <small> <file>",),
    ("tail -n <small> <file>",),
    ("nl <note>",),
    ("wc <file>",),
    ("file *",),
    ("stat -c '%n %s %A' *",),
    ("du -ah --apparent-size . | sort -h | tail -n 5",),
    ("find . -type f \\( -name '*.md' -o -name '*.py' \\) | sort",),
    ("find . -size +<small>0c -type f | sort",),
    ("find . -maxdepth 2 -newer <file>",),
    ("cp -v <note> <folder>/",),
    ("mkdir -p <new folder>/<word>/<word> && find <new folder>",),
    ("mv -v <gone result> <new result>",),
    ("rm -v <gone result>",),
    ("ln -s <file> latest-<word> && readlink -f latest-<word>",),
    ("tree -L 2",),
    ("md5sum <file> && sha256sum <file> | cut -c1-16",),
    ("tar czvf <new archive> <file> <note>",),
    ("tar tzvf <archive>",),
    ("gzip -k <log> && ls -l <log>* && zcat <log>.gz | head -n 2",),
    ("diff <note> <other note>",),
    ("diff -u <log> <other log> | head -n 20",),
    ("cmp <file> <file> && echo same",),
    ("od -c <file> | head -n 3",),
    ("touch -d '2026-01-<number>' <file>",),
)

TEXT: Sequence[Production] = (
    ("grep -c <level> <log>",),
    ("grep -n <level> <log>",),
    ("grep -iv info <log> | tail -n <small>",),
    ("grep -E 'took [0-9]{2,} ms' <log>",),
    ("grep -rl <word> .",),
    ("grep -o '[0-9]\\+' <log> | sort -n | tail -1",),
    ("cut -d' ' -f3 <log> | sort | uniq -c | sort -rn",),
    ("awk '{print $4}' <log> | sort | uniq -c",),
    ('awk \'$3 == "<level>" {n++} END {print n+0, "lines"}\' <log>',),
    ("sed -n '<small>,5p' <log>",),
    ("sed 's/<level>/[&]/' <log> | head -n 4",),
    ("sort -t, -k4 -n <table>",),
    ("tail -n +2 <table> | cut -d, -f3 | sort -u",),
    ("awk -F, 'NR>1 {s+=$4} END {printf \"%.2f\\n\", s/(NR-1)}' <table>",),
    ("awk -F, 'NR>1 {sum[$3]+=$4} END {for (c in sum) print c, sum[c]}' <table> | sort",),
    ("column -s, -t <table>",),
    ("sed 's/,/;/g' <table> > <new result> && head -n 3 <new result>",),
    ("sort <log> > <new result>; wc -l <new result>",),
    ("tr 'a-z' 'A-Z' < <note>",),
    ("tr -cs '[:alpha:]' '\\n' < <note> | sort | uniq -c | sort -rn | head -n <small>",),
    ("rev <result> | tac",),
    ("paste -d' ' <(seq 3) <(printf '%s\\n' <word> <city> <name>)",),
    ("fold -w 20 <note> | head -n 8",),
    ("sed -i 's/retries = .*/retries = <number>/' <settings> && grep retries <settings>",),
    ("awk -F' = ' '/port/ {print $2}' <settings>",),
    ("jq . <json>",),
    ("jq -r '.items[] | [.sku, .stock] | @tsv' <json>",),
    ("jq '[.items[].stock] | add' <json>",),
    ("jq -c '.items | map(select(.stock > <small>))' <json>",),
    ("jq -r .warehouse,.missing <json>",),
)

SHELL: Sequence[Production] = (
    ('<new variable>=<word>; echo "$<new variable> has ${#<new variable>} characters"',),
    ("export <new variable>=<number> && env | grep <new variable>",),
    ("echo ${<variable>^^} ${<variable>/a/4}",),
    ('unset <gone variable>; echo "[${<gone variable>-unset}]"',),
    ('for f in *; do printf \'%-20s %s\\n\' "$f" "$(stat -c %s "$f")"; done',),
    ("for i in 1 2 <small>; do echo $((i * <number>)); done",),
    ("i=0; while [ $i -lt <small> ]; do echo line $i; i=$((i+1)); done",),
    ('for i in $(seq <small>)\ndo\n  echo "<word> $i"\ndone',),
    ("[ -f <file> ] && echo there || echo absent",),
    ("[ -d <word> ]; echo $?",),
    ('f() { echo "<word>: $1, $# in all"; }; f <city> <name>',),
    ("case <level> in INFO|DEBUG) echo quiet;; *) echo loud;; esac",),
    ("echo $((<number> % <small>)) $((2**<small>))",),
    ("echo '<number> / <small>' | bc -l",),
    ("printf '%05d|%-8s|%x\\n' <number> <word> <number>",),
    ("chmod <mode> <file> && ls -l <file>",),
    ("umask 077; touch <new result>; stat -c '%a %n' <new result>; umask 022",),
    ("id; groups",),
    ("whoami && hostname",),
    ("uname -sm",),
    ("ps -e -o comm= | sort | uniq -c",),
    ("ps aux --sort=-rss | head -n 4",),
    ("df -h . | tail -1 | awk '{print $6}'",),
    ("env | cut -d= -f1 | sort | head -n 12",),
    ("echo $PATH | tr ':' '\\n'",),
    ("type cd ls <word>",),
    ("command -v python3 git sqlite3 jq",),
    ("sleep 30 & jobs; kill %1; wait; jobs",),
    ("(cd / && ls -d */ | head -n 5); pwd",),
    ("history | tail -n <small>",),
    ("date -u -d @1700000000 +%FT%TZ",),
    ("xargs -n 2 echo pair: < <result>",),
    ("find . -name '*.md' -print0 | xargs -0 wc -l",),
    ("test -w <file> -a -r <file> && echo rw; true | false; echo ${PIPESTATUS[@]}",),
    ("set -o | grep -E 'noclobber|pipefail'",),
)

REPOSITORY: Sequence[Production] = (
    (
        "git init -q -b main <new repository> && git config user.name <name>; git config user.email dev@example.org",
        "git add -A && git commit -m 'Begin' && git log --oneline",
    ),
)

GIT: Sequence[Production] = (
    ("git status --short",),
    ("git log --oneline --stat | head -n 20",),
    ("echo '- <word> <word>' >> <note> && git diff <note>",),
    ("git add <note> && git commit -m 'Add <word> to <note>'",),
    ("git commit -am 'Tidy up <word>'",),
    ("git switch -c <new branch>",),
    ("git branch -v",),
    ("git checkout main",),
    ("git checkout <branch>",),
    ("git merge <branch>",),
    ("git branch -d <gone branch>",),
    ("git show --stat HEAD",),
    ("git diff HEAD~1 --stat",),
    ("git blame <note> | head -n 3",),
    ("git tag v0.<small> && git describe --tags",),
    ("git stash && git stash list && git stash pop",),
    ("git rev-parse --short HEAD && git ls-files | head",),
    ("git checkout <word>",),
    ("git log --author=<name> --format='%an: %s'",),
    ("git grep -n <word>",),
    ("git rm --cached <log>",),
    ("git restore <note>; git status -sb",),
    ("git shortlog -sn HEAD",),
)

DATA: Sequence[Production] = (
    (
        "sqlite3 <new database> 'CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);"
        ' INSERT INTO item(name, price) VALUES ("<word>", <number>), ("<city>", <small>.5); SELECT * FROM item;\'',
    ),
    ("sqlite3 <database> .schema",),
    ("sqlite3 -header -column <database> 'SELECT name, price * <small> AS total FROM item ORDER BY price DESC'",),
    ("sqlite3 <database> 'SELECT count(*), avg(price) FROM item WHERE price > <small>'",),
    ("sqlite3 <database> \"UPDATE item SET price = price + 1 WHERE name LIKE '%a%'; SELECT changes()\"",),
    ("sqlite3 -csv <database> 'SELECT * FROM item' > <new result>; cat <new result>",),
    ("sqlite3 <database> 'SELECT * FROM <word>'",),
    ("sqlite3 <database> 'INSERT INTO item(name) VALUES (NULL)'",),
    ("sqlite3 :memory: '.mode box' '.import --csv <table> t' 'SELECT city, sum(amount) FROM t GROUP BY city'",),
    ("python3 <script>",),
    ("python3 <script> <word> < <note>",),
    ("python3 <broken>",),
    ("python3 -m py_compile <broken>; echo exit $?",),
    ("python3 -c 'print(sum(int(c) for c in str(<number>)))'",),
    ("python3 -c \"import csv; print([row['city'] for row in csv.DictReader(open('<table>'))][:3])\"",),
    ("python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))' < <json>",),
    ("python3 -m json.tool <note>",),
    ("python3 -m json.tool --compact <json>",),
    ("grep -n 'def ' <script> <broken>",),
)

ERRORS: Sequence[Production] = (
    ("cat <word>.txt",),
    ("cd <word>/<city>",),
    ("ls --<word>",),
    ("<word>ctl status",),
    ("gti status",),
    ("rm <word>",),
    ("rmdir .",),
    ("mkdir <folder>",),
    ("cp <file>",),
    ("cat /etc/shadow",),
    ("touch /etc/<word>",),
    ("echo <word> > /usr/<word>",),
    ("echo 'unfinished", Keys("C-c", 1.0)),
    ("if true; then echo <word>; done",),
    ("echo $((1 / 0))",),
    ("grep '[' <file>",),
    ("sort --key=<word> <file>",),
    ("tar xzf <note>",),
    ("head -n <word> <file>",),
    ("chmod 999 <file>",),
    ("kill 999999",),
    ("curl -sS http://<word>.example.org || echo exit $?",),
    ("python3 <word>.py",),
    ("jq '.items[' <json>",),
    ("./<note>",),
    ("(exit <number>); echo $?",),
    ("ls <file> <word> > /dev/null; echo $?",),
    ("sudo ls",),
    ("set -u; echo $<word>; set +u",),
)

PROGRAMS: Sequence[Production] = (
    (
        Keys("python3\n", 0.8),
        Keys("<number> ** 2\n", 1.0),
        Keys("words = '<word> <city> <name>'.split()\n", 1.0),
        Keys("sorted(words, key=len)\n", 1.0),
        Keys("words['<word>']\n", 1.0),
        Keys("C-d", 1.0),
    ),
    (
        Keys("python3 -q\n", 0.8),
        Keys("for i in range(<small>):\n    print(i, '<word>' * i)\n\n", 1.0),
        Keys("import <word>\n", 1.0),
        Keys("exit()\n", 1.0),
    ),
    (Keys("less <log>\n", 1.0), Keys("/<level>\n", 0.6), Keys("G", 0.6), Keys("q", 0.6)),
    (Keys("vi <note>\n", 1.0), Keys("Go- <word> <number>\u001b", 0.6), Keys(":wq\n", 1.0), "tail -n 2 <note>"),
    (Keys("vi <new result>\n", 1.0), Keys("i<word> <city>\u001b", 0.6), Keys(":x\n", 1.0), "cat <new result>"),
    (Keys("cat > <new result>\n", 0.5), Keys("<word> <number>\n", 0.5), Keys("C-d", 1.0), "cat <new result>"),
    (
        Keys("sqlite3\n", 0.5),
        Keys("CREATE TABLE t(a, b);\n", 0.6),
        Keys("INSERT INTO t VALUES (<number>, '<word>');\n", 0.6),
        Keys("SELECT a * 2, upper(b) FROM t;\n", 0.6),
        Keys("SELEC 1;\n", 0.6),
        Keys(".quit\n", 1.0),
    ),
    (Keys("bc -q\n", 0.5), Keys("<number> ^ <small>\n", 0.6), Keys("scale=3; <number> / 7\n", 0.6), Keys("C-d", 1.0)),
    (Keys("sleep 60\n", 0.4), Keys("C-c", 1.0), "echo $?"),
    (Keys("sleep 0.8; echo <word> done\n", 0.2), Keys("", 3.0)),
    (Keys("for i in 1 2 3; do echo step $i; sleep 0.3; done\n", 0.4), Keys("", 3.0)),
    (Keys("yes <word> | head -n 2000\n", 3.0), Keys("C-l", 0.6)),
    (Keys("top -b -n 1 | head -n 5\n", 3.0), Keys("clear\n", 0.6)),
    (Keys("read -p 'name? ' REPLY; echo hello $REPLY\n", 0.5), Keys("<name>\n", 1.0)),
    (Keys("cat\n", 0.4), Keys("<word>\n", 0.4), Keys("C-z", 0.8), "jobs", Keys("fg\n", 0.5), Keys("C-d", 1.0)),
    (Keys("nano <note>\n", 1.0), Keys("<word> ", 0.5), Keys("C-x", 0.5), Keys("n", 0.8)),
)


class Topic(NamedTuple):
    """Productions of one sort, how often they come up, and the kinds of things without which they make no sense."""

    weight: float
    productions: Sequence[Production]
    needs: Sequence[str] = ()


TOPICS: Sequence[Topic] = (
    Topic(3.0, CREATION),
    Topic(3.0, FILES),
    Topic(4.0, TEXT),
    Topic(3.0, SHELL),
    Topic(1.0, REPOSITORY, needs=("note",)),
    Topic(3.0, GIT, needs=("repository",)),
    Topic(3.0, DATA),
    Topic(2.5, ERRORS),
    Topic(1.2, PROGRAMS),
)
