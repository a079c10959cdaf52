//! Counters and histograms, as Prometheus reads them.
//!
//! `prometheus-client`: of the Prometheus project itself, label sets as types, no global state and
//! no server of its own. Label values come from closed lists, from the project's files (agents,
//! tools, models) or from the router's own routes; each label has a limit, and what is beyond it
//! counts as `other`, so that nobody outside can fill the memory.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use callgate_wire::Usage;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::fact::Fact;
use crate::http::Passed;

/// Values of one label; further ones count as `other`.
const MOST_VALUES: usize = 200;

/// A label whose values come from files that people write.
#[derive(Debug, Default)]
struct Label(Mutex<HashSet<Arc<str>>>);

impl Label {
    fn value(&self, text: &str) -> String {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(text) {
            return text.to_owned();
        }
        if seen.len() >= MOST_VALUES {
            return "other".to_owned();
        }
        seen.insert(text.into());
        text.to_owned()
    }
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RunLabels {
    agent: String,
    status: String,
    stopped_by: String,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ModelLabels {
    model: String,
    outcome: String,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TokenLabels {
    model: String,
    kind: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct VerdictLabels {
    tool: String,
    verdict: String,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ToolLabels {
    tool: String,
    outcome: String,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct NameLabel {
    name: String,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DecisionLabel {
    decision: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct HttpLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[cfg(feature = "proxy")]
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct AnswerLabels {
    api: &'static str,
    model: String,
    status: u16,
}

#[cfg(feature = "proxy")]
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ApiLabels {
    api: &'static str,
    model: String,
}

type Timed<L> = Family<L, Histogram, fn() -> Histogram>;

/// Seconds: from a function in this process to the slowest reply that anybody waits for.
fn seconds() -> Histogram {
    Histogram::new([
        0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
    ])
}

/// Everything that is counted.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    agents: Label,
    models: Label,
    tools: Label,
    routes: Label,
    runs: Family<RunLabels, Counter>,
    open: Gauge,
    hops: Family<ModelLabels, Counter>,
    model_seconds: Timed<ModelLabels>,
    tokens: Family<TokenLabels, Counter>,
    verdicts: Family<VerdictLabels, Counter>,
    adjustments: Family<NameLabel, Counter>,
    approvals: Family<DecisionLabel, Counter>,
    tool_seconds: Timed<ToolLabels>,
    http: Family<HttpLabels, Counter>,
    http_seconds: Timed<RouteLabel>,
    #[cfg(feature = "proxy")]
    answers: Family<AnswerLabels, Counter>,
    #[cfg(feature = "proxy")]
    answer_seconds: Timed<ApiLabels>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let timed = || seconds as fn() -> Histogram;
        let mut metrics = Self {
            registry: Registry::with_prefix("callgate"),
            agents: Label::default(),
            models: Label::default(),
            tools: Label::default(),
            routes: Label::default(),
            runs: Family::default(),
            open: Gauge::default(),
            hops: Family::default(),
            model_seconds: Family::new_with_constructor(timed()),
            tokens: Family::default(),
            verdicts: Family::default(),
            adjustments: Family::default(),
            approvals: Family::default(),
            tool_seconds: Family::new_with_constructor(timed()),
            http: Family::default(),
            http_seconds: Family::new_with_constructor(timed()),
            #[cfg(feature = "proxy")]
            answers: Family::default(),
            #[cfg(feature = "proxy")]
            answer_seconds: Family::new_with_constructor(timed()),
        };
        let all = &mut metrics.registry;
        all.register("runs", "Runs that ended, by how", metrics.runs.clone());
        all.register("runs_open", "Runs that began here and did not end", metrics.open.clone());
        all.register("hops", "Replies of models, and failures", metrics.hops.clone());
        let (name, help) = ("model_duration", "From a request to a model to its whole reply");
        all.register_with_unit(name, help, Unit::Seconds, metrics.model_seconds.clone());
        let help = "Tokens; cached ones are contained in input, reasoning in output";
        all.register("tokens", help, metrics.tokens.clone());
        let help = "Calls that the gates judged, by the verdict or the kind of refusal";
        all.register("verdicts", help, metrics.verdicts.clone());
        let help = "Mends of calls and results, by their names";
        all.register("adjustments", help, metrics.adjustments.clone());
        all.register("approvals", "Decisions of people about calls", metrics.approvals.clone());
        let (name, help) = ("tool_duration", "From the start of a tool call to its outcome");
        all.register_with_unit(name, help, Unit::Seconds, metrics.tool_seconds.clone());
        all.register("http_requests", "Requests, by route and status", metrics.http.clone());
        let (name, help) = ("http_duration", "From a request's head to the head of its answer");
        all.register_with_unit(name, help, Unit::Seconds, metrics.http_seconds.clone());
        #[cfg(feature = "proxy")]
        {
            let help = "Answers of the gate proxy, by the API that the client speaks";
            all.register("proxy_answers", help, metrics.answers.clone());
            let (name, help) = ("proxy_duration", "From a client's request to its whole answer");
            all.register_with_unit(name, help, Unit::Seconds, metrics.answer_seconds.clone());
        }
        metrics
    }

    pub(super) fn count(&self, fact: &Fact) {
        match fact {
            Fact::Opened => {
                self.open.inc();
            }
            Fact::Forgotten => {
                self.open.dec();
            }
            Fact::Closed { agent, status, stopped_by } => {
                self.open.dec();
                let agent = self.agents.value(agent);
                let (status, stopped_by) = (status.to_string(), stopped_by.to_string());
                self.runs.get_or_create(&RunLabels { agent, status, stopped_by }).inc();
            }
            Fact::Replied { model, outcome, ms, usage } => {
                let model = self.models.value(model);
                let labels = ModelLabels { model: model.clone(), outcome: outcome.to_string() };
                self.hops.get_or_create(&labels).inc();
                self.model_seconds.get_or_create(&labels).observe(in_seconds(*ms));
                self.spend(&model, *usage);
            }
            #[cfg(feature = "proxy")]
            Fact::Served { api, model, status, ms, usage } => {
                let model = self.models.value(model);
                self.spend(&model, *usage);
                let labels = AnswerLabels { api, model: model.clone(), status: *status };
                self.answers.get_or_create(&labels).inc();
                let labels = ApiLabels { api, model };
                self.answer_seconds.get_or_create(&labels).observe(in_seconds(*ms));
            }
            Fact::Judged { tool, verdict } => {
                // A name that a model made up is no value.
                let tool = tool.as_deref().map_or("unknown".to_owned(), |t| self.tools.value(t));
                let verdict = verdict.to_string();
                self.verdicts.get_or_create(&VerdictLabels { tool, verdict }).inc();
            }
            Fact::Mended { name } => {
                self.adjustments.get_or_create(&NameLabel { name: name.to_string() }).inc();
            }
            Fact::Decided { decision } => {
                self.approvals.get_or_create(&DecisionLabel { decision }).inc();
            }
            Fact::Ended { tool, outcome, ms } => {
                let labels =
                    ToolLabels { tool: self.tools.value(tool), outcome: outcome.to_string() };
                self.tool_seconds.get_or_create(&labels).observe(in_seconds(*ms));
            }
        }
    }

    fn spend(&self, model: &str, usage: Usage) {
        let rows = [
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cached", usage.cached_tokens),
            ("reasoning", usage.reasoning_tokens),
        ];
        for (kind, tokens) in rows.into_iter().filter(|(_, tokens)| *tokens > 0) {
            let labels = TokenLabels { model: model.to_owned(), kind };
            self.tokens.get_or_create(&labels).inc_by(tokens);
        }
    }

    pub(super) fn http(&self, passed: &Passed<'_>) {
        let route = self.routes.value(passed.route);
        let (method, status) = (passed.method, passed.status);
        self.http.get_or_create(&HttpLabels { method, route: route.clone(), status }).inc();
        let seconds = passed.took.as_secs_f64();
        self.http_seconds.get_or_create(&RouteLabel { route }).observe(seconds);
    }

    /// OpenMetrics text.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        // A String takes whatever is written to it.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

fn in_seconds(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_make_up_does_not_fill_the_memory() {
        let metrics = Metrics::new();
        for n in 0..MOST_VALUES + 50 {
            let tool: Arc<str> = format!("tool{n}").into();
            metrics.count(&Fact::Ended { tool, outcome: "ok".into(), ms: 3 });
            metrics.count(&Fact::Judged { tool: None, verdict: "unknown_tool".into() });
        }
        let text = metrics.text();
        assert!(
            text.contains("callgate_tool_duration_seconds_count{tool=\"other\",outcome=\"ok\"} 50")
        );
        let made_up = format!("tool{}", MOST_VALUES + 1);
        assert!(!text.contains(&made_up));
        let line = "callgate_verdicts_total{tool=\"unknown\",verdict=\"unknown_tool\"} 250";
        assert!(text.contains(line), "{text}");
    }
}
