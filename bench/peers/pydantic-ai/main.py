"""An agent of pydantic-ai, as its documentation shows it."""

import asyncio
from typing import Annotated, Literal

import driver
from pydantic import Field
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

told = driver.options()
model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=told.api, api_key="sk-bench"))
agent = Agent(model, instructions=driver.INSTRUCTIONS)


@agent.tool_plain(name=driver.TOOL, description=driver.TOOL_ABOUT)
async def get_ticket(
    ticketId: Annotated[str, Field(pattern=r"^TCK-[0-9]{4,8}$", description="id of the ticket")],
    priority: Literal["low", "normal", "high", "urgent"],
    includeComments: bool = False,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    tags: Annotated[list[str], Field(max_length=10)] = [],
) -> dict:
    return driver.ticket(ticketId)


async def run():
    if told.stream:
        async with agent.run_stream(driver.PROMPT) as result:
            return await result.get_output()
    return (await agent.run(driver.PROMPT)).output


asyncio.run(driver.drive("pydantic-ai", told, run))
