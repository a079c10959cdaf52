//! `callgate tools`: the project's tools, without a model.

pub(super) mod call;
mod list;
mod show;

use callgate::contract::{
    Tool,
    tier::{Tier, TierPolicy},
};

use crate::{
    cli::{Tools, ToolsVerb},
    exit::Exit,
    failure::Failure,
};

pub(super) fn go(tools: &Tools) -> Result<Exit, Failure> {
    match &tools.what {
        ToolsVerb::List { project, json } => list::go(project, *json),
        ToolsVerb::Show { name, project, json } => show::go(name, project, *json),
        ToolsVerb::Call(call) => call::go(call),
    }
}

/// In one word.
fn tier(tool: &Tool) -> &'static str {
    match &tool.tier {
        TierPolicy::Always(tier) => tier_word(*tier),
        TierPolicy::When(_) => "by rule",
    }
}

fn tier_word(tier: Tier) -> &'static str {
    match tier {
        Tier::Auto => "auto",
        Tier::Approve => "approve",
        Tier::Block => "block",
    }
}

/// The kind of whoever does the work.
fn backend(tool: &Tool) -> &str {
    tool.backend
        .keys()
        .find(|key| ["command", "http", "mcp"].contains(&key.as_str()))
        .map_or("none", String::as_str)
}
