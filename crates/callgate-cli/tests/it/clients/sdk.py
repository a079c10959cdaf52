"""A client of the Python SDK that tells what it saw of a server as one line of JSON.

python sdk.py legacy|auto|modern PIDS URL | PROGRAM ARGUMENT...
"""

import json
import os
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters

era, pids, *at = sys.argv[1:]


def told(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    mode = "2026-07-28" if era == "modern" else era
    server = at[0] if at[0].startswith("http") else StdioServerParameters(command=at[0], args=at[1:])
    saw = {"progress": 0}
    async with Client(server, mode=mode) as client:
        saw["server"] = client.server_info.name if client.server_info else None
        saw["revision"] = client.protocol_version
        saw["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        saw["picked"] = told(await client.call_tool("pick", {"x": "a", "n": 3}))
        saw["refused"] = {name: told(await client.call_tool(name, {"x": "c"})) for name in ("pick", "say")}
        try:
            saw["unknown"] = told(await client.call_tool("pik", {}))
        except MCPError as error:
            saw["unknown"] = error.error.code

        async def progress(*_):
            saw["progress"] += 1

        async def stop(scope):
            while not os.path.exists(pids) or saw["progress"] == 0:
                await anyio.sleep(0.02)
            scope.cancel()

        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(stop, scope)
                await client.call_tool("hang", {}, progress_callback=progress)
        saw["cancelled"] = "by its scope" if scope.cancelled_caught else None

        saw["afterwards"] = (await client.call_tool("say", {"x": "b"})).content[0].text
    print(json.dumps(saw))


anyio.run(main)
