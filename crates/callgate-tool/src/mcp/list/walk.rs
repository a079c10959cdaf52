//! A tool list, page by page, that ends whatever the server does.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use callgate_contract::definition::Definition;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ListFault, ListFaultKind, RawTool};
use crate::mcp::{
    headers::{self, Param},
    message::{Fault, excerpt},
};

/// What is read at most.
#[derive(Debug, Clone, Copy)]
pub(in crate::mcp) struct Bounds {
    pub(in crate::mcp) pages: usize,
    pub(in crate::mcp) tools: usize,
    /// Whether `x-mcp-header` annotations count: over HTTP, from 2026-07-28 on.
    pub(in crate::mcp) headers: bool,
}

/// A walk through the pages. Feed it results; it says which cursor comes next.
#[derive(Debug)]
pub(in crate::mcp) struct Walk {
    bounds: Bounds,
    cursors: HashSet<String>,
    pages: usize,
    names: HashMap<Arc<str>, usize>,
    pub(in crate::mcp) tools: Vec<RawTool>,
    /// Beside the tools: the arguments of theirs that are headers too.
    pub(in crate::mcp) params: HashMap<Arc<str>, Vec<Param>>,
    pub(in crate::mcp) faults: Vec<ListFault>,
    /// The shortest of all pages; absent where one does not say.
    pub(in crate::mcp) ttl: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    next_cursor: Option<&'a RawValue>,
    #[serde(default)]
    ttl_ms: Option<f64>,
}

const METHOD: &str = "tools/list";

