"""Pydantic AI, as its docs do it: tools of typed functions, the providers' own model classes."""

import pathlib
import sys
from typing import Annotated, Literal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults/py"))

import cells as C
from anthropic import AsyncAnthropic
from pydantic import BaseModel, Field
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider


class Customer(BaseModel):
    id: int
    name: str | None = None


class Found(BaseModel):
    count: int
    items: list[str]


Date = Annotated[str, Field(pattern=C.DATE, description="YYYY-MM-DD")]


def model(cell):
    match cell.dialect:
        case "chat" | "responses":
            kind = OpenAIChatModel if cell.dialect == "chat" else OpenAIResponsesModel
            provider = OpenAIProvider(base_url=cell.base + "/v1", api_key="sk-fake")
            return kind("gpt-4o", provider=provider)
        case "anthropic":
            client = AsyncAnthropic(base_url=cell.base, api_key="sk-fake")
            provider = AnthropicProvider(anthropic_client=client)
            return AnthropicModel("claude-sonnet-4-5", provider=provider)
        case "gemini":
            provider = GoogleProvider(api_key="fake", base_url=cell.base)
            return GoogleModel("gemini-2.5-flash", provider=provider)


async def run(cell):
    more = {"retries": 3} if C.TUNED else {}
    agent = Agent(model(cell), instructions=C.SYSTEM, tool_timeout=C.TOOL_SECONDS, **more)

    @agent.tool_plain(description=C.SEARCH)
    async def searchInvoices(
        startDate: Date,
        endDate: Date,
        status: Literal["draft", "sent", "paid", "void"],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        tags: list[str] | None = None,
        customer: Customer | None = None,
    ) -> Found:
        return await C.ran(cell, "searchInvoices", startDate=startDate, endDate=endDate,
                           status=status, limit=limit, tags=tags, customer=customer)

    @agent.tool_plain(description=C.TICKET)
    async def get_ticket(ticketId: Annotated[str, Field(pattern=r"^T-[0-9]+$")]) -> Found:
        return await C.ran(cell, "get_ticket", ticketId=ticketId)

    if cell.more:
        @agent.tool_plain(description=C.LIST)
        async def list_tickets(open: bool | None = None, customerId: int | None = None) -> Found:
            return await C.ran(cell, "list_tickets", open=open, customerId=customerId)

    limits = UsageLimits(request_limit=10)
    if cell.stream:
        async with agent.run_stream(C.PROMPT, usage_limits=limits) as result:
            return await result.get_output(), {}
    return (await agent.run(C.PROMPT, usage_limits=limits)).output, {}


C.serve(run)
