//! The path as a template.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Draft, free};
use crate::import::openapi::{
    document::{At, Notes},
    names::property,
    servers::escape,
};

impl Draft {
    /// With one more argument that is no member, the argument object is no body any more.
    fn spell_body(&mut self) {
        if let Some(("body", body)) = &mut self.payload
            && *body == "arguments"
        {
            let members = self.properties.keys();
            let members = members.map(|name| (name.clone(), json!(format!("{{{name}}}"))));
            *body = Value::Object(members.collect());
        }
    }

    /// The path as a template. A placeholder that no parameter declares becomes an argument.
    pub(super) fn fill_path(
        &mut self,
        operation: &At<'_>,
        path: &str,
        notes: &mut Notes,
    ) -> String {
        let at = &*operation.pointer;
        let whole = path;
        let path = path.split('#').next().unwrap_or_default();
        if path != whole {
            notes.add(at, "a fragment is never sent: left out of the path");
        }
        let mut out = if path.starts_with('/') { String::new() } else { "/".to_owned() };
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            out.push_str(&escape(before));
            let plain = name.trim_start_matches(['+', '*']).trim_end_matches(['+', '*']);
            let name = if self.path.contains_key(name) { name } else { plain };
            used.insert(name.to_owned());
            match self.path.get(name) {
                Some(argument) => out.push_str(&format!("{{{argument}}}")),
                None => {
                    let taken = self.properties.keys().cloned().collect();
                    let argument = free(property(name), "path", &taken);
                    notes.add(at, format!("no parameter declares `{{{name}}}`: a string is taken"));
                    out.push_str(&format!("{{{argument}}}"));
                    self.path.insert(name.to_owned(), argument.clone());
                    self.spell_body();
                    self.required.push(argument.clone());
                    self.properties.insert(argument, json!({ "type": "string", "minLength": 1 }));
                }
            }
            rest = after;
        }
        out.push_str(&escape(rest));
        let unused: Vec<String> =
            self.path.keys().filter(|name| !used.contains(*name)).cloned().collect();
        for name in unused {
            notes.add(at, format!("the path has no `{{{name}}}`: that parameter is left out"));
            if let Some(argument) = self.path.remove(&name) {
                self.path_styles.shift_remove(&argument);
                self.properties.shift_remove(&argument);
                self.required.retain(|other| *other != argument);
            }
        }
        out
    }
}
