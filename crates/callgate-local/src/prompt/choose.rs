//! The prompt that ends where a tool's name must follow.

use std::borrow::Cow;

use callgate_wire::{Request, ToolCall, ToolDefinition};
use serde_json::json;

use super::{
    Writer, examples,
    steps::{PENDING, Step, steps},
};
use crate::{LocalError, session::Prompt, template::Role};

/// The pseudo-tool that stands for writing to the user.
pub(crate) const ANSWER: &str = "answer";

const HEAD: &str = "You are a helpful assistant with access to tools.

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
";

const ANSWER_TOOL: &str = r#"{"type":"function","function":{"name":"answer","description":"Reply to the user directly in text, when no other function is needed","parameters":{"type":"object","properties":{},"additionalProperties":false}}}"#;

const TAIL: &str = "
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{\"name\": <function-name>, \"arguments\": <args-json-object>}
</tool_call>";

const CALL: &str = "<tool_call>\n";
const OPEN: &str = "{\"name\": \"";
/// What follows a call's name.
pub(crate) const NAME_END: &str = "\", \"arguments\":";

/// One turn's calls while they are decoded.
///
/// The prompt is written again at each stage, so that the model sees its own text as the tokenizer
/// would have cut it, and the next turn finds those tokens read.
pub(crate) struct Calling {
    opening: Prompt,
}

impl Calling {
    pub(crate) fn new(mut w: Writer<'_>, request: &Request) -> Result<Self, LocalError> {
        w.open(Role::System)?.markup(HEAD)?;
        for tool in examples::TOOLS {
            w.markup(tool)?.markup("\n")?;
        }
        for tool in request.tools.iter() {
            w.data(&definition(tool))?.markup("\n")?;
        }
        w.markup(ANSWER_TOOL)?.markup(TAIL)?.close()?;
        for step in examples::STEPS {
            tell(&mut w, step)?;
        }
        w.stable();
        if let Some(instructions) = &request.instructions {
            w.turn(Role::System, instructions)?;
        }
        for step in steps(&request.messages) {
            tell(&mut w, &step)?;
        }
        Ok(Self { opening: w.finish() })
    }

    /// Up to where a name must follow, after the calls of this turn.
    pub(crate) fn name(&self, w: &Writer<'_>, done: &[ToolCall]) -> Result<Prompt, LocalError> {
        self.call(w, done, OPEN)
    }

    /// Up to where arguments must follow.
    pub(crate) fn arguments(
        &self,
        w: &Writer<'_>,
        done: &[ToolCall],
        name: &str,
    ) -> Result<Prompt, LocalError> {
        self.call(w, done, &format!("{OPEN}{name}{NAME_END}"))
    }

    fn call(&self, w: &Writer<'_>, done: &[ToolCall], open: &str) -> Result<Prompt, LocalError> {
        let mut w = w.resume(self.opening.clone());
        for call in done {
            let response = Cow::Borrowed(PENDING);
            tell(&mut w, &Step::Call { name: &call.name, arguments: &call.arguments, response })?;
        }
        w.open(Role::Assistant)?.markup(CALL)?.data(open)?;
        Ok(w.finish())
    }
}

fn definition(tool: &ToolDefinition) -> String {
    let name = json!(tool.name);
    let description = tool.description.as_ref();
    let description =
        description.map_or_else(String::new, |d| format!(r#""description":{},"#, json!(d)));
    let parameters = tool.parameters.get();
    format!(
        r#"{{"type":"function","function":{{"name":{name},{description}"parameters":{parameters}}}}}"#
    )
}

fn tell(w: &mut Writer<'_>, step: &Step<'_>) -> Result<(), LocalError> {
    match step {
        Step::User(text) => w.turn(Role::User, text)?,
        Step::Call { name, arguments, response } => {
            call(w, name, arguments)?.close()?;
            w.open(Role::User)?.markup("<tool_response>\n")?.data(response)?;
            w.markup("\n</tool_response>")?.close()?
        }
        Step::Answer(said) => {
            call(w, ANSWER, "{}")?;
            if let Some(said) = said {
                w.markup("\n")?.data(said)?;
            }
            w.close()?
        }
    };
    Ok(())
}

/// A call exactly as decoding leaves it.
fn call<'c, 'b>(
    w: &'c mut Writer<'b>,
    name: &str,
    arguments: &str,
) -> Result<&'c mut Writer<'b>, LocalError> {
    w.open(Role::Assistant)?.markup(CALL)?;
    w.data(&format!("{OPEN}{name}{NAME_END} {arguments}}}\n"))?.markup("</tool_call>")
}
