//! One file a verb.

mod catalogs;
mod chat;
mod check;
mod compat;
mod completion;
mod export;
mod import;
mod init;
mod lock;
mod mcp;
mod model;
#[cfg(feature = "restate")]
pub(crate) mod restate;
mod run;
pub(crate) mod runs;
mod schema;
pub(crate) mod serve;
mod test;
pub(crate) mod token;
mod tools;

use crate::{
    cli::{Cli, Verb},
    exit::Exit,
    failure::Failure,
};

/// Does what was typed.
pub(crate) fn go(cli: Cli) -> Result<Exit, Failure> {
    match cli.verb {
        Verb::Init(init) => init::go(&init),
        Verb::Run(run) => run::go(&run),
        Verb::Chat(chat) => chat::go(&chat),
        Verb::Runs(runs) => runs::go(runs.what),
        Verb::Tools(tools) => tools::go(&tools),
        Verb::Mcp(mcp) => mcp::go(&mcp.what),
        Verb::Lock(lock) => lock::go(&lock),
        Verb::Serve(serve) => serve::go(&serve),
        Verb::Token(tokens) => token::go(&tokens),
        #[cfg(feature = "restate")]
        Verb::Worker(worker) => restate::worker(&worker),
        Verb::Check(check) => check::go(&check),
        Verb::Test(test) => test::go(&test),
        Verb::Compat(compat) => compat::go(&compat),
        Verb::Schema(schema) => schema::go(schema.of),
        Verb::Import(import) => import::go(&import.what),
        Verb::Export(export) => export::go(&export),
        Verb::Model(models) => model::go(&models.what),
        Verb::Completion(completion) => completion::go(completion.shell),
    }
}

/// Runs what takes time, and is gone when it is done.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::io("cannot start", &error))?;
    let done = runtime.block_on(work);
    // A thread may be at work for nobody, or wait for a key.
    runtime.shutdown_background();
    done
}
