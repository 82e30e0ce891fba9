"""A tool server that misbehaves on request: ``odd_mcp_server.py [how it starts]``; run inside the sandbox by the tests.

It speaks the protocol by hand, so that it can break it.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

PIXEL = "aGVsbG8="
MANY_PAGES = 3


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def log(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def send(message: dict[str, object]) -> None:
    say(json.dumps({"jsonrpc": "2.0", **message}))


def text(content: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": content}]}


def hang(_: object) -> dict[str, object]:
    log("hanging now")
    while True:
        time.sleep(1000)


def die(_: object) -> dict[str, object]:
    log("log line")
    log("ValueError: out of ideas")
    os._exit(3)


def slow(arguments: dict[str, object]) -> dict[str, object]:
    Path("slow").touch()
    seconds = arguments["seconds"]
    assert isinstance(seconds, (int, float))
    time.sleep(seconds)
    return text("done")


def chatter(_: object) -> dict[str, object]:
    say("debug: this is no message")
    log("warning: on stderr")
    send({"method": "notifications/message", "params": {"level": "info", "data": "noise"}})
    send({"method": "notifications/unheard_of", "params": {"x": 1}})
    send({"id": 900, "method": "roots/list"})
    send({"id": 901, "result": {"for": "nobody"}})
    return text("after the chatter")


def flood(_: object) -> dict[str, object]:
    while True:
        os.write(1, b"garbage\n" * 8000)


def spawn(_: object) -> dict[str, object]:
    subprocess.Popen(["sleep", "1234"], start_new_session=True, stdout=subprocess.DEVNULL)
    return text("spawned")


def processes(_: object) -> dict[str, object]:
    commands = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(file.read_text().replace("\0", " ").strip())
        except OSError:
            continue
    return text("\n".join(commands))


TOOLS = {
    "echo": lambda arguments: text(str(arguments.get("text"))),
    "arguments": lambda arguments: text(json.dumps(arguments)),
    "long": lambda arguments: text("é" * arguments["characters"]),
    "surrogate": lambda _: text("a\ud800b"),
    "picture": lambda _: {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
    "malformed": lambda _: {"content": "not a list"},
    "slow": slow,
    "chatter": chatter,
    "hang": hang,
    "die": die,
    "flood": flood,
    "hoard": lambda _: text(str(len(b"x" * 2**30))),
    "spawn": spawn,
    "processes": processes,
    "refuse": None,
    "raw": None,
}


def definition(name: str) -> dict[str, object]:
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}, "extra": {"kept": None}}


def nested(depth: int) -> dict[str, object]:
    return {"type": "object", "properties": {"child": nested(depth - 1)}} if depth else {"type": "object"}


def pages(params: dict[str, object]) -> dict[str, object]:
    names = sorted(TOOLS)
    index = int(str(params.get("cursor", "0")))
    result: dict[str, object] = {"tools": [definition(name) for name in names[index::MANY_PAGES]]}
    if index + 1 < MANY_PAGES:
        result["nextCursor"] = str(index + 1)
    return result


def listed_before(_: object) -> dict[str, object]:
    before = Path("listed").exists()
    Path("listed").touch()
    return {"tools": [definition("die"), definition("second" if before else "first")]}


LISTINGS = {
    "other-tools-next-time": listed_before,
    "endless-pages": lambda _: {"tools": [], "nextCursor": "again"},
    "same-tool-twice": lambda _: {"tools": [definition("echo")] * 2},
    "bad-tools": lambda _: {"tools": [{"name": 7}]},
    "deep-tools": lambda _: {"tools": [{**definition("deep"), "inputSchema": nested(300)}]},
}


def greeting(version: str) -> dict[str, object]:
    server = {"name": "odd", "version": "0.1"}
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}


def answer(method: str, params: dict[str, object]) -> object:
    if method == "initialize":
        return greeting("2025-06-18")
    if method == "tools/list":
        return LISTINGS.get(HOW, pages)(params)
    tool, arguments = TOOLS[str(params["name"])], params.get("arguments", {})
    assert tool is not None  # "refuse" and "raw" are answered in serve
    assert isinstance(arguments, dict)
    return tool(arguments)


def serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "method" not in request or "id" not in request:
            continue
        params = request.get("params", {})
        if params.get("name") == "raw":
            say(params["arguments"]["line"].replace("ID", str(request["id"])))
            continue
        if params.get("name") == "refuse":
            send({"id": request["id"], "error": {"code": -32050, "message": "I would rather not"}})
            continue
        send({"id": request["id"], "result": answer(request["method"], params)})


def greet_oddly() -> None:
    if HOW == "dying":
        die({})
    if HOW == "silent":
        hang({})
    if HOW == "garbage":
        say("Welcome to the odd server")
        while True:
            time.sleep(1000)
    if HOW == "flooding":
        flood({})
    if HOW == "endless-line":
        while True:
            os.write(1, b"x" * 65536)
    request = json.loads(sys.stdin.readline())
    if HOW == "other-version":
        send({"id": request["id"], "result": greeting("1999-01-01")})
    if HOW == "refusing":
        send({"id": request["id"], "error": {"code": -32000, "message": "no licence"}})
    hang({})


HOW = sys.argv[1] if len(sys.argv) > 1 else "well"

if __name__ == "__main__":
    if HOW != "well" and HOW not in LISTINGS:
        greet_oddly()
    serve()
