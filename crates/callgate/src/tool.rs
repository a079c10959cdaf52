//! Tools that are Rust functions.

use std::{borrow::Cow, sync::Arc};

use callgate_contract::{Catalog, Mistake, Tool};
use callgate_tool::{Backend, Function, ToolError};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::closed;

/// A tool made of an async function: its contract, and who does the work.
///
/// Usually written by [`#[tool]`](macro@crate::tool).
#[derive(Debug, Clone)]
pub struct FunctionTool {
    contract: Map<String, Value>,
    function: Function,
}

impl FunctionTool {
    /// A tool of a function from arguments to a result, with schemas made of the types.
    pub fn new<A, T, E, F, R>(name: &str, description: &str, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize + JsonSchema,
        E: Into<ToolError>,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
    {
        let mut contract = Map::new();
        contract.insert("name".to_owned(), json!(name));
        contract.insert("description".to_owned(), json!(description));
        let mut input = schema_of::<A>();
        input.remove("title");
        // An argument that nobody declared is a slip of the model's: it is told, at any depth.
        closed::close(&mut input);
        input.entry("additionalProperties").or_insert(json!(false));
        contract.insert("input".to_owned(), Value::Object(input));
        let mut output = schema_of::<T>();
        output.remove("title");
        contract.insert("output".to_owned(), Value::Object(output));
        Self { contract, function: Function::typed(run) }
    }

    /// Sets a field of the contract, such as `annotations` or `timeoutMs`.
    #[must_use]
    pub fn with(mut self, field: &str, value: Value) -> Self {
        match (self.contract.get_mut(field), value) {
            (Some(Value::Object(have)), Value::Object(more)) => have.extend(more),
            (_, value) => {
                self.contract.insert(field.to_owned(), value);
            }
        }
        self
    }

    /// Sets an annotation: `readOnly`, `idempotent`, `destructive` or `openWorld`.
    #[must_use]
    pub fn annotated(self, annotation: &str) -> Self {
        let mut annotations = Map::new();
        annotations.insert(annotation.to_owned(), json!(true));
        self.with("annotations", Value::Object(annotations))
    }

    /// The contract as it would stand in a file.
    pub fn contract(&self) -> Value {
        Value::Object(self.contract.clone())
    }

    pub(crate) fn compile(self) -> Result<(Tool, Arc<dyn Backend>), Vec<Mistake>> {
        let name = self.contract.get("name").and_then(Value::as_str).unwrap_or("tool").to_owned();
        let text = Value::Object(self.contract).to_string();
        let source = format!("#[tool] {name}");
        let catalog = Catalog::load([(source.as_str(), text.as_str())])?;
        match catalog.tools().next() {
            Some(tool) => Ok((Tool::clone(tool), Arc::new(self.function))),
            None => Err(Vec::new()),
        }
    }
}

fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.meta_schema = None)
        .into_generator();
    match generator.into_root_schema_for::<T>().to_value() {
        Value::Object(schema) => schema,
        // `true`: anything.
        _ => Map::new(),
    }
}

/// What can be given where a tool is wanted.
pub trait IntoTool {
    /// The tool.
    fn into_tool(self) -> FunctionTool;
}

impl IntoTool for FunctionTool {
    fn into_tool(self) -> FunctionTool {
        self
    }
}

/// The function that `#[tool]` leaves in place of the annotated one.
impl<F: FnOnce() -> FunctionTool> IntoTool for F {
    fn into_tool(self) -> FunctionTool {
        self()
    }
}

/// Gives a fallible shape to what a tool function returns; used by `#[tool]`.
#[doc(hidden)]
pub struct Returned;

impl Returned {
    /// A result as it is.
    pub fn fallible<T, E>(result: Result<T, E>) -> Result<T, E> {
        result
    }

    /// A value that cannot fail.
    pub fn infallible<T>(value: T) -> Result<T, ToolError> {
        Ok(value)
    }
}

/// A doc comment as a description: lines joined, the leading space of each taken off.
#[doc(hidden)]
pub fn described(lines: &[&str]) -> Cow<'static, str> {
    let lines: Vec<&str> =
        lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    Cow::Owned(lines.join("\n").trim().to_owned())
}
