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

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use callgate_engine::{Filter, RunState, RunSummary};
use callgate_machine::{Record, finish::Status};
use serde::{Deserialize, de::DeserializeOwned};

use super::{Admin, Client, ClientError, Sent};
use crate::{
    blob::Packed,
    names,
    status::{Phase, RunStatus, WaitsOn},
};

/// Runs whose statuses are asked for at once.
const WINDOW: usize = 500;
/// Batches of events that are read at once.
const BATCHES: usize = 200;
/// Runs whose place is remembered.
const PLACES: usize = 20_000;

/// A run, as Restate has it now.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Its facts. It was started when Restate took it.
    pub summary: RunSummary,
    /// What it wrote down last; nothing where no worker has begun it.
    pub status: Option<RunStatus>,
    /// Why it does not go on for now: no worker has begun it, or the attempts of those that have
    /// fail.
    pub trouble: Option<String>,
    /// Whether Restate paused it, after too many failed attempts.
    pub given_up: bool,
}

/// Where Restate has a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Place {
    partition_key: u64,
    id: Arc<str>,
    at: u64,
}

/// Where runs are, as far as it was asked.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<HashMap<Arc<str>, Place>>);

impl Places {
    fn get(&self, run: &str) -> Option<Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned()
    }

    fn put(&self, run: &str, place: &Place) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= PLACES {
            // They are asked for again.
            all.clear();
        }
        all.insert(run.into(), place.clone());
    }

    fn forget(&self, run: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

/// A run in a list.
#[derive(Deserialize)]
struct Listed {
    run: Arc<str>,
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    handler: Handler,
}

/// How the handler of a run stands.
#[derive(Debug, Default, Deserialize)]
struct Handler {
    #[serde(default)]
    status: String,
    #[serde(default)]
    completion_result: Option<String>,
    #[serde(default)]
    completion_failure: Option<String>,
    #[serde(default)]
    retry_count: Option<u64>,
    #[serde(default)]
    last_failure: Option<String>,
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

fn read_status(run: &str, text: &str) -> Result<RunStatus, ClientError> {
    serde_json::from_str(text).map_err(|e| ClientError::Answer {
        url: format!("the status of run {run}"),
        detail: e.to_string(),
    })
}

/// What the tables say of a run.
fn looked(run: Arc<str>, place: &Place, handler: &Handler, status: Option<RunStatus>) -> Look {
    let mut summary = match &status {
        Some(status) => summary_of(status),
        None => RunSummary { updated_at: place.at, ..RunSummary::new(run) },
    };
    // The order of the list is that of Restate's own clock.
    summary.started_at = place.at;
    let failed = handler.completion_result.as_deref() == Some("failure");
    if failed && !summary.state.is_over() {
        let because = handler.completion_failure.as_deref().unwrap_or("its handler failed");
        // What was withdrawn before a worker began it.
        let is_withdrawn = status.is_none() && because.contains("kill");
        summary.state = if is_withdrawn { RunState::Cancelled } else { RunState::Failed };
        summary.note = Some(because.to_owned());
        summary.open.clear();
        summary.paused = false;
    }
    let trouble = match (&handler.last_failure, &status) {
        _ if summary.state.is_over() => None,
        (Some(failure), _) if matches!(handler.status.as_str(), "backing-off" | "paused") => {
            let tries = handler.retry_count.unwrap_or(0);
            let then = if handler.status == "paused" {
                "Restate has paused it: resume the invocation there"
            } else {
                "Restate tries again"
            };
            Some(format!("{then} after {tries} attempts: {failure}"))
        }
        (_, None) => Some("Restate has it, and no worker has begun it yet".to_owned()),
        _ => None,
    };
    let given_up = handler.status == "paused";
    Look { summary, status, trouble, given_up }
}

/// The facts of a run; what can be told of them where an older build did not write them down.
fn summary_of(status: &RunStatus) -> RunSummary {
    if let Some(summary) = &status.summary {
        return summary.clone();
    }
    let in_doubt = status.waits.iter().any(|wait| matches!(wait.on, WaitsOn::Doubt { .. }));
    let state = match (&status.ended, status.phase) {
        (Some(ended), _) => match ended.status {
            Status::Answered => RunState::Answered,
            Status::Stopped => RunState::Stopped,
            Status::Failed => RunState::Failed,
            Status::Cancelled => RunState::Cancelled,
        },
        (None, Phase::Over) => RunState::Ended,
        (None, Phase::Paused) => RunState::Paused,
        (None, Phase::Waiting) if in_doubt => RunState::InDoubt,
        (None, Phase::Waiting) => RunState::Waiting,
        (None, Phase::Running) => RunState::Running,
    };
    RunSummary {
        agent: status.agent.to_string(),
        model: status.model.to_string(),
        goal: status.goal.to_string(),
        state,
        paused: status.phase == Phase::Paused,
        started_at: status.started_at,
        updated_at: status.at,
        events: status.events,
        hops: status.hop.into(),
        note: status.ended.as_ref().and_then(|ended| ended.text.as_deref().map(str::to_owned)),
        ..RunSummary::new(status.run.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(phase: Phase) -> RunStatus {
        let summary = RunSummary {
            state: if phase == Phase::Over { RunState::Answered } else { RunState::Running },
            events: 7,
            started_at: 999,
            ..RunSummary::new("r".into())
        };
        RunStatus {
            run: "r".into(),
            phase,
            goal: "g".into(),
            agent: "a".into(),
            model: "m".into(),
            build: "b".into(),
            started_at: 999,
            at: 1001,
            hop: 1,
            events: 7,
            waits: Vec::new(),
            pauses: 0,
            ended: None,
            summary: Some(summary),
        }
    }

    #[test]
    fn what_the_tables_say_of_a_run() {
        let place = Place { partition_key: u64::MAX, id: "inv_1".into(), at: 1000 };
        let handler = |json: &str| serde_json::from_str::<Handler>(json).unwrap();
        let running = handler(r#"{"status":"running"}"#);
        let failing =
            handler(r#"{"status":"backing-off","retry_count":3,"last_failure":"refused"}"#);
        let paused = handler(r#"{"status":"paused","retry_count":9,"last_failure":"refused"}"#);
        let ended = handler(r#"{"status":"completed","completion_result":"success"}"#);
        let fallen = handler(
            r#"{"status":"completed","completion_result":"failure","completion_failure":"[500] halted"}"#,
        );
        let killed = handler(
            r#"{"status":"completed","completion_result":"failure","completion_failure":"[409] killed"}"#,
        );
        let none = None::<Phase>;
        for (handler, phase, state, note, trouble) in [
            (&running, Some(Phase::Running), RunState::Running, None, None),
            (&running, none, RunState::Running, None, Some("no worker has begun it")),
            (
                &failing,
                none,
                RunState::Running,
                None,
                Some("tries again after 3 attempts: refused"),
            ),
            (&failing, Some(Phase::Running), RunState::Running, None, Some("refused")),
            (&paused, Some(Phase::Running), RunState::Running, None, Some("has paused it")),
            (&ended, Some(Phase::Over), RunState::Answered, None, None),
            (&fallen, Some(Phase::Running), RunState::Failed, Some("halted"), None),
            // What it says of itself counts, once it has said it.
            (&fallen, Some(Phase::Over), RunState::Answered, None, None),
            (&killed, none, RunState::Cancelled, Some("killed"), None),
            (&killed, Some(Phase::Running), RunState::Failed, Some("killed"), None),
        ] {
            let look = looked("r".into(), &place, handler, phase.map(status));
            let told = format!("{handler:?} {phase:?}: {look:?}");
            assert_eq!((look.summary.state, look.summary.started_at), (state, 1000), "{told}");
            for (got, wanted) in [(&look.summary.note, note), (&look.trouble, trouble)] {
                match (got, wanted) {
                    (None, None) => {}
                    (Some(got), Some(part)) => assert!(got.contains(part), "{told}"),
                    _ => panic!("{told}"),
                }
            }
            assert_eq!(look.given_up, handler.status == "paused", "{told}");
        }
    }

    #[test]
    fn statuses_of_older_builds_are_told_too() {
        let waits =
            |on| crate::status::Waits { call: "c".into(), key: "k".into(), expires_at: None, on };
        let question = WaitsOn::Answer { question: "q".into(), choices: Vec::new() };
        let doubt = WaitsOn::Doubt {
            tool: "t".into(),
            arguments: "{}".into(),
            idempotency_key: "r/c".into(),
            attempt: 1,
        };
        for (phase, on, state) in [
            (Phase::Running, None, RunState::Running),
            (Phase::Waiting, Some(question), RunState::Waiting),
            (Phase::Waiting, Some(doubt), RunState::InDoubt),
            (Phase::Paused, None, RunState::Paused),
            (Phase::Over, None, RunState::Ended),
        ] {
            let mut old = RunStatus { summary: None, ..status(phase) };
            old.waits.extend(on.map(waits));
            let summary = summary_of(&old);
            assert_eq!((summary.state, summary.events), (state, 7), "{old:?}");
        }
    }

    #[test]
    fn texts_stand_in_queries_as_they_are() {
        assert_eq!(quoted("it's"), "'it''s'");
    }
}
