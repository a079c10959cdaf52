"""An MCP server over stdio (2025-06-18) whose tools are what tools.json beside it says.

Every start is noted in `starts` with its process id, every call in `calls`.
"""

import json
import os
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))


def note(file, text):
    with open(os.path.join(here, file), "a") as out:
        out.write(text + "\n")


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def ask(message, schema):
    send({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
          "params": {"message": message, "requestedSchema": schema}})
    while True:
        answer = json.loads(sys.stdin.readline())
        if answer.get("id") == "q1":
            return answer.get("result") or answer


def call(params):
    note("calls", json.dumps(params))
    arguments = params.get("arguments", {})
    if params["name"] == "ask":
        form = {"type": "object", "required": ["name"],
                "properties": {"name": {"type": "string", "minLength": 2}}}
        return text(json.dumps(ask("Who are you?", form), sort_keys=True))
    if params["name"] == "slow":
        note("slow", "begun")
        time.sleep(600)
    return text("stored for " + str(arguments.get("to")))


def answer(message):
    method = message.get("method")
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes-server", "version": "1.2.3"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        with open(os.path.join(here, "tools.json")) as tools:
            return {"tools": json.load(tools)}
    if method == "tools/call":
        return call(message["params"])
    return None


note("starts", str(os.getpid()))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    result = answer(message)
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    else:
        reply["result"] = result
    send(reply)
