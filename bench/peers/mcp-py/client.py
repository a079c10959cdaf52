"""python client.py CALLS IN_FLIGHT WARM PROGRAM ARGUMENTS... : tools/call over a server on stdio."""

import asyncio
import json
import resource
import sys
import time

from mcp import Client, StdioServerParameters

# As a model writes them: text.
ARGUMENTS = '{"ticketId":"TCK-10423","priority":"high","includeComments":true,"limit":20,"tags":["billing","vip"]}'


def cpu_us():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1e6


def peak_kib():
    # Of this program alone: ru_maxrss begins with the size of whoever started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


async def main():
    calls, in_flight, warm = (int(word) for word in sys.argv[1:4])
    started = time.perf_counter()
    server = StdioServerParameters(command=sys.argv[4], args=sys.argv[5:])
    async with Client(server) as client:
        await client.list_tools()
        connected = time.perf_counter() - started

        async def ticket():
            result = await client.call_tool("get_ticket", json.loads(ARGUMENTS))
            return result.structured_content["assignee"] == "dana"

        async def usage():
            return (await client.call_tool("usage", {})).structured_content

        async def run(calls):
            begun = right = 0

            async def worker():
                nonlocal begun, right
                while begun < calls:
                    begun += 1
                    # Not in one line: others count while this one waits.
                    is_right = await ticket()
                    right += is_right

            await asyncio.gather(*(worker() for _ in range(in_flight)))
            return right

        await run(warm)
        server_before, own_before, began = await usage(), cpu_us(), time.perf_counter()
        right = await run(calls)
        wall, own_after = time.perf_counter() - began, cpu_us()
        server_after = await usage()
        print(
            json.dumps(
                {
                    "calls": calls,
                    "right": right,
                    "protocol": str(client.protocol_version),
                    "connectMs": connected * 1000,
                    "callsPerSecond": calls / wall,
                    "clientCpuUs": (own_after - own_before) / calls,
                    "clientPeakKib": peak_kib(),
                    "serverCpuUs": (server_after["cpuUs"] - server_before["cpuUs"]) / calls,
                    "serverPeakKib": server_after["peakKib"],
                }
            )
        )


asyncio.run(main())
