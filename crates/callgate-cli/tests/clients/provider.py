"""A loopback provider that speaks OpenAI Chat, OpenAI Responses and Anthropic Messages, and is wrong.

python provider.py CASES   prints its base URL as one line, and serves until its input ends.

The model's name says what it does. `case-ID` answers with the arguments of that case of
cases.jsonl, exactly as they were reported; `errand` with a call that lacks what is required. Told
what is wrong (a tool result that is no result), it makes a right call; told a result, it answers in
words. It keeps nothing: what to say next is read from the transcript that it is sent.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What a client's tool answers begins with this; anything else is a refusal.
RAN = "ran:"
WORDS = "It rains in Oslo for two days."


def sample(schema, root):
    """The smallest value that fits a schema, as far as the cases' schemas go."""
    if "$ref" in schema:
        at = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            at = at[key]
        return sample(at, root)
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return sample(schema[key][0], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: sample(properties.get(name, {"type": "string"}), root) for name in schema.get("required", [])}
    if kind == "array":
        return [sample(schema.get("items", {}), root)] * schema.get("minItems", 0)
    return {"string": "x" * max(1, schema.get("minLength", 1)), "integer": schema.get("minimum", 1),
            "number": schema.get("minimum", 1), "boolean": True, "null": None}[kind]


def wanted(case):
    """Arguments that are right for a case: those that were meant, where the case says so."""
    for outcome in case["expected"].values():
        if isinstance(outcome, dict) and outcome.get("outcome") == "execute":
            if "arguments_json" in outcome:
                return outcome["arguments_json"]
            if "arguments" in outcome:
                return json.dumps(outcome["arguments"])
    return json.dumps(sample(case["input"]["schema"], case["input"]["schema"]))


def cases(path):
    out = {}
    for line in open(path, encoding="utf-8"):
        case = json.loads(line)
        if case["family"] in ("malformed-json", "schema-mismatch"):
            out["case-" + case["id"]] = (case["input"]["arguments_raw"], wanted(case), case["input"].get("finish_reason"))
    return out


def chat_results(body):
    return [text(message.get("content")) for message in body["messages"] if message["role"] == "tool"]


def responses_results(body):
    items = body["input"] if isinstance(body["input"], list) else []
    return [text(item.get("output")) for item in items if item.get("type") == "function_call_output"]


def messages_results(body):
    blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
    return [text(block.get("content")) for block in blocks if block.get("type") == "tool_result"]


def text(content):
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


class Turn:
    """What is said next: words, or a call."""

    def __init__(self, planned, results):
        raw, right, finish = planned
        self.words, self.arguments, self.cut = None, None, False
        self.id = f"call_{len(results)}"
        if not results:
            self.arguments, self.cut = raw, finish == "length"
        elif results[-1].startswith(RAN):
            self.words = WORDS
        else:
            self.arguments = right


def pieces(text, size=7):
    return [text[at:at + size] for at in range(0, len(text), size)] or [""]


def chat_whole(turn, tool, model):
    message = {"role": "assistant", "content": turn.words, "refusal": None}
    if turn.arguments is not None:
        message["tool_calls"] = [{"id": turn.id, "type": "function", "function": {"name": tool, "arguments": turn.arguments}}]
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": chat_end(turn)}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def chat_end(turn):
    return "length" if turn.cut else "stop" if turn.words is not None else "tool_calls"


def chat_events(turn, tool, model):
    def chunk(delta, end=None):
        return None, {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
                      "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    yield chunk({"role": "assistant", "content": ""})
    if turn.words is not None:
        for piece in pieces(turn.words):
            yield chunk({"content": piece})
    else:
        for at, piece in enumerate(pieces(turn.arguments)):
            call = {"index": 0, "function": {"arguments": piece}}
            if at == 0:
                call |= {"id": turn.id, "type": "function", "function": {"name": tool, "arguments": piece}}
            yield chunk({"tool_calls": [call]})
    yield chunk({}, chat_end(turn))
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield None, {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [], "usage": usage}
    yield None, "[DONE]"


def responses_object(turn, tool, model, output, status):
    return {"id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": None, "model": model,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": None, "metadata": {}, "output": output, "parallel_tool_calls": True, "temperature": 1.0,
            "tool_choice": "auto", "tools": [], "top_p": 1.0,
            "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                      "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}}


