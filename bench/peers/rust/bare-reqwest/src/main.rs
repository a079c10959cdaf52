//! The unit of the comparison: bodies that were prepared, sent by reqwest as its documentation
//! shows it. Responses are read and not parsed, nothing is validated.

use std::sync::Arc;

use bytes::Bytes;
use callgate_bench_driver::{Failed, Options, drive, prepared};

struct Bare {
    client: reqwest::Client,
    url: String,
    bodies: Vec<Bytes>,
    stream: bool,
}

fn main() -> Result<(), Failed> {
    let options = Options::from_args()?;
    let set_up = || {
        Ok(Bare {
            client: reqwest::Client::new(),
            url: format!("{}/chat/completions", options.api()),
            bodies: prepared::bodies(&options).into_iter().map(Bytes::from).collect(),
            stream: options.stream,
        })
    };
    drive("bare reqwest", &options, set_up, |bare| async move { run(&bare).await })
}

async fn run(bare: &Arc<Bare>) -> Result<String, Failed> {
    let mut last = Bytes::new();
    for body in &bare.bodies {
        let post = bare
            .client
            .post(&bare.url)
            .header("content-type", "application/json")
            .bearer_auth("sk-bench")
            .body(body.clone());
        last = post.send().await?.error_for_status()?.bytes().await?;
    }
    if prepared::is_last(&last, bare.stream) {
        Ok("assigned to dana".to_owned())
    } else {
        Err("the last response is no answer".into())
    }
}
