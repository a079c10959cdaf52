"""Python's jsonschema as a witness of the fixtures.

Reads fixtures, one schema a line, and asks the validator of the schema's own dialect about each
instance: what is to be admitted must have no error; what is to be refused must have one at the
stated path by the stated keyword, and none that is neither there nor a union around it.

    python witness.py FIXTURES.jsonl

Prints a line for each disagreement and a count; the status is 1 where there was any.

Where the two validators spell one refusal in two ways, both spellings are the same (SPELLINGS, and
`matches`): the keyword of a schema that is `false`, the place of a bad member name, `required` within
`dependentRequired`, and draft-04's exclusive bounds. Content keywords are not asserted by this
validator, and patterns with `\\p` are none to Python's `re`; their fixtures are counted and left out.
"""

import json
import re
import sys

import jsonschema.validators

SPELLINGS = [
    {"required", "dependentRequired", "dependencies"},
    {"contains", "minContains", "maxContains"},
    {"minimum", "exclusiveMinimum"},
    {"maximum", "exclusiveMaximum"},
    {"items", "additionalItems", "unevaluatedItems", "falseSchema"},
]
NOT_ASSERTED = {"contentEncoding", "contentMediaType"}


def pointer(path):
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in path)


def flattened(errors):
    for error in errors:
        yield error
        yield from flattened(error.context or [])


def same(a, b):
    return a == b or any(a in words and b in words for words in SPELLINGS)


def matches(error, path, keyword):
    at = pointer(error.absolute_path)
    if keyword == "propertyNames":
        inside = "propertyNames" in error.absolute_schema_path
        return inside and at + pointer([error.instance]) == path
    if error.validator is None:
        # `false` below `properties` is told without the member's name.
        return keyword == "falseSchema" and at in (path, path.rpartition("/")[0])
    own = error.validator
    if own == "items" and keyword == "falseSchema":
        return path.rpartition("/")[0] == at
    return at == path and same(own, keyword)


def around(error, path, keyword):
    """Whether an error is told at the path, or by a union around it."""
    at = pointer(error.absolute_path)
    return path == at or path.startswith(at + "/")


def judge(validator, fixture):
    try:
        errors = list(validator.iter_errors(fixture["instance"]))
    except re.error:
        return None
    if fixture["admitted"]:
        return [f"{e.validator} at {pointer(e.absolute_path)!r}" for e in errors]
    path, keyword = fixture["path"], fixture["keyword"]
    if not errors:
        return [f"admitted, not refused by {keyword} at {path!r}"]
    if not any(matches(error, path, keyword) for error in flattened(errors)):
        told = [f"{e.validator} at {pointer(e.absolute_path)!r}" for e in flattened(errors)]
        return [f"no {keyword} at {path!r} among {told}"]
    return [
        f"{e.validator} at {pointer(e.absolute_path)!r} beside {keyword} at {path!r}"
        for e in errors
        if not around(e, path, keyword)
    ]


def main():
    failed = admitted = refused = left_out = schemas = 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            schema = case["schema"]
            schemas += 1
            kind = jsonschema.validators.validator_for(
                schema, default=jsonschema.validators.Draft202012Validator
            )
            validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
            for fixture in case["fixtures"]:
                if fixture.get("keyword") in NOT_ASSERTED:
                    left_out += 1
                    continue
                disagreements = judge(validator, fixture)
                if disagreements is None:
                    left_out += 1
                    continue
                admitted += fixture["admitted"]
                refused += not fixture["admitted"]
                for told in disagreements:
                    failed += 1
                    instance = json.dumps(fixture["instance"])[:200]
                    print(f"{case['name']} {fixture['id']}: {told}; instance {instance}")
    print(
        f"{schemas} schemas, {admitted} admitted, {refused} refused, "
        f"{left_out} left out, {failed} disagreements"
    )
    sys.exit(1 if failed or not schemas else 0)


main()
