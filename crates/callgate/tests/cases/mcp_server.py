# Plays a case: `mcp_server.py CASE RECEIVED`. Speaks the handshake protocol, keeps what it receives.
import base64, json, sys, time

case, received = json.load(open(sys.argv[1])), open(sys.argv[2], "a")
calls = []


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    received.write(line)
    received.flush()
    return json.loads(line)


def out(text):
    sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode())
    sys.stdout.buffer.flush()


def answer(message, raw):
    out('{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(message["id"]), raw))


def listed(message):
    pages = case.get("pages")
    if pages is None:
        return {"tools": case["tools_list"]}
    page = dict(pages[message["params"].get("cursor") or ""])
    page["tools"] = [{"name": name, "inputSchema": {"type": "object"}} for name in page["tools"]]
    return page


def called(message):
    calls.append(message)
    if "result_raw" in case:
        answer(message, case["result_raw"])
    elif "server_script" in case:
        steps = iter(case["server_script"])
        for step in steps:
            word, _, rest = step.partition(" ")
            if word == "recv" and (rest.endswith("=2") and len(calls) < 2):
                calls.append(wait())
            elif word == "sleep":
                time.sleep(int(rest) / 1000)
            elif word == "send":
                n = int(rest.rpartition("=")[2])
                answer(calls[n - 1], '{"content":[{"type":"text","text":"result %d"}]}' % n)
            elif word == "exit":
                sys.exit(int(rest))
    elif "stdout_b64" in case:
        if len(calls) == len(case["pending_ids"]):
            text = base64.b64decode(case["stdout_b64"])
            for ours, call in zip(case["pending_ids"], calls):
                text = text.replace(b'"id":%d,' % ours, b'"id":<%d>,' % call["id"])
            out(text.replace(b"<", b"").replace(b">", b""))
    else:
        answer(message, "{}")


def wait():
    while True:
        message = receive()
        if message.get("method") == "tools/call":
            return message


while True:
    message = receive()
    method = message.get("method")
    if method == "initialize":
        version = case.get("protocol_version") or message["params"]["protocolVersion"]
        answer(message, json.dumps({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "case"}}))
    elif method == "ping":
        answer(message, "{}")
    elif method == "tools/list":
        answer(message, json.dumps(listed(message)))
    elif method == "tools/call":
        called(message)
