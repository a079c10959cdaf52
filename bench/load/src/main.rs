//! Many streaming clients at the gate proxy, and at a plain reverse proxy beside it.
//!
//! ```text
//! callgate-load run --callgate target/release/callgate --clients 1000 --seconds 60
//! ```
//!
//! starts a provider on loopback that takes 200 ms to its first token, a plain pass-through of
//! hyper, and `callgate serve`; each is a process of its own, so that its memory and its CPU time
//! are its own. The same clients then go to the provider directly, through the pass-through, and
//! through the gates. What a proxy adds is the difference to going directly, in the same run on the
//! same machine.
//!
//! `provider`, `pass` and `clients` are the parts by themselves; `cargo xtask bench proxy` puts them
//! together with other proxies. There `--calls-every` says which answers to requests with tools are
//! calls, `--stream` and `--tools` (`true` or `false`) what clients ask for, and `--millis` stands in
//! for `--seconds`.

mod arguments;
mod clients;
mod pass;
mod provider;
mod run;
mod tally;

use std::{error::Error, process::ExitCode, time::Instant};

use crate::arguments::Arguments;

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let worked = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failed::from)
        .and_then(|runtime| runtime.block_on(go()));
    match worked {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("callgate-load: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn go() -> Result<(), Failed> {
    let mut words = std::env::args().skip(1);
    let role = words.next().unwrap_or_default();
    let arguments = Arguments::read(words)?;
    match role.as_str() {
        "run" => run::run(&arguments).await,
        "provider" => provider::serve(arguments.pace()?).await,
        "pass" => pass::serve(arguments.address("to")?).await,
        "clients" => {
            let work = arguments.work(arguments.address("to")?)?;
            let began = Instant::now();
            let mut summary = serde_json::to_value(clients::work(&work).await.summary())?;
            summary["seconds"] = began.elapsed().as_secs_f64().into();
            println!("{summary}");
            Ok(())
        }
        other => Err(format!("{other:?} is none of run, provider, pass, clients").into()),
    }
}
