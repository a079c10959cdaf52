//! The contracts of the built-in tools.

/// The contract of `ask_user`.
pub(super) const ASK_USER: &str = r#"{
  "name": "ask_user",
  "version": "1.0.0",
  "description": "Asks the user one question and waits for the answer. Use it when something that only the user knows is missing or unclear, and a wrong guess would do harm. Do not use it for what another tool can find out, or to ask for permission: calls that need a yes are asked about by themselves. Ask one short question at a time; offer choices where the answer is one of a few.",
  "input": {
    "type": "object",
    "properties": {
      "question": { "type": "string", "minLength": 1, "maxLength": 2000, "description": "The question, as the user will read it." },
      "choices": { "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 200 }, "maxItems": 20, "description": "Answers to choose from. The user may answer otherwise." }
    },
    "required": ["question"],
    "additionalProperties": false
  },
  "output": {
    "type": "object",
    "properties": { "answer": { "type": "string" }, "by": { "type": "string" } },
    "required": ["answer"]
  },
  "annotations": { "readOnly": true },
  "backend": { "builtin": "ask_user" }
}"#;

/// The contract of `search_tools`.
pub(super) const SEARCH_TOOLS: &str = r#"{
  "name": "search_tools",
  "version": "1.0.0",
  "description": "Finds tools by what they do. Most tools are not listed until a search finds them, so search before saying that something cannot be done, and whenever the tools that are listed do not fit. Say in a few words what is to be done and with what, for example \"create calendar event\" or \"read rows of a spreadsheet\"; the name of a tool works, too. The tools found are on offer from then on and can be called by their names.",
  "input": {
    "type": "object",
    "properties": {
      "query": { "type": "string", "minLength": 1, "maxLength": 1000, "description": "What is to be done, and with what, in a few words." },
      "limit": { "type": "integer", "minimum": 1, "maximum": 10, "description": "The most tools to find. Default: 5." }
    },
    "required": ["query"],
    "additionalProperties": false
  },
  "output": {
    "type": "object",
    "properties": {
      "tools": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": { "name": { "type": "string" }, "description": { "type": "string" }, "parameters": { "type": "string" } },
          "required": ["name", "description", "parameters"]
        }
      },
      "note": { "type": "string" }
    },
    "required": ["tools", "note"]
  },
  "annotations": { "readOnly": true, "idempotent": true },
  "backend": { "builtin": "search_tools" }
}"#;

/// The contract of `read_result`.
pub(super) const READ_RESULT: &str = r#"{
  "name": "read_result",
  "version": "1.0.0",
  "description": "Reads on in the result of an earlier call of which only a part was shown. Use it when a result has a \"more\": call this with what stands in its \"arguments\". Nothing is called anew. With \"select\" it looks for what is wanted instead of paging: a JSONPath such as $.items[?@.status == \"open\"].id gives only the values that it selects. Every page says how many there are in all, and where the next one begins.",
  "input": {
    "type": "object",
    "properties": {
      "call": { "type": "string", "minLength": 1, "description": "The toolCallId of the result." },
      "select": { "type": "string", "minLength": 1, "maxLength": 2000, "description": "JSONPath (RFC 9535) of the part to read. Default: all of it." },
      "offset": { "type": "integer", "minimum": 0, "description": "Where to begin: elements, members, values or characters to skip. Default: 0." },
      "limit": { "type": "integer", "minimum": 1, "description": "The most of them. Default: as many as fit on a page." }
    },
    "required": ["call"],
    "additionalProperties": false
  },
  "output": {
    "type": "object",
    "properties": {
      "of": { "enum": ["elements", "members", "characters", "values"] },
      "total": { "type": "integer" },
      "offset": { "type": "integer" },
      "count": { "type": "integer" },
      "part": {},
      "next": { "type": "object" }
    },
    "required": ["of", "total", "offset", "count", "part"]
  },
  "annotations": { "readOnly": true, "idempotent": true },
  "backend": { "builtin": "read_result" }
}"#;
