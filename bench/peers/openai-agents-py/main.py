"""An agent of the OpenAI Agents SDK for Python, as its documentation shows it, without tracing."""

import asyncio
from typing import Annotated, Literal

import driver
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic import Field

set_tracing_disabled(True)
told = driver.options()


@function_tool(name_override=driver.TOOL, description_override=driver.TOOL_ABOUT)
async def get_ticket(
    ticketId: Annotated[str, Field(pattern=r"^TCK-[0-9]{4,8}$", description="id of the ticket")],
    priority: Literal["low", "normal", "high", "urgent"],
    includeComments: bool,
    limit: Annotated[int, Field(ge=1, le=100)],
    tags: list[str],
) -> dict:
    return driver.ticket(ticketId)


async def main():
    client = AsyncOpenAI(base_url=told.api, api_key="sk-bench")
    model = OpenAIChatCompletionsModel(model="gpt-4o", openai_client=client)
    agent = Agent(name="support", instructions=driver.INSTRUCTIONS, tools=[get_ticket], model=model)

    async def run():
        if told.stream:
            result = Runner.run_streamed(agent, driver.PROMPT)
            async for _ in result.stream_events():
                pass
            return result.final_output
        return (await Runner.run(agent, driver.PROMPT)).final_output

    await driver.drive("OpenAI Agents, Python", told, run)


asyncio.run(main())
