//! How runs stand, as Restate's own tables tell it, without a worker.
//!
//! Whoever shows runs asks often, also while no worker is there. So this reads the admin API's
//! tables instead of calling the run: `sys_invocation_status` has a row a run (what was sent, when,
//! and whether its handler came to its end), `state` what the run wrote down: its status, and its
//! events in batches.
//!
//! `state` is looked through as a whole unless the partition key is given, and that is no plain
//! hash of the run's id: it is learned from `sys_invocation_status` once a run, and remembered.
//! (Restate 1.7.12: one of 10,000 runs by its partition key 1 to 2 ms, without it 100 ms.)

use std::{collections::HashMap, sync::Arc};

use callgate_engine::{Filter, RunSummary};
use callgate_machine::Record;
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Admin, Client, ClientError, Sent,
    places::Place,
    told::{Handler, Look, looked, read_status},
};
use crate::{
    blob::Packed,
    names,
    status::{Phase, RunStatus},
};

/// Runs whose statuses are asked for at once.
const WINDOW: usize = 500;
/// Batches of events that are read at once.
const BATCHES: usize = 200;
/// A run in a list.
#[derive(Deserialize)]
struct Listed {
    run: Arc<str>,
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    handler: Handler,
}

#[derive(Deserialize)]
struct Value {
    value_utf8: Option<String>,
}

#[derive(Deserialize)]
struct Keyed {
    service_key: Arc<str>,
    value_utf8: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    key: String,
    value_utf8: Option<String>,
}

