//! Messages.

use serde_json::value::RawValue;

use super::{
    dialect::Version,
    json::{Json, Members, Object, Violation},
    part::Part,
};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Whoever asks.
    User,
    /// Whoever answers.
    Agent,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Made by whoever wrote it.
    pub id: String,
    /// Who.
    pub role: Role,
    /// What; one part at least.
    pub parts: Vec<Part>,
    /// The conversation.
    pub context: Option<String>,
    /// The task that it is about.
    pub task: Option<String>,
    /// Anything.
    pub metadata: Option<Json>,
    /// URIs of the extensions that shaped it.
    pub extensions: Vec<String>,
    /// Other tasks that it is about.
    pub references: Vec<String>,
}

impl Message {
    /// A message with nothing but parts.
    pub fn new(id: impl Into<String>, role: Role, parts: Vec<Part>) -> Self {
        Self {
            id: id.into(),
            role,
            parts,
            context: None,
            task: None,
            metadata: None,
            extensions: Vec::new(),
            references: Vec::new(),
        }
    }

    /// All its texts, one below the other.
    pub fn words(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }

    /// Reads a message of a client, of either version.
    ///
    /// # Errors
    /// A required member is missing, or one has another type.
    pub fn read(raw: &RawValue, path: &str) -> Result<Self, Violation> {
        let members = Members::read(raw, path)?;
        let mut message = Self::read_leniently(raw, path)?;
        message.id = members.required("messageId")?;
        if members.get("role").is_none() {
            return Err(Violation::new(members.at("role"), "is required"));
        }
        Ok(message)
    }

    /// The same of a server, some of which leave out what they should not: `messageId` and `role`
    /// (a2a-dotnet#396).
    ///
    /// # Errors
    /// It cannot be understood.
    pub fn read_leniently(raw: &RawValue, path: &str) -> Result<Self, Violation> {
        let members = Members::read(raw, path)?;
        let role = match members.text("role")?.as_deref() {
            Some("ROLE_USER" | "user") => Role::User,
            Some("ROLE_AGENT" | "agent") | None => Role::Agent,
            Some(other) => {
                let problem = format!("there is no role {other:?}: ROLE_USER or ROLE_AGENT");
                return Err(Violation::new(members.at("role"), problem));
            }
        };
        Ok(Self {
            id: members.text("messageId")?.unwrap_or_default(),
            role,
            parts: Part::read_all(&members)?,
            context: members.text("contextId")?,
            task: members.text("taskId")?,
            metadata: members.object("metadata")?,
            extensions: members.texts("extensions")?,
            references: members.texts("referenceTaskIds")?,
        })
    }

    /// Its text.
    pub fn write(&self, version: Version) -> String {
        let (object, role) = match (version, self.role) {
            (Version::V1, Role::User) => (Object::new(), "ROLE_USER"),
            (Version::V1, Role::Agent) => (Object::new(), "ROLE_AGENT"),
            (Version::V03, role) => {
                let role = if role == Role::User { "user" } else { "agent" };
                (Object::new().text("kind", "message"), role)
            }
        };
        object
            .text("messageId", &self.id)
            .maybe("contextId", self.context.as_deref())
            .maybe("taskId", self.task.as_deref())
            .text("role", role)
            .raw("parts", &Part::write_all(&self.parts, version))
            .maybe_raw("metadata", self.metadata.as_ref())
            .texts("extensions", &self.extensions)
            .texts("referenceTaskIds", &self.references)
            .end()
    }
}
