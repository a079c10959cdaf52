"""One agent each of pydantic-ai and LangGraph, streamed.

python frameworks.py BASE_URL MODEL OUT   one line of JSON an agent.

The model's first call lacks what is required; neither framework is to notice.
"""

import asyncio
import json
import sys

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

URL, MODEL, OUT = sys.argv[1:]
ROOT = URL.removesuffix("/v1")
KEY = "no-key"


class Seen:
    def __init__(self):
        self.calls, self.deltas = [], []

    def weather(self, city, days):
        self.calls.append({"city": city, "days": days})
        return "ran: rain"

    def told(self, who):
        return {"who": who, "calls": self.calls, "words": "".join(self.deltas), "deltas": len(self.deltas)}


async def pydantic_ai(who, model):
    seen = Seen()
    agent = Agent(model, retries=0)

    @agent.tool_plain
    def weather(city: str, days: int) -> str:
        """How the weather will be."""
        return seen.weather(city, days)

    async with agent.run_stream("What is the weather in Oslo?") as result:
        async for piece in result.stream_text(delta=True, debounce_by=None):
            seen.deltas.append(piece)
    return seen.told(who)


async def langgraph(who, model):
    seen = Seen()

    @tool
    def weather(city: str, days: int) -> str:
        """How the weather will be."""
        return seen.weather(city, days)

    agent = create_react_agent(model, [weather])
    asked = {"messages": [("user", "What is the weather in Oslo?")]}
    async for message, _ in agent.astream(asked, stream_mode="messages"):
        if isinstance(message, AIMessageChunk) and message.text:
            seen.deltas.append(str(message.text))
    return seen.told(who)


async def main():
    openai = OpenAIProvider(base_url=URL, api_key=KEY)
    anthropic = AnthropicProvider(base_url=ROOT, api_key=KEY)
    chat = {"model": MODEL, "base_url": URL, "api_key": KEY, "streaming": True, "max_retries": 0}
    agents = [
        (pydantic_ai, "pydantic-ai chat", OpenAIChatModel(MODEL, provider=openai)),
        (pydantic_ai, "pydantic-ai responses", OpenAIResponsesModel(MODEL, provider=openai)),
        (pydantic_ai, "pydantic-ai messages", AnthropicModel(MODEL, provider=anthropic)),
        (langgraph, "langgraph chat", ChatOpenAI(**chat, use_responses_api=False)),
        (langgraph, "langgraph responses", ChatOpenAI(**chat, use_responses_api=True)),
        (langgraph, "langgraph messages", ChatAnthropic(model_name=MODEL, base_url=ROOT, api_key=KEY, max_retries=0)),
    ]
    lines = []
    for run, who, model in agents:
        try:
            saw = await run(who, model)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            saw = {"who": who, "error": f"{type(error).__name__}: {error}"}
        lines.append(json.dumps(saw) + "\n")
    with open(OUT, "w", encoding="utf-8") as out:
        out.writelines(lines)


asyncio.run(main())
