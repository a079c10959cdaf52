//! Catalogs: contracts loaded together, with every mistake told at once.

mod file;
mod mistake;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, OnceLock},
};

use serde_json::Value;

pub use file::{
    Annotations, Example, ReadOn, RuleFile, ShapeFile, TierCaseFile, TierFile, ToolFile,
};
pub use mistake::{Mistake, Source};

use crate::{
    document::push_token,
    rules::{Ask, Condition, Rule},
    schema::{Schema, SchemaFault},
    search::Index,
    shape::Shape,
    suggest,
    tier::{Tier, TierCase, TierPolicy},
    tool::{Parts, Tool},
};

/// Tools by name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tools: BTreeMap<Arc<str>, Arc<Tool>>,
    /// Made at the first search, for this catalog and its copies.
    index: Arc<OnceLock<Arc<Index>>>,
}

/// The JSON Schema of a contract file.
pub fn tool_file_schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<ToolFile>().to_value()
}

static FILE_SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    // Generated from our own types; a fault in it fails every test of this module.
    #[allow(clippy::expect_used)]
    Schema::compile(tool_file_schema()).expect("the contract schema compiles")
});

impl Catalog {
    /// Loads contract files, given as names and texts.
    ///
    /// # Errors
    /// Every mistake in every file.
    pub fn load<'t>(
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self, Vec<Mistake>> {
        let (catalog, mistakes) = Self::load_what_is_right(files);
        if mistakes.is_empty() { Ok(catalog) } else { Err(mistakes) }
    }

    /// Loads the contracts that are right, and tells the mistakes in the others.
    pub fn load_what_is_right<'t>(
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> (Self, Vec<Mistake>) {
        Self::default().load_beside(files)
    }

    /// Adds the contracts that are right to these, and tells the mistakes in the others. Rules may
    /// look things up with any of them.
    pub fn load_beside<'t>(
        self,
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> (Self, Vec<Mistake>) {
        self.load_by(files, Schema::compile)
    }

    pub(crate) fn load_by<'t>(
        self,
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
        compile: Compile,
    ) -> (Self, Vec<Mistake>) {
        let mut catalog = self;
        let mut mistakes = Vec::new();
        let mut lookups = Vec::new();
        for (name, text) in files {
            let source = match Source::parse(name, text) {
                Ok(source) => source,
                Err(mistake) => {
                    mistakes.push(mistake);
                    continue;
                }
            };
            match read_tool(&source, compile) {
                Err(mut found) => {
                    found.sort_by_key(|mistake| (mistake.line, mistake.column));
                    mistakes.extend(found);
                }
                Ok(tool) => {
                    if let Some(first) = catalog.get(&tool.name) {
                        mistakes.push(source.mistake(
                            "/name",
                            format!("the name \"{}\" is taken by {}", tool.name, first.source),
                            Some("Give one of them another name.".to_owned()),
                        ));
                        continue;
                    }
                    for (i, rule) in tool.rules.iter().enumerate() {
                        if let Ask::Lookup(lookup) = &rule.ask {
                            let pointer = format!("/rules/{i}/lookup/tool");
                            let place = source.mistake(&pointer, String::new(), None);
                            lookups.push((place, lookup.tool.clone()));
                        }
                    }
                    catalog.insert(tool);
                    continue;
                }
            }
        }
        for (place, asked) in lookups {
            if let Some(why) = catalog.cannot_ask(&asked) {
                mistakes.push(Mistake {
                    message: why,
                    hint: suggest::nearest(&asked, &catalog.names())
                        .filter(|near| *near != asked)
                        .map(|near| format!("Did you mean \"{near}\"?")),
                    ..place
                });
            }
        }
        (catalog, mistakes)
    }

    fn cannot_ask(&self, name: &str) -> Option<String> {
        match self.get(name) {
            None => Some(format!("there is no tool \"{name}\" to look up with")),
            Some(tool) if !tool.annotations.read_only => {
                Some(format!("\"{name}\" is not annotated readOnly, so a rule may not call it"))
            }
            Some(_) => None,
        }
    }

    /// Adds a tool, or replaces the one of that name.
    pub fn insert(&mut self, tool: Tool) {
        let was_searched = self.get(&tool.name).is_some_and(|old| is_searched(old));
        if was_searched || is_searched(&tool) {
            self.index = Arc::default();
        }
        self.tools.insert(tool.name.clone(), Arc::new(tool));
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// The words of the tools that may ever run, for finding them: made once, at the first search.
    /// The runtime's own tools are not among them; they are on offer when there is use for them.
    pub fn index(&self) -> &Arc<Index> {
        self.index.get_or_init(|| {
            let searched = self.tools().filter(|tool| is_searched(tool));
            Arc::new(Index::of(searched.map(|tool| &**tool)))
        })
    }

    /// All contracts as files, in one JSON array: what [`Self::from_text`] reads again.
    ///
    /// Two catalogs with the same text judge the same. That is what a run's journal keeps, by its
    /// hash, so that the run can be judged again where the files are gone.
    pub fn to_text(&self) -> String {
        let files: Vec<ToolFile> = self.tools().map(|tool| tool.to_file()).collect();
        // Our own types always serialise.
        serde_json::to_string(&files).unwrap_or_default()
    }

    /// A catalog from its text.
    ///
    /// # Errors
    /// Every mistake in every contract.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        let source = Source::parse(name, text).map_err(|mistake| vec![mistake])?;
        let Ok(files) = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(text) else {
            let message = "expected an array of contracts";
            return Err(vec![source.mistake("", message, None)]);
        };
        let named = files.iter().enumerate().map(|(i, file)| (format!("{name}#{i}"), file.get()));
        let named: Vec<(String, &str)> = named.collect();
        let named = named.iter().map(|(name, text)| (name.as_str(), *text));
        // Discovered tools are among them, with whatever keywords their servers use.
        let (catalog, mistakes) = Self::default().load_by(named, Schema::compile_as_given);
        if mistakes.is_empty() { Ok(catalog) } else { Err(mistakes) }
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&str> {
        self.tools.keys().map(|name| &**name).collect()
    }

    /// How many tools.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Finds the tool that a call names. In lenient mode a namespace that models put in front
    /// (`functions.`) is taken off, if what is left is a name; a look-alike is only suggested.
    ///
    /// # Errors
    /// No tool has that name; the nearest one is suggested.
    pub fn resolve(
        &self,
        name: &str,
        mode: crate::Mode,
    ) -> Result<(&Arc<Tool>, Option<crate::Adjustment>), Box<crate::Fault>> {
        if let Some(tool) = self.get(name) {
            return Ok((tool, None));
        }
        let bare = name.rsplit_once(['.', ':', '/']).map(|(_, bare)| bare);
        let known = bare.and_then(|bare| self.get(bare));
        if let (crate::Mode::Lenient, Some(tool), Some(bare)) = (mode, known, bare) {
            let namespace = &name[..name.len() - bare.len()];
            if NAMESPACES.contains(&namespace) {
                let adjustment = crate::Adjustment {
                    name: format!("strip_namespace:{namespace}").into(),
                    path: None,
                    to: None,
                };
                return Ok((tool, Some(adjustment)));
            }
        }
        let names = self.names();
        let near = known
            .map(|tool| tool.name.to_string())
            .or_else(|| suggest::nearest(name, &names).map(str::to_owned));
        let available = names.into_iter().map(str::to_owned).collect();
        Err(Box::new(crate::Fault::unknown_tool(name, available, near)))
    }
}

