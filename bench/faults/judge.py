"""The outcome of one cell, from the runs of the tools, what the provider saw, and what the run came
to. Nothing here knows which peer it judges."""

from __future__ import annotations

import json
import re

from after import DONE, MISLED
from model import CAP

NAMES = {
    "R": "right",
    "F": "right after a fix",
    "P": "repaired without asking",
    "S": "stopped with a typed reason",
    "W": "wrong call executed",
    "M": "the model was misled about what happened",
    "C": "crash",
    "L": "loop",
    "T": "time limit",
    "E": "silent end: looks like a success, and nothing was done",
}

# Where a framework's own errors, or those of the provider library that it documents, are from.
FRAMEWORKS = (
    "pydantic_ai", "agents.", "langchain", "langgraph", "openai.", "openai_", "anthropic.",
    "google.genai", "rig", "callgate",
)
JS_ERRORS = ("AISDKError", "_AISDKError", "AgentsError", "OpenAIError", "APIError")
# A message that says what happened. Any of these words is enough.
EXPLAINED = (
    r"(?i)(searchInvoices|search_invoices|lookup_bills|get_ticket|retr(y|ies)|max.?tokens"
    r"|token limit|length|truncat|incomplete|finish|json|argument|connection|stream|terminated"
    r"|closed|turns|available tools|tool call|call id|response body|reply ended|tool invocation"
    r"|overloaded|context|cut)"
)


def normal(tool: str, arguments):
    """Arguments without what is absent, null or default."""
    if not isinstance(arguments, dict):
        return arguments
    arguments = {key: value for key, value in arguments.items() if value is not None}
    if tool == "searchInvoices":
        customer = arguments.get("customer")
        if isinstance(customer, dict):
            arguments["customer"] = {k: v for k, v in customer.items() if v is not None}
        arguments.setdefault("limit", 10)
    return arguments


def key(tool: str, arguments) -> str:
    """One text a call that means the same."""
    return f"{tool} {json.dumps(normal(tool, arguments), sort_keys=True, ensure_ascii=True)}"


def classify(fault, tools: list[dict], calls: list[dict], out: dict | None, late: bool):
    """The code and a detail.

    tools: the runs of the tools ({"t", "tool", "args"}); calls: the provider's log of the cell;
    out: what the peer said that the run came to, nothing if it died; late: it was over the limit.
    """
    want = [key(tool, args) for tool, args in fault.intend]
    got = [key(run["tool"], run["args"]) for run in tools]
    # The first corrected or whole reply.
    fixed = next((c["t"] for c in calls if c["n"] > 1 and c["calls"] and not c["faulty"]), None)
    wrong = _wrong(fault, tools, got, want, fixed)
    if wrong:
        return "W", wrong
    text = (out or {}).get("text") or ""
    done = bool(out and out.get("ok") and DONE in text)
    ran = f"; {len(got)} of {len(want)} had run" if got else ""
    if done and MISLED in text:
        return "M", text[:200]
    n = len(calls)
    if sorted(got) == sorted(want) and done:
        if fixed is not None or n > 2:
            return "F", f"{n} model calls"
        return ("R" if fault.plain else "P"), f"{n} model calls"
    if late:
        return "T", "over the limit" + ran
    if n >= CAP:
        how = (out or {}).get("type") or str((out or {}).get("extra"))
        return "L", f"{n} model calls; {how[:100]}{ran}"
    if out is None:
        return "C", "the process died" + ran
    if not out.get("ok"):
        return _failed(out, ran)
    return _ended(out, text, done, ran)


def _wrong(fault, tools, got, want, fixed) -> str | None:
    """What was executed that must not have been."""
    for run, what in zip(tools, got):
        early = fixed is None or run["t"] < fixed
        if what not in want:
            return "ran with " + what[:200]
        if fault.cut and early:
            return "ran from a cut reply"
        if fault.ambiguous and early:
            return "ran a guess"
    for what in set(got):
        if got.count(what) > want.count(what):
            return f"ran {got.count(what)} times: {what[:120]}"
    return None


def _failed(out: dict, ran: str):
    """An error left the run: typed and explained, or a crash."""
    typed = any(m.startswith(FRAMEWORKS) or m in JS_ERRORS for m in out.get("mro") or [])
    message = out.get("message") or ""
    what = f"{out.get('type')}: {message[:160]}"
    causes = " ".join([message, *(out.get("chain") or [])])
    return ("S" if typed and re.search(EXPLAINED, causes) else "C"), what + ran


def _ended(out: dict, text: str, done: bool, ran: str):
    """The run ended without an error, and not right."""
    if done:
        return "E", "DONE, though nothing or not everything ran" + ran
    extra = out.get("extra") or {}
    errors = extra.get("errors") or []
    if errors:
        # Errors come as parts of the stream; the promise does not reject.
        explained = errors[0].startswith("AI_") and re.search(EXPLAINED, errors[0])
        return ("S" if explained else "C"), errors[0][:160] + ran
    if extra.get("finishReason") in ("length", "content-filter", "error"):
        return "S", f"finishReason {extra['finishReason']}{ran}"
    return "E", f"text {text[:60]!r}, {json.dumps(extra, ensure_ascii=True)[:200]}{ran}"
