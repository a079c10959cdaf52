"""The OpenAI Agents SDK for Python, as its docs do it: function tools of typed functions."""

import pathlib
import sys
from typing import Annotated, Literal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults/py"))

import cells as C
from agents import (
    Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from pydantic import BaseModel, Field

set_tracing_disabled(True)
# Tuned: the documented way to show the reason.
TOLD = {"failure_error_function": lambda _, error: f"Error: {error}"} if C.TUNED else {}


class Customer(BaseModel):
    id: int
    name: str | None = None


Date = Annotated[str, Field(pattern=C.DATE, description="YYYY-MM-DD")]


async def run(cell):
    more = {"timeout": C.TOOL_SECONDS, **TOLD} if cell.tool == "hang" else TOLD

    @function_tool(name_override="searchInvoices", description_override=C.SEARCH, **more)
    async def search_invoices(
        startDate: Date,
        endDate: Date,
        status: Literal["draft", "sent", "paid", "void"],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        tags: list[str] | None = None,
        customer: Customer | None = None,
    ) -> dict:
        return await C.ran(cell, "searchInvoices", startDate=startDate, endDate=endDate,
                           status=status, limit=limit, tags=tags, customer=customer)

    @function_tool(description_override=C.TICKET, **TOLD)
    async def get_ticket(ticketId: Annotated[str, Field(pattern=r"^T-[0-9]+$")]) -> dict:
        return await C.ran(cell, "get_ticket", ticketId=ticketId)

    @function_tool(description_override=C.LIST, **TOLD)
    async def list_tickets(open: bool | None = None, customerId: int | None = None) -> dict:
        return await C.ran(cell, "list_tickets", open=open, customerId=customerId)

    kind = OpenAIChatCompletionsModel if cell.dialect == "chat" else OpenAIResponsesModel
    client = AsyncOpenAI(base_url=cell.base + "/v1", api_key="sk-fake")
    tools = [search_invoices, get_ticket, *([list_tickets] if cell.more else [])]
    agent = Agent(name="books", instructions=C.SYSTEM, tools=tools,
                  model=kind(model="gpt-4o", openai_client=client))
    if cell.stream:
        result = Runner.run_streamed(agent, C.PROMPT, max_turns=10)
        async for _ in result.stream_events():
            pass
        return result.final_output, {}
    return (await Runner.run(agent, C.PROMPT, max_turns=10)).final_output, {}


C.serve(run)