/// Whether a search may find it.
fn is_searched(tool: &Tool) -> bool {
    !tool.tier.never_runs() && !tool.backend.contains_key("builtin")
}

impl FromIterator<Tool> for Catalog {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        let mut catalog = Self::default();
        for tool in tools {
            catalog.insert(tool);
        }
        catalog
    }
}

/// What models put in front of a name because they were trained with it.
const NAMESPACES: &[&str] =
    &["functions.", "function.", "tools.", "tool.", "default_api.", "functions:", "functions/"];

/// How strictly schemas are read.
type Compile = fn(Value) -> Result<Schema, Vec<SchemaFault>>;

/// Reads one contract.
fn read_tool(source: &Source<'_>, compile: Compile) -> Result<Tool, Vec<Mistake>> {
    let mut mistakes = source.judge(&FILE_SCHEMA);
    let value = source.doc.root().to_value();
    let at = |pointer: &str, fault: SchemaFault| {
        source.mistake(&format!("{pointer}{}", fault.pointer), fault.message, fault.hint)
    };
    // The schemas are judged even where the rest is wrong: every mistake at once.
    let input = value.get("input").filter(|v| v.is_object()).map(|input| {
        takes_objects(input).map_err(|fault| vec![fault])?;
        compile(input.clone())
    });
    let output = value.get("output").map(|output| compile(output.clone()));
    for (pointer, compiled) in [("/input", &input), ("/output", &output)] {
        if let Some(Err(faults)) = compiled {
            mistakes.extend(faults.iter().cloned().map(|fault| at(pointer, fault)));
        }
    }
    let file: ToolFile = match serde_json::from_value(value) {
        Ok(file) => file,
        Err(error) => {
            if mistakes.is_empty() {
                mistakes.push(source.mistake("", error.to_string(), None));
            }
            return Err(mistakes);
        }
    };
    let tier = read_tier(&file, source, &mut mistakes);
    let rules = read_rules(&file, source, &mut mistakes);
    let shape = Shape::compile(file.result.as_ref().unwrap_or(&ShapeFile::default()))
        .map_err(|(i, why)| {
            mistakes.push(source.mistake(&format!("/result/select/{i}"), why, None));
        })
        .ok();
    for (alias, name) in &file.aliases {
        if file.input.get("properties").and_then(|p| p.get(name)).is_none() {
            let mut pointer = "/aliases".to_owned();
            push_token(&mut pointer, alias);
            mistakes.push(source.mistake(
                &pointer,
                format!("\"{name}\" is no property of the input"),
                None,
            ));
        }
    }
    match (input, output.transpose(), shape) {
        (Some(Ok(input)), Ok(output), Some(shape)) => {
            examples(&file, &input, output.as_ref(), source, &mut mistakes);
            if !mistakes.is_empty() {
                return Err(mistakes);
            }
            let parts = Parts { input, output, tier, rules, shape };
            Ok(Tool::from_file(file, parts, source.file.into()))
        }
        _ => Err(mistakes),
    }
}

