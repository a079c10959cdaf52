//! Programs as tools.
//!
//! ```json
//! { "command": ["python3", "weather.py"], "env": { "API_KEY": "${WEATHER_KEY}" }, "cwd": "scripts" }
//! ```
//!
//! | what | how |
//! |---|---|
//! | arguments | the admitted object on stdin, byte for byte, then end of file; a program need not read it |
//! | result | stdout: JSON becomes the structured result, other text a text block, nothing `null` |
//! | failure | an exit code other than 0, or a signal: `tool_error` with the end of stderr |
//! | program | looked up in `PATH`; with a `/` in it, from the contract's folder |
//! | folder | `cwd`, from the contract's folder, which is also the default |
//! | environment | `PATH`, `HOME` and a few more ([`INHERITED`]), what `env` lists, and the call's own: `CALLGATE_RUN_ID`, `CALLGATE_CALL_ID`, `CALLGATE_IDEMPOTENCY_KEY` (the same for every attempt), `CALLGATE_ATTEMPT` (from 1); `TRACEPARENT` and `TRACESTATE` where the run is in a trace |
//! | size | `maxOutputBytes`, 4 MiB by default; a program that writes more is ended |
//! | end | at the timeout or a cancellation the program's whole process group is asked to end (SIGTERM) and killed (SIGKILL) two seconds later |
//!
//! The words of the command are not expanded: everybody on the machine can read a command line, so
//! secrets go through `env`; and no shell is involved unless the contract names one.

pub(crate) mod child;
mod outcome;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use callgate_contract::{Executed, Failure};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Backend, Env, Invocation, InvokeFuture, Invoked,
    call::{Call, Interrupted, misconfigured},
    registry::{BackendError, Build, Kind, Problem, pointer_to},
    secrets::Secrets,
    template::Template,
};

/// What a program sees of this process's environment; the rest is none of its business.
pub const INHERITED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    // Windows programs do not start without these.
    "SYSTEMROOT",
    "TEMP",
];

/// How much a program may write when its contract says nothing: 4 MiB.
pub const DEFAULT_MAX_OUTPUT_BYTES: usize = 4 << 20;

/// How long a program has between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) const KIND: Kind = Kind::new::<CommandSpec>("command", build);

/// `{"command": [...]}`: a program that reads its arguments as JSON from stdin and writes its
/// result to stdout.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandSpec {
    /// The program and its words. No shell is involved.
    pub command: Vec<String>,
    /// Environment variables for it. `${NAME}` and `${NAME:-default}` are looked up in the
    /// environment when the tool is called.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The folder it runs in, from the contract's folder, which is the default.
    #[serde(default)]
    pub cwd: Option<String>,
    /// How many bytes it may write to stdout; 4 MiB when absent.
    #[serde(default)]
    pub max_output_bytes: Option<usize>,
}

fn build(spec: Map<String, Value>, build: &Build<'_>) -> Result<Arc<dyn Backend>, BackendError> {
    let spec: CommandSpec = build.read(spec)?;
    Ok(Arc::new(Command::new(spec, &build.base_dir, build.env.clone())?))
}

/// A tool that is a program.
struct Command {
    program: PathBuf,
    words: Vec<String>,
    env: Vec<(String, Template)>,
    folder: PathBuf,
    max_output: usize,
    grace: Duration,
    lookup: Env,
}

