//! One call through every gate, with no model: a contract tried by hand.

use callgate_engine::{SingleCall, Toolset};

use crate::Project;

impl Project {
    /// The project's tools behind their gates, for callers that have a model of their own.
    pub fn toolset(&self) -> Toolset {
        let backends = self.catalog().tools().filter_map(|tool| {
            let backend = self.backend(&tool.name)?;
            Some((tool.name.clone(), backend.clone()))
        });
        Toolset::new(self.catalog().clone(), backends).as_agent(self.spec())
    }

    /// A call of a tool by its name, with argument text as a model would write it.
    pub fn call(&self, tool: &str, arguments: &str) -> SingleCall {
        self.toolset().call(tool, arguments)
    }
}
