//! Events and results, large bodies put back in their places.

use callgate_machine::Record;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Client, ClientError};
use crate::{
    blob::{BlobRef, Packed, hash},
    message::{BlobFrom, BlobPiece, EventsFrom, EventsPage},
    names, pages,
    status::RunStatus,
};

impl Client {
    /// A run's events from a position on, as they are now. Nothing where there are no more yet.
    ///
    /// # Errors
    /// There is no such run.
    pub async fn events(&self, run: &str, from: u64) -> Result<Vec<Record>, ClientError> {
        self.check(run)?;
        let mut records: Vec<Record> = Vec::new();
        let mut next = Some(from);
        while let Some(at) = next {
            let page: EventsPage = self.call(run, pages::EVENTS, &EventsFrom { from: at }).await?;
            if !page.known {
                return Err(ClientError::UnknownRun { run: run.to_owned() });
            }
            for packed in &page.batches {
                let batch: Vec<Record> = self.opened(run, packed).await?;
                records.extend(batch.into_iter().filter(|record| record.seq >= from));
            }
            next = page.next;
        }
        Ok(records)
    }

    /// The runs that Restate keeps, newest first: those under way, and those that are over for as
    /// long as the worker's retention says.
    ///
    /// # Errors
    /// The admin API is not known or cannot be reached.
    pub async fn list(&self) -> Result<Vec<RunStatus>, ClientError> {
        let admin = self.admin.as_ref();
        let admin = admin.ok_or(ClientError::NeedsAdmin { what: "listing runs" })?;
        let query = format!(
            "SELECT value_utf8 FROM state WHERE service_name = '{}' AND key = '{}'",
            self.service,
            names::STATUS
        );
        let rows = admin.query(&query).await?;
        let mut runs: Vec<RunStatus> = rows
            .iter()
            .filter_map(|row| row["value_utf8"].as_str())
            .map(|text| {
                serde_json::from_str(text).map_err(|e| ClientError::Answer {
                    url: query.clone(),
                    detail: format!("a run's status: {e}"),
                })
            })
            .collect::<Result<_, _>>()?;
        runs.sort_by(|a, b| b.started_at.cmp(&a.started_at).then_with(|| b.run.cmp(&a.run)));
        Ok(runs)
    }

    /// Calls one of a run's handlers.
    pub(super) async fn call<B: Serialize, T: DeserializeOwned>(
        &self,
        run: &str,
        handler: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let path = format!("/restate/call/{}/{run}/{handler}", self.service);
        self.post(&path, body, run).await
    }

    pub(super) async fn post<B: Serialize, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
        run: &str,
    ) -> Result<T, ClientError> {
        self.http.post(path, body).await.map_err(|error| self.explain(error, run))
    }

    /// An error of the ingress in the words of runs.
    pub(super) fn explain(&self, error: ClientError, run: &str) -> ClientError {
        let ClientError::Refused { url, status, message } = &error else { return error };
        let is_attach = url.ends_with("/attach");
        match status {
            404 if message.contains("service") => ClientError::NoWorker {
                url: self.http.base().to_owned(),
                service: self.service.to_string(),
            },
            404 if is_attach => ClientError::UnknownRun { run: run.to_owned() },
            _ if is_attach => ClientError::Failed { run: run.to_owned(), message: message.clone() },
            _ => error,
        }
    }

    pub(super) async fn opened<T: DeserializeOwned>(
        &self,
        run: &str,
        packed: &Packed,
    ) -> Result<T, ClientError> {
        let read = |text: &str| {
            serde_json::from_str(text).map_err(|e| ClientError::Answer {
                url: format!("run {run}"),
                detail: e.to_string(),
            })
        };
        match packed {
            Packed::Here(json) => read(json.get()),
            Packed::Blob(body) => read(&self.body(run, body).await?),
        }
    }

    /// A large body, piece by piece through the workers.
    async fn body(&self, run: &str, body: &BlobRef) -> Result<String, ClientError> {
        let mut text = String::new();
        let mut next = Some(0);
        while let Some(from) = next {
            let from = BlobFrom { body: body.clone(), from };
            let piece: BlobPiece = self.call(run, pages::BLOB, &from).await?;
            text.push_str(&piece.text);
            next = piece.next;
        }
        if hash(text.as_bytes()) == *body.hash {
            Ok(text)
        } else {
            Err(ClientError::Damaged(body.hash.clone()))
        }
    }

    /// The text of the catalog that a run goes by, as its first event names it: with it, the run
    /// can be judged again anywhere.
    ///
    /// # Errors
    /// The workers do not have it.
    pub async fn catalog(&self, run: &str, hash: &str) -> Result<String, ClientError> {
        self.check(run)?;
        self.body(run, &BlobRef { hash: hash.into(), bytes: 0 }).await
    }

    /// Whether Restate answers at all.
    pub async fn is_up(&self) -> bool {
        self.http.get::<Value>("/restate/health").await.is_ok()
    }
}
