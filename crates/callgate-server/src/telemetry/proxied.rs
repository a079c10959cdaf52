//! Answers of the gate proxy. They are no runs: the client has the loop.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use callgate_wire::inbound::Dialect;
use opentelemetry::{KeyValue, trace::SpanKind};

use super::{
    Telemetry, chat,
    fact::Fact,
    semconv as names,
    span::{Events, Span},
    words,
};
use crate::proxy::{Served, Traced, Watch};

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
            if let (Some(exporter), Some(traced)) = (&telemetry.0.exporter, &served.traced) {
                for span in spans(served, traced, telemetry.0.with_content) {
                    exporter.send(span);
                }
            }
        })
    }
}

fn facts(served: &Served) -> Vec<Fact> {
    let api = api(served);
    let model = if served.model.is_empty() { "none".into() } else { served.model.clone() };
    let ms = millis(served.time);
    let (status, usage) = (served.status, served.usage);
    let judged =
        |verdict: &'static str| Fact::Judged { tool: Some(THEIRS.into()), verdict: verdict.into() };
    let mut facts = vec![Fact::Served { api, model, status, ms, usage }];
    facts.extend(served.told.refused.iter().map(|call| judged(call.kind.as_str())));
    facts
}

/// The request's span, and one for each time that the model was asked.
fn spans(served: &Served, traced: &Traced, with_content: bool) -> Vec<Span> {
    let mut spans: Vec<Span> = (1..)
        .zip(&traced.hops)
        .map(|(count, hop)| {
            let reply = hop.outcome.as_ref().ok().map(|reply| &**reply);
            let mut attributes = vec![KeyValue::new(names::OPERATION, "chat")];
            attributes.extend(chat::attributes(&served.model, count, reply, with_content));
            Span {
                name: format!("chat {}", names::model(&served.model).1).into(),
                kind: SpanKind::Client,
                trace: traced.trace,
                id: hop.span,
                parent: Some((traced.span, false)),
                began: ms(hop.began),
                ended: ms(hop.ended),
                attributes,
                events: Events::default(),
                error: match hop.outcome {
                    Ok(_) => None,
                    Err(Some(kind)) => Some(words::provider_error(kind).into()),
                    Err(None) => Some("cancelled".into()),
                },
            }
        })
        .collect();
    let (provider, own) = names::model(&served.model);
    let status = i64::from(served.status);
    let mut attributes = vec![
        KeyValue::new(names::HTTP_METHOD, "POST"),
        KeyValue::new(names::HTTP_ROUTE, served.dialect.path()),
        KeyValue::new(names::HTTP_STATUS, status),
        KeyValue::new(names::API, api(served)),
        KeyValue::new(names::STREAMED, served.streamed),
        KeyValue::new(names::ATTEMPTS, i64::from(served.told.attempts)),
    ];
    if !served.model.is_empty() {
        attributes.push(KeyValue::new(names::PROVIDER, provider.to_owned()));
        attributes.push(KeyValue::new(names::REQUEST_MODEL, own.to_owned()));
        attributes.extend(chat::tokens(served.usage));
    }
    if let Some(run) = &served.told.run {
        attributes.push(KeyValue::new(names::CONVERSATION, run.to_string()));
    }
    let ended = ms(traced.began).saturating_add(millis(served.time));
    let mut events = Events::default();
    for call in &served.told.refused {
        let attributes = vec![
            KeyValue::new(names::TOOL, THEIRS),
            KeyValue::new(names::VERDICT, "refused"),
            KeyValue::new(names::ERROR, call.kind.as_str()),
        ];
        events.push("callgate.call.refused", ended, attributes);
    }
    spans.push(Span {
        name: format!("POST {}", served.dialect.path()).into(),
        kind: SpanKind::Server,
        trace: traced.trace,
        id: traced.span,
        parent: traced.parent.map(|parent| (parent, true)),
        began: ms(traced.began),
        ended,
        attributes,
        events,
        // By the conventions a server's span has failed where the server has.
        error: (served.status >= 500).then(|| served.status.to_string().into()),
    });
    spans
}

/// A moment as journals have it.
fn ms(at: SystemTime) -> u64 {
    millis(at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn api(served: &Served) -> &'static str {
    match served.dialect {
        Dialect::Chat => "chat",
        Dialect::Responses => "responses",
        Dialect::Messages => "messages",
    }
}

#[cfg(test)]
mod tests {
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
            traced: None,
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
