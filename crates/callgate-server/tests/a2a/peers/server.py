"""An agent built on a2a-sdk, 1.0 over JSON-RPC and HTTP+JSON, and 0.3 over JSON-RPC.

    python server.py [jsonrpc|rest|old] [--no-streaming]

Prints its address; ends with its input. What it does is said by a message's first word.
"""

import asyncio
import json
import os
import socket
import sys
import threading

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.helpers.proto_helpers import (
    new_data_part,
    new_task_from_user_message,
    new_text_message,
)
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
)
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route


class Executor(AgentExecutor):
    """Does what a message's first word says."""

    cancelled = 0

    async def execute(self, context, queue):
        words = " ".join(part.text for part in context.message.parts if part.HasField("text"))
        task = context.current_task
        if words.startswith("message"):
            await queue.enqueue_event(new_text_message("just words"))
            return
        if task is None:
            task = new_task_from_user_message(context.message)
            await queue.enqueue_event(task)
        updater = TaskUpdater(queue, task.id, task.context_id)
        await updater.start_work()
        if words.startswith("ask"):
            await updater.requires_input(updater.new_agent_message([Part(text="Which one?")]))
        elif words.startswith("fail"):
            await updater.failed(updater.new_agent_message([Part(text="it is broken")]))
        elif words.startswith("reject"):
            await updater.reject(updater.new_agent_message([Part(text="not I")]))
        elif words.startswith("slow"):
            await asyncio.sleep(3600)
        elif words.startswith("data"):
            given = [MessageToDict(part.data) for part in context.message.parts if part.HasField("data")]
            await updater.add_artifact([new_data_part({"got": given})], name="result")
            await updater.complete()
        elif words.startswith("pieces"):
            await updater.add_artifact([Part(text="one ")], artifact_id="a", append=False)
            await updater.add_artifact([Part(text="two")], artifact_id="a", append=True, last_chunk=True)
            await updater.complete()
        else:
            await updater.add_artifact([Part(text=f"You said: {words}")], name="answer")
            await updater.complete()

    async def cancel(self, context, queue):
        Executor.cancelled += 1
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def main(way="jsonrpc", *flags):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # From now on whoever comes waits, instead of being refused.
    listener.listen(64)
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    ways = {
        "jsonrpc": AgentInterface(url=base + "/rpc", protocol_binding="JSONRPC", protocol_version="1.0"),
        "rest": AgentInterface(url=base, protocol_binding="HTTP+JSON", protocol_version="1.0"),
        "old": AgentInterface(url=base + "/rpc", protocol_binding="JSONRPC", protocol_version="0.3"),
    }
    card = AgentCard(
        name="python", description="An agent on a2a-sdk.", version="1.0.0",
        supported_interfaces=[ways[way]],
        capabilities=AgentCapabilities(streaming="--no-streaming" not in flags),
        default_input_modes=["text/plain"], default_output_modes=["text/plain"],
        skills=[AgentSkill(id="talk", name="talk", description="Talks.", tags=["talk"])],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
        *create_rest_routes(handler),
        Route("/cancelled", lambda _: PlainTextResponse(str(Executor.cancelled))),
    ]
    # Whoever started it is gone: so is this.
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    print(json.dumps({"url": base}), flush=True)
    config = uvicorn.Config(Starlette(routes=routes), log_level="warning")
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


main(*sys.argv[1:])
