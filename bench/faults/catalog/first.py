"""The 50 faults of the first bench, as they were: same emissions, same needs, same judgement."""

from meaning import (
    ALL, GOOD, SEARCH, SEVEN, TICKET, call, dates, fault, text, two,
)
from say import (
    ARRAY, BAD_JSON, CUT, DATE, INTEGER, MISSING, NEVER, NOT_OBJECT, OBJECT, PAID, SEARCH_TOOL,
    STRING, SYNTAX, UNKNOWN,
)

QUIRK = "a quirk of the server, not a mistake of the model: it stays the same in every turn"
STREAM = ("stream",)
BOTH = (SEVEN,)


def of(group, family):
    """Adds faults of a group of the first bench."""
    def add(id, title, emit, **more):
        fault(id, family, title, emit, first=group, **more)
    return add


add = of("control", "control")
add("valid", "valid call", GOOD, ok="R", plain=True)
add("valid_slow", "valid call, the tool takes 1 s", GOOD, ok="R", plain=True, tool="slow",
    dialects=("chat",), modes=("whole",))
add("s_valid", "valid call, streamed", GOOD, ok="R", plain=True, modes=STREAM)

add = of("json", "malformed")
add("json_trailing_text", "object followed by prose", GOOD + " I hope this helps!", need=SYNTAX,
    ok="R F P")
add("json_code_fence", "object inside a code fence", "```json\n" + GOOD + "\n```", need=SYNTAX,
    ok="R F P")
add("json_single_quotes", "single quotes", GOOD.replace('"', "'"), need=SYNTAX, ok="R F P")
add("json_trailing_comma", "trailing comma", GOOD[:-1] + ",}", need=SYNTAX, ok="R F P")
add("json_python_none", "python literal None for optional values",
    GOOD[:-1] + ', "tags": None, "customer": None}', need=SYNTAX, ok="R F P")
add("json_raw_newline", "raw newline inside a string",
    text(dates(limit=5, customer={"id": 77, "name": "ACME@@Ltd"})).replace("@@", "\n"),
    intend=[(SEARCH, dates(limit=5, customer={"id": 77, "name": "ACME\nLtd"}))], need=SYNTAX,
    ok="R F P")
add("json_two_objects", "two different objects, one after the other",
    GOOD + text(dates(status="draft", limit=5)), need=SYNTAX, ok="R F", ambiguous=True)
add("json_nan", "NaN for an integer", GOOD.replace("5", "NaN"),
    need=[[BAD_JSON, r"limit"], [BAD_JSON, INTEGER, r"(?i)finite"]], ok="R F")
add("args_empty", "empty string, though values are required", "", need=SYNTAX, ok="R F")
add("args_null", "arguments: null on the wire", None, need=SYNTAX, ok="R F")
add("args_null_text", 'the text "null"', "null", need=NOT_OBJECT, ok="R F")
add("args_double_encoded", "a JSON string that holds the object", text(GOOD), need=NOT_OBJECT,
    ok="R F P")
add("args_array", "array around the object", "[" + GOOD + "]", need=NOT_OBJECT, ok="R F P")
add("json_dup_keys", "the same key twice, different values", GOOD[:-1] + ', "status": "draft"}',
    need=[[r"(?i)duplicate"], [r"status"]], ok="R F", ambiguous=True,
    note="JSON leaves it open; last-wins is what most parsers do")
add = of("json", "cut")
add("cut_unparsable", "cut inside a value, finish_reason length", GOOD[:GOOD.index("01-31")],
    finish="length", need=[[BAD_JSON, CUT, MISSING]], ok="F S", cut=True)
add("cut_parsable", "finish_reason length, the server closed the JSON: two of three tags are gone",
    text(dates(limit=5, tags=["urgent"])), finish="length",
    intend=[(SEARCH, dates(limit=5, tags=["urgent", "eu", "vip"]))], need=[[CUT]], ok="F S", cut=True)

add = of("schema", "mismatched")
add("type_str_for_int", 'limit: "5"', text(dates(limit="5")), value=r'"5"',
    need=[[r"limit"], [INTEGER]], ok="R F P")
add("type_num_for_str", "customer.name: 42", text(dates(limit=5, customer={"id": 77, "name": 42})),
    intend=[(SEARCH, dates(limit=5, customer={"id": 77, "name": "42"}))], value=r"\b42\b",
    need=[[r"\bname\b"], [STRING]], ok="R F P")
add("enum_near", 'status: "payed"', text(dates(status="payed", limit=5)), value=r"payed",
    need=[[r"status"], [PAID]], ok="F")
add("enum_case", 'status: "Paid"', text(dates(status="Paid", limit=5)), value=r"\bPaid\b",
    need=[[r"status"], [PAID]], ok="F P")
add("missing_required", "endDate is missing",
    text({"startDate": "2026-01-01", "status": "paid", "limit": 5}), need=[[r"endDate"]], ok="F")
add("extra_statuss", "statuss instead of the required status",
    text({"startDate": "2026-01-01", "endDate": "2026-01-31", "statuss": "paid", "limit": 5}),
    need=[[r"\bstatus\b"]], ok="F P")
add("extra_limitt", "limitt: 5 instead of the optional limit", text(dates(limitt=5)),
    need=[[r"\blimitt\b"], [UNKNOWN, r"\blimit\b"]], ok="F P")
add("range_limit", "limit: 5000 (1..50)", text(dates(limit=5000)),
    intend=[(SEARCH, dates(limit=50))], value=r"5000", need=[[r"limit"], [r"\b50\b"]], ok="F")
