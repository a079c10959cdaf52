//! The prompt that ends where a tool's name must follow.

use callgate_wire::{Request, ToolCall, ToolDefinition};
use serde_json::json;

use super::{
    Writer, examples,
    steps::{Outcome, Step, steps},
};
use crate::{LocalError, guidance::Guidance, session::Prompt, template::Role};

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

Return a json array of function calls, each with function name and arguments, within <tool_call></tool_call> XML tags:
<tool_call>
[{\"name\": <function-name>, \"arguments\": <args-json-object>}]
</tool_call>";

/// What the real tools stand in. They follow the examples, whose thousand tokens are thereby the same
/// for all tools, and are read once.
const NOW: &str = "# Tools

The functions of the examples are gone. You are now provided with these functions:
<tools>
";

const NOW_END: &str = "
</tools>";

/// What follows the results where a call was refused that may be made otherwise. A refusal alone makes small
/// models give up, and told only to correct it they fill in what nobody asked for.
const REFUSED: &str = "\nThe call was refused and nothing was done. Call the function again: leave out what nobody asked for, correct the rest.";

const CALL: &str = "<tool_call>\n";
const OPEN: &str = "[{\"name\": \"";
/// What follows a call's name.
pub(crate) const NAME_END: &str = "\", \"arguments\":";
/// What follows the arguments of a call that is not the last of its turn.
pub(crate) const NEXT: &str = "}, {\"name\": \"";
/// What follows those of the last; the line ends within the same token.
pub(crate) const LAST: &str = "}]\n";

/// One turn's calls while they are decoded.
///
/// The prompt is written again at each stage, so that the model sees its own text as the tokenizer
/// would have cut it, and the next turn finds those tokens read.
pub(crate) struct Calling {
    opening: Prompt,
}

impl Calling {
    pub(crate) fn new(
        mut w: Writer<'_>,
        request: &Request,
        guidance: Guidance,
    ) -> Result<Self, LocalError> {
        w.open(Role::System)?.markup(HEAD)?;
        let end = match guidance {
            Guidance::Tools => TAIL,
            Guidance::Examples => {
                for tool in examples::TOOLS {
                    w.markup(tool)?.markup("\n")?;
                }
                w.markup(ANSWER_TOOL)?.markup(TAIL)?.close()?;
                for step in examples::steps() {
                    tell(&mut w, &step)?;
                }
                w.stable();
                w.open(Role::System)?.markup(NOW)?;
                NOW_END
            }
        };
        for tool in request.tools.iter() {
            w.data(&definition(tool))?.markup("\n")?;
        }
        w.markup(ANSWER_TOOL)?.markup(end)?.close()?.stable();
        if let Some(instructions) = &request.instructions {
            w.turn(Role::System, instructions)?;
        }
        for step in steps(&request.messages) {
            tell(&mut w, &step)?;
        }
        Ok(Self { opening: w.finish() })
    }

    /// Up to where the model's turn begins.
    pub(crate) fn turn(&self, w: &Writer<'_>) -> Result<Prompt, LocalError> {
        let mut w = w.resume(self.opening.clone());
        w.open(Role::Assistant)?;
        Ok(w.finish())
    }

    /// Up to where the first call's name must follow.
    pub(crate) fn name(&self, w: &Writer<'_>) -> Result<Prompt, LocalError> {
        let mut w = self.open(w)?;
        w.data(OPEN)?;
        Ok(w.finish())
    }

    /// Up to where arguments must follow.
    pub(crate) fn arguments(
        &self,
        w: &Writer<'_>,
        done: &[ToolCall],
        name: &str,
    ) -> Result<Prompt, LocalError> {
        let mut text = list(pairs(done));
        head(&mut text, name);
        let mut w = self.open(w)?;
        w.data(&text)?;
        Ok(w.finish())
    }

    fn open<'a>(&self, w: &Writer<'a>) -> Result<Writer<'a>, LocalError> {
        let mut w = w.resume(self.opening.clone());
        w.open(Role::Assistant)?.markup(CALL)?;
        Ok(w)
    }
}

fn pairs(calls: &[ToolCall]) -> impl Iterator<Item = (&str, &str)> {
    calls.iter().map(|call| (&*call.name, &*call.arguments))
}

/// Calls without what follows the last arguments.
fn list<'a>(calls: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, arguments) in calls {
        head(&mut text, name);
        text.push(' ');
        text.push_str(arguments);
    }
    text
}

fn head(text: &mut String, name: &str) {
    text.push_str(if text.is_empty() { OPEN } else { NEXT });
    text.push_str(name);
    text.push_str(NAME_END);
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
        Step::Calls(calls) => {
            call(w, calls.iter().map(|call| (call.name, call.arguments)))?.close()?;
            w.open(Role::User)?;
            for (index, call) in calls.iter().enumerate() {
                w.markup(if index == 0 { "<tool_response>\n" } else { "\n<tool_response>\n" })?;
                w.data(&call.response)?.markup("\n</tool_response>")?;
            }
            if calls.iter().any(|call| call.outcome == Outcome::Refused) {
                w.markup(REFUSED)?;
            }
            w.close()?
        }
        Step::Answer(said) => {
            call(w, std::iter::once((ANSWER, "{}")))?;
            if let Some(said) = said {
                w.markup("\n")?.data(said)?;
            }
            w.close()?
        }
    };
    Ok(())
}

/// Calls exactly as decoding leaves them.
fn call<'a, 'b, 'c>(
    w: &'c mut Writer<'b>,
    calls: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<&'c mut Writer<'b>, LocalError> {
    w.open(Role::Assistant)?.markup(CALL)?;
    // In one piece: cut anywhere else, the same letters are other tokens than those that models were
    // trained to write, and to end by.
    w.data(&format!("{}{LAST}", list(calls)))?.markup("</tool_call>")
}