impl Command {
    fn new(spec: CommandSpec, base_dir: &Path, lookup: Env) -> Result<Self, BackendError> {
        let mut words = spec.command.into_iter();
        let Some(program) = words.next().filter(|p| !p.is_empty()) else {
            return Err(BackendError::invalid("/command", Problem::EmptyCommand));
        };
        let named = |(name, text): (String, String)| {
            let pointer = format!("/env{}", pointer_to(&name));
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(BackendError::invalid(pointer, Problem::VariableName { name }));
            }
            let template =
                Template::parse_variables(&text).map_err(BackendError::template(pointer))?;
            Ok((name, template))
        };
        Ok(Self {
            // A bare name is looked up in PATH; `base_dir.join` keeps an absolute path as it is.
            program: if program.contains('/') { base_dir.join(program) } else { program.into() },
            words: words.collect(),
            env: spec.env.into_iter().map(named).collect::<Result<_, _>>()?,
            folder: spec.cwd.map_or_else(|| base_dir.to_owned(), |cwd| base_dir.join(cwd)),
            max_output: spec.max_output_bytes.unwrap_or(DEFAULT_MAX_OUTPUT_BYTES),
            grace: GRACE,
            lookup,
        })
    }

    async fn run(&self, call: Call<'_>) -> Invoked {
        let mut secrets = Secrets::default();
        let environment = match self.environment(call, &mut secrets) {
            Ok(environment) => environment,
            Err(failure) => return Invoked::failed(failure),
        };
        if call.cancel.is_cancelled() {
            return Invoked::failed(Interrupted::Cancelled.failure(Executed::No));
        }
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.words).current_dir(&self.folder).env_clear().envs(environment);
        let invoked = match child::Running::start(command) {
            Ok(running) => {
                let limits = child::Limits {
                    timeout: call.timeout,
                    grace: self.grace,
                    max_output: self.max_output,
                    cancel: call.cancel,
                };
                outcome::invoked(&running.finish(call.arguments, &limits).await, &limits, &secrets)
            }
            Err(error) => Invoked::failed(self.not_started(&error)),
        };
        Invoked { wire: Some(call.arguments.into()), ..invoked }
    }

    fn environment(
        &self,
        call: Call<'_>,
        secrets: &mut Secrets,
    ) -> Result<Vec<(OsString, OsString)>, Failure> {
        let inherited =
            INHERITED.iter().filter_map(|name| Some(((*name).into(), (self.lookup)(name)?.into())));
        let mut all: Vec<(OsString, OsString)> = inherited.collect();
        for (name, template) in &self.env {
            let value = template.resolve(&self.lookup, secrets).map_err(|unset| {
                misconfigured(format!("{unset}; the tool needs it as its own {name}"))
            })?;
            if value.contains('\0') {
                return Err(misconfigured(format!("the value for {name} contains a null byte")));
            }
            all.push((name.into(), value.into()));
        }
        let attempt = call.attempt.to_string();
        let own = [
            ("CALLGATE_RUN_ID", call.run),
            ("CALLGATE_CALL_ID", call.call),
            ("CALLGATE_IDEMPOTENCY_KEY", call.idempotency_key),
            ("CALLGATE_ATTEMPT", &attempt),
        ];
        if let Some(trace) = call.trace {
            // Of one trace: whatever this process was started in is another one.
            all.retain(|(name, _)| name != "TRACEPARENT" && name != "TRACESTATE");
            all.extend(
                trace.fields().map(|(name, value)| (name.to_uppercase().into(), value.into())),
            );
        }
        // Ids come from outside; none of them may end the environment early.
        let own = own.map(|(name, value)| (name.into(), value.replace('\0', "").into()));
        all.extend(own);
        Ok(all)
    }

    /// Why the program could not be started. Nothing was done.
    fn not_started(&self, error: &std::io::Error) -> Failure {
        let program = self.program.display();
        // The system says "not found" for the folder and for the program alike.
        if !self.folder.is_dir() {
            let folder = self.folder.display();
            return misconfigured(format!("the tool's folder {folder} does not exist"));
        }
        match error.kind() {
            std::io::ErrorKind::NotFound => misconfigured(format!(
                "the tool's program {program} is not installed, or its interpreter is not"
            )),
            std::io::ErrorKind::PermissionDenied => {
                misconfigured(format!("the tool's program {program} may not be executed"))
            }
            _ => misconfigured(format!("the tool's program {program} cannot be started: {error}")),
        }
    }
}

impl Backend for Command {
    fn invoke(&self, invocation: Invocation) -> InvokeFuture<'_> {
        Box::pin(async move { self.run(Call::from(&invocation)).await })
    }
}

#[cfg(test)]
mod tests;
