"""Python's validators on what everybody judges: python judge.py INSTANCES MILLIS. One line of JSON.

The steps are those of bench/gate/src/judge.rs. Texts are parsed with orjson, the fastest parser there
is for Python, but by pydantic, which has a parser of its own. CPU time is this thread's.
"""

import json
import math
import sys
import time
from importlib.metadata import version
from typing import Annotated, Any, Literal, Optional, Union

import fastjsonschema
import jsonschema
import jsonschema_rs
import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

WORK = json.load(open(sys.argv[1], encoding="utf-8"))
BUDGET = float(sys.argv[2]) * 1e6


def cost(work):
    calls = 1
    while True:
        before = time.thread_time_ns()
        for _ in range(calls):
            work()
        took = time.thread_time_ns() - before
        if took >= BUDGET:
            return took / calls, calls
        calls = math.ceil(calls * min(10, max(2, BUDGET * 1.2 / max(took, 1))))


ROWS = []


def row(validator, case, step, measured, each=1):
    ns, calls = measured
    ROWS.append({"validator": validator, "case": case, "step": step, "ns": ns / each, "calls": calls * each})


class Jsonschema:
    """The usual one, with a validator that is kept."""

    NAME = "python-jsonschema"
    parse = staticmethod(orjson.loads)

    @staticmethod
    def compile(schema):
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        kind.check_schema(schema)
        return kind(schema, format_checker=kind.FORMAT_CHECKER)

    def __init__(self, schema):
        self.validator = self.compile(schema)

    def alone(self, parsed):
        return self.validator.is_valid(parsed)

    def whole(self, text):
        return self.alone(orjson.loads(text))

    def told(self, text):
        return "\n".join(f"{e.json_path}: {e.message}" for e in self.validator.iter_errors(orjson.loads(text)))


class Fastjsonschema:
    """Generates Python code; stops at the first error. Knows draft-04, -06 and -07 only."""

    NAME = "fastjsonschema"
    parse = staticmethod(orjson.loads)
    compile = staticmethod(fastjsonschema.compile)

    def __init__(self, schema):
        self.validator = fastjsonschema.compile(schema)

    def alone(self, parsed):
        try:
            self.validator(parsed)
            return True
        except fastjsonschema.JsonSchemaValueException:
            return False

    def whole(self, text):
        return self.alone(orjson.loads(text))

    def told(self, text):
        try:
            self.validator(orjson.loads(text))
            return ""
        except fastjsonschema.JsonSchemaValueException as error:
            return str(error)


class JsonschemaRs:
    """The Rust crate, from Python."""

    NAME = "jsonschema-rs"
    parse = staticmethod(orjson.loads)

    @staticmethod
    def compile(schema):
        return jsonschema_rs.validator_for(schema, validate_formats=True)

    def __init__(self, schema):
        self.validator = self.compile(schema)
        self.alone = self.validator.is_valid

    def whole(self, text):
        return self.alone(orjson.loads(text))

    def told(self, text):
        errors = self.validator.iter_errors(orjson.loads(text))
        return "\n".join(f"{'/'.join(map(str, e.instance_path))}: {e.message}" for e in errors)


def type_of(schema, name="Arguments"):
    """The type that a person would write for a schema: only what the made cases use."""
    if "anyOf" in schema:
        return Union[tuple(type_of(part, f"{name}{i}") for i, part in enumerate(schema["anyOf"]))]
    if "const" in schema:
        return Literal[schema["const"]]
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    bounds = {
        ours: schema[theirs]
        for theirs, ours in [
            ("pattern", "pattern"),
            ("minLength", "min_length"),
            ("maxLength", "max_length"),
            ("minItems", "min_length"),
            ("maxItems", "max_length"),
            ("minimum", "ge"),
            ("maximum", "le"),
        ]
        if theirs in schema
    }
    kind = schema["type"]
    if isinstance(kind, list):
        (kind,) = [one for one in kind if one != "null"]
        return Optional[type_of({**schema, "type": kind})]
    if kind == "object":
        fields = {}
        for key, part in schema["properties"].items():
            inner = type_of(part, f"{name}_{key}")
            fields[key] = (inner, ...) if key in schema.get("required", []) else (Optional[inner], None)
        return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    if kind == "array":
        return Annotated[list[type_of(schema["items"], f"{name}_item")], Field(**bounds)]
    plain: Any = {"string": str, "integer": int, "number": float, "boolean": bool}[kind]
    return Annotated[plain, Field(**bounds)] if bounds else plain


class Pydantic:
    """A model as a person would write it for the schema: pydantic reads no JSON Schema."""

    NAME = "pydantic"
    parse = staticmethod(orjson.loads)
    compile = staticmethod(type_of)

    def __init__(self, schema):
        self.model: type[BaseModel] = type_of(schema)

    def alone(self, parsed):
        try:
            self.model.model_validate(parsed)
            return True
        except ValidationError:
            return False

    def whole(self, text):
        try:
            self.model.model_validate_json(text)
            return True
        except ValidationError:
            return False

    def told(self, text):
        try:
            self.model.model_validate_json(text)
            return ""
        except ValidationError as error:
            return str(error)


ALL = [Jsonschema, Fastjsonschema, JsonschemaRs, Pydantic]
VERDICTS = {}


def verdict(judge, text):
    VERDICTS[judge.NAME] = VERDICTS.get(judge.NAME, "") + ("1" if judge.whole(text) else "0")


for made in WORK["cases"]:
    name, schema, valid, wrong = made["name"], made["schema"], made["valid"], made["wrong"]
    parsed = orjson.loads(valid)
    for kind in ALL:
        judge = kind(schema)
        verdict(judge, valid)
        verdict(judge, wrong)
        row(kind.NAME, name, "whole", cost(lambda: judge.whole(valid)))
        row(kind.NAME, name, "told", cost(lambda: judge.told(wrong)))
        row(kind.NAME, name, "alone", cost(lambda: judge.alone(parsed)))
        row(kind.NAME, name, "compile", cost(lambda: kind.compile(schema)))
    row("orjson", name, "parse", cost(lambda: orjson.loads(valid)))
    row("json.loads", name, "parse", cost(lambda: json.loads(valid)))
    if name == "typical":
        # As most loops by hand call it: the schema is checked and compiled at every call.
        oneshot = cost(lambda: jsonschema.validate(orjson.loads(valid), schema))
        row("python-jsonschema-validate", name, "whole", oneshot)

for kind in ALL[:3] if WORK["tools"] else []:
    right, wrong = [], []
    for tool in WORK["tools"]:
        try:
            judge = kind(tool["schema"])
        except Exception as error:
            sys.exit(f"{kind.NAME} with {tool['server']}/{tool['name']}: {error!r}")
        for instance in tool["instances"]:
            verdict(judge, instance["text"])
            (right if instance["admitted"] else wrong).append((judge, instance["text"]))

    def whole():
        for judge, text in right:
            judge.whole(text)

    def told():
        for judge, text in wrong:
            judge.told(text)

    def compile_all():
        for tool in WORK["tools"]:
            kind.compile(tool["schema"])

    row(kind.NAME, "real", "whole", cost(whole), len(right))
    row(kind.NAME, "real", "told", cost(told), len(wrong))
    row(kind.NAME, "real", "compile", cost(compile_all), len(WORK["tools"]))

NAMES = ["jsonschema", "fastjsonschema", "jsonschema-rs", "pydantic", "orjson"]
VERSIONS = {f"Python {name}": version(name) for name in NAMES}
print(json.dumps({"rows": ROWS, "verdicts": VERDICTS, "versions": VERSIONS}))
