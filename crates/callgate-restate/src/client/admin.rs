//! Restate's admin API: registering workers, and queries over what it keeps.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ClientError, http::Http};

/// A row of a query's answer: an object by column.
pub type Row = Value;

/// The admin API of a Restate server.
#[derive(Debug)]
pub struct Admin {
    http: Http,
}

/// A registered worker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Deployment {
    /// Restate's id of it.
    pub id: String,
    /// Where it is.
    #[serde(default)]
    pub uri: String,
}

#[derive(Deserialize)]
struct Deployments {
    deployments: Vec<Deployment>,
}

#[derive(Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

impl Admin {
    /// The API at a URL (`http://127.0.0.1:9070`).
    ///
    /// # Errors
    /// The HTTP client cannot be set up.
    pub fn new(url: &str) -> Result<Self, ClientError> {
        Ok(Self { http: Http::new(url)? })
    }

    /// Tells Restate of the worker at a URL. The newest URL gets all runs that begin from now on;
    /// runs that are under way stay where they are. Registering a URL again changes nothing.
    ///
    /// # Errors
    /// Restate cannot be reached, or cannot reach the worker.
    pub async fn register(&self, url: &str) -> Result<Deployment, ClientError> {
        let body = json!({ "uri": url, "force": false });
        match self.http.post::<_, Deployment>("/deployments", &body).await {
            Ok(deployment) => Ok(Deployment { uri: url.to_owned(), ..deployment }),
            Err(ClientError::Refused { status: 409, url: asked, message }) => {
                // It is there already, which is what was wanted.
                let known = self.deployments().await?;
                let known = known.into_iter().find(|known| same(&known.uri, url));
                known.ok_or(ClientError::Refused { url: asked, status: 409, message })
            }
            Err(error) => Err(error),
        }
    }

    /// The workers that Restate knows.
    ///
    /// # Errors
    /// It cannot be reached.
    pub async fn deployments(&self) -> Result<Vec<Deployment>, ClientError> {
        let answer: Deployments = self.http.get("/deployments").await?;
        Ok(answer.deployments)
    }

    /// The rows of a query over what Restate keeps (DataFusion's SQL).
    ///
    /// # Errors
    /// It cannot be reached, or the query is refused.
    pub async fn query(&self, sql: &str) -> Result<Vec<Row>, ClientError> {
        let answer: Rows = self.http.post("/query", &json!({ "query": sql })).await?;
        Ok(answer.rows)
    }

    /// Cancels an invocation from Restate's side, as an operator would. A run takes it as a
    /// cancellation by nobody in particular, a model hop of it only once the model has replied.
    ///
    /// # Errors
    /// There is no such invocation, or it cannot be reached.
    pub async fn cancel(&self, invocation: &str) -> Result<(), ClientError> {
        self.http.patch(&format!("/invocations/{invocation}/cancel")).await
    }

    /// Ends an invocation at once. A run that had begun writes nothing more down.
    ///
    /// # Errors
    /// There is no such invocation, or it cannot be reached.
    pub async fn kill(&self, invocation: &str) -> Result<(), ClientError> {
        self.http.patch(&format!("/invocations/{invocation}/kill")).await
    }

    /// Has an invocation go on that Restate paused after too many failed attempts.
    ///
    /// # Errors
    /// There is no such invocation, it is not paused, or it cannot be reached.
    pub async fn resume(&self, invocation: &str) -> Result<(), ClientError> {
        self.http.patch(&format!("/invocations/{invocation}/resume")).await
    }

    /// Forgets an invocation that is over, and what it wrote down.
    ///
    /// # Errors
    /// There is no such invocation, it is not over, or it cannot be reached.
    pub async fn purge(&self, invocation: &str) -> Result<(), ClientError> {
        self.http.patch(&format!("/invocations/{invocation}/purge")).await
    }

    /// Whether a service is there.
    ///
    /// # Errors
    /// It cannot be reached.
    pub async fn has_service(&self, service: &str) -> Result<bool, ClientError> {
        match self.http.get::<Value>(&format!("/services/{service}")).await {
            Ok(_) => Ok(true),
            Err(ClientError::Refused { status: 404, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether it answers.
    pub async fn is_up(&self) -> bool {
        self.http.get::<Value>("/health").await.is_ok()
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}
