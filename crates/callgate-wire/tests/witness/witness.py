"""The providers' own typed SDKs as witnesses of the codecs.

Reads request bodies that the codecs wrote and parses each, strictly, into the request types of
that provider's SDK: a field that the SDK does not know is an error. Reads the recorded replies that
the decoders are tested with and parses each into the SDK's response types, so that what we decode
is what the provider sends.

    python witness.py BODIES REPLIES

BODIES/<dialect>/<request>.json   bodies
REPLIES/<dialect>/<reply>.json    whole replies; .sse are streams of events

Prints a line for each failure and a count of what was parsed; the status is 1 where anything failed.
"""

import inspect
import json
import pathlib
import sys
import typing

import anthropic.types
import google.genai.types as google
import openai.types
import openai.types.chat
import openai.types.responses
import pydantic
import typing_extensions
from anthropic.types import (
    assistant_message_param,
    message_content_param,
    message_create_params,
    user_message_param,
)
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

FORBID = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def make_strict(package):
    """Unknown keys are errors, and lists are looked into, in all request types of a package."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(package + "."):
            continue
        for lazy in ("Iterable", "SequenceNotStr"):
            if hasattr(module, lazy):
                # An iterable is only looked at when somebody iterates over it.
                setattr(module, lazy, typing.List)
        for value in list(vars(module).values()):
            if inspect.isclass(value) and typing_extensions.is_typeddict(value):
                value.__pydantic_config__ = FORBID


make_strict("openai")
make_strict("anthropic")

# Made when its module was loaded, so not reached by the above; and it takes a reply's own blocks too,
# as objects of the SDK, which allow any field.
text, blocks = typing.get_args(message_content_param.MessageContentParam)
blocks = [b for b in typing.get_args(typing.get_args(blocks)[0]) if typing_extensions.is_typeddict(b)]
for module in (user_message_param, assistant_message_param):
    module.MessageContentParam = typing.Union[text, typing.List[typing.Union[tuple(blocks)]]]

CHAT = pydantic.TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming)
RESPONSES = pydantic.TypeAdapter(response_create_params.ResponseCreateParamsNonStreaming)
ANTHROPIC = pydantic.TypeAdapter(message_create_params.MessageCreateParamsNonStreaming)


def gemini(body):
    """The SDK has no type of the whole body, only of its parts, each of which forbids extras."""
    parts = {
        "contents": pydantic.TypeAdapter(list[google.Content]),
        "systemInstruction": pydantic.TypeAdapter(google.Content),
        "tools": pydantic.TypeAdapter(list[google.Tool]),
        "toolConfig": pydantic.TypeAdapter(google.ToolConfig),
        "generationConfig": pydantic.TypeAdapter(google.GenerationConfig),
    }
    for key, value in body.items():
        if key not in parts:
            raise ValueError(f"unknown field {key}")
        parts[key].validate_python(value)
    rules_of_gemini(body)


def rules_of_gemini(body):
    """What the types do not say: order and count of calls and responses."""
    assert body["contents"][0]["role"] == "user", "the first content is not the user's"
    contents = body["contents"]
    for n, content in enumerate(contents):
        assert content["parts"], "a content without parts"
        calls = [p["functionCall"]["name"] for p in content["parts"] if "functionCall" in p]
        if calls:
            answer = contents[n + 1]["parts"]
            assert all("functionResponse" in p for p in answer), "something beside responses"
            assert [p["functionResponse"]["name"] for p in answer] == calls, "not one response a call"


def anthropic_request(body):
    # Gone from this SDK since the newest models refuse it; Claude up to 4.6 takes it.
    known = {key: value for key, value in body.items() if key != "temperature"}
    ANTHROPIC.validate_python(known)
    marks = json.dumps(body).count('"cache_control"')
    assert marks <= 4, f"{marks} marks"
    messages = body["messages"]
    assert messages[0]["role"] == "user", "the first message is not the user's"
    for n, message in enumerate(messages):
        blocks = message["content"]
        assert blocks, "a message without content"
        for block in blocks:
            assert block["type"] != "text" or block["text"].strip(), "a blank text"
        used = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if used:
            answers = messages[n + 1]["content"][: len(used)]
            assert [b.get("tool_use_id") for b in answers] == used, "not one result a call, first"
    names = [tool["name"] for tool in body.get("tools", [])]
    assert len(names) == len(set(names)), "tool names are not unique"


def chat_request(body):
    CHAT.validate_python(body)
    rules_of_openai(
        (("call", c["id"]) if m["role"] == "assistant" else ("result", m["tool_call_id"]))
        for m in body["messages"]
        for c in (m.get("tool_calls") or [None] * (m["role"] == "tool"))
    )


def responses_request(body):
    RESPONSES.validate_python(body)
    kinds = {"function_call": "call", "function_call_output": "result"}
    rules_of_openai(
        (kinds[item["type"]], item["call_id"])
        for item in body["input"]
        if item.get("type") in kinds
    )


def rules_of_openai(steps):
    open_calls, seen = [], set()
    for kind, call_id in steps:
        if kind == "call":
            assert call_id not in seen, f"{call_id} came before"
            seen.add(call_id)
            open_calls.append(call_id)
        else:
            assert call_id in open_calls, f"{call_id} has no call"
            open_calls.remove(call_id)
    assert not open_calls, f"{open_calls} have no result"


REQUESTS = {
    "openai-chat": chat_request,
    "responses": responses_request,
    "anthropic": anthropic_request,
    "gemini": gemini,
}


def typed(model):
    """Parses into a response type. These allow unknown fields, as a client has to."""
    adapter = pydantic.TypeAdapter(model)
    return lambda value: adapter.validate_python(value)


RAW_EVENT = typed(anthropic.types.RawMessageStreamEvent)


def anthropic_event(value):
    # Pings and errors are the SDK's own affair, below its types.
    if value["type"] not in ("ping", "error"):
        RAW_EVENT(value)


GEMINI_REPLY = typed(google.GenerateContentResponse)

REPLIES = {
    "chat": (
        typed(openai.types.chat.ChatCompletion),
        typed(openai.types.chat.ChatCompletionChunk),
    ),
    "responses": (
        typed(openai.types.responses.Response),
        typed(openai.types.responses.ResponseStreamEvent),
    ),
    "anthropic": (typed(anthropic.types.Message), anthropic_event),
    "gemini": (GEMINI_REPLY, GEMINI_REPLY),
}

# What gateways send instead of the provider; the SDKs need not take it.
GATEWAYS = ("gateway_", "error.")


def events(text):
    for block in text.replace("\r\n", "\n").split("\n\n"):
        for line in block.split("\n"):
            if line.startswith("data: ") and line != "data: [DONE]":
                yield json.loads(line[len("data: ") :])


FREE = ("parameters", "input_schema", "parametersJsonSchema", "args", "response")


def spoiled(value):
    """Each copy of a body with one more field somewhere in it, with the place."""
    if isinstance(value, dict):
        yield "", {**value, "noSuchField": 1}
        for key, inner in value.items():
            # Schemas, arguments and Gemini's responses are free; Responses has a list as its input.
            free = key == "input" and isinstance(inner, dict)
            if not free and key not in FREE:
                for path, other in spoiled(inner):
                    yield f"/{key}{path}", {**value, key: other}
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            for path, other in spoiled(inner):
                yield f"/{n}{path}", [*value[:n], other, *value[n + 1 :]]


def blind(parse, body):
    """Where a field too many is not seen: then the witness would be worth nothing."""
    for path, other in spoiled(body):
        try:
            parse(other)
        except Exception:
            continue
        yield path


def main(bodies, replies):
    failures, parsed = [], 0

    def check(what, parse, value):
        nonlocal parsed
        parsed += 1
        try:
            parse(value)
        except Exception as error:  # any failure is a finding
            failures.append(f"{what}: {error}")

    for dialect, parse in REQUESTS.items():
        for path in sorted((bodies / dialect).glob("*.json")):
            check(f"{dialect} {path.stem}", parse, json.loads(path.read_text()))
        body = json.loads((bodies / dialect / "images_in_a_result.json").read_text())
        failures += [f"{dialect} is blind at {seen}" for seen in blind(parse, body)]
    for dialect, (whole, event) in REPLIES.items():
        for path in sorted((replies / dialect).iterdir()):
            if path.name.startswith(GATEWAYS):
                continue
            if path.suffix == ".json":
                check(f"{dialect} {path.name}", whole, json.loads(path.read_text()))
            else:
                for n, value in enumerate(events(path.read_bytes().decode())):
                    check(f"{dialect} {path.name} event {n}", event, value)
    for failure in failures:
        print(failure)
    print(f"{parsed} parsed, {len(failures)} failed")
    return 1 if failures or not parsed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