impl Walk {
    pub(in crate::mcp) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            cursors: HashSet::new(),
            pages: 0,
            names: HashMap::new(),
            tools: Vec::new(),
            params: HashMap::new(),
            faults: Vec::new(),
            ttl: None,
        }
    }

    /// Takes a page; gives the cursor of the next, if there is one. Any text is a cursor, also the
    /// empty one; one that was used before ends the walk.
    ///
    /// # Errors
    /// The result is no page.
    pub(in crate::mcp) fn page(&mut self, result: &RawValue) -> Result<Option<String>, Fault> {
        if !result.get().starts_with('{') {
            return Err(Fault::Result { method: METHOD, why: "it is no object".to_owned() });
        }
        let page: Page<'_> = serde_json::from_str(result.get())
            .map_err(|error| Fault::Result { method: METHOD, why: error.to_string() })?;
        self.pages += 1;
        self.age(page.ttl_ms);
        for raw in page.tools {
            if self.tools.len() >= self.bounds.tools {
                self.whole(
                    ListFaultKind::TooMany,
                    format!("only the first {} tools are read", self.bounds.tools),
                );
                return Ok(None);
            }
            self.tool(raw);
        }
        let Some(next) = page.next_cursor else { return Ok(None) };
        let Ok(next) = serde_json::from_str::<String>(next.get()) else {
            let found = excerpt(next.get().as_bytes());
            self.whole(ListFaultKind::CursorRepeated, format!("{found} is no cursor"));
            return Ok(None);
        };
        if !self.cursors.insert(next.clone()) {
            self.whole(
                ListFaultKind::CursorRepeated,
                format!("the cursor {next:?} came a second time; the list ends there"),
            );
            return Ok(None);
        }
        if self.pages >= self.bounds.pages {
            self.whole(
                ListFaultKind::TooMany,
                format!("only the first {} pages are read", self.bounds.pages),
            );
            return Ok(None);
        }
        Ok(Some(next))
    }

    fn age(&mut self, ttl_ms: Option<f64>) {
        // Absent and negative stand for zero (2026-07-28, server/utilities/caching); beyond a day
        // nobody is believed.
        const DAY_MS: f64 = 86_400_000.0;
        let ttl_ms = ttl_ms.filter(|ms| ms.is_finite()).unwrap_or(0.0).clamp(0.0, DAY_MS);
        let ttl = Duration::from_secs_f64(ttl_ms / 1000.0);
        self.ttl = Some(if self.pages == 1 { ttl } else { self.ttl.unwrap_or_default().min(ttl) });
    }

    fn tool(&mut self, raw: &RawValue) {
        let definition = match Definition::read(raw.get()) {
            Ok(definition) => definition,
            Err(unusable) => {
                return self.faults.push(ListFault {
                    tool: unusable.name.map(|name| name.to_string()),
                    kind: ListFaultKind::Definition,
                    path: unusable.pointer,
                    reason: unusable.reason,
                });
            }
        };
        let name = definition.name().clone();
        if let Some(first) = self.names.get(&name) {
            // The same tool on two pages is no fault: the list changed while it was read.
            if &*self.tools[*first].definition != raw.get() {
                self.faults.push(ListFault {
                    tool: Some(name.to_string()),
                    kind: ListFaultKind::Duplicate,
                    path: "/name".to_owned(),
                    reason: "another tool before it has the same name".to_owned(),
                });
            }
            return;
        }
        if self.bounds.headers {
            match headers::params(definition.input().value()) {
                Ok(params) if params.is_empty() => {}
                Ok(params) => {
                    self.params.insert(name.clone(), params);
                }
                Err(bad) => {
                    return self.faults.push(ListFault {
                        tool: Some(name.to_string()),
                        kind: ListFaultKind::Header,
                        path: format!("/inputSchema{}", bad.pointer),
                        reason: bad.reason,
                    });
                }
            }
        }
        self.names.insert(name.clone(), self.tools.len());
        self.tools.push(RawTool { name, definition: raw.get().into() });
    }

    fn whole(&mut self, kind: ListFaultKind, reason: String) {
        self.faults.push(ListFault { tool: None, kind, path: String::new(), reason });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const BOUNDS: Bounds = Bounds { pages: 10, tools: 20, headers: true };

    fn tool(name: &str) -> Value {
        json!({ "name": name, "inputSchema": { "type": "object" } })
    }

    fn raw(value: &Value) -> Box<RawValue> {
        RawValue::from_string(value.to_string()).unwrap()
    }

    fn names(walk: &Walk) -> Vec<&str> {
        walk.tools.iter().map(|tool| &*tool.name).collect()
    }

    #[test]
    fn every_walk_ends() {
        let mut walk = Walk::new(BOUNDS);
        let page = raw(&json!({ "tools": [tool("a"), tool("b")], "nextCursor": "p2" }));
        assert_eq!(walk.page(&page).unwrap().as_deref(), Some("p2"));
        assert_eq!(walk.page(&page).unwrap(), None);
        assert_eq!(names(&walk), ["a", "b"]);
        assert_eq!(walk.faults.len(), 1);
        assert_eq!(walk.faults[0].kind, ListFaultKind::CursorRepeated);

        // The empty cursor is one like any other.
        let mut walk = Walk::new(BOUNDS);
        let page = raw(&json!({ "tools": [tool("a")], "nextCursor": "" }));
        assert_eq!(walk.page(&page).unwrap().as_deref(), Some(""));
        assert_eq!(walk.page(&page).unwrap(), None);

        let mut walk = Walk::new(BOUNDS);
        let mut pages = 0;
        loop {
            pages += 1;
            let page =
                json!({ "tools": [tool(&format!("t{pages}"))], "nextCursor": pages.to_string() });
            if walk.page(&raw(&page)).unwrap().is_none() {
                break;
            }
        }
        assert_eq!((pages, walk.tools.len()), (10, 10));
        assert_eq!(walk.faults[0].kind, ListFaultKind::TooMany);

        let mut walk = Walk::new(BOUNDS);
        let many: Vec<Value> = (0..50).map(|i| tool(&format!("t{i}"))).collect();
        assert_eq!(walk.page(&raw(&json!({ "tools": many, "nextCursor": "x" }))).unwrap(), None);
        assert_eq!(walk.tools.len(), 20);

        let mut walk = Walk::new(BOUNDS);
        assert_eq!(walk.page(&raw(&json!({ "tools": [], "nextCursor": 7 }))).unwrap(), None);
        assert_eq!(walk.page(&raw(&json!({ "tools": [], "nextCursor": null }))).unwrap(), None);
        for page in [json!({}), json!({ "tools": null }), json!([]), json!(null)] {
            assert!(walk.page(&raw(&page)).is_err(), "{page}");
        }
    }

    #[test]
    fn one_odd_tool_costs_no_other() {
        // element, place of the fault (nothing: it is offered)
        let rows = [
            (json!({ "name": "x" }), Some("")),
            (json!({ "name": "x", "inputSchema": null }), Some("")),
            (json!({ "name": "x", "inputSchema": true }), Some("/inputSchema")),
            (json!({ "name": "x", "inputSchema": { "type": "array" } }), Some("/inputSchema/type")),
            (json!({ "inputSchema": { "type": "object" } }), Some("")),
            (json!(7), Some("")),
            (json!(null), Some("")),
            (
                json!({ "name": "x", "inputSchema": { "type": "object", "properties": { "n": { "type": "int" } } } }),
                Some("/inputSchema/properties/n/type"),
            ),
            (
                json!({ "name": "x", "inputSchema": { "type": "object", "properties": { "a": { "type": "string", "x-mcp-header": "" } } } }),
                Some("/inputSchema/properties/a/x-mcp-header"),
            ),
            (
                json!({ "name": "a", "description": "another", "inputSchema": { "type": "object" } }),
                Some("/name"),
            ),
            (tool("a"), None),
            (
                json!({ "name": "x", "inputSchema": { "type": "object" }, "outputSchema": null, "annotations": null, "title": null }),
                None,
            ),
            (
                json!({ "name": "x", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": "yes" } }),
                None,
            ),
            (
                json!({ "name": "x", "inputSchema": { "type": "object" }, "outputSchema": true }),
                None,
            ),
            (json!({ "name": "x", "inputSchema": { "type": "object" }, "x-vendor": 1 }), None),
        ];
        for (odd, place) in rows {
            let mut walk = Walk::new(BOUNDS);
            walk.page(&raw(&json!({ "tools": [tool("a"), odd, tool("z")] }))).unwrap();
            assert!(names(&walk).starts_with(&["a"]) && names(&walk).ends_with(&["z"]), "{odd}");
            let told = walk.faults.first().map(|fault| fault.path.as_str());
            match place {
                // Where a whole member is missing the place is whoever's who reads definitions.
                Some("") => assert!(told.is_some(), "{odd}"),
                place => assert_eq!(told, place, "{odd}: {:?}", walk.faults),
            }
        }
    }

    #[test]
    fn definitions_keep_their_bytes() {
        let text = r#"{ "name":"a", "inputSchema":{"type":"object","maximum":1.0}, "x":9007199254740993 }"#;
        let mut walk = Walk::new(BOUNDS);
        walk.page(&RawValue::from_string(format!("{{\"tools\":[{text}]}}")).unwrap()).unwrap();
        assert_eq!(&*walk.tools[0].definition, text);
    }

    #[test]
    fn the_shortest_life_counts() {
        // ttlMs of the pages, milliseconds
        let rows = [
            (vec![json!(300)], 300),
            (vec![json!(300), json!(200)], 200),
            (vec![json!(300), json!(null)], 0),
            (vec![json!(-5)], 0),
            (vec![json!(1e18)], 86_400_000),
        ];
        for (pages, expected) in rows {
            let mut walk = Walk::new(BOUNDS);
            for ttl in &pages {
                walk.page(&raw(&json!({ "tools": [], "ttlMs": ttl }))).unwrap();
            }
            assert_eq!(walk.ttl, Some(Duration::from_millis(expected)), "{pages:?}");
        }
    }
}
