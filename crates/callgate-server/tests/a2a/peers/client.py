"""A client built on a2a-sdk: sends, streams, goes on with a task that asked, cancels one.

    python client.py URL BINDING

Prints one JSON object a step; whoever started it compares them.
"""

import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.helpers.proto_helpers import new_data_part
from google.protobuf.json_format import MessageToDict


def tell(step, **said):
    print(json.dumps({"step": step, **said}), flush=True)


def state(task):
    return TaskState.Name(task.status.state)


def data(part):
    return MessageToDict(part.data)


def request(words, message_id, task_id="", skill=None, parts=None):
    message = Message(message_id=message_id, role=Role.ROLE_USER, task_id=task_id,
                      parts=parts or [Part(text=words)])
    if skill:
        message.metadata.update({"skillId": skill})
    return SendMessageRequest(message=message)


async def last_task(client, message):
    async for event in client.send_message(message):
        assert event.HasField("task"), event
        return event.task
    raise AssertionError("nothing came")


async def main(url, binding):
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        def config(streaming):
            return ClientConfig(streaming=streaming, httpx_client=http,
                                supported_protocol_bindings=[binding])

        whole = await create_client(url, client_config=config(False))
        streamed = await create_client(url, client_config=config(True))
        tag = f"py-{binding}-"

        task = await last_task(whole, request("hello", tag + "1"))
        tell("send", state=state(task), text=task.artifacts[0].parts[0].text)

        kinds = []
        async for event in streamed.send_message(request("hello again", tag + "2")):
            kinds.append(event.WhichOneof("payload"))
        tell("stream", kinds=kinds)

        task = await last_task(whole, request("", tag + "3", skill="add",
                                              parts=[new_data_part({"a": 1})]))
        asked = data(task.status.message.parts[1])
        tell("ask", state=state(task), missing=asked["missing"])
        task = await last_task(whole, request("", tag + "4", task_id=task.id,
                                              parts=[new_data_part({"b": 2})]))
        tell("answer", state=state(task), data=data(task.artifacts[0].parts[0]))

        task = None
        async for event in streamed.send_message(request("sleep", tag + "5")):
            if event.HasField("task"):
                task = event.task
            if event.HasField("status_update") and \
                    event.status_update.status.state == TaskState.TASK_STATE_WORKING:
                break
        ended = await whole.cancel_task(CancelTaskRequest(id=task.id))
        tell("cancel", state=state(ended))
        got = await whole.get_task(GetTaskRequest(id=task.id))
        tell("get", state=state(got))
        try:
            async for _ in streamed.subscribe(SubscribeToTaskRequest(id=task.id)):
                pass
            tell("subscribe", error=None)
        except Exception as error:  # noqa: BLE001 - which one is what is asked
            tell("subscribe", error=type(error).__name__)


asyncio.run(main(*sys.argv[1:]))