add("date_format", "endDate: 2026/01/31", text({**dates(limit=5), "endDate": "2026/01/31"}),
    value=r"2026/01/31", need=[[r"endDate"], [DATE]], ok="F P")
add("null_optional", "null for tags, customer and limit",
    text(dates(limit=None, tags=None, customer=None)), intend=[(SEARCH, dates())],
    fix=[text(dates())], value=r"null", need=[[r"(limit|tags|customer)"], [INTEGER, ARRAY, OBJECT]],
    ok="R F P")
add("array_stringified", 'tags: "[\\"urgent\\", \\"eu\\"]"',
    text(dates(limit=5, tags='["urgent", "eu"]')),
    intend=[(SEARCH, dates(limit=5, tags=["urgent", "eu"]))], value=r"urgent",
    need=[[r"tags"], [ARRAY]], ok="F P")
add("array_scalar", 'tags: "urgent"', text(dates(limit=5, tags="urgent")),
    intend=[(SEARCH, dates(limit=5, tags=["urgent"]))], value=r"urgent",
    need=[[r"tags"], [ARRAY]], ok="F P")
add("int64_digits", "customer.id 9007199254740993 must keep its digits (valid call)",
    text(dates(limit=5, customer={"id": 9007199254740993})),
    intend=[(SEARCH, dates(limit=5, customer={"id": 9007199254740993}))], ok="R", plain=True)
add("nested_type", 'customer.id: "C-77"', text(dates(limit=5, customer={"id": "C-77"})),
    intend=[(SEARCH, dates(limit=5, customer={"id": 77}))], value=r"C-77",
    need=[[r"\bid\b"], [INTEGER]], ok="F")

add = of("names", "unknown")
add("name_unknown", "tool lookup_bills does not exist", [call(GOOD, "lookup_bills")],
    need=[[SEARCH_TOOL]], ok="F")
add("name_near", "search_invoices for searchInvoices", [call(GOOD, "search_invoices")],
    need=[[SEARCH_TOOL]], ok="F P")
add("name_prefix", "functions.searchInvoices", [call(GOOD, "functions.searchInvoices")],
    need=[[SEARCH_TOOL]], ok="F P")

TWO = [(SEARCH, dates(limit=5)), SEVEN]
add = of("protocol", "streamed")
add("finish_stop", "tool_calls with finish_reason stop", GOOD, finish="stop", ok="R", plain=True)
add = of("protocol", "repeated")
add("empty_id", "the call id is an empty string", [call(GOOD, id="")], ok="R", plain=True,
    keep_ids=True)
add = of("protocol", "control")
add("parallel_ok", "two good parallel calls (control)", two(), intend=TWO, ok="R", plain=True)
add = of("protocol", "repeated")
add("dup_ids", "two parallel calls with the same id", two("call_1", "call_1"), intend=TWO,
    ok="R F P", plain=True, keep_ids=True)
add = of("protocol", "mismatched")
add("parallel_one_bad", "get_ticket good, searchInvoices with status payed, in one turn",
    [call(text(SEVEN[1]), TICKET, "call_1"), call(text(dates(status="payed", limit=5)), id="call_2")],
    intend=[SEVEN, (SEARCH, dates(limit=5))], value=r"payed", need=[[r"status"], [PAID]], ok="F")
add = of("protocol", "failing")
add("tool_raises", "the tool raises 'ledger offline'", GOOD, tool="raise",
    need=[[r"(?i)(ledger offline|error|fail|exception|went wrong)"]], ok="R", plain=True,
    note="the model ends with DONE as soon as it is told that the tool failed, in any words")
add = of("protocol", "streamed")
add("args_object", "arguments is an object, not a string", dates(limit=5), ok="R P", plain=True,
    note=QUIRK, modes=("whole",))

add = of("stream", "streamed")
add("s_no_index", "tool call deltas without index", GOOD, modes=STREAM, wire="no_index", ok="R",
    plain=True, note=QUIRK)
add("s_same_index", "two calls, both with index 0, ids differ", two(), intend=TWO, modes=STREAM,
    wire="same_index", ok="R F", plain=True, note=QUIRK)
ZOE = dates(limit=5, customer={"id": 77, "name": "Zoë Łódź 東京"})
add("s_utf8_split", "network chunks end inside a UTF-8 character", text(ZOE), modes=STREAM,
    wire="utf8", intend=[(SEARCH, ZOE)], ok="R", plain=True)
add("s_args_object", "arguments is an object in the delta", dates(limit=5), modes=STREAM,
    wire="object", ok="R P", plain=True, note=QUIRK)
add = of("stream", "cut")
AGAIN = "the same request sent again gets the whole good reply"
add("s_cut_mid", "connection breaks inside the arguments", GOOD, modes=STREAM, wire="cut_mid",
    ok="F S", cut=True, need=[[BAD_JSON, CUT, MISSING]], note=AGAIN)
add("s_cut_no_finish",
    "clean end of the stream after the last argument byte: no finish_reason, no [DONE]", GOOD,
    modes=STREAM, wire="cut_end", ok="F S", cut=True, need=[[CUT]],
    note="debatable: the values are complete by luck; " + AGAIN)

add = of("loop", "repeated")
add("loop_forever", "status payed again and again, whatever it is told",
    text(dates(status="payed", limit=5)), ok="S", need=[[NEVER]],
    endless=[text(dates(status="payed", limit=5))],
    note="acceptable: stopped before 10 model calls")

assert len(ALL) == 50, len(ALL)
