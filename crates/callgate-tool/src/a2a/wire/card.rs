//! Agent cards, as a client reads them. What a server writes is its own matter.

use serde_json::value::RawValue;

use super::{
    dialect::Version,
    json::{Json, Members, Violation},
};

/// The end of the URI of the extension in which skills have schemas: cards name it with the
/// server's own address before it.
pub const SKILL_SCHEMAS: &str = "/ext/skill-schema/v1";

/// How an agent is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC 2.0 over HTTP.
    JsonRpc,
    /// HTTP and JSON.
    Http,
}

/// One way to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Where.
    pub url: String,
    /// How.
    pub binding: Binding,
    /// In which version.
    pub version: Version,
    /// To be echoed in each request.
    pub tenant: Option<String>,
}

/// What an agent can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes, where the extension says so.
    pub input: Option<Json>,
    /// What it gives.
    pub output: Option<Json>,
}

/// What a client has to know of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Ways to it that this client can go, those of the card's order.
    pub interfaces: Vec<Interface>,
    /// Whether it streams.
    pub streaming: bool,
    /// What it can do.
    pub skills: Vec<Skill>,
    /// The URI of the extension in which its skills have schemas, where it has it.
    pub schemas: Option<String>,
    /// Extensions that it will not do without.
    pub required: Vec<String>,
}

impl Card {
    /// Reads a card of 1.0, of 0.3, or of both at once.
    ///
    /// # Errors
    /// It is no card, or has no way that this client can go.
    pub fn read(raw: &RawValue) -> Result<Self, Violation> {
        let members = Members::read(raw, "")?;
        let mut interfaces = Vec::new();
        for item in members.items("supportedInterfaces")? {
            let item = Members::read(item, "supportedInterfaces")?;
            let version = item.text("protocolVersion")?;
            interfaces.extend(interface(
                item.text("url")?,
                item.text("protocolBinding")?.as_deref(),
                // Without a version it is one of 1.0: before, there were no such interfaces.
                version.as_deref().unwrap_or("1.0"),
                item.text("tenant")?,
            ));
        }
        let old = members.text("protocolVersion")?.unwrap_or_else(|| "0.3".to_owned());
        let preferred = members.text("preferredTransport")?;
        interfaces.extend(interface(
            members.text("url")?,
            Some(preferred.as_deref().unwrap_or("JSONRPC")),
            &old,
            None,
        ));
        for item in members.items("additionalInterfaces")? {
            let item = Members::read(item, "additionalInterfaces")?;
            interfaces.extend(interface(
                item.text("url")?,
                item.text("transport")?.as_deref(),
                &old,
                None,
            ));
        }
        if interfaces.is_empty() {
            let problem = "has no JSON-RPC or HTTP+JSON interface of version 1.0 or 0.3";
            return Err(Violation::new("supportedInterfaces", problem));
        }
        // The newest version first; within it the card's own order.
        interfaces.sort_by_key(|interface| std::cmp::Reverse(interface.version));
        let capabilities = members.below("capabilities")?;
        let streaming = match &capabilities {
            Some(capabilities) => capabilities.flag("streaming")?.unwrap_or(false),
            None => false,
        };
        let (mut schemas, mut required, mut of_skills) = (None, Vec::new(), None);
        for extension in capabilities.iter().flat_map(|c| c.items("extensions")).flatten() {
            let extension = Members::read(extension, "capabilities.extensions")?;
            let Some(uri) = extension.text("uri")? else { continue };
            if uri.ends_with(SKILL_SCHEMAS) {
                of_skills =
                    extension.below("params")?.and_then(|p| p.below("skills").ok().flatten());
                schemas = Some(uri);
            } else if extension.flag("required")? == Some(true) {
                required.push(uri);
            }
        }
        let mut skills = Vec::new();
        for item in members.items("skills")? {
            let item = Members::read(item, "skills")?;
            let Some(id) = item.text("id")? else { continue };
            let both = of_skills.as_ref().and_then(|skills| skills.below(&id).ok().flatten());
            let schema =
                |name: &str| both.as_ref().and_then(|both| both.object(name).ok().flatten());
            skills.push(Skill {
                name: item.text("name")?.unwrap_or_else(|| id.clone()),
                description: item.text("description")?.unwrap_or_default(),
                input: schema("inputSchema"),
                output: schema("outputSchema"),
                id,
            });
        }
        Ok(Self {
            name: members.required("name")?,
            description: members.text("description")?.unwrap_or_default(),
            interfaces,
            streaming,
            skills,
            schemas,
            required,
        })
    }

    /// A skill by its id.
    pub fn skill(&self, id: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.id == id)
    }
}

fn interface(
    url: Option<String>,
    binding: Option<&str>,
    version: &str,
    tenant: Option<String>,
) -> Option<Interface> {
    let binding = match binding? {
        "JSONRPC" => Binding::JsonRpc,
        "HTTP+JSON" => Binding::Http,
        _ => return None,
    };
    let version = Version::named(version).or_else(|| match version {
        // Cards of 0.2 differ in nothing that this client needs.
        old if old.starts_with("0.2") => Some(Version::V03),
        _ => None,
    })?;
    Some(Interface { url: url?, binding, version, tenant })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_both_versions() {
        let new = r#"{"name":"n","description":"d","version":"1","supportedInterfaces":[
            {"url":"https://h/grpc","protocolBinding":"GRPC","protocolVersion":"1.0"},
            {"url":"https://h/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
            {"url":"https://h/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"t"}],
            "capabilities":{"streaming":true,"extensions":[{"uri":"https://h/ext/skill-schema/v1","params":{"skills":{"add":{"inputSchema":{"type":"object"}}}}},
                {"uri":"urn:must","required":true}]},
            "skills":[{"id":"add","name":"Add","description":"Adds","tags":["x"]}]}"#;
        let card = Card::read(serde_json::from_str(new).unwrap()).unwrap();
        assert_eq!(card.interfaces.len(), 2);
        assert_eq!(card.interfaces[0].binding, Binding::Http);
        assert_eq!(card.interfaces[0].tenant.as_deref(), Some("t"));
        assert_eq!(
            card.skill("add").unwrap().input.as_ref().unwrap().text(),
            r#"{"type":"object"}"#
        );
        assert_eq!(card.required, ["urn:must"]);
        let old = r#"{"name":"n","url":"https://h/a2a","protocolVersion":"0.3.0","preferredTransport":"JSONRPC","capabilities":{},
            "additionalInterfaces":[{"url":"https://h/rest","transport":"HTTP+JSON"}],"skills":[]}"#;
        let card = Card::read(serde_json::from_str(old).unwrap()).unwrap();
        assert_eq!(card.interfaces.len(), 2);
        assert_eq!(card.interfaces[0].version, Version::V03);
        for text in
            ["{}", "[]", r#"{"name":"n"}"#, r#"{"name":"n","url":"u","protocolVersion":"7.0"}"#]
        {
            assert!(Card::read(serde_json::from_str(text).unwrap()).is_err(), "{text}");
        }
    }
}
