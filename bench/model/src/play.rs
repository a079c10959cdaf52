//! A request in every way, up to the calls that run.
//!
//! All ways read the same prompt. The first reply without the grammar is shared by three of them: what
//! differs is what is done with its calls. Nothing really runs: what is asked is which calls would.

use std::sync::{Arc, Mutex, PoisonError};

use callgate_contract::{Catalog, Envelope, Facts, Fault, Mode, RuleVerdict, Verdict};
use callgate_local::LocalModel;
use callgate_model::Model;
use callgate_wire::{Delta, Message, Part, Reply, Request, Stop, ToolCall, ToolChoice, ToolResult};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use crate::{
    case::Case,
    record::{Ended, Made, Way, Ways},
};

/// Replies of the model, corrections among them.
const HOPS: u32 = 3;

/// Tokens of one reply: more than any right one needs.
const OUTPUT: u32 = 400;

/// Characters of a text that are kept, to tell by what it was.
const BEGINNING: usize = 300;

/// What the model did.
#[derive(Clone)]
enum Said {
    /// It wrote to the user, and this is how it began.
    Text(String),
    Reply(Arc<Reply>),
    Failed(String),
}

/// What a model said to which transcript. The same words get the same reply, so what two gates both
/// refuse is asked about once.
struct Asked<'a> {
    model: &'a LocalModel,
    replies: Vec<(String, Said)>,
}

impl Asked<'_> {
    async fn ask(&mut self, request: &Request) -> Said {
        let transcript = format!("{:?}", request.messages);
        if let Some((_, said)) = self.replies.iter().find(|(asked, _)| *asked == transcript) {
            return said.clone();
        }
        let said = ask(self.model, request).await;
        self.replies.push((transcript, said.clone()));
        said
    }
}

/// All ways, one after another.
pub(crate) async fn all(
    free: &LocalModel,
    grammar: &LocalModel,
    case: &Case,
    choice: &ToolChoice,
) -> Ways {
    let request = Request {
        instructions: case.instructions.as_deref().map(Into::into),
        messages: vec![case.message().into()],
        tools: case.tools().into(),
        max_output_tokens: Some(OUTPUT),
        tool_choice: choice.clone(),
        ..Request::default()
    };
    let mut free = Asked { model: free, replies: Vec::new() };
    let off = ungated(&case.catalog, &free.ask(&request).await);
    let strict = gated(&mut free, case, &request, Mode::Strict).await;
    let lenient = gated(&mut free, case, &request, Mode::Lenient).await;
    let mut grammar = Asked { model: grammar, replies: Vec::new() };
    let grammar = gated(&mut grammar, case, &request, Mode::Lenient).await;
    Ways { off, strict, lenient, grammar }
}

/// One reply. A text is not waited for: that there is no call is all that counts.
async fn ask(model: &LocalModel, request: &Request) -> Said {
    let spoke = Notify::new();
    let heard = Mutex::new(String::new());
    let hear = |delta| {
        if let Delta::Text(text) = delta {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            spoke.notify_one();
        }
    };
    let beginning = || {
        let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        Said::Text(heard.chars().take(BEGINNING).collect())
    };
    tokio::select! {
        () = spoke.notified() => beginning(),
        reply = model.reply(request, Some(&hear)) => match reply {
            Ok(reply) if reply.calls().next().is_none() => beginning(),
            Ok(reply) => Said::Reply(reply.into()),
            Err(error) => Said::Failed(error.to_string()),
        },
    }
}

fn start() -> Way {
    let (ended, said, made) = (Ended::Said, String::new(), Vec::new());
    Way { ended, hops: 1, input_tokens: 0, output_tokens: 0, made, said }
}

/// Runs whatever plain JSON reads, cut or not.
fn ungated(catalog: &Catalog, said: &Said) -> Way {
    let mut way = start();
    let reply = match said {
        Said::Text(text) => return Way { said: text.clone(), ..way },
        Said::Failed(why) => return Way { ended: Ended::Failed(why.clone()), ..way },
        Said::Reply(reply) => reply,
    };
    way.input_tokens = reply.usage.input_tokens;
    way.output_tokens = reply.usage.output_tokens;
    way.ended = Ended::Called;
    for call in reply.calls() {
        let judged = judge(catalog, call, Mode::Strict);
        let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
        let runs = is_object && catalog.get(&call.name).is_some();
        if !runs {
            way.ended = Ended::Broken;
        }
        way.made
            .push(Made { ran: runs.then(|| call.arguments.to_string()), ..judged.made(call, 1) });
    }
    way
}

