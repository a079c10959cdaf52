"""OpenAI Responses."""

import json

from wire import COMMON, IN, OUT, WORDS, Event, Reply, Seen, content, pieces

NAME = "responses"
WIRES = COMMON | frozenset("interleaved done_only at_start empty_pieces one_piece cut_name".split())


def carries(fault, _stream: bool) -> bool:
    """Arguments are text. A finish that does not tell of calls, or of a lost one, does not exist."""
    return fault.finish in ("calls", "length") and all(isinstance(c.args, str) for c in fault.emit)


def answers(path: str) -> bool:
    return path.endswith("/responses")


def wants_stream(_path: str, body: dict) -> bool:
    return bool(body.get("stream"))


def read(body: dict, memory: dict) -> Seen:
    """`memory` has the items that were sent, for clients that refer to them by id."""
    items = body.get("input")
    if not isinstance(items, list):
        return Seen()
    items = [memory.get(i.get("id"), i) if i.get("type") == "item_reference" else i for i in items]
    ours = [_is_ours(item) for item in items]
    last = max((at for at, our in enumerate(ours) if our), default=None)
    if last is None:
        return Seen()
    # Some clients put each output behind its call: the last turn begins where the calls of our
    # last reply do.
    count = len(memory.get("last", ()))
    calls = [at for at, item in enumerate(items) if item.get("type") == "function_call"]
    first = calls[-count] if 0 < count <= len(calls) else last
    after = items[first:]
    return Seen(
        mine=[item.get("call_id") for item in after if item.get("type") == "function_call"],
        results=[(item.get("call_id"), content(item.get("output")))
                 for item in after if item.get("type") == "function_call_output"],
        other="\n".join(content(item.get("content")) for item in after
                        if item.get("role") in ("user", "system", "developer")),
        turns=sum(ours),
    )


def _is_ours(item: dict) -> bool:
    return item.get("type") in ("function_call", "reasoning") or item.get("role") == "assistant"


def remember(reply: Reply, memory: dict) -> None:
    """Keeps the items of a reply by their ids."""
    items = _items(reply)
    memory.update({item["id"]: item for item in items})
    memory["last"] = [item for item in items if item["type"] == "function_call"]


def whole(reply: Reply) -> str:
    return json.dumps(_response(reply, _items(reply)), ensure_ascii=False)


def refusal(_status: int, message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error",
                                 "param": "input", "code": "context_length_exceeded"}})


def _items(reply: Reply) -> list[dict]:
    if reply.text is not None:
        return [_message(reply, reply.text)]
    status = "incomplete" if reply.finish == "length" else "completed"
    calls = [
        {"type": "function_call", "id": f"fc_{reply.n}_{at}", "call_id": call.id,
         "name": call.name, "arguments": call.args, "status": status}
        for at, call in enumerate(reply.calls)
    ]
    return ([_message(reply, WORDS)] if reply.wire == "text_first" else []) + calls


def _message(reply: Reply, text: str) -> dict:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "message", "id": f"msg_{reply.n}", "role": "assistant", "status": "completed",
            "content": [part]}


def _response(reply: Reply, output: list, status: str | None = None) -> dict:
    cut = reply.text is None and reply.finish == "length"
    usage = {"input_tokens": IN, "input_tokens_details": {"cached_tokens": 0},
             "output_tokens": OUT, "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": IN + OUT}
    return {
        "id": f"resp_{reply.n}", "object": "response", "created_at": 1760000000,
        "status": status or ("incomplete" if cut else "completed"), "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut and not status else None,
        "instructions": None, "metadata": {}, "model": reply.model, "output": output,
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [],
        "top_p": 1.0, "usage": None if status else usage,
    }


class _Numbered:
    """Events with their running number."""

    def __init__(self):
        self.out: list[Event] = []

    def add(self, label, type, call=-1, **more):
        body = {"type": type, "sequence_number": len(self.out), **more}
        self.out.append(Event(label, json.dumps(body, ensure_ascii=False), name=type, call=call))


def broken(reply: Reply) -> list[Event]:
    out = _Numbered()
    out.add("other", "error", code="server_error", message="Overloaded", param=None)
    failed = _response(reply, [], "failed")
    failed["error"] = {"code": "server_error", "message": "Overloaded"}
    out.add("end", "response.failed", response=failed)
    return out.out


def events(reply: Reply) -> list[Event]:
    out = _Numbered()
    out.add("start", "response.created", response=_response(reply, [], "in_progress"))
    out.add("start", "response.in_progress", response=_response(reply, [], "in_progress"))
    if reply.wire == "unknown_events":
        out.add("other", "response.progress.updated", share=0.5)
    items = _items(reply)
    plans = [_plan(reply, item, at) for at, item in enumerate(items)]
    if reply.wire == "interleaved":
        longest = max(len(plan) for plan in plans)
        steps = [plan[at] for at in range(longest) for plan in plans if at < len(plan)]
    else:
        steps = [step for plan in plans for step in plan]
    for label, type, at, more in steps:
        out.add(label, type, call=at, **more)
    response = _response(reply, items)
    out.add("finish", f"response.{response['status']}", response=response)
    return out.out


def _plan(reply: Reply, item: dict, at: int) -> list[tuple[str, str, int, dict]]:
    """The events of one item: label, type, place and fields."""
    done = ("close", "response.output_item.done", at, {"output_index": at, "item": item})
    if reply.wire == "done_only" and item["type"] == "function_call":
        return [done]
    opened = {"output_index": at}
    part_of = {"item_id": item["id"], "output_index": at}
    if item["type"] == "message":
        text = item["content"][0]
        within = {**part_of, "content_index": 0}
        return [
            ("text", "response.output_item.added", at,
             {**opened, "item": item | {"content": [], "status": "in_progress"}}),
            ("text", "response.content_part.added", at, {**within, "part": text | {"text": ""}}),
            *(("text", "response.output_text.delta", at, {**within, "delta": part, "logprobs": []})
              for part in pieces(text["text"])),
            ("text", "response.output_text.done", at,
             {**within, "text": text["text"], "logprobs": []}),
            ("text", "response.content_part.done", at, {**within, "part": text}),
            ("text", "response.output_item.done", at, {**opened, "item": item}),
        ]
    args = item["arguments"]
    begin = item | {"status": "in_progress", "arguments": args if reply.wire == "at_start" else ""}
    parts = [] if reply.wire == "at_start" else [args] if reply.wire == "one_piece" else pieces(args)
    if reply.wire == "empty_pieces":
        parts = [part for real in parts for part in ("", real)]
    return [
        ("open", "response.output_item.added", at, {**opened, "item": begin}),
        *(("arg", "response.function_call_arguments.delta", at, {**part_of, "delta": part})
          for part in parts),
        ("close", "response.function_call_arguments.done", at,
         {**part_of, "name": item["name"], "arguments": args}),
        done,
    ]
