//! Everybody who judges here, behind one trait: made of a schema, asked about texts.
//!
//! Each asserts `format`, as the gate does, and takes the dialect that `$schema` names.

use std::sync::Arc;

use callgate_contract::{Catalog, Mode, Tool, Verdict, document::Document, schema::Schema};
use serde_json::{Value, json};

use crate::Refusal;

/// A validator of one schema.
pub(crate) trait Judge: Sized {
    /// Its name in the report.
    const NAME: &'static str;
    /// What it parses a text into.
    type Parsed<'t>;

    /// What compiling alone costs: from the schema as a value to the validator.
    fn compile(schema: &Value) -> Result<(), Refusal>;
    fn of(schema: &Value) -> Result<Self, Refusal>;
    fn parse(text: &str) -> Result<Self::Parsed<'_>, Refusal>;
    /// The verdict on what is parsed already.
    fn admits(&self, parsed: &Self::Parsed<'_>) -> bool;
    /// From text to the parsed arguments that may be used, or nothing.
    fn judge<'t>(&self, text: &'t str) -> Option<Self::Admitted<'t>>;
    /// What whoever uses the arguments is handed.
    type Admitted<'t>;
    /// From text to everything that is wrong with it, in words with places; empty if nothing is.
    fn told(&self, text: &str) -> String;
}

/// Ours.
pub(crate) struct Callgate(Arc<Tool>);

impl Judge for Callgate {
    const NAME: &'static str = "callgate";
    type Parsed<'t> = Document<'t>;
    type Admitted<'t> = callgate_contract::Admitted;

    fn compile(schema: &Value) -> Result<(), Refusal> {
        Schema::compile_as_given(schema.clone()).map(drop).map_err(|faults| refused(&faults))
    }

    fn of(schema: &Value) -> Result<Self, Refusal> {
        let text = json!({"name": "tool", "description": "Does it.", "input": schema}).to_string();
        let catalog = Catalog::load([("tool.json", text.as_str())]).map_err(|all| refused(&all))?;
        Ok(Self(catalog.get("tool").ok_or("the tool is not in its catalog")?.clone()))
    }

    fn parse(text: &str) -> Result<Document<'_>, Refusal> {
        Document::parse(text).map_err(|error| refused(&error))
    }

    fn admits(&self, parsed: &Document<'_>) -> bool {
        self.0.input.admits(parsed.root())
    }

    fn judge<'t>(&self, text: &'t str) -> Option<Self::Admitted<'t>> {
        match self.0.admit(text, Mode::Strict) {
            Verdict::Admitted { arguments, .. } => Some(arguments),
            Verdict::Refused(_) => None,
        }
    }

    fn told(&self, text: &str) -> String {
        match self.0.admit(text, Mode::Strict) {
            Verdict::Admitted { .. } => String::new(),
            Verdict::Refused(fault) => fault.message,
        }
    }
}

impl Callgate {
    /// As [`told`](Judge::told) where the gate tries to mend first.
    pub(crate) fn told_leniently(&self, text: &str) -> String {
        match self.0.admit(text, Mode::Lenient) {
            Verdict::Admitted { .. } => String::new(),
            Verdict::Refused(fault) => fault.message,
        }
    }
}

/// The crate that the gate validates with, as it is used by itself.
pub(crate) struct Jsonschema(jsonschema::Validator);

impl Jsonschema {
    pub(crate) fn build(schema: &Value) -> Result<jsonschema::Validator, Refusal> {
        let options = jsonschema::options().offline().should_validate_formats(true);
        options.build(schema).map_err(|error| error.to_string().into())
    }
}

impl Judge for Jsonschema {
    const NAME: &'static str = "jsonschema";
    type Parsed<'t> = Value;
    type Admitted<'t> = Value;

    fn compile(schema: &Value) -> Result<(), Refusal> {
        Self::build(schema).map(drop)
    }

    fn of(schema: &Value) -> Result<Self, Refusal> {
        Self::build(schema).map(Self)
    }

    fn parse(text: &str) -> Result<Value, Refusal> {
        Ok(serde_json::from_str(text)?)
    }

    fn admits(&self, parsed: &Value) -> bool {
        self.0.is_valid(parsed)
    }

    fn judge(&self, text: &str) -> Option<Value> {
        serde_json::from_str(text).ok().filter(|value| self.0.is_valid(value))
    }

    fn told(&self, text: &str) -> String {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return "no JSON".to_owned() };
        let errors = self.0.iter_errors(&value);
        let lines = errors.map(|error| format!("{}: {error}", error.instance_path()));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The other one.
pub(crate) struct Boon {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Judge for Boon {
    const NAME: &'static str = "boon";
    type Parsed<'t> = Value;
    type Admitted<'t> = Value;

    fn compile(schema: &Value) -> Result<(), Refusal> {
        Self::of(schema).map(drop)
    }

    fn of(schema: &Value) -> Result<Self, Refusal> {
        const PLACE: &str = "http://localhost/tool.json";
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.enable_format_assertions();
        compiler.add_resource(PLACE, schema.clone()).map_err(|error| error.to_string())?;
        let index = compiler.compile(PLACE, &mut schemas).map_err(|error| error.to_string())?;
        Ok(Self { schemas, index })
    }

    fn parse(text: &str) -> Result<Value, Refusal> {
        Ok(serde_json::from_str(text)?)
    }

    fn admits(&self, parsed: &Value) -> bool {
        self.schemas.validate(parsed, self.index).is_ok()
    }

    fn judge(&self, text: &str) -> Option<Value> {
        serde_json::from_str(text).ok().filter(|value| self.admits(value))
    }

    fn told(&self, text: &str) -> String {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return "no JSON".to_owned() };
        let verdict = self.schemas.validate(&value, self.index);
        verdict.err().map(|error| format!("{error:#}")).unwrap_or_default()
    }
}

fn refused(why: &impl std::fmt::Debug) -> Refusal {
    format!("{why:?}").into()
}
