//! Every provider's codec, and its bodies read back into one form.
//!
//! A case that names a provider holds on each of its APIs, a case that names none on all of them.

use std::collections::{HashMap, VecDeque};

use callgate_contract::surface::Family;
use callgate_wire::{
    Codec, Note, Request,
    anthropic::Anthropic,
    chat::{Chat, Profile},
    gemini::Gemini,
    ollama::Ollama,
    responses::Responses,
};
use serde_json::Value;

use crate::forms::Form;

/// One API of a provider.
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) codec: Box<dyn Codec>,
    model: &'static str,
    pub(crate) form: Form,
}

/// All of them, or those of one provider.
pub(crate) fn of(provider: Option<&str>) -> Result<Vec<Dialect>, String> {
    let chat = |name, model, family, profile| Dialect {
        name,
        family,
        codec: Box::new(Chat::new(profile)),
        model,
        form: Form::Chat,
    };
    let own = |name, model, family, codec, form| Dialect { name, family, codec, model, form };
    let all = vec![
        own("openai", "gpt-5.4", Family::OpenAi, Box::new(Responses::new()), Form::Responses),
        chat("openai", "gpt-5.4", Family::OpenAi, Profile::openai()),
        own(
            "anthropic",
            "claude-sonnet-4-5",
            Family::Anthropic,
            Box::new(Anthropic::new()),
            Form::Anthropic,
        ),
        own("gemini", "gemini-3-flash", Family::Gemini, Box::new(Gemini::new()), Form::Gemini),
        own("ollama", "qwen3:8b", Family::Ollama, Box::new(Ollama::new()), Form::Ollama),
        chat("deepseek", "deepseek-chat", Family::DeepSeek, Profile::deepseek()),
        chat("mistral", "mistral-large", Family::Mistral, Profile::mistral()),
        chat("compatible", "some-model", Family::Compatible, Profile::compatible()),
    ];
    let Some(provider) = provider else { return Ok(all) };
    let name = match provider {
        "openai-responses" | "openai-chat" => "openai",
        "llama.cpp" | "llamacpp" | "vllm" | "openrouter" | "groq" => "compatible",
        other => other,
    };
    let named: Vec<Dialect> = all.into_iter().filter(|dialect| dialect.name == name).collect();
    if named.is_empty() {
        Err(format!("the provider {provider:?} is not known"))
    } else {
        Ok(named)
    }
}

/// A tool as a body defines it.
pub(crate) struct Defined {
    pub(crate) name: String,
    pub(crate) parameters: Value,
    pub(crate) strict: bool,
}

/// A part of a transcript, as a body has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    User(String),
    Assistant(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: String,
    },
    /// The result of the nth call of the body. Not every API has a word for errors.
    Result {
        call: usize,
        content: String,
        is_error: Option<bool>,
    },
}

impl Dialect {
    pub(crate) fn addressed(&self, request: &Request) -> Request {
        Request { model: self.model.into(), ..request.clone() }
    }

    pub(crate) fn body(&self, request: &Request) -> (Value, Vec<Note>) {
        let post = self.codec.encode(&self.addressed(request), false);
        (serde_json::from_slice(&post.body).unwrap(), post.notes)
    }

    /// The tools of a body, in order.
    pub(crate) fn defined(&self, body: &Value) -> Vec<Defined> {
        let (tools, parameters) = match self.form {
            Form::Chat | Form::Ollama => {
                (list(&body["tools"]).iter().map(|t| &t["function"]).collect(), "parameters")
            }
            Form::Responses => (list(&body["tools"]).iter().collect(), "parameters"),
            Form::Anthropic => (list(&body["tools"]).iter().collect(), "input_schema"),
            Form::Gemini => {
                let tools = list(&body["tools"]).iter();
                let declared = tools.flat_map(|tool| list(&tool["functionDeclarations"]));
                (declared.collect::<Vec<_>>(), "parametersJsonSchema")
            }
        };
        let defined = |tool: &Value| Defined {
            name: text(&tool["name"]),
            parameters: tool[parameters].clone(),
            strict: tool["strict"] == true,
        };
        tools.into_iter().map(defined).collect()
    }

