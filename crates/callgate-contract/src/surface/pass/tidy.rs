//! The last touches on a provider's schema, after its instances have their form.

use serde_json::{Map, Value};

use super::{Node, children_mut, count, definition_name};
use crate::surface::{
    Reason,
    dialect::{Dialect, Refs, TypeLists},
};

/// How many nodes may be copied.
const COPIES: usize = 5_000;

/// Unions of one reference are written out, and where a dialect wants no reference as the branch
/// of a union those are too.
pub(in super::super) fn tidy(schema: Value, dialect: &Dialect) -> Result<Value, Reason> {
    if dialect.refs != Refs::Alone {
        return Ok(schema);
    }
    let Value::Object(mut root) = schema else { return Ok(schema) };
    let definitions = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    // The narrow dialect is known by its type lists.
    let narrow = dialect.type_lists == TypeLists::ScalarAndNull;
    let mut job = Job { definitions: &definitions, narrow, copies: COPIES };
    job.node(&mut root, &mut Vec::new())?;
    if narrow {
        no_empty_objects(&root, true)?;
    }
    super::refs::prune(&mut root);
    Ok(Value::Object(root))
}

struct Job<'d> {
    definitions: &'d Map<String, Value>,
    narrow: bool,
    copies: usize,
}

impl Job<'_> {
    fn node(&mut self, node: &mut Node, stack: &mut Vec<String>) -> Result<(), Reason> {
        if let Some(Value::Object(definitions)) = node.get_mut("$defs") {
            for (name, body) in definitions.iter_mut() {
                let Value::Object(body) = body else { continue };
                stack.push(name.clone());
                self.node(body, stack)?;
                stack.pop();
            }
        }
        if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
            if let [Value::Object(only)] = branches.as_slice()
                && let Some((name, body)) = target(only, self.definitions)
            {
                return self.write_out(node, &name, body, stack);
            }
            for branch in branches {
                let Value::Object(branch) = branch else { continue };
                match target(branch, self.definitions) {
                    Some((name, body)) if self.narrow => {
                        if stack.contains(&name) || !self.affords(body) {
                            let why = format!("\"{name}\" recurs through a union");
                            return Err(Reason::strict_unavailable("", why));
                        }
                        *branch = body.clone();
                        stack.push(name);
                        self.node(branch, stack)?;
                        stack.pop();
                    }
                    _ => self.node(branch, stack)?,
                }
            }
        }
        children_mut(node, &mut |keyword, child| match keyword {
            "anyOf" | "$defs" => Ok(()),
            _ => self.node(child, stack),
        })
    }

    /// A union of one reference with words beside it: the definition, with those words.
    fn write_out(
        &mut self,
        node: &mut Node,
        name: &str,
        body: &Node,
        stack: &mut Vec<String>,
    ) -> Result<(), Reason> {
        node.shift_remove("anyOf");
        if stack.iter().any(|above| above == name) || !self.affords(body) {
            // Within itself a definition goes without the words.
            node.clear();
            node.insert("$ref".to_owned(), super::refs::to_definition(name).into());
            return Ok(());
        }
        for (keyword, value) in body {
            node.entry(keyword.clone()).or_insert_with(|| value.clone());
        }
        stack.push(name.to_owned());
        let done = self.node(node, stack);
        stack.pop();
        done
    }

    fn affords(&mut self, body: &Node) -> bool {
        let nodes = count(body);
        let affordable = nodes <= self.copies;
        if affordable {
            self.copies -= nodes;
        }
        affordable
    }
}

fn target<'d>(node: &Node, definitions: &'d Node) -> Option<(String, &'d Node)> {
    let name = definition_name(node.get("$ref")?.as_str()?)?;
    let body = definitions.get(&name)?.as_object()?;
    Some((name, body))
}

fn no_empty_objects(node: &Node, at_root: bool) -> Result<(), Reason> {
    let empty = node.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty);
    if empty && !at_root {
        return Err(Reason::strict_unavailable("", "an object without properties"));
    }
    let mut outcome = Ok(());
    super::children(node, &mut |_, child| {
        if let Value::Object(child) = child
            && outcome.is_ok()
        {
            outcome = no_empty_objects(child, false);
        }
    });
    outcome
}
