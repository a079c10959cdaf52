# A server of ours, over stdio: `server.py FOLDER FLAG...`. It keeps what it receives in
# FOLDER/received and its process id in FOLDER/pid. Its tools do what their names say.
import json, os, signal, subprocess, sys, time

folder, flags = sys.argv[1], sys.argv[2:]
modern = "modern" in flags
log = open(os.path.join(folder, "received"), "a")
with open(os.path.join(folder, "pid"), "w") as f:
    f.write(str(os.getpid()))
if "family" in flags:
    child = subprocess.Popen(["sleep", "1000"])
    with open(os.path.join(folder, "child"), "w") as f:
        f.write(str(child.pid))
if "stubborn" in flags:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

tools = ["ok", "die", "die_after", "silent", "late", "progress", "secret", "ask", "sample", "pinged",
         "change", "shuffle", "state", "shed", "task", "task_failed", "echo"]
description = ""
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def out(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        while "stubborn" in flags:
            time.sleep(1)
        sys.exit(0)
    log.write(line)
    log.flush()
    return json.loads(line)


def result(i, value):
    if modern:
        value.setdefault("resultType", "complete")
    out({"jsonrpc": "2.0", "id": i, "result": value})


def text(i, words):
    result(i, {"content": [{"type": "text", "text": words}]})


def changed():
    out({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


shuffled, late, polls, listening = [], [], {}, None
while True:
    message = receive()
    i, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if late and method == "tools/call":
        text(late.pop(), "too late")
    if method == "server/discover":
        if modern:
            result(i, {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                       "capabilities": {"tools": {"listChanged": "listen" in flags}}})
        else:
            out({"jsonrpc": "2.0", "id": i, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "initialize":
        result(i, {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}},
                   "serverInfo": {"name": "own", "version": "1"}})
    elif method == "ping":
        result(i, {})
    elif method == "subscriptions/listen":
        listening = i
    elif method == "tools/list" and description and "lists_once" in flags:
        out({"jsonrpc": "2.0", "id": i, "error": {"code": -32603, "message": "the store is locked"}})
    elif method == "tools/list":
        listed = [{"name": name, "description": description, "inputSchema": SCHEMA} for name in tools]
        result(i, {"tools": listed, **({"ttlMs": 60000, "cacheScope": "private"} if modern else {})})
    elif method == "tasks/get":
        task = params["taskId"]
        polls[task] = polls.get(task, 0) + 1
        if task == "hopeless":
            result(i, {"taskId": task, "status": "failed", "error": {"code": -1, "message": "it broke"}})
        elif polls[task] == 1:
            result(i, {"taskId": task, "status": "input_required", "pollIntervalMs": 10, "inputRequests": {
                "q": {"method": "elicitation/create", "params": {"message": "Go on?", "requestedSchema": {}}}}})
        else:
            result(i, {"taskId": task, "status": "completed",
                       "result": {"content": [{"type": "text", "text": "task done"}]}})
    elif method in ("tasks/update", "tasks/cancel"):
        result(i, {})
    elif method == "tools/call":
        name, meta = params["name"], params.get("_meta") or {}
        if name == "ok":
            text(i, "ok")
        elif name == "echo":
            result(i, {"content": [], "structuredContent": params})
        elif name == "die":
            sys.stderr.write("out of memory, token %s\n" % os.environ.get("API"))
            sys.stderr.flush()
            os._exit(3)
        elif name == "die_after":
            text(i, "goodbye")
            os._exit(0)
        elif name == "late":
            late.append(i)
        elif name == "progress":
            for step in range(12):
                time.sleep(0.5)
                out({"jsonrpc": "2.0", "method": "notifications/progress",
                     "params": {"progressToken": meta["progressToken"], "progress": step}})
            text(i, "slow and steady")
        elif name == "secret":
            text(i, "my key is %s" % os.environ.get("API"))
        elif name in ("ask", "sample", "pinged"):
            what = {"ask": "elicitation/create", "sample": "sampling/createMessage", "pinged": "ping"}[name]
            asked = {} if name == "pinged" else {"message": "Your name?", "requestedSchema": {
                "type": "object", "properties": {"name": {"type": "string"},
                                                 "age": {"type": "integer", "default": 30}}}}
            out({"jsonrpc": "2.0", "id": "s1", "method": what, "params": asked})
            answer = receive()
            result(i, {"content": [], "structuredContent": answer})
        elif name == "change":
            description = "another"
            for _ in range(4):
                changed()
            if "vanish" in flags:
                tools.remove("ok")
            text(i, "changed")
        elif name == "shuffle":
            shuffled.append((i, params["arguments"]["n"]))
            if len(shuffled) == 50:
                for j, n in reversed(shuffled):
                    text(j, str(n))
        elif name == "state":
            if "requestState" not in params:
                sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{"q":'
                                 '{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}},'
                                 '"requestState":"a\\u0062\\/\\u00e9"}}\n' % i)
                sys.stdout.flush()
            else:
                result(i, {"content": [], "structuredContent": params["inputResponses"]})
        elif name == "shed":
            if "requestState" not in params:
                result(i, {"resultType": "input_required", "requestState": "later"})
            else:
                text(i, "inputResponses" in params and "answered" or "came again")
        elif name == "task":
            result(i, {"resultType": "task", "taskId": "t1", "status": "working", "pollIntervalMs": 10})
        elif name == "task_failed":
            result(i, {"resultType": "task", "taskId": "hopeless", "status": "working", "pollIntervalMs": 10})
        if name == "change" and listening is not None:
            changed()
