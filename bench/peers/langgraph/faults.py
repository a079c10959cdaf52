"""LangChain's `create_agent` on LangGraph, as its docs do it: tools with an args_schema, the
providers' own chat models."""

import pathlib
import sys
from typing import Annotated, Literal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults/py"))

import cells as C
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

FORBID = {"extra": "forbid"} if C.TUNED else {}


@wrap_tool_call
async def tool_errors(request, handler):
    """Tuned: the documented way to turn exceptions into results."""
    try:
        return await handler(request)
    except Exception as error:
        return ToolMessage(content=f"Tool error: {error}", tool_call_id=request.tool_call["id"],
                           status="error")


class Customer(BaseModel):
    model_config = FORBID
    id: int
    name: str | None = None


Date = Annotated[str, Field(pattern=C.DATE, description="YYYY-MM-DD")]


class SearchInvoices(BaseModel):
    model_config = FORBID
    startDate: Date
    endDate: Date
    status: Literal["draft", "sent", "paid", "void"]
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    tags: list[str] | None = None
    customer: Customer | None = None


class GetTicket(BaseModel):
    model_config = FORBID
    ticketId: Annotated[str, Field(pattern=r"^T-[0-9]+$")]


class ListTickets(BaseModel):
    model_config = FORBID
    open: bool | None = None
    customerId: int | None = None


def model(cell):
    match cell.dialect:
        case "chat" | "responses":
            return ChatOpenAI(model="gpt-4o", base_url=cell.base + "/v1", api_key="sk-fake",
                              use_responses_api=cell.dialect == "responses",
                              streaming=cell.stream)
        case "anthropic":
            return ChatAnthropic(model="claude-sonnet-4-5", base_url=cell.base, api_key="sk-fake",
                                 streaming=cell.stream)
        case "gemini":
            return ChatGoogleGenerativeAI(model="gemini-2.5-flash", base_url=cell.base,
                                          api_key="fake", streaming=cell.stream)


def about(message):
    """What the last message says of its end."""
    return {
        "finish_reason": (message.response_metadata or {}).get("finish_reason"),
        "invalid_tool_calls": getattr(message, "invalid_tool_calls", None),
        "last": type(message).__name__,
    }


async def run(cell):
    @tool("searchInvoices", args_schema=SearchInvoices, description=C.SEARCH)
    async def search_invoices(startDate: str, endDate: str, status: str, limit: int = 10,
                              tags: list[str] | None = None,
                              customer: Customer | None = None) -> dict:
        return await C.ran(cell, "searchInvoices", startDate=startDate, endDate=endDate,
                           status=status, limit=limit, tags=tags, customer=customer)

    @tool("get_ticket", args_schema=GetTicket, description=C.TICKET)
    async def get_ticket(ticketId: str) -> dict:
        return await C.ran(cell, "get_ticket", ticketId=ticketId)

    @tool("list_tickets", args_schema=ListTickets, description=C.LIST)
    async def list_tickets(open: bool | None = None, customerId: int | None = None) -> dict:
        return await C.ran(cell, "list_tickets", open=open, customerId=customerId)

    tools = [search_invoices, get_ticket, *([list_tickets] if cell.more else [])]
    agent = create_agent(model(cell), tools=tools, system_prompt=C.SYSTEM,
                         middleware=[tool_errors] if C.TUNED else [])
    asked = {"messages": [{"role": "user", "content": C.PROMPT}]}
    # 20 supersteps: 10 model calls and 10 tool steps.
    bounds = {"recursion_limit": 20}
    if cell.stream:
        last = None
        async for kind, data in agent.astream(asked, bounds, stream_mode=["messages", "values"]):
            if kind == "values":
                last = data
    else:
        last = await agent.ainvoke(asked, bounds)
    message = last["messages"][-1]
    text = getattr(message, "text", None)
    return text if isinstance(text, str) else str(message.content), about(message)


C.serve(run)
