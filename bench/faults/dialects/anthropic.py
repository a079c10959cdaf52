"""Anthropic Messages: arguments are an object in a whole reply, and text in a streamed one."""

import json

from wire import COMMON, IN, OUT, WORDS, Event, Raw, Reply, Seen, content, is_json, pieces

NAME = "anthropic"
WIRES = COMMON | frozenset("no_end interleaved at_start empty_pieces one_piece cut_name".split())
STOP = {"calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}


def carries(fault, stream: bool) -> bool:
    """Streamed, text carries anything. Whole, `input` is a value: what is no JSON has no form."""
    if fault.finish not in STOP:
        return False
    texts = [c.args for c in fault.emit]
    if fault.wire == "at_start" or not stream:
        return all(args == "" or is_json(args) for args in texts)
    return all(isinstance(args, str) for args in texts)


def answers(path: str) -> bool:
    return path.endswith("/messages")


def wants_stream(_path: str, body: dict) -> bool:
    return bool(body.get("stream"))


def read(body: dict, _memory: dict) -> Seen:
    messages = body.get("messages", [])
    last = max((i for i, m in enumerate(messages) if m.get("role") == "assistant"), default=None)
    if last is None:
        return Seen()
    after = [block for m in messages[last + 1:] for block in _blocks(m.get("content"))]
    return Seen(
        mine=[b.get("id") for b in _blocks(messages[last].get("content"))
              if b.get("type") == "tool_use"],
        results=[(b.get("tool_use_id"), content(b.get("content")))
                 for b in after if b.get("type") == "tool_result"],
        other="\n".join(content([b]) for b in after if b.get("type") != "tool_result"),
        turns=sum(m.get("role") == "assistant" for m in messages),
    )


def _blocks(value) -> list[dict]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [block for block in value or [] if isinstance(block, dict)]


def whole(reply: Reply) -> str:
    raw = Raw()
    if reply.text is not None:
        blocks = [{"type": "text", "text": reply.text}]
    else:
        blocks = [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": raw.value(c.args or "{}")}
            for c in reply.calls
        ]
    stop = "end_turn" if reply.text is not None else STOP[reply.finish]
    return raw.dumps(_message(reply, blocks, stop))


def _message(reply: Reply, blocks: list, stop: str | None) -> dict:
    return {"id": f"msg_{reply.n}", "type": "message", "role": "assistant", "model": reply.model,
            "content": blocks, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": IN, "output_tokens": OUT}}


def refusal(_status: int, message: str) -> str:
    return json.dumps({"type": "error",
                       "error": {"type": "invalid_request_error", "message": message}})


def _event(label: str, body: dict, call: int = -1, raw: Raw | None = None) -> Event:
    data = raw.dumps(body) if raw else json.dumps(body, ensure_ascii=False)
    return Event(label, data, name=body["type"], call=call)


def broken(_reply: Reply) -> list[Event]:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    return [_event("end", {"type": "error", "error": error})]


def events(reply: Reply) -> list[Event]:
    out = [_event("start", {"type": "message_start", "message": _message(reply, [], None)})]
    if reply.wire == "unknown_events":
        out += [_event("other", {"type": "ping"}),
                _event("other", {"type": "message_progress", "share": 0.5})]
    texts = [reply.text] if reply.text is not None else []
    if reply.wire == "text_first":
        texts = [WORDS, *texts]
    for at, text in enumerate(texts):
        out += _text(text, at)
    calls = [_call(reply, call, len(texts) + at, at) for at, call in enumerate(reply.calls)]
    if reply.wire == "interleaved":
        longest = max(len(call) for call in calls)
        out += [call[at] for at in range(longest) for call in calls if at < len(call)]
    else:
        out += sum(calls, [])
    stop = "end_turn" if reply.text is not None else STOP[reply.finish]
    out.append(_event("finish", {"type": "message_delta", "usage": {"output_tokens": OUT},
                                 "delta": {"stop_reason": stop, "stop_sequence": None}}))
    if reply.wire != "no_end":
        out.append(_event("end", {"type": "message_stop"}))
    return out


def _text(text: str, index: int) -> list[Event]:
    delta = {"type": "content_block_delta", "index": index}
    return [
        _event("text", {"type": "content_block_start", "index": index,
                        "content_block": {"type": "text", "text": ""}}),
        *(_event("text", {**delta, "delta": {"type": "text_delta", "text": part}})
          for part in pieces(text)),
        _event("text", {"type": "content_block_stop", "index": index}),
    ]


def _call(reply: Reply, call, index: int, at: int) -> list[Event]:
    raw = Raw()
    start = reply.wire == "at_start"
    block = {"type": "tool_use", "id": call.id, "name": call.name,
             "input": raw.value(call.args or "{}" if start else "{}")}
    parts = [] if start else [call.args] if reply.wire == "one_piece" else pieces(call.args)
    if reply.wire == "empty_pieces":
        parts = [part for real in parts for part in ("", real)]
    delta = {"type": "content_block_delta", "index": index}
    return [
        _event("open", {"type": "content_block_start", "index": index, "content_block": block},
               at, raw),
        *(_event("arg", {**delta, "delta": {"type": "input_json_delta", "partial_json": part}}, at)
          for part in parts),
        _event("close", {"type": "content_block_stop", "index": index}, at),
    ]
