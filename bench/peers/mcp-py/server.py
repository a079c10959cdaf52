"""Two tools over stdio: get_ticket, which is measured, and usage, which tells of this process."""

import resource
from typing import Annotated, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

server = MCPServer("tickets")


class Ticket(BaseModel):
    ticketId: str
    status: str
    assignee: str


class Used(BaseModel):
    cpuUs: int
    peakKib: int


@server.tool(description="Looks a support ticket up by its id.")
async def get_ticket(
    ticketId: Annotated[str, Field(pattern="^TCK-[0-9]+$", description="The ticket's id, such as TCK-10423")],
    priority: Annotated[Literal["low", "normal", "high", "urgent"], Field(description="Only if it has this priority")],
    includeComments: Annotated[bool, Field(description="Whether its comments are wanted too")] = False,
    limit: Annotated[int, Field(ge=1, le=100, description="How many of them")] = 10,
    tags: Annotated[list[str], Field(max_length=8, description="Only if it has all of these")] = [],
) -> Ticket:
    return Ticket(ticketId=ticketId, status="open", assignee="dana")


def peak_kib() -> int:
    # Of this program alone: ru_maxrss begins with the size of whoever started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


@server.tool(description="What this process has used so far.")
async def usage() -> Used:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Used(cpuUs=int((used.ru_utime + used.ru_stime) * 1e6), peakKib=peak_kib())


server.run()
