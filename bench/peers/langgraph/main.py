"""LangChain's `create_agent`, which is a graph of LangGraph, as its documentation shows it."""

import asyncio
from typing import Annotated, Literal

import driver
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import Field

told = driver.options()
model = ChatOpenAI(
    model="gpt-4o", base_url=told.api, api_key="sk-bench", use_responses_api=False, streaming=told.stream
)


@tool(driver.TOOL, description=driver.TOOL_ABOUT)
async def get_ticket(
    ticketId: Annotated[str, Field(pattern=r"^TCK-[0-9]{4,8}$", description="id of the ticket")],
    priority: Literal["low", "normal", "high", "urgent"],
    includeComments: bool = False,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    tags: Annotated[list[str], Field(max_length=10)] = [],
) -> dict:
    return driver.ticket(ticketId)


agent = create_agent(model, tools=[get_ticket], system_prompt=driver.INSTRUCTIONS)


async def run():
    goal = {"messages": [{"role": "user", "content": driver.PROMPT}]}
    if not told.stream:
        return (await agent.ainvoke(goal))["messages"][-1].content
    text = ""
    async for chunk, _ in agent.astream(goal, stream_mode="messages"):
        if chunk.type in ("AIMessageChunk", "ai") and isinstance(chunk.content, str):
            text += chunk.content
    return text


asyncio.run(driver.drive("LangGraph", told, run))
