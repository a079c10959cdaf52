//! The card: who the agent is, how it is reached, and what it can do.

use callgate_contract::export;
use callgate_tool::a2a::wire::SKILL_SCHEMAS;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::A2aServer;

/// Where the bindings are.
pub(super) const RPC: &str = "/a2a/v1";
pub(super) const REST: &str = "/a2a/rest";

/// The URI of the extension in which skills have schemas. Others may know the server by other
/// names, so what a client names is recognised by its end.
fn extension(base: &str) -> String {
    format!("{base}{SKILL_SCHEMAS}")
}

impl A2aServer {
    /// The card's text, and its entity tag. `host` is the one that the request names.
    pub(super) fn card(&self, host: Option<&str>) -> (String, String) {
        let options = &self.0.options;
        let base = match (&options.public_url, host) {
            (Some(url), _) => url.trim_end_matches('/').to_owned(),
            (None, host) => {
                let scheme = if options.is_tls { "https" } else { "http" };
                format!("{scheme}://{}", host.unwrap_or("localhost"))
            }
        };
        let text = Value::Object(self.members(&base)).to_string();
        let hash = Sha256::digest(&text);
        let tag = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect::<String>();
        (text, format!("W/\"{tag}\""))
    }

    fn members(&self, base: &str) -> Map<String, Value> {
        let options = &self.0.options;
        let agent = self.agent();
        let name = agent.map(|agent| agent.name.to_string());
        let name = name.or_else(|| {
            let skills = self.skills()?;
            Some(skills.name.strip_suffix("/skills").unwrap_or(&skills.name).to_owned())
        });
        let name = name.unwrap_or_else(|| "callgate".to_owned());
        let described = agent.or_else(|| self.skills()).and_then(|a| a.description.as_deref());
        let description = described
            .map_or_else(|| format!("The agent {name}, behind Callgate's gates."), str::to_owned);
        let (rpc, rest) = (format!("{base}{RPC}/"), format!("{base}{REST}"));
        let mut interfaces = vec![
            json!({ "url": rpc, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }),
            json!({ "url": rest, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0" }),
        ];
        if options.v03 {
            interfaces.push(
                json!({ "url": rpc, "protocolBinding": "JSONRPC", "protocolVersion": "0.3" }),
            );
        }
        let mut skills = Vec::new();
        let mut capabilities =
            json!({ "streaming": true, "pushNotifications": false, "extendedAgentCard": false });
        if let Some(agent) = agent {
            skills.push(json!({
                "id": &*agent.name,
                "name": &*agent.name,
                "description": description,
                "tags": ["agent"],
                "inputModes": ["text/plain", "application/json"],
                "outputModes": ["text/plain", "application/json"],
            }));
        }
        if let Some(exported) = self.exported(base) {
            if let Some(Value::Array(more)) = exported.get("skills") {
                // An agent may have the name of one of its tools; ids are unique.
                let own = agent.map(|agent| &*agent.name);
                skills.extend(more.iter().filter(|s| s["id"].as_str() != own).cloned());
            }
            if let Some(extensions) = exported.pointer("/capabilities/extensions") {
                capabilities["extensions"] = extensions.clone();
            }
        }
        let mut card = json!({
            "name": name,
            "description": description,
            "version": options.version,
            "supportedInterfaces": interfaces,
            "capabilities": capabilities,
            "defaultInputModes": ["text/plain", "application/json"],
            "defaultOutputModes": ["text/plain", "application/json"],
            "skills": skills,
        });
        if let Some((url, organization)) = &options.provider {
            card["provider"] = json!({ "url": url, "organization": organization });
        }
        if options.bearer {
            card["securitySchemes"] =
                json!({ "bearer": { "httpAuthSecurityScheme": { "scheme": "Bearer" } } });
            card["securityRequirements"] = json!([{ "schemes": { "bearer": { "list": [] } } }]);
        }
        if options.v03 {
            old(&mut card, &rpc, options.bearer);
        }
        match card {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    fn exported(&self, base: &str) -> Option<Value> {
        let options =
            export::Options { extension: Some(extension(base)), ..export::Options::default() };
        let made = export::by_name("a2a-skills")?.export(self.catalog()?, &options).ok()?;
        serde_json::from_str(&made.text).ok()
    }
}

/// What peers of 0.3 look for at the root.
fn old(card: &mut Value, rpc: &str, bearer: bool) {
    card["protocolVersion"] = "0.3.0".into();
    card["url"] = rpc.into();
    card["preferredTransport"] = "JSONRPC".into();
    card["supportsAuthenticatedExtendedCard"] = false.into();
    if bearer {
        // 0.3 has the scheme without its wrapping; readers of either ignore the other's members.
        card["securitySchemes"]["bearer"]["type"] = "http".into();
        card["securitySchemes"]["bearer"]["scheme"] = "Bearer".into();
        card["security"] = json!([{ "bearer": [] }]);
    }
}