    /// A body's transcript, part by part. What the form has no place for is an error.
    pub(crate) fn said(&self, body: &Value) -> Result<Vec<Said>, String> {
        let mut read = Reading::default();
        match self.form {
            Form::Chat | Form::Ollama => {
                for message in list(&body["messages"]) {
                    read.message(message)?;
                }
            }
            Form::Responses => {
                for item in list(&body["input"]) {
                    read.item(item)?;
                }
            }
            Form::Anthropic => {
                for message in list(&body["messages"]) {
                    for block in list(&message["content"]) {
                        read.block(&message["role"], block)?;
                    }
                }
            }
            Form::Gemini => {
                for content in list(&body["contents"]) {
                    for part in list(&content["parts"]) {
                        read.part(&content["role"], part)?;
                    }
                }
            }
        }
        Ok(read.said)
    }
}

/// A transcript as far as it was read.
#[derive(Default)]
struct Reading {
    said: Vec<Said>,
    calls: usize,
    by_id: HashMap<String, usize>,
    /// Where results name no id they come in order.
    open: VecDeque<usize>,
}

impl Reading {
    fn call(&mut self, id: &Value, name: &Value, arguments: &Value) {
        let id = id.as_str().map(str::to_owned);
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), self.calls);
        }
        self.open.push_back(self.calls);
        self.calls += 1;
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        self.said.push(Said::Call { id, name: text(name), arguments });
    }

    fn result(
        &mut self,
        id: Option<&Value>,
        content: &Value,
        is_error: Option<bool>,
    ) -> Result<(), String> {
        let call = match id {
            Some(id) => self.by_id.get(&text(id)).copied(),
            None => self.open.pop_front(),
        };
        let call = call.ok_or_else(|| format!("a result of no call before it: {content}"))?;
        self.said.push(Said::Result { call, content: text(content), is_error });
        Ok(())
    }

    fn words(&mut self, role: &Value, words: &Value) -> Result<(), String> {
        let words = text(words);
        match role.as_str() {
            _ if words.is_empty() => {}
            Some("user") => self.said.push(Said::User(words)),
            Some("assistant" | "model") => self.said.push(Said::Assistant(words)),
            other => return Err(format!("{other:?} says {words:?}")),
        }
        Ok(())
    }

    fn message(&mut self, message: &Value) -> Result<(), String> {
        if message["role"] == "tool" {
            return self.result(message.get("tool_call_id"), &message["content"], None);
        }
        self.words(&message["role"], &message["content"])?;
        for call in list(&message["tool_calls"]) {
            let function = &call["function"];
            self.call(&call["id"], &function["name"], &function["arguments"]);
        }
        Ok(())
    }

    fn item(&mut self, item: &Value) -> Result<(), String> {
        match item["type"].as_str() {
            Some("function_call") => {
                self.call(&item["call_id"], &item["name"], &item["arguments"]);
                Ok(())
            }
            Some("function_call_output") => self.result(item.get("call_id"), &item["output"], None),
            None | Some("message") => list(&item["content"])
                .iter()
                .try_for_each(|part| self.words(&item["role"], &part["text"])),
            Some(other) => Err(format!("an item of the type {other:?}")),
        }
    }

    fn block(&mut self, role: &Value, block: &Value) -> Result<(), String> {
        match block["type"].as_str() {
            Some("tool_use") => {
                self.call(&block["id"], &block["name"], &block["input"]);
                Ok(())
            }
            Some("tool_result") => {
                let is_error = block["is_error"] == true;
                self.result(block.get("tool_use_id"), &block["content"], Some(is_error))
            }
            Some("text") => self.words(role, &block["text"]),
            other => Err(format!("a block of the type {other:?}")),
        }
    }

    fn part(&mut self, role: &Value, part: &Value) -> Result<(), String> {
        if let Some(call) = part.get("functionCall") {
            self.call(&Value::Null, &call["name"], &call["args"]);
            return Ok(());
        }
        if let Some(answer) = part.get("functionResponse") {
            let response = &answer["response"];
            let error = response.get("error");
            let content = error.unwrap_or(&response["output"]);
            return self.result(None, content, Some(error.is_some()));
        }
        self.words(role, &part["text"])
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
