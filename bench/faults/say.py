"""What a message has to say: the vocabulary of the model's rule.

Each name is a regular expression over the plain text of what came back for a call. A fault lists
groups of them (see `meaning.Fault.need`): of each group at least one has to match. The words are
those that validators, frameworks and people use for a matter; none is taken from one peer's
messages. `tests/test_say.py` holds one message of every style against each.
"""

# The expected type, in any language's word for it.
INTEGER = r"(?i)\b(int|integer|integers|number|whole number|i64|i32|u64|u32|u8|bigint|int64)\b"
STRING = r"(?i)\b(str|string|text)\b"
ARRAY = r"(?i)\b(list|array|sequence|vec)\b"
OBJECT = r"(?i)\b(object|dict|dictionary|map|mapping|record|struct)\b"
BOOLEAN = r"(?i)\b(bool|boolean)\b"

# The value of the enum that is right.
PAID = r"(?<![A-Za-z])paid(?![A-Za-z])"
# The form of a date.
DATE = r"(?i)(yyyy-mm-dd|\\d\{4\}|\[0-9\]\{4\}|\\d\\d\\d\\d|iso[- ]?8601|valid iso date)"
# The form of a ticket's id.
TICKET = r"(T-\[0-9\]\+|T-\\+d\+|T-<?(number|digits))"

# The arguments are no JSON, or not valid, or cannot be read.
BAD_JSON = (
    r"(?i)(\bjson\b|invalid[^.]{0,60}(argument|input|parameter)"
    r"|(argument|input|parameter)[^.]{0,60}invalid|\bpars(e|ing)\b|unexpected token|eof while"
    r"|trailing characters|unterminated|malformed|expected value at)"
)
# A property that is required is not there. An echo of the arguments says no such thing.
MISSING = (
    r"(?i)((missing|required)[^\n]{0,60}(startDate|endDate)"
    r"|(startDate|endDate)[\s\S]{0,120}(missing|required|undefined))"
)
# The reply was cut.
CUT = (
    r"(?i)(truncat|cut off|cut short|max_?tokens|token limit|output limit|length limit|incomplete"
    r"|finish_reason|too long)"
)
# The available tool by its exact name; not the echo of functions.searchInvoices or a longer name.
SEARCH_TOOL = r"(?<![A-Za-z0-9_./:-])searchInvoices(?![A-Za-z0-9_(<])"
# A property that nobody declared.
UNKNOWN = (
    r"(?i)(unknown|unexpected|extra|additional|unrecogni[sz]ed|not allowed|not permitted)"
)
# A tool failed, in any words.
FAILED = (
    r"(?i)(ledger offline|error|fail|exception|went wrong|timed? ?out|no answer|did not"
    r"|could not|unavailable|panick)"
)
# The call is invited to be made again. `invites` sees to the negations.
AGAIN = (
    r"(?i)(try (it )?again|tried again|\b(retry|re-try|retries|retried)\b|call (it )?again"
    r"|run it again|repeat)"
)
# A flag that says so, where no words do.
AGAIN_FLAG = r"(?i)\bretryable\W{1,4}true\b"
# The call is said not to have had an effect.
NOT_RUN = (
    r"(?i)((was|were) not (called|executed|run|invoked)|did not run|not executed"
    r"|never (ran|executed)|executed\W{1,4}false)"
)
# A result is not what it should be.
BAD_RESULT = (
    r"(?i)((result|output|response|return(ed)?( value)?|structured ?content)[^\n]{0,80}"
    r"(invalid|not valid|mismatch|unexpected|does not|do not|doesn't|wrong|malformed|must be"
    r"|validation|unusable)"
    r"|(invalid|unexpected|mismatch\w*|malformed|validation)[^\n]{0,60}(result|output|response|return))"
)
# Not all of it is here.
SHORTENED = (
    r"(?i)(truncat|omitted|left out|shortened|cut|remaining|more (items|bytes|characters|follow)"
    r"|first \d+|not shown|\bpage\b|incomplete)"
)
NEVER = r"(?!)"

# A syntax fault: that it is one, or at least what is missing because of it.
SYNTAX = ((BAD_JSON, MISSING),)
# The root is no object: as a syntax fault, or that an object is wanted.
NOT_OBJECT = ((BAD_JSON, OBJECT, MISSING),)
