//! Where a message goes: to the agent, to one of its skills, or nowhere.

use callgate_contract::Catalog;
use callgate_tool::a2a::wire::{
    Content, Json, Kind, Members, Message, Part, SKILL_SCHEMAS, WireError,
};

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// To the agent, as a goal.
    Agent(String),
    /// To a tool, with arguments as JSON text.
    Skill {
        /// The tool.
        name: String,
        /// What it is called with.
        arguments: String,
    },
    /// It is answered at once, without a task.
    Reply(Vec<Part>),
}

/// What is known where messages are routed.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Whether there is an agent that takes words.
    pub has_agent: bool,
    /// The tools that can be called directly; none where that is not offered.
    pub skills: Option<&'a Catalog>,
}

/// Decides where messages go.
pub trait Routing: Send + Sync {
    /// Where a first message goes.
    ///
    /// # Errors
    /// It can go nowhere: what the client is told.
    fn route(&self, message: &Message, offer: Offer<'_>) -> Result<Route, WireError>;

    /// What a later message says to a task that asked for words or arguments.
    fn answer(&self, message: &Message) -> String {
        said(message)
    }
}

/// The usual way: the skill that the message names, the only one there is, or the agent.
///
/// A skill is named in `message.metadata[URI].skillId`, URI being that of the extension in the card, in `message.metadata.skillId`, or by a
/// data part `{"skill": …, "arguments": {…}}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usual;

impl Routing for Usual {
    fn route(&self, message: &Message, offer: Offer<'_>) -> Result<Route, WireError> {
        refuse_files(message)?;
        let data = message.parts.iter().find_map(Part::as_data);
        if let Some(catalog) = offer.skills {
            if let Some(name) = named(message) {
                return skill(catalog, &name, data.map_or("{}", Json::text));
            }
            if let Some((name, arguments)) = data.and_then(in_data)
                && (known(catalog, &name) || !offer.has_agent)
            {
                return skill(catalog, &name, &arguments);
            }
            let mut tools = catalog.tools().filter(|tool| !tool.tier.never_runs());
            if let (Some(data), Some(only), None) = (data, tools.next(), tools.next())
                && !offer.has_agent
            {
                return skill(catalog, &only.name, data.text());
            }
        }
        if offer.has_agent {
            return Ok(Route::Agent(said(message)));
        }
        Ok(Route::Reply(vec![Part::text(how_to_call(offer.skills))]))
    }
}

/// A message as words: its texts, and its data as JSON.
fn said(message: &Message) -> String {
    let texts = message.parts.iter().map(|part| match &part.content {
        Content::Text(text) | Content::Url(text) => text.clone(),
        Content::Data(json) => json.text().to_owned(),
        Content::Raw(_) => String::new(),
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Nothing here reads files.
fn refuse_files(message: &Message) -> Result<(), WireError> {
    let file =
        message.parts.iter().find(|part| matches!(part.content, Content::Raw(_) | Content::Url(_)));
    match file {
        None => Ok(()),
        Some(part) => {
            let kind = part.media_type.as_deref().unwrap_or("application/octet-stream");
            Err(WireError::new(
                Kind::ContentTypeNotSupported,
                format!("files are not taken here ({kind}): send text or JSON data"),
            )
            .with("mediaType", kind))
        }
    }
}

fn named(message: &Message) -> Option<String> {
    let metadata = message.metadata.as_ref()?;
    let members = Members::read_text(metadata.text(), "").ok()?;
    let mut all = members.iter();
    let own = all.find(|(name, _)| name.ends_with(SKILL_SCHEMAS));
    let own = own.and_then(|(_, raw)| Members::read(raw, "").ok());
    let own = own.and_then(|own| own.text("skillId").ok().flatten());
    own.or_else(|| members.text("skillId").ok().flatten())
}

fn in_data(data: &Json) -> Option<(String, String)> {
    let members = Members::read_text(data.text(), "").ok()?;
    let name = members.text("skill").ok().flatten()?;
    let arguments = members.get("arguments").map_or("{}", serde_json::value::RawValue::get);
    Some((name, arguments.to_owned()))
}

fn known(catalog: &Catalog, name: &str) -> bool {
    catalog.get(name).is_some()
}

fn skill(catalog: &Catalog, name: &str, arguments: &str) -> Result<Route, WireError> {
    if known(catalog, name) {
        return Ok(Route::Skill { name: name.to_owned(), arguments: arguments.to_owned() });
    }
    let near = callgate_contract::nearest(name, &catalog.names());
    let hint = near.map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
    let words = format!("there is no skill {name:?}.{hint}");
    Err(WireError::new(Kind::InvalidParams, words).with("skillId", name))
}

fn how_to_call(catalog: Option<&Catalog>) -> String {
    let names = catalog.map(Catalog::names).unwrap_or_default().join(", ");
    format!(
        "Nobody here reads prose. Name a skill and send its arguments as a data part: \
         {{\"skill\": NAME, \"arguments\": {{…}}}}. The skills are: {names}. Their schemas are in the agent card."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_tool::a2a::wire::Role;

    const URI: &str = "https://h/ext/skill-schema/v1";

    fn message(parts: &str, metadata: Option<&str>) -> Message {
        let text = format!(r#"{{"messageId":"m","role":"ROLE_USER","parts":{parts}}}"#);
        let mut read = Message::read(serde_json::from_str(&text).unwrap(), "").unwrap();
        read.metadata = metadata.and_then(Json::parse);
        assert_eq!(read.role, Role::User);
        read
    }

    #[test]
    fn messages_find_their_way() {
        let two = Catalog::load([
            ("a", r#"{"name":"add","description":"x","input":{"type":"object"}}"#),
            ("b", r#"{"name":"sub","description":"x","input":{"type":"object"}}"#),
        ])
        .unwrap();
        let one =
            Catalog::load([("a", r#"{"name":"add","description":"x","input":{"type":"object"}}"#)])
                .unwrap();
        let add =
            |arguments: &str| Ok(Route::Skill { name: "add".into(), arguments: arguments.into() });
        let named = format!(r#"{{"{URI}":{{"skillId":"add"}}}}"#);
        let agent = |goal: &str| Ok(Route::Agent(goal.to_owned()));
        type Row<'a> = (&'a str, Option<&'a str>, bool, Option<&'a Catalog>, Result<Route, Kind>);
        let rows: Vec<Row<'_>> = vec![
            (r#"[{"data":{"n":1.10}}]"#, Some(&named), true, Some(&two), add(r#"{"n":1.10}"#)),
            (r#"[{"text":"x"}]"#, Some(&named), true, Some(&two), add("{}")),
            (r#"[{"data":{}}]"#, Some(r#"{"skillId":"add"}"#), true, Some(&two), add("{}")),
            (
                r#"[{"data":{"skill":"add","arguments":{"a":1}}}]"#,
                None,
                true,
                Some(&two),
                add(r#"{"a":1}"#),
            ),
            (
                r#"[{"data":{"skill":"nope"}}]"#,
                None,
                true,
                Some(&two),
                agent(r#"{"skill":"nope"}"#),
            ),
            (r#"[{"data":{"skill":"nope"}}]"#, None, false, Some(&two), Err(Kind::InvalidParams)),
            (r#"[{"data":{"a":1}}]"#, None, false, Some(&one), add(r#"{"a":1}"#)),
            (r#"[{"data":{"a":1}}]"#, None, true, Some(&one), agent(r#"{"a":1}"#)),
            (
                r#"[{"text":"hi"},{"data":{"a":1}}]"#,
                Some(&named),
                true,
                None,
                agent("hi\n\n{\"a\":1}"),
            ),
            (
                r#"[{"url":"https://h/x"}]"#,
                None,
                true,
                Some(&two),
                Err(Kind::ContentTypeNotSupported),
            ),
        ];
        for (parts, metadata, has_agent, skills, expected) in rows {
            let offer = Offer { has_agent, skills };
            let routed = Usual.route(&message(parts, metadata), offer).map_err(|error| error.kind);
            assert_eq!(routed, expected, "{parts} {metadata:?}");
        }
        let offer = Offer { has_agent: false, skills: Some(&two) };
        let routed = Usual.route(&message(r#"[{"text":"hi"}]"#, None), offer).unwrap();
        assert!(
            matches!(routed, Route::Reply(parts) if parts[0].as_text().unwrap().contains("add, sub"))
        );
    }
}
