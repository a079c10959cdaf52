"""What a fault is: the reply that goes wrong, what was meant by it, what a message has to say for
the model to mend it, and which outcomes are acceptable.

A fault is defined once, by its meaning. The dialects render it (`dialects/`); what a dialect has no
way to carry is left out there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import say

SEARCH, TICKET, LIST = "searchInvoices", "get_ticket", "list_tickets"

# The families of the failure cases, in the order of the tables.
FAMILIES = {
    "control": "nothing is wrong",
    "malformed": "the arguments are no JSON object",
    "mismatched": "the arguments do not fit the schema",
    "unknown": "the tool's name is not one on offer",
    "cut": "the reply is not whole",
    "repeated": "ids or calls come again",
    "streamed": "the wire carries a right reply oddly",
    "failing": "the tool fails",
    "result": "the tool returns what it should not",
}


@dataclass(frozen=True)
class Call:
    """A call as the model writes it. `args` is its text; an object where a wire that carries text
    is given an object all the same; `None` for null."""

    id: str
    name: str
    args: str | dict | None
    place: int = 0
    fixed: bool = False


@dataclass(frozen=True)
class Part:
    """One of several slips in a call, mended by itself: what names it, and the members to set
    (`None` takes one away)."""

    need: tuple[tuple[str, ...], ...]
    patch: dict


@dataclass(frozen=True)
class Fault:
    """One fault. See `fault` for the fields that have defaults there."""

    id: str
    family: str
    group: str
    title: str
    emit: tuple[Call, ...]
    intend: tuple[tuple[str, dict], ...]
    fix: tuple[str, ...]
    need: tuple[tuple[str, ...], ...]
    parts: tuple[Part, ...]
    ok: frozenset[str]
    plain: bool
    finish: str
    tool: str
    wire: str | None
    ambiguous: bool
    cut: bool
    value: str | None
    endless: tuple[str, ...]
    keep_ids: bool
    note: str
    first: bool
    modes: tuple[str, ...]
    dialects: tuple[str, ...]


ALL: dict[str, Fault] = {}

DIALECTS = ("chat", "responses", "anthropic", "gemini")


def dates(**more) -> dict:
    """The good arguments without `limit`, with more."""
    return {"startDate": "2026-01-01", "endDate": "2026-01-31", "status": "paid", **more}


def text(value) -> str:
    """JSON text."""
    return json.dumps(value, ensure_ascii=False)


GOOD = text(dates(limit=5))
SEVEN = (TICKET, {"ticketId": "T-7"})


def call(args, name=SEARCH, id="call_1") -> Call:
    """A call of the first turn."""
    return Call(id, name, args)


def two(a="call_1", b="call_2") -> list[Call]:
    """Two good calls in one turn."""
    return [call(GOOD, id=a), call(text(SEVEN[1]), TICKET, b)]


def fault(
    id,
    family,
    title,
    emit,
    *,
    intend=None,
    fix=None,
    need=((say.NEVER,),),
    parts=(),
    ok="R F",
    plain=False,
    finish="calls",
    tool="ok",
    wire=None,
    ambiguous=False,
    cut=False,
    value=None,
    endless=(),
    keep_ids=False,
    note="",
    first=None,
    modes=("whole", "stream"),
    dialects=DIALECTS,
):
    """Adds a fault.

    emit       the calls of turn 1, or the arguments of the only one
    intend     the calls that must end up executed, once each: (name, arguments)
    fix        the corrected arguments by position; default: the good text of the intention
    need       groups of expressions; of each group one has to match what came back
    parts      slips that are mended one by one, instead of `need`
    ok         codes of the acceptable outcomes (`judge.NAMES`)
    plain      the reply is not in doubt: doing what was meant without asking is R, not P
    finish     calls | stop | length | malformed: how the turn ends
    tool       what the tool does (`bench/peers/*/faults.*`, `model.py`)
    wire       a special emission (`dialects/`)
    ambiguous  two readings: running one without asking is a guess
    cut        the reply is cut: running anything of it is wrong
    value      the faulty value, as an expression: names the place (the first group of `need`) under
               the lenient rule
    endless    the model never learns: these arguments in turn, for ever
    keep_ids   repeated and corrected calls keep their ids
    first      the group in the first bench of 50 faults, where it is one of them
    """
    if isinstance(emit, str | dict) or emit is None:
        emit = [call(emit)]
    emit = tuple(Call(c.id, c.name, c.args, i) for i, c in enumerate(emit))
    intend = tuple(intend) if intend is not None else ((SEARCH, dates(limit=5)),)
    if id in ALL:
        raise ValueError(f"two faults are named {id}")
    if family not in FAMILIES:
        raise ValueError(f"{id}: there is no family {family}")
    ALL[id] = Fault(
        id=id,
        family=family,
        group=first or family,
        title=title,
        emit=emit,
        intend=intend,
        fix=tuple(fix) if fix is not None else tuple(text(a) for _, a in intend),
        need=tuple(tuple(group) for group in need),
        parts=tuple(parts),
        ok=frozenset(ok.split()),
        plain=plain,
        finish=finish,
        tool=tool,
        wire=wire,
        ambiguous=ambiguous,
        cut=cut,
        value=value,
        endless=tuple(endless),
        keep_ids=keep_ids,
        note=note,
        first=first is not None,
        modes=tuple(modes),
        dialects=tuple(dialects),
    )


def load() -> dict[str, Fault]:
    """All faults, those of the first bench in front."""
    if not ALL:
        from catalog import first, grown  # noqa: F401 (they add themselves)

    return ALL