/// Runs what the gates admit; refusals go back to the model.
async fn gated(model: &mut Asked<'_>, case: &Case, request: &Request, mode: Mode) -> Way {
    let mut way = start();
    let mut request = request.clone();
    let mut said = model.ask(&request).await;
    loop {
        let reply = match said {
            Said::Text(said) => return Way { ended: Ended::Said, said, ..way },
            Said::Failed(why) => return Way { ended: Ended::Failed(why), ..way },
            Said::Reply(reply) => reply,
        };
        way.input_tokens += reply.usage.input_tokens;
        way.output_tokens += reply.usage.output_tokens;
        let mut results = Vec::new();
        let mut is_refused = false;
        for call in reply.calls() {
            let mut judged = judge(&case.catalog, call, mode);
            let is_cut = reply.stop != Stop::End;
            if is_cut {
                judged.verdict = Err(Box::new(Fault::truncated()));
            }
            let mut made = judged.made(call, way.hops);
            made.cut = is_cut && !made.valid;
            let (id, name) = (Arc::clone(&call.id), Arc::clone(&call.name));
            let envelope = match &judged.verdict {
                Ok(arguments) => {
                    // What it was told to wait for, and sends again, is one call.
                    let again = way.ran().any(|ran| ran == (&*call.name, arguments.as_str()));
                    made.ran = (way.hops == 1 || !again).then(|| arguments.clone());
                    Envelope::waiting(id, name)
                }
                Err(fault) => {
                    is_refused = true;
                    Envelope::error(id, name, (**fault).clone())
                }
            };
            way.made.push(made);
            results.push(envelope);
        }
        if !is_refused {
            return Way { ended: Ended::Called, ..way };
        }
        if way.hops == HOPS {
            return Way { ended: Ended::Refused, ..way };
        }
        request.messages.push(Message::Assistant { content: reply.content.clone() }.into());
        request.messages.extend(results.iter().map(|envelope| Arc::new(told(envelope))));
        said = model.ask(&request).await;
        way.hops += 1;
    }
}

fn told(envelope: &Envelope) -> Message {
    Message::Tool(ToolResult {
        call_id: envelope.tool_call_id.clone(),
        name: envelope.name.clone(),
        content: vec![Part::Text { text: envelope.to_text().into() }],
        is_error: !envelope.ok,
    })
}

/// What the gate says of a call.
struct Judged {
    /// Whether name and schema hold.
    valid: bool,
    /// The argument text to run, or why not.
    verdict: Result<String, Box<Fault>>,
    mended: Vec<String>,
}

impl Judged {
    fn made(&self, call: &ToolCall, hop: u32) -> Made {
        Made {
            hop,
            name: call.name.to_string(),
            raw: call.arguments.to_string(),
            valid: self.valid,
            cut: false,
            fault: self.verdict.as_ref().err().map(|fault| fault.summary()),
            ran: None,
            mended: self.mended.clone(),
        }
    }
}

fn judge(catalog: &Catalog, call: &ToolCall, mode: Mode) -> Judged {
    let refused = |fault| Judged { valid: false, verdict: Err(fault), mended: Vec::new() };
    let (tool, renamed) = match catalog.resolve(&call.name, mode) {
        Ok(found) => found,
        Err(fault) => return refused(fault),
    };
    let (arguments, adjustments) = match tool.admit(&call.arguments, mode) {
        Verdict::Admitted { arguments, adjustments } => (arguments, adjustments),
        Verdict::Refused(fault) => return refused(fault),
    };
    let mended = renamed.iter().chain(&adjustments).map(ToString::to_string).collect();
    let facts = Facts { caller: Value::Object(Map::new()), run: Value::Object(Map::new()) };
    let verdict = match tool.check_rules(&arguments, &facts, 0) {
        RuleVerdict::Hold => Ok(arguments.text().to_owned()),
        RuleVerdict::Broken(fault) => Err(fault),
        // No tool here has a rule that asks another.
        RuleVerdict::Ask { rule, .. } => Err(Box::new(rule.fault())),
    };
    Judged { valid: true, verdict, mended }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use callgate_wire::{AssistantPart, Usage};

    use super::*;
    use crate::case;

    fn catalog() -> Catalog {
        let text = r#"[{"name": "get", "description": "Gets", "input": {"type": "object",
            "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false}}]"#;
        case::catalog(Path::new("tools.json"), text).unwrap()
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: "call_1".into(),
            name: name.into(),
            arguments: arguments.into(),
            opaque: None,
        }
    }

    #[test]
    fn gates_off_runs_what_reads_as_json_and_tells_what_the_contract_says() {
        for (name, arguments, ended, runs, valid) in [
            ("get", r#"{"id": 1}"#, Ended::Called, true, true),
            ("get", r#"{"id": "1"}"#, Ended::Called, true, false),
            ("get", r#"{"id": 1,}"#, Ended::Broken, false, false),
            ("got", r#"{"id": 1}"#, Ended::Broken, false, false),
        ] {
            let reply = Reply {
                content: vec![AssistantPart::Call(call(name, arguments))],
                stop: Stop::End,
                usage: Usage::default(),
                model: None,
                notes: Vec::new(),
            };
            let way = ungated(&catalog(), &Said::Reply(reply.into()));
            assert_eq!(way.ended, ended, "{name} {arguments}");
            assert_eq!(way.made[0].ran.is_some(), runs);
            assert_eq!(way.made[0].valid, valid);
            assert_eq!(way.made[0].fault.is_none(), valid);
        }
    }

    #[test]
    fn lenient_gates_mend_what_strict_ones_refuse() {
        let quoted = call("get", r#"{"id": "1",}"#);
        assert!(judge(&catalog(), &quoted, Mode::Strict).verdict.is_err());
        let lenient = judge(&catalog(), &quoted, Mode::Lenient);
        assert_eq!(lenient.verdict.unwrap(), r#"{"id": 1}"#);
        assert_eq!(lenient.mended.len(), 2);
    }
}
