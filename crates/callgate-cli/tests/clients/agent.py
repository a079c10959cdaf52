"""A loop over the official Python libraries, as an application writes it.

python agent.py chat|responses|messages whole|streamed BASE_URL MODEL CASES OUT

For each case a model is asked with one tool of the case's schema. What the library hands on as a
call is judged by `jsonschema`, then run. OUT gets one line of JSON a case: how many calls came, how
many of them their schema admits, and how it ended.

MODEL is a real model's name; or it ends in a colon, or is empty, and `case-ID` is added: a provider
that plays a case.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai
from jsonschema import Draft202012Validator

DIALECT, MODE, URL, MODEL, CASES, OUT = sys.argv[1:]
STREAMED = MODE == "streamed"
HOPS = 6
# A real model makes up what to call with; it has to call, and says something in the end or not.
IS_REAL = bool(MODEL) and not MODEL.endswith(":")
ASK = "Call the tool once, with any arguments that fit, then answer." if IS_REAL else "Do it."
MOST = int(os.environ.get("CLIENT_CASES", 1000))
KEY = os.environ.get("CALLGATE_TOKEN", "no-key")


class Endless(Exception):
    """The model calls and calls."""


class Tool:
    """The application's tool: counts what it is called with."""

    def __init__(self, case):
        self.schema = case["input"]["schema"]
        self.judge = Draft202012Validator(self.schema)
        self.received = self.admitted = 0

    def run(self, arguments):
        """`arguments` as the library gives them: text of OpenAI's, a value of Anthropic's."""
        self.received += 1
        if isinstance(arguments, str):
            # An application that is handed broken JSON ends here.
            arguments = json.loads(arguments)
        if self.judge.is_valid(arguments) and isinstance(arguments, dict):
            self.admitted += 1
        return "ran: well"


def chat(model, tool):
    client = openai.OpenAI(base_url=URL, api_key=KEY, max_retries=0)
    messages = [{"role": "user", "content": ASK}]
    tools = [{"type": "function", "function": {"name": "act", "description": "Acts.", "parameters": tool.schema}}]
    for _ in range(HOPS):
        asked = {"model": model, "messages": messages, "tools": tools}
        if IS_REAL:
            asked |= {"max_completion_tokens": 200, "tool_choice": "auto" if tool.received else "required"}
        if STREAMED:
            with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
                for _event in stream:
                    pass
                completion = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(**asked)
        assert completion.usage is not None, "no usage"
        message = completion.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            result = tool.run(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise Endless


def responses(model, tool):
    client = openai.OpenAI(base_url=URL, api_key=KEY, max_retries=0)
    items = [{"role": "user", "content": ASK}]
    tools = [{"type": "function", "name": "act", "description": "Acts.", "parameters": tool.schema, "strict": False}]
    for _ in range(HOPS):
        asked = {"model": model, "input": items, "tools": tools, "store": False}
        if IS_REAL:
            asked |= {"max_output_tokens": 200, "tool_choice": "auto" if tool.received else "required"}
        if STREAMED:
            with client.responses.stream(**asked) as stream:
                for _event in stream:
                    pass
                response = stream.get_final_response()
        else:
            response = client.responses.create(**asked)
        assert response.usage is not None, "no usage"
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        items += [item.to_dict() for item in response.output]
        for call in calls:
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": tool.run(call.arguments)})
    raise Endless


def messages(model, tool):
    client = anthropic.Anthropic(base_url=URL.removesuffix("/v1"), api_key=KEY, max_retries=0)
    messages = [{"role": "user", "content": ASK}]
    tools = [{"name": "act", "description": "Acts.", "input_schema": tool.schema}]
    for _ in range(HOPS):
        asked = {"model": model, "max_tokens": 200 if IS_REAL else 1000, "messages": messages, "tools": tools}
        if IS_REAL:
            asked |= {"tool_choice": {"type": "auto" if tool.received else "any"}}
        if STREAMED:
            with client.messages.stream(**asked) as stream:
                for _event in stream:
                    pass
                message = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        messages.append({"role": "assistant", "content": message.content})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": tool.run(call.input)} for call in calls]
        messages.append({"role": "user", "content": results})
    raise Endless


LOOPS = {"chat": chat, "responses": responses, "messages": messages}


def tried(case):
    tool = Tool(case)
    saw = {"case": case["id"]}
    try:
        words = LOOPS[DIALECT](MODEL if IS_REAL else f"{MODEL}case-{case['id']}", tool)
        saw["end"] = "answered" if words else "nothing"
    except (openai.APIConnectionError, anthropic.APIConnectionError) as error:
        saw["end"], saw["error"] = "crashed", f"{type(error).__name__}: {error}"
    except (openai.APIError, anthropic.APIError) as error:
        saw["end"], saw["error"] = "refused", f"{type(error).__name__}: {error}"
    except Endless:
        saw["end"] = "endless"
    except Exception as error:  # noqa: BLE001 - whatever ends an application counts
        saw["end"], saw["error"] = "crashed", f"{type(error).__name__}: {error}"
    return saw | {"received": tool.received, "admitted": tool.admitted}


def is_json(text):
    try:
        return json.loads(text) is not None
    except ValueError:
        return False


def cases():
    # A provider of whole messages can say nothing but JSON.
    upstream = MODEL or {"messages": "anthropic:"}.get(DIALECT)
    only_json = upstream == "anthropic:" and not STREAMED
    for line in open(CASES, encoding="utf-8"):
        case = json.loads(line)
        if case["family"] not in ("malformed-json", "schema-mismatch"):
            continue
        if not only_json or is_json(case["input"]["arguments_raw"]):
            yield case


def spread(all):
    """At most so many, evenly over them."""
    return [case for at, case in enumerate(all) if (at + 1) * MOST // len(all) > at * MOST // len(all)] if MOST < len(all) else all


with ThreadPoolExecutor(1 if IS_REAL else 4) as pool, open(OUT, "w", encoding="utf-8") as out:
    for saw in pool.map(tried, spread(list(cases()))):
        print(json.dumps(saw), file=out)