/// A text as SQL quotes it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Client {
    fn tables(&self) -> Result<&Admin, ClientError> {
        let admin = self.admin.as_deref();
        admin.ok_or(ClientError::NeedsAdmin { what: "looking at runs" })
    }

    async fn rows<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>, ClientError> {
        let rows = self.tables()?.query(sql).await?;
        let read = |row| {
            serde_json::from_value(row)
                .map_err(|e| ClientError::Answer { url: sql.to_owned(), detail: e.to_string() })
        };
        rows.into_iter().map(read).collect()
    }

    /// Where a run is.
    async fn place(&self, run: &str) -> Result<Place, ClientError> {
        self.check(run)?;
        if let Some(place) = self.places.get(run) {
            return Ok(place);
        }
        let sql = format!(
            "SELECT partition_key, id, CAST(created_at AS BIGINT) AS at FROM sys_invocation_status WHERE target_service_name = '{}' AND target_service_key = {} AND target_handler_name = '{}'",
            self.service,
            quoted(run),
            names::RUN
        );
        let found = self.rows::<Place>(&sql).await?.into_iter().next();
        let place = found.ok_or_else(|| ClientError::UnknownRun { run: run.to_owned() })?;
        self.places.put(run, &place);
        Ok(place)
    }

    /// Learns where a run is that was just sent: by the id of its invocation that costs a
    /// millisecond or two however many runs there are, and by its own it does not. Where that fails
    /// it is looked for later.
    pub async fn learn(&self, sent: &Sent) {
        let sql = format!(
            "SELECT partition_key, id, CAST(created_at AS BIGINT) AS at FROM sys_invocation_status WHERE id = {}",
            quoted(&sent.invocation)
        );
        if let Ok(rows) = self.rows::<Place>(&sql).await
            && let Some(place) = rows.first()
        {
            self.places.put(&sent.run, place);
        }
    }

    /// The part of a query that finds what a run wrote down.
    fn of_run(&self, run: &str, place: &Place) -> String {
        format!(
            "partition_key = {} AND service_name = '{}' AND service_key = {}",
            place.partition_key,
            self.service,
            quoted(run)
        )
    }

    /// How a run stands, whether or not a worker is there.
    ///
    /// # Errors
    /// There is no such run, or the admin API is not known or cannot be reached.
    pub async fn look(&self, run: &str) -> Result<Look, ClientError> {
        let place = self.place(run).await?;
        let state = format!(
            "SELECT value_utf8 FROM state WHERE {} AND key = '{}'",
            self.of_run(run, &place),
            names::STATUS
        );
        let handler = format!(
            "SELECT status, completion_result, completion_failure, retry_count, last_failure FROM sys_invocation WHERE id = {}",
            quoted(&place.id)
        );
        // The handler first: a run that ends between the two is then seen to have ended.
        let handler = self.rows::<Handler>(&handler).await?.into_iter().next();
        let Some(handler) = handler else {
            // It was forgotten since.
            self.places.forget(run);
            return Err(ClientError::UnknownRun { run: run.to_owned() });
        };
        let value = self.rows::<Value>(&state).await?.into_iter().next();
        let status = value.and_then(|value| value.value_utf8);
        let status = status.map(|text| read_status(run, &text)).transpose()?;
        Ok(looked(run.into(), &place, &handler, status))
    }

    /// The runs of a filter, newest first, whether or not a worker is there.
    ///
    /// # Errors
    /// The admin API is not known or cannot be reached.
    pub async fn find(&self, filter: &Filter) -> Result<Vec<RunSummary>, ClientError> {
        // Nothing is delegated here.
        if filter.parent.is_some() {
            return Ok(Vec::new());
        }
        let most = filter.limit.unwrap_or(usize::MAX);
        let is_narrow = filter.agent.is_some()
            || filter.tool.is_some()
            || filter.fault.is_some()
            || filter.text.is_some()
            || !filter.states.is_empty();
        let mut size = if is_narrow { WINDOW } else { most.min(WINDOW) };
        let mut found = Vec::new();
        let mut below = filter.below.clone();
        while found.len() < most {
            let window = self.window(filter, below.as_ref(), size).await?;
            let statuses = self.statuses(&window).await?;
            let is_last = window.len() < size;
            below = window.last().map(|last| (last.place.at, last.run.to_string()));
            for Listed { run, place, handler } in window {
                self.places.put(&run, &place);
                let status = statuses.get(&run).cloned();
                let summary = looked(run, &place, &handler, status).summary;
                if filter.admits(&summary) && found.len() < most {
                    found.push(summary);
                }
            }
            if is_last {
                break;
            }
            size = WINDOW;
        }
        Ok(found)
    }

    /// The next runs of a list, by when Restate took them.
    async fn window(
        &self,
        filter: &Filter,
        below: Option<&(u64, String)>,
        size: usize,
    ) -> Result<Vec<Listed>, ClientError> {
        let mut sql = format!(
            "SELECT target_service_key AS run, partition_key, id, CAST(created_at AS BIGINT) AS at, status, completion_result, completion_failure FROM sys_invocation_status WHERE target_service_name = '{}' AND target_handler_name = '{}'",
            self.service,
            names::RUN
        );
        if let Some(since) = filter.since {
            sql += &format!(" AND created_at >= to_timestamp_millis({since})");
        }
        if let Some(before) = filter.before {
            sql += &format!(" AND created_at < to_timestamp_millis({before})");
        }
        if let Some((at, run)) = below {
            sql += &format!(
                " AND (created_at < to_timestamp_millis({at}) OR (created_at = to_timestamp_millis({at}) AND target_service_key < {}))",
                quoted(run)
            );
        }
        // Those that go on are few among those that are kept.
        if !filter.states.is_empty() && filter.states.iter().all(|state| !state.is_over()) {
            sql += " AND status <> 'completed'";
        }
        sql += &format!(" ORDER BY created_at DESC, target_service_key DESC LIMIT {size}");
        self.rows(&sql).await
    }

    async fn statuses(
        &self,
        window: &[Listed],
    ) -> Result<HashMap<Arc<str>, RunStatus>, ClientError> {
        let keys: Vec<u64> = window.iter().map(|listed| listed.place.partition_key).collect();
        self.statuses_at(&keys).await
    }

    async fn statuses_at(&self, keys: &[u64]) -> Result<HashMap<Arc<str>, RunStatus>, ClientError> {
        let mut all = HashMap::new();
        for some in keys.chunks(WINDOW) {
            let keys: Vec<String> = some.iter().map(u64::to_string).collect();
            let sql = format!(
                "SELECT service_key, value_utf8 FROM state WHERE partition_key IN ({}) AND service_name = '{}' AND key = '{}'",
                keys.join(", "),
                self.service,
                names::STATUS
            );
            for Keyed { service_key, value_utf8 } in self.rows::<Keyed>(&sql).await? {
                if let Some(text) = value_utf8 {
                    let status = read_status(&service_key, &text)?;
                    all.insert(service_key, status);
                }
            }
        }
        Ok(all)
    }

    /// How far several runs are, for whoever watches them: by run, the number of its events, and
    /// whether it is over. A run that cannot be found is left out.
    ///
    /// # Errors
    /// The admin API is not known or cannot be reached.
    pub async fn how_far(
        &self,
        runs: &[Arc<str>],
    ) -> Result<HashMap<Arc<str>, (u64, bool)>, ClientError> {
        let mut keys = Vec::with_capacity(runs.len());
        for run in runs {
            match self.place(run).await {
                Ok(place) => keys.push(place.partition_key),
                Err(ClientError::UnknownRun { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let statuses = self.statuses_at(&keys).await?;
        let far = |status: RunStatus| (status.events, status.phase == Phase::Over);
        Ok(statuses.into_iter().map(|(run, status)| (run, far(status))).collect())
    }

    /// Those of several runs whose handler failed for good, so that nothing follows although they
    /// did not say that they are over.
    ///
    /// # Errors
    /// The admin API is not known or cannot be reached.
    pub async fn fallen(&self, runs: &[Arc<str>]) -> Result<Vec<Arc<str>>, ClientError> {
        let places = runs.iter().filter_map(|run| self.places.get(run));
        let ids: Vec<String> = places.map(|place| quoted(&place.id)).collect();
        let mut fallen = Vec::new();
        for some in ids.chunks(WINDOW) {
            let sql = format!(
                "SELECT target_service_key AS service_key FROM sys_invocation_status WHERE id IN ({}) AND completion_result = 'failure'",
                some.join(", ")
            );
            fallen.extend(self.rows::<Keyed>(&sql).await?.into_iter().map(|row| row.service_key));
        }
        Ok(fallen)
    }

    /// A run's events from a position on, at most so many, whether or not a worker is there: only
    /// those over 256 KiB are with the workers.
    ///
    /// # Errors
    /// There is no such run, or the admin API is not known or cannot be reached.
    pub async fn kept(
        &self,
        run: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<Record>, ClientError> {
        let place = self.place(run).await?;
        let of_run = self.of_run(run, &place);
        let mut records: Vec<Record> = Vec::new();
        let mut next = from;
        while records.len() < most {
            // The batch that has it may begin before it.
            let sql = format!(
                "SELECT key, value_utf8 FROM state WHERE {of_run} AND key < 'events.' AND key >= (SELECT max(key) FROM state WHERE {of_run} AND key >= 'events-' AND key <= '{}') ORDER BY key LIMIT {BATCHES}",
                names::events(next)
            );
            let entries: Vec<Entry> = self.rows(&sql).await?;
            let is_last = entries.len() < BATCHES;
            for Entry { key, value_utf8 } in entries {
                let text = value_utf8.unwrap_or_default();
                let packed: Packed = serde_json::from_str(&text).map_err(|e| {
                    let detail = format!("{key} of run {run}: {e}");
                    ClientError::Answer { url: sql.clone(), detail }
                })?;
                let batch: Vec<Record> = self.opened(run, &packed).await?;
                next = batch.last().map_or(next, |last| last.seq + 1);
                records.extend(batch.into_iter().filter(|record| record.seq >= from));
            }
            if is_last {
                break;
            }
        }
        records.truncate(most);
        Ok(records)
    }

    /// Ends a run that no worker has begun: nothing of it was done, and nothing will be.
    ///
    /// # Errors
    /// There is no such run, or the admin API is not known or cannot be reached.
    pub async fn withdraw(&self, run: &str) -> Result<(), ClientError> {
        let place = self.place(run).await?;
        self.tables()?.kill(&place.id).await
    }

    /// Has a run go on that Restate paused after too many failed attempts to drive it.
    ///
    /// # Errors
    /// There is no such run, or the admin API is not known or cannot be reached.
    pub async fn unpause(&self, run: &str) -> Result<(), ClientError> {
        let place = self.place(run).await?;
        self.tables()?.resume(&place.id).await
    }

    /// Forgets a run that is over.
    ///
    /// # Errors
    /// There is no such run, it is not over, or the admin API is not known or cannot be reached.
    pub async fn purge(&self, run: &str) -> Result<(), ClientError> {
        let place = self.place(run).await?;
        self.tables()?.purge(&place.id).await?;
        self.places.forget(run);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_in_queries_as_they_are() {
        assert_eq!(quoted("it's"), "'it''s'");
    }
}