def responses_item(turn, tool):
    if turn.words is not None:
        return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": turn.words, "annotations": []}]}
    return {"id": "fc_1", "type": "function_call", "call_id": turn.id, "name": tool, "arguments": turn.arguments,
            "status": "incomplete" if turn.cut else "completed"}


def responses_whole(turn, tool, model):
    status = "incomplete" if turn.cut else "completed"
    return responses_object(turn, tool, model, [responses_item(turn, tool)], status)


def responses_events(turn, tool, model):
    number = iter(range(10_000))

    def event(kind, **fields):
        return kind, {"type": kind, "sequence_number": next(number), **fields}
    yield event("response.created", response=responses_object(turn, tool, model, [], "in_progress"))
    item = responses_item(turn, tool)
    at = {"item_id": item["id"], "output_index": 0}
    if turn.words is not None:
        yield event("response.output_item.added", output_index=0, item=item | {"content": [], "status": "in_progress"})
        part = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.content_part.added", **at, content_index=0, part=part)
        for piece in pieces(turn.words):
            yield event("response.output_text.delta", **at, content_index=0, delta=piece, logprobs=[])
        yield event("response.output_text.done", **at, content_index=0, text=turn.words, logprobs=[])
        yield event("response.content_part.done", **at, content_index=0, part=part | {"text": turn.words})
    else:
        yield event("response.output_item.added", output_index=0, item=item | {"arguments": "", "status": "in_progress"})
        for piece in pieces(turn.arguments):
            yield event("response.function_call_arguments.delta", **at, delta=piece)
        yield event("response.function_call_arguments.done", **at, name=tool, arguments=turn.arguments)
    yield event("response.output_item.done", output_index=0, item=item)
    status = "incomplete" if turn.cut else "completed"
    yield event(f"response.{status}", response=responses_object(turn, tool, model, [item], status))


def messages_whole(turn, tool, model):
    if turn.words is not None:
        block = {"type": "text", "text": turn.words}
    else:
        # A whole message can hold nothing but JSON.
        block = {"type": "tool_use", "id": turn.id, "name": tool, "input": json.loads(turn.arguments)}
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [block],
            "stop_reason": messages_end(turn), "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}


def messages_end(turn):
    return "max_tokens" if turn.cut else "end_turn" if turn.words is not None else "tool_use"


def messages_events(turn, tool, model):
    def event(kind, **fields):
        return kind, {"type": kind, **fields}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    yield event("message_start", message=message)
    if turn.words is not None:
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in pieces(turn.words):
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    else:
        block = {"type": "tool_use", "id": turn.id, "name": tool, "input": {}}
        yield event("content_block_start", index=0, content_block=block)
        for piece in pieces(turn.arguments):
            yield event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": piece})
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": messages_end(turn), "stop_sequence": None}, usage={"output_tokens": 1})
    yield event("message_stop")


DIALECTS = {
    "/v1/chat/completions": (chat_results, chat_whole, chat_events, lambda tool: tool["function"]["name"]),
    "/v1/responses": (responses_results, responses_whole, responses_events, lambda tool: tool["name"]),
    "/v1/messages": (messages_results, messages_whole, messages_events, lambda tool: tool["name"]),
}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    plans = {}

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        dialect = DIALECTS.get(self.path.split("?")[0])
        planned = self.plans.get(body.get("model"))
        if dialect is None or planned is None or not body.get("tools"):
            return self.answer(400, {"error": {"message": f"no plan for {self.path} {body.get('model')}", "type": "invalid_request_error"}})
        results, whole, events, name = dialect
        turn = Turn(planned, results(body))
        tool = name(body["tools"][0])
        if not body.get("stream"):
            return self.answer(200, whole(turn, tool, body["model"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for kind, data in events(turn, tool, body["model"]):
            data = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {kind}\n" if kind else "").encode() + f"data: {data}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    Provider.plans = cases(sys.argv[1]) | {"errand": ('{"town": "Oslo"}', '{"city": "Oslo", "days": 2}', None)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    # Whoever started it closes its input to end it.
    sys.stdin.read()


if __name__ == "__main__":
    main()
