//! Tools that providers cannot hold to their schema while they decode.

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    lint::texts::listed,
    surface::{Source, Surface, project},
};

pub(super) const RULE: Rule = Rule {
    id: "strict-loss",
    level: Level::Note,
    finds: "A tool that a provider's strict mode cannot say, by provider, with the place.",
    why: "The provider then decodes without a grammar: more calls are refused by the gate and asked again.",
    instead: "List the names of an object's members, or give a list of `{key, value}` instead of a map.",
    fixes: false,
    check: Check::Tool(check),
};

const STRICT: [Surface; 4] = [
    Surface::OpenAiStrict,
    Surface::AnthropicStrict,
    Surface::DeepSeekStrict,
    Surface::MistralStrict,
];

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    let text = tool.description.unwrap_or_default();
    // By reason, so that four providers with one objection are one finding.
    let mut reasons: Vec<(String, String, Vec<String>)> = Vec::new();
    for surface in STRICT {
        let source = Source::arguments(tool.name, text, &input.schema);
        let Some(reason) = project(source, surface).fell_back else { continue };
        match reasons.iter_mut().find(|(path, why, _)| *path == reason.path && *why == reason.why) {
            Some((_, _, surfaces)) => surfaces.push(surface.name().to_owned()),
            None => {
                reasons.push((reason.path, reason.why, vec![surface.name().to_owned()]));
            }
        }
    }
    for (path, why, surfaces) in reasons {
        found.push(Draft::new(
            format!("{}{path}", input.at),
            format!(
                "{} cannot hold this tool to its schema while decoding: {why}. There it is told \
                 loosely, and the gate alone holds it",
                listed(&surfaces, 4)
            ),
            "Close the object with \"additionalProperties\": false where no other members are \
             meant; take a list of {key, value} where a map is. `callgate export --strict` shows \
             what is left.",
        ));
    }
}
