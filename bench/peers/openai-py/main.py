"""A loop by hand on the OpenAI SDK for Python, whose arguments are validated by a `jsonschema` validator made once."""

import asyncio
import json

import driver
from jsonschema import Draft202012Validator
from openai import AsyncOpenAI

told = driver.options()
validator = Draft202012Validator(driver.SCHEMA)
tools = [
    {
        "type": "function",
        "function": {"name": driver.TOOL, "description": driver.TOOL_ABOUT, "parameters": driver.SCHEMA},
    }
]


def work(text):
    try:
        arguments = json.loads(text)
    except ValueError as error:
        return json.dumps({"error": f"invalid JSON: {error}"})
    wrong = next(validator.iter_errors(arguments), None)
    if wrong is not None:
        driver.rejected()
        return json.dumps({"error": wrong.message})
    return json.dumps(driver.ticket(arguments["ticketId"]))


async def whole(client, messages):
    reply = await client.chat.completions.create(model="gpt-4o", messages=messages, tools=tools)
    message = reply.choices[0].message
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    return message.content, calls


async def streamed(client, messages):
    text, calls = "", {}
    stream = await client.chat.completions.create(model="gpt-4o", messages=messages, tools=tools, stream=True)
    async for chunk in stream:
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for piece in delta.tool_calls or ():
            call = calls.setdefault(piece.index, ["", "", ""])
            call[0] = piece.id or call[0]
            call[1] += piece.function.name or ""
            call[2] += piece.function.arguments or ""
    return text, [tuple(calls[index]) for index in sorted(calls)]


async def main():
    client = AsyncOpenAI(base_url=told.api, api_key="sk-bench")
    reply = streamed if told.stream else whole

    async def run():
        messages = [
            {"role": "system", "content": driver.INSTRUCTIONS},
            {"role": "user", "content": driver.PROMPT},
        ]
        for _ in range(10):
            text, calls = await reply(client, messages)
            if not calls:
                return text
            made = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id, name, arguments in calls
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": made})
            for id, _, arguments in calls:
                messages.append({"role": "tool", "tool_call_id": id, "content": work(arguments)})
        raise RuntimeError("no answer after ten turns")

    await driver.drive("OpenAI SDK by hand, Python", told, run)


asyncio.run(main())
