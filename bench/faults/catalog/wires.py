"""Right replies, oddly carried, and replies that the wire cuts. Which dialect has which is in
`dialects/`: a `wire` that a dialect does not list is left out there."""

from meaning import GOOD, LIST, SEARCH, SEVEN, call, dates, fault, text, two
from say import BAD_JSON, CUT, MISSING

TWO = [(SEARCH, dates(limit=5)), SEVEN]
ZOE = dates(limit=5, customer={"id": 77, "name": "Zoë Łódź 東京"})


def odd(wire, title, emit=GOOD, intend=None, ok="R", **more):
    """A right reply with this wire's oddity: to be read as if nothing were odd."""
    fault(f"w_{wire}", "streamed", title, emit, intend=intend, ok=ok, plain=True, wire=wire,
          modes=("stream",), **more)


odd("bytewise", "network chunks of one to three bytes", text(ZOE), [(SEARCH, ZOE)])
odd("crlf", "lines end in CR LF, and chunks end between the two")
odd("comments", "keep-alive comments between the events, no blank after `data:`")
odd("unknown_events", "events and fields that nobody knows yet")
odd("no_end", "the stream ends after its finish, without the end marker")
odd("usage_null", "chunks without choices, and with null for them, around the reply")
odd("empty_name", "later pieces repeat id and name as empty strings")
odd("name_again", "every piece repeats id and name")
odd("name_late", "the name comes after the first arguments")
odd("interleaved", "the pieces of two calls alternate", two(), TWO)
odd("one_piece", "all of a call in one piece, the finish in the same one")
odd("cumulative", "each piece repeats all arguments so far", ok="R F")
odd("at_start", "the arguments stand in the call's opening, no pieces follow")
odd("done_only", "the call comes as a finished item alone, without pieces")
odd("empty_pieces", "empty pieces among the arguments, and an empty text before")
odd("no_ids", "the calls have no ids at all", two(), TWO)
odd("text_first", "words before the call", GOOD)
odd("finish_apart", "the finish comes in an event of its own without content")


def broken(wire, title, **more):
    """A reply that the wire cuts: nothing of it may run."""
    fault(f"w_{wire}", "cut", title, more.pop("emit", GOOD), ok="F S", cut=True, wire=wire,
          modes=("stream",), need=[[BAD_JSON, CUT, MISSING]],
          note="the same request sent again gets the whole good reply", **more)


broken("cut_name", "the stream ends after the name, of a tool that requires nothing",
       emit=[call("{}", LIST)], intend=[(LIST, {})])
broken("cut_between", "the stream ends between two calls", emit=two(), intend=TWO)
broken("error_mid", "an error of the provider's in the middle of the stream")
