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


def say(line, stream=sys.stdout):
    stream.write(line + "\n")
    stream.flush()


def send(message):
    say(json.dumps({"jsonrpc": "2.0", **message}))


def text(content):
    return {"content": [{"type": "text", "text": content}]}


def hang(_):
    say("hanging now", sys.stderr)
    while True:
        time.sleep(1000)


def die(_):
    say("log line", sys.stderr)
    say("ValueError: out of ideas", sys.stderr)
    os._exit(3)


def slow(arguments):
    Path("slow").touch()
    time.sleep(arguments["seconds"])
    return text("done")


def chatter(_):
    say("debug: this is no message")
    say("warning: on stderr", sys.stderr)
    send({"method": "notifications/message", "params": {"level": "info", "data": "noise"}})
    send({"method": "notifications/unheard_of", "params": {"x": 1}})
    send({"id": 900, "method": "roots/list"})
    send({"id": 901, "result": {"for": "nobody"}})
    return text("after the chatter")


def flood(_):
    while True:
        os.write(1, b"garbage\n" * 8000)


def spawn(_):
    subprocess.Popen(["sleep", "1234"], start_new_session=True, stdout=subprocess.DEVNULL)
    return text("spawned")


def processes(_):
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


def definition(name):
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}, "extra": {"kept": None}}


def nested(depth):
    return {"type": "object", "properties": {"child": nested(depth - 1)}} if depth else {"type": "object"}


def pages(params):
    names = sorted(TOOLS)
    index = int(params.get("cursor", "0"))
    result = {"tools": [definition(name) for name in names[index::MANY_PAGES]]}
    if index + 1 < MANY_PAGES:
        result["nextCursor"] = str(index + 1)
    return result


def listed_before(_):
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


def answer(method, params):
    if method == "initialize":
        server = {"name": "odd", "version": "0.1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return LISTINGS.get(HOW, pages)(params)
    return TOOLS[params["name"]](params.get("arguments", {}))


def serve():
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


def greet_oddly():
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
        send({"id": request["id"], "result": {**answer("initialize", {}), "protocolVersion": "1999-01-01"}})
    if HOW == "refusing":
        send({"id": request["id"], "error": {"code": -32000, "message": "no licence"}})
    hang({})


HOW = sys.argv[1] if len(sys.argv) > 1 else "well"

if __name__ == "__main__":
    if HOW != "well" and HOW not in LISTINGS:
        greet_oddly()
    serve()
