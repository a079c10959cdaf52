"""Gemini `generateContent`: arguments are an object, in a stream too."""

import json

from wire import COMMON, IN, OUT, WORDS, Event, Raw, Reply, Seen, content, is_json

NAME = "gemini"
WIRES = COMMON | frozenset("usage_null one_piece no_ids finish_apart".split())
FINISH = {"calls": "STOP", "length": "MAX_TOKENS", "malformed": "MALFORMED_FUNCTION_CALL"}


def carries(fault, _stream: bool) -> bool:
    """`args` is a value, or absent: what is no JSON has no form. Calls end with STOP anyway."""
    return fault.finish in FINISH and all(c.args == "" or is_json(c.args) for c in fault.emit)


def answers(path: str) -> bool:
    return path.endswith((":generateContent", ":streamGenerateContent"))


def wants_stream(path: str, _body: dict) -> bool:
    return path.endswith(":streamGenerateContent")


def read(body: dict, _memory: dict) -> Seen:
    contents = body.get("contents", [])
    if isinstance(contents, dict):
        contents = [contents]
    last = max((i for i, c in enumerate(contents) if c.get("role") == "model"), default=None)
    if last is None:
        return Seen()
    mine = [p["functionCall"].get("id") for p in contents[last].get("parts", [])
            if "functionCall" in p]
    after = [part for c in contents[last + 1:] for part in c.get("parts", [])]
    results = [p["functionResponse"] for p in after if "functionResponse" in p]
    return Seen(
        mine=mine,
        results=[(r.get("id"), content(r.get("response"))) for r in results],
        other="\n".join(p["text"] for p in after if "text" in p),
        turns=sum(c.get("role") == "model" for c in contents),
    )


def whole(reply: Reply) -> str:
    raw = Raw()
    return raw.dumps(_body(reply, _parts(reply, raw), _finish(reply)))


def refusal(status: int, message: str) -> str:
    return json.dumps({"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})


def broken(_reply: Reply) -> list[Event]:
    error = {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}
    return [Event("end", json.dumps(error))]


def _finish(reply: Reply) -> str:
    return "STOP" if reply.text is not None else FINISH[reply.finish]


def _parts(reply: Reply, raw: Raw) -> list[dict]:
    if reply.text is not None:
        return [{"text": reply.text}]
    parts = [{"text": WORDS}] if reply.wire == "text_first" else []
    for call in reply.calls:
        function = {"name": call.name}
        if reply.wire != "no_ids":
            function["id"] = call.id
        if call.args != "":
            function["args"] = raw.value(call.args)
        parts.append({"functionCall": function})
    return parts


def _body(reply: Reply, parts: list, finish: str | None) -> dict:
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if not parts:
        candidate["content"] = {}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate], "modelVersion": reply.model, "responseId": f"resp-{reply.n}",
        "usageMetadata": {"promptTokenCount": IN, "candidatesTokenCount": OUT,
                          "totalTokenCount": IN + OUT},
    }


def events(reply: Reply) -> list[Event]:
    out = []
    if reply.wire == "usage_null":
        usage = {"promptTokenCount": IN, "totalTokenCount": IN}
        out.append(Event("other", json.dumps({"usageMetadata": usage})))
    raw = Raw()
    parts = _parts(reply, raw)
    calls = 0
    for part in parts:
        label, at = ("text", -1) if "text" in part else ("arg", calls)
        calls += label == "arg"
        body = _body(reply, [part], None)
        if reply.wire == "unknown_events":
            body |= {"progress": {"share": 0.5}}
            body["candidates"][0]["content"]["origin"] = "model"
        out.append(Event(label, raw.dumps(body), call=at))
    if reply.wire == "one_piece":
        return [Event("arg", raw.dumps(_body(reply, parts, _finish(reply))), call=0)]
    last = [] if reply.wire == "finish_apart" or not parts else [{"text": ""}]
    out.append(Event("finish", json.dumps(_body(reply, last, _finish(reply)))))
    return out
