//! Steps that are to stop because of a promise that another worker kept.
//!
//! The handler that keeps a promise runs on any worker; the model hop or the tool call that it
//! stops may be under way on another. So a worker looks, once a second while anything is under way
//! in it, which of those runs have such a promise kept. Restate's admin API answers that in one
//! query.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::{
    client::{Admin, Row},
    flight::Flights,
    names::{self, ServiceName},
};

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) async fn watch(admin: Arc<Admin>, service: ServiceName, flights: Flights) {
    let mut failed = false;
    loop {
        tokio::time::sleep(LOOK).await;
        let under_way = flights.all();
        if under_way.is_empty() {
            continue;
        }
        // Ids were checked when the runs were asked for; others are left out of the query.
        let ids: BTreeSet<String> = under_way
            .iter()
            .filter(|entry| names::is_run_id(&entry.run))
            .map(|entry| format!("'{}'", entry.run))
            .collect();
        if ids.is_empty() {
            continue;
        }
        let query = format!(
            "SELECT service_key, key FROM sys_promise WHERE service_name = '{service}' AND completed = true AND service_key IN ({})",
            ids.into_iter().collect::<Vec<_>>().join(", ")
        );
        match admin.query(&query).await {
            Ok(rows) => {
                failed = false;
                stop(&flights, &rows);
            }
            Err(error) if !failed => {
                failed = true;
                tracing::warn!(%error, "cannot look for cancellations that other workers took; trying on");
            }
            Err(_) => {}
        }
    }
}

fn stop(flights: &Flights, rows: &[Row]) {
    for row in rows {
        if let (Some(run), Some(key)) = (row["service_key"].as_str(), row["key"].as_str()) {
            flights.stop(run, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_promise_of_now_stops_a_hop() {
        let flights = Flights::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let first = flights.enter(&a, vec!["cancel".into(), "pause-1".into()]);
        let second = flights.enter(&b, vec!["cancel".into(), "pause-0".into()]);
        let row = |run: &str, key: &str| serde_json::json!({ "service_key": run, "key": key });
        stop(&flights, &[row("a", "pause-0"), row("a", "approval-c"), row("c", "cancel")]);
        assert!(!first.token.is_cancelled() && !second.token.is_cancelled());
        stop(&flights, &[row("a", "pause-1"), row("b", "cancel")]);
        assert!(first.token.is_cancelled() && second.token.is_cancelled());
    }
}
