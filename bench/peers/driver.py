"""What all Python peers share: the job, the options, runs side by side, and the line of JSON that says what they cost.

The same options and the same output as the Rust driver in `rust/driver`, which describes them.
"""

import argparse
import asyncio
import json
import os
import resource
import time

# Nobody is told of these runs.
os.environ.setdefault("OPENAI_API_KEY", "sk-bench")
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
os.environ.setdefault("LANGSMITH_TRACING", "false")
os.environ.setdefault("LANGCHAIN_TRACING_V2", "false")

PROMPT = "What is the state of ticket TCK-10400?"
INSTRUCTIONS = "You are a support agent. Use the tools, then answer in one sentence."
TOOL = "get_ticket"
TOOL_ABOUT = "Look a support ticket up by its id"
SCHEMA = {
    "type": "object",
    "properties": {
        "ticketId": {"type": "string", "pattern": "^TCK-[0-9]{4,8}$", "description": "id of the ticket"},
        "priority": {"type": "string", "enum": ["low", "normal", "high", "urgent"]},
        "includeComments": {"type": "boolean"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
    },
    "required": ["ticketId", "priority"],
    "additionalProperties": False,
}

RIGHT = "assigned to dana"

_counts = {"calls": 0, "rejected": 0}


def ticket(ticket_id):
    """The tool's work."""
    _counts["calls"] += 1
    return {"ticketId": ticket_id, "status": "open", "assignee": "dana"}


def rejected():
    """Arguments were not valid."""
    _counts["rejected"] += 1


def options():
    """What the peer is told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    for name, default in [("runs", 1), ("warm", 0), ("concurrency", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--stream", action="store_true")
    told = parser.parse_args()
    told.api = told.base + "/v1"
    return told


async def _batch(runs, concurrency, run):
    state = {"next": 0, "right": 0, "wrong": 0, "error": None}

    async def worker():
        while state["next"] < runs:
            state["next"] += 1
            try:
                text = await run()
                if RIGHT in text:
                    state["right"] += 1
                    continue
                state["error"] = f"the answer was {text!r}"[:1000]
            except Exception as error:  # whatever a peer ends with is told
                state["error"] = f"{type(error).__name__}: {error}"[:1000]
            state["wrong"] += 1

    await asyncio.gather(*(worker() for _ in range(min(concurrency, runs))))
    return state


def _memory(line):
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(found.split()[1]) for found in status if found.startswith(line + ":"))


async def drive(peer, told, run):
    """Runs `run` as often as told, and prints what it cost."""
    await _batch(told.warm, told.concurrency, run)
    _counts.update(calls=0, rejected=0)
    resident = _memory("VmRSS")
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.perf_counter()
    done = await _batch(told.runs, told.concurrency, run)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "peer": peer,
        "runs": told.runs,
        "concurrency": told.concurrency,
        "stream": told.stream,
        "right": done["right"],
        "wrong": done["wrong"],
        "error": done["error"],
        "wallSeconds": wall,
        "userSeconds": after.ru_utime - before.ru_utime,
        "systemSeconds": after.ru_stime - before.ru_stime,
        "peakKb": _memory("VmHWM"),
        "beforeKb": resident,
        "toolCalls": _counts["calls"],
        "rejected": _counts["rejected"],
    }
    print(json.dumps(cost), flush=True)