/// Whether a schema's root takes objects, as arguments are.
pub(crate) fn takes_objects(value: &Value) -> Result<(), SchemaFault> {
    let root_type = value.get("type");
    let is_object = match root_type {
        // A root without a type is given one where it is offered; the gate takes objects only.
        None => true,
        // What is no type at all is told as that.
        Some(Value::String(t)) => t == "object" || !crate::schema::is_type(t),
        Some(Value::Array(types)) => types.iter().any(|t| t == "object"),
        Some(_) => true,
    };
    if !is_object {
        return Err(SchemaFault {
            pointer: "/type".to_owned(),
            message: format!(
                "arguments are always an object, and this root takes {}",
                root_type.unwrap_or(&Value::Null)
            ),
            hint: Some("Write \"type\": \"object\" and put the value in a property.".to_owned()),
        });
    }
    Ok(())
}

fn read_tier(file: &ToolFile, source: &Source<'_>, mistakes: &mut Vec<Mistake>) -> TierPolicy {
    match &file.tier {
        None if file.annotations.destructive => TierPolicy::Always(Tier::Approve),
        None => TierPolicy::Always(Tier::Auto),
        Some(TierFile::Always(tier)) => TierPolicy::Always(*tier),
        Some(TierFile::When(cases)) => TierPolicy::When(
            cases
                .iter()
                .enumerate()
                .map(|(i, case)| TierCase {
                    tier: case.tier,
                    when: case.when.as_deref().and_then(|when| {
                        condition(when, &format!("/tier/{i}/when"), source, mistakes)
                    }),
                })
                .collect(),
        ),
    }
}

fn condition(
    text: &str,
    pointer: &str,
    source: &Source<'_>,
    mistakes: &mut Vec<Mistake>,
) -> Option<Condition> {
    Condition::compile(text)
        .map_err(|error| mistakes.push(source.mistake(pointer, error.to_string(), None)))
        .ok()
}

fn read_rules(file: &ToolFile, source: &Source<'_>, mistakes: &mut Vec<Mistake>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for (i, rule) in file.rules.iter().enumerate() {
        let pointer = format!("/rules/{i}");
        if rules.iter().any(|other| *other.id == *rule.id) {
            let message = format!("the rule id \"{}\" is taken", rule.id);
            mistakes.push(source.mistake(&format!("{pointer}/id"), message, None));
        }
        let ask = match (&rule.check, &rule.lookup) {
            (Some(check), None) => {
                condition(check, &format!("{pointer}/check"), source, mistakes).map(Ask::Check)
            }
            (None, Some(lookup)) => Some(Ask::Lookup(lookup.clone())),
            _ => {
                mistakes.push(source.mistake(
                    &pointer,
                    "a rule has either \"check\" or \"lookup\"",
                    None,
                ));
                None
            }
        };
        if let Some(ask) = ask {
            rules.push(Rule {
                id: rule.id.as_str().into(),
                ask,
                message: rule.message.as_str().into(),
                hint: rule.hint.as_deref().map(Into::into),
            });
        }
    }
    rules
}

/// Examples that their own schema refuses.
fn examples(
    file: &ToolFile,
    input: &Schema,
    output: Option<&Schema>,
    source: &Source<'_>,
    mistakes: &mut Vec<Mistake>,
) {
    for i in 0..file.examples.len() {
        for (member, schema) in [("input", Some(input)), ("output", output)] {
            let pointer = format!("/examples/{i}/{member}");
            let (Some(schema), Some(node)) = (schema, source.doc.pointer(&pointer)) else {
                continue;
            };
            // A document of its own, so that paths start at the example.
            let Ok(doc) = crate::document::Document::parse(node.raw()) else { continue };
            let findings = schema.findings(doc.root());
            for v in crate::violation::tell(schema, &doc, &findings) {
                let message = format!(
                    "the example does not fit its schema: {}",
                    crate::envelope::describe(&v, "it")
                );
                mistakes.push(source.mistake(&format!("{pointer}{}", v.path), message, None));
            }
        }
    }
}
