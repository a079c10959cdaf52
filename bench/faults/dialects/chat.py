"""OpenAI Chat Completions, with the oddities of compatible servers."""

import json

from wire import COMMON, IN, OUT, WORDS, Event, Reply, Seen, content, pieces

NAME = "chat"
WIRES = COMMON | frozenset(
    "no_index same_index object no_end usage_null empty_name name_again name_late interleaved "
    "one_piece cumulative empty_pieces cut_name".split()
)
FINISH = {"calls": "tool_calls", "stop": "stop", "length": "length"}
USAGE = {"prompt_tokens": IN, "completion_tokens": OUT, "total_tokens": IN + OUT}


def carries(fault, stream: bool) -> bool:
    """Text carries anything; the provider's own word for a lost call is missing."""
    if fault.finish == "malformed":
        return False
    # An object where text belongs is a matter of the wire, named by the fault.
    return fault.wire == "object" if stream and isinstance(fault.emit[0].args, dict) else True


def answers(path: str) -> bool:
    return path.endswith("/chat/completions")


def wants_stream(_path: str, body: dict) -> bool:
    return bool(body.get("stream"))


def read(body: dict, _memory: dict) -> Seen:
    messages = body.get("messages", [])
    last = max((i for i, m in enumerate(messages) if m.get("role") == "assistant"), default=None)
    if last is None:
        return Seen()
    after = messages[last + 1:]
    return Seen(
        mine=[call.get("id") for call in messages[last].get("tool_calls") or []],
        results=[(m.get("tool_call_id"), content(m.get("content")))
                 for m in after if m.get("role") == "tool"],
        other="\n".join(content(m.get("content")) for m in after if m.get("role") != "tool"),
        turns=sum(m.get("role") == "assistant" for m in messages),
    )


def whole(reply: Reply) -> str:
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.text is None:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.args}}
            for c in reply.calls
        ]
    finish = "stop" if reply.text is not None else FINISH[reply.finish]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return json.dumps(
        {"id": f"chatcmpl-{reply.n}", "object": "chat.completion", "created": 1760000000,
         "model": reply.model, "choices": [choice], "usage": USAGE},
        ensure_ascii=False,
    )


def refusal(_status: int, message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error",
                                 "param": "messages", "code": "context_length_exceeded"}})


def broken(_reply: Reply) -> list[Event]:
    error = {"error": {"message": "Overloaded", "type": "overloaded_error", "code": 529}}
    return [Event("other", json.dumps(error)), Event("end", "[DONE]")]


def events(reply: Reply) -> list[Event]:
    out = [_chunk(reply, "start", {"role": "assistant", "content": None})]
    if reply.wire == "usage_null":
        out.insert(0, Event("other", json.dumps({"choices": [], "usage": None})))
    if reply.wire == "unknown_events":
        out.append(_chunk(reply, "other", {"progress": {"share": 0.5}}, obfuscation="x7Qp"))
    if reply.wire == "text_first":
        out += [_chunk(reply, "text", {"content": piece}) for piece in pieces(WORDS)]
    if reply.text is not None:
        out += [_chunk(reply, "text", {"content": piece}) for piece in pieces(reply.text)]
        finish = "stop"
    else:
        calls = [_call(reply, call, at) for at, call in enumerate(reply.calls)]
        out += _alternating(calls) if reply.wire == "interleaved" else sum(calls, [])
        finish = FINISH[reply.finish]
    if reply.wire == "one_piece":
        out[-1] = _finished(out[-1], finish)
    else:
        out.append(_chunk(reply, "finish", {}, finish=finish))
    if reply.wire == "usage_null":
        out += [Event("other", json.dumps({"choices": None})),
                Event("other", json.dumps({"usage": USAGE}))]
    else:
        out.append(Event("other", json.dumps(_bare(reply) | {"choices": [], "usage": USAGE})))
    if reply.wire != "no_end":
        out.append(Event("end", "[DONE]"))
    return out


def _bare(reply: Reply) -> dict:
    return {"id": f"chatcmpl-{reply.n}", "object": "chat.completion.chunk",
            "created": 1760000000, "model": reply.model}


def _chunk(reply, label, delta, call=-1, finish=None, **more) -> Event:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    body = _bare(reply) | {"choices": [choice]} | more
    return Event(label, json.dumps(body, ensure_ascii=False), call=call)


def _finished(event: Event, finish: str) -> Event:
    body = json.loads(event.data)
    body["choices"][0]["finish_reason"] = finish
    return Event(event.label, json.dumps(body, ensure_ascii=False), call=event.call)


def _call(reply: Reply, call, at: int) -> list[Event]:
    """The pieces of one call."""
    wire = reply.wire
    index = {} if wire == "no_index" else {"index": 0 if wire == "same_index" else at}

    def piece(label, arguments, **more):
        function = {**more.pop("function", {}), "arguments": arguments}
        one = {**index, **more, "function": function}
        return _chunk(reply, label, {"tool_calls": [one]}, call=at)

    named = {"id": call.id, "type": "function", "function": {"name": call.name}}
    if not isinstance(call.args, str) or wire == "one_piece":
        return [piece("open", call.args, **named)]
    parts = pieces(call.args)
    if wire == "name_late":
        first, rest = parts[:1], parts[1:]
        return [piece("arg", first[0], id=call.id, type="function"),
                piece("open", "", function={"name": call.name}),
                *(piece("arg", part) for part in rest)]
    later = {}
    if wire == "empty_name":
        later = {"id": "", "function": {"name": ""}}
    if wire == "name_again":
        later = named
    if wire == "cumulative":
        parts = [call.args[:end] for end in range(len(parts[0]), len(call.args), 12)] + [call.args]
    if wire == "empty_pieces":
        parts = [part for real in parts for part in ("", real)]
    return [piece("open", "", **named), *(piece("arg", part, **later) for part in parts)]


def _alternating(calls: list[list[Event]]) -> list[Event]:
    longest = max(len(call) for call in calls)
    return [call[at] for at in range(longest) for call in calls if at < len(call)]
