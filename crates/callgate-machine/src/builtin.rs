//! Tools that the machine itself does the work of.
//!
//! They are contracts like any other: listed in the catalog, projected, judged by the gates. Only
//! what an admitted call begins is another event than `callStarted`.

use callgate_contract::{Catalog, Tool};

use crate::Agent;

/// The member of a contract's `backend` object that names one.
pub const BACKEND: &str = "builtin";

/// The built-in tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// Puts a question to the user; the run waits for the answer.
    AskUser,
}

/// The contract of `ask_user`.
const ASK_USER: &str = r#"{
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

/// The member of a contract's `backend` object that names a delegate: another agent.
pub const DELEGATE: &str = "agent";

/// Whether another agent does a tool's work.
pub fn is_delegate(tool: &Tool) -> bool {
    tool.backend.contains_key(DELEGATE)
}

/// Which built-in tool a contract stands for.
pub fn of(tool: &Tool) -> Option<Builtin> {
    match tool.backend.get(BACKEND)?.as_str()? {
        "ask_user" => Some(Builtin::AskUser),
        _ => None,
    }
}

/// Adds the built-in tools that an agent asks for, where the catalog has no tool of that name.
pub fn add(agent: &Agent, catalog: &mut Catalog) {
    if agent.ask_user
        && catalog.get("ask_user").is_none()
        && let Ok(own) = Catalog::load([("built in", ASK_USER)])
    {
        for tool in own.tools() {
            catalog.insert(Tool::clone(tool));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ask_user_is_a_contract_and_stands_in_the_catalog_once() {
        let mut catalog = Catalog::default();
        add(&Agent::default(), &mut catalog);
        assert!(catalog.is_empty());
        let agent = Agent { ask_user: true, ..Agent::default() };
        add(&agent, &mut catalog);
        add(&agent, &mut catalog);
        assert_eq!(catalog.names(), ["ask_user"]);
        assert_eq!(
            of(&catalog.get("ask_user").cloned().unwrap_or_else(|| unreachable!())),
            Some(Builtin::AskUser)
        );
    }
}
