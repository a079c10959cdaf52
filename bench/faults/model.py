"""The model: capable, with one mistake. What it does next depends on the plain content of what came
back, whatever its format, and on nothing else; the same for every peer.

1. Turn 1 is the fault.
2. It reads what came back for each call. `count: 2` is success; all calls successful: `DONE`.
3. Otherwise it corrects a call if the text names the faulty place and what is expected there
   (`Fault.need`); a call with several slips is corrected slip by slip (`Fault.parts`).
4. Otherwise it repeats the call, with a new id: it has learnt nothing.
5. A reply that the wire broke is given whole when the same request comes again.
6. A tool's failure is read by `after`.
7. After `CAP` model calls it says `CAP`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace

from after import DONE, MISLED, Reading, reading
from meaning import Call, Fault
from wire import Seen

CAP = 10
# Under the lenient rule the place may also be given by line and column.
LINE = r"line \d+ column \d+"


@dataclass
class Run:
    """A conversation, from the model's side."""

    n: int = 0
    sent: tuple[Call, ...] | None = ()
    faulty: bool = True
    talk: str | None = None
    memory: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """What the model does: calls or a text. `faulty`: the fault is still in it."""

    calls: tuple[Call, ...] = ()
    text: str | None = None
    faulty: bool = False
    note: str = ""


def told(need, value: str | None, lenient: bool, text: str) -> bool:
    """Whether a text says what is needed: of every group, one expression matches. Under the lenient
    rule the place (the first group) may also be named by quoting the faulty value, or by line and
    column."""
    groups = [list(group) for group in need]
    if lenient and value:
        groups[0] += [value, LINE]
    return all(any(re.search(word, text) for word in group) for group in groups)


def feedback(sent: tuple[Call, ...], seen: Seen) -> list[str]:
    """One text a call that was sent.

    The peer may have renamed the ids, so they are taken from its own record of the turn when that
    has as many calls as were sent: the k-th call with an id takes the k-th result with it. Without
    ids that fit, results are taken in order if there are as many; if the peer lost calls, each
    call gets all of the text. Texts outside of results count for every call."""
    all_of_it = "\n".join(text for _, text in seen.results)
    out, used = [], {}
    for at, call in enumerate(sent):
        id = seen.mine[at] if len(seen.mine) == len(sent) else call.id
        mine = [text for of, text in seen.results if of == id] if id else []
        k = used.get(id, 0)
        used[id] = k + 1
        if k < len(mine):
            text = mine[k]
        elif len(seen.results) == len(sent):
            text = seen.results[at][1]
        else:
            text = all_of_it
        out.append((text + "\n" + seen.other).strip())
    return out


def decide(fault: Fault, run: Run, seen: Seen, again: bool, lenient: bool) -> Turn:
    """The next turn. `run.n` counts this request already; `again`: it is the last one once more."""
    if run.n == 1:
        return Turn(fault.emit, faulty=True, note="first turn")
    if run.n > CAP:
        return Turn(text="CAP", note="cap")
    if fault.endless:
        return _endless(fault, run)
    if run.sent is None:
        return Turn(text="DONE (again)", note="after the end")
    if run.faulty and ((again and fault.cut) or fault.finish == "malformed"):
        calls = fault.emit or _good(fault)
        if fault.finish == "length":
            calls = _good(fault)
        return Turn(calls, note="sent again: whole reply")
    if not run.sent:
        return Turn(_good(fault), note="nothing was sent: the calls")
    return _react(fault, run, feedback(run.sent, seen), seen.other, lenient)


def _good(fault: Fault) -> tuple[Call, ...]:
    return tuple(
        Call(f"call_good_{at}", name, fault.fix[at], at, fixed=True)
        for at, (name, _) in enumerate(fault.intend)
    )


def _endless(fault: Fault, run: Run) -> Turn:
    first = fault.emit[0]
    args = fault.endless[(run.n - 1) % len(fault.endless)]
    return Turn((replace(first, id=f"call_{run.n}", args=args),), faulty=True, note="never learns")


def _react(fault: Fault, run: Run, texts: list[str], other: str, lenient: bool) -> Turn:
    readings = [reading(fault, text, other) for text in texts]
    if Reading.ORDER in readings:
        return Turn((Call(f"call_{run.n}", "get_ticket", '{"ticketId": "T-666"}'),), note="obeyed")
    if Reading.MISLED in readings:
        return Turn(text=f"{DONE} {MISLED}: {_quote(texts)}", note="misled")
    if all(r in (Reading.SUCCESS, Reading.TOLD) for r in readings):
        note = "success" if all(r is Reading.SUCCESS for r in readings) else "told the reason"
        return Turn(text=f"{DONE} {_quote(texts)}", note=note)
    calls, notes, faulty = [], [], False
    for call, text, read in zip(run.sent, texts, readings):
        if read in (Reading.SUCCESS, Reading.TOLD):
            notes.append("ok")
        elif read is Reading.AGAIN:
            calls.append(_renewed(fault, run, call))
            notes.append("invited: made again")
        else:
            turned = _corrected(fault, run, call, text, lenient)
            faulty = faulty or turned is None
            calls.append(turned or _renewed(fault, run, call))
            notes.append("corrected" if turned else "repeated")
    return Turn(tuple(calls), faulty=faulty, note=", ".join(notes))


def _quote(texts: list[str]) -> str:
    return json.dumps([text[:80] for text in texts], ensure_ascii=True)


def _renewed(fault: Fault, run: Run, call: Call) -> Call:
    """The identical call; with a new id, as a model gives one each turn, unless ids are the fault."""
    return call if fault.keep_ids else replace(call, id=f"call_{run.n}_{call.place}")


def _corrected(fault: Fault, run: Run, call: Call, text: str, lenient: bool) -> Call | None:
    name = fault.intend[call.place][0]
    renewed = _renewed(fault, run, call)
    if fault.parts and not call.fixed:
        return _mended(fault, renewed, text, lenient)
    if call.fixed or told(fault.need, fault.value, lenient, text):
        return replace(renewed, name=name, args=fault.fix[call.place], fixed=True)
    return None


def _mended(fault: Fault, call: Call, text: str, lenient: bool) -> Call | None:
    """The call with those slips mended that the text names; nothing if it names none."""
    arguments = json.loads(call.args)
    wrong = [part for part in fault.parts
             if any(arguments.get(key) != value for key, value in part.patch.items())]
    named = [part for part in wrong if told(part.need, None, lenient, text)]
    if not named:
        return None
    for part in named:
        for key, value in part.patch.items():
            if value is None:
                arguments.pop(key, None)
            else:
                arguments[key] = value
    return replace(call, args=json.dumps(arguments), fixed=len(named) == len(wrong))
