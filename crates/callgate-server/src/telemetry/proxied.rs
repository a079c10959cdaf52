//! Answers of the gate proxy. They are no runs: the client has the loop.

use std::sync::Arc;

use callgate_wire::inbound::Dialect;

use super::{Telemetry, fact::Fact};
use crate::proxy::{Served, Watch};

/// The tool of calls that a client's own tools would do. Their names are the client's words.
const THEIRS: &str = "(client)";

impl Telemetry {
    /// Sees what the gate proxy answers ([`ProxyOptions::watch`](crate::proxy::ProxyOptions::watch)).
    pub fn proxy_watch(&self) -> Watch {
        let telemetry = self.clone();
        Arc::new(move |served| {
            for fact in facts(served) {
                telemetry.0.metrics.count(&fact);
            }
        })
    }
}

fn facts(served: &Served) -> Vec<Fact> {
    let api = match served.dialect {
        Dialect::Chat => "chat",
        Dialect::Responses => "responses",
        Dialect::Messages => "messages",
    };
    let model = if served.model.is_empty() { "none".into() } else { served.model.clone() };
    let ms = u64::try_from(served.time.as_millis()).unwrap_or(u64::MAX);
    let (status, usage) = (served.status, served.usage);
    let judged =
        |verdict: &'static str| Fact::Judged { tool: Some(THEIRS.into()), verdict: verdict.into() };
    let mut facts = vec![Fact::Served { api, model, status, ms, usage }];
    facts.extend(served.told.refused.iter().map(|call| judged(call.kind.as_str())));
    facts
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use callgate_contract::ErrorKind;
    use callgate_wire::Usage;

    use super::*;
    use crate::{
        proxy::{RefusedCall, Told},
        telemetry::TelemetryOptions,
    };

    #[test]
    fn answers_and_refusals_are_counted() {
        let telemetry = Telemetry::new(TelemetryOptions::default()).unwrap();
        let refused = vec![RefusedCall {
            name: "a name of the client's".into(),
            kind: ErrorKind::SchemaMismatch,
        }];
        let usage = Usage { input_tokens: 30, output_tokens: 4, ..Usage::default() };
        telemetry.proxy_watch()(&Served {
            dialect: Dialect::Messages,
            model: "openai:gpt-5.4".into(),
            streamed: true,
            status: 200,
            told: Told { attempts: 2, refused, ..Told::default() },
            usage,
            time: Duration::from_millis(1500),
        });
        let text = telemetry.metrics();
        for line in [
            "callgate_proxy_answers_total{api=\"messages\",model=\"openai:gpt-5.4\",status=\"200\"} 1",
            "callgate_proxy_duration_seconds_sum{api=\"messages\",model=\"openai:gpt-5.4\"} 1.5",
            "callgate_tokens_total{model=\"openai:gpt-5.4\",kind=\"input\"} 30",
            "callgate_verdicts_total{tool=\"(client)\",verdict=\"schema_mismatch\"} 1",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} is not in:\n{text}");
        }
        assert!(!text.contains("a name of"), "{text}");
    }
}
