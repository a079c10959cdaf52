//! An error, as a person reads it and as a program does.
//!
//! A person gets one message that says what, where and what to do. With `--json` the same value is
//! one line: `{"error": {"code": …, "message": …, "hint": …}}`.

use std::io;

use callgate::{
    Error, ProjectError,
    backend::lock::LockError,
    contract::Mistake,
    engine::{BookError, EngineError, JournalError},
    machine::{Finish, Status, StoppedBy},
    model::{ModelError, RegistryError},
    wire::{ProviderError, ProviderErrorKind, Retry},
};
use serde_json::{Map, Value, json};

use crate::{
    exit::Exit,
    show::{paint::Paint, words},
};

/// Why a verb did not do what it was to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// One word for programs.
    code: &'static str,
    message: String,
    hint: Option<String>,
    /// More members of the JSON form.
    more: Box<Map<String, Value>>,
    /// The message as it is on a terminal, where it brings a look of its own.
    styled: Option<String>,
    /// Nobody is left to be told.
    silent: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code,
            message: message.into(),
            hint: None,
            more: Box::default(),
            styled: None,
            silent: false,
        }
    }

    /// A command line or a file that cannot be meant.
    pub(crate) fn configuration(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Configuration, code, message)
    }

    /// Something on this machine.
    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        Self::new(Exit::Internal, "io", format!("{what}: {error}"))
    }

    /// What the command line's parser says.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.render();
        let plain = text.to_string();
        let styled = if Paint::stderr().is_on() { text.ansi().to_string() } else { plain.clone() };
        Self { styled: Some(styled), ..Self::configuration("usage", plain.trim_end()) }
    }

    /// Whoever read our output went away: nothing to say, nobody to say it to.
    pub(crate) fn unread() -> Self {
        Self { silent: true, ..Self::new(Exit::Unread, "unread", "") }
    }

    /// Ended by a person who wants it to end at once.
    pub(crate) fn killed() -> Self {
        Self::new(Exit::Cancelled, "cancelled", "stopped at once; the tools were killed")
    }

    /// What went wrong, in a sentence.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// One more member of the JSON form.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    /// Told on a terminal in these words, without "error": nothing went wrong.
    pub(crate) fn told(mut self, text: String) -> Self {
        self.styled = Some(text);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A run that came to its end without an answer.
    pub(crate) fn unanswered(finish: &Finish) -> Self {
        let fault = finish.fault.as_ref().map(|fault| words::clean(&fault.summary()));
        let fault = fault.unwrap_or_else(|| "nothing more is known".to_owned());
        let text = finish.text.as_deref().map(words::clean).unwrap_or_default();
        let limit = |code, message: &str| Self::new(Exit::Limit, code, message);
        let refused = |code, message: String| Self::new(Exit::Refused, code, message);
        let budget = |what| format!("Raise {what} in the agent's budget, or ask for less.");
        match finish.stopped_by {
            Some(StoppedBy::UserCancel) => Self::new(Exit::Cancelled, "cancelled", "cancelled"),
            Some(StoppedBy::MaxSteps) => limit("max_steps", "no answer within the step limit")
                .hint("Raise it with --max-steps, or maxSteps in the agent's loop."),
            Some(StoppedBy::TokenBudget) => {
                limit("token_budget", "the token budget is used up").hint(budget("tokens"))
            }
            Some(StoppedBy::MoneyBudget) => {
                limit("money_budget", "the money budget is used up").hint(budget("usd"))
            }
            Some(StoppedBy::TimeBudget) => {
                limit("time_budget", "the time is up").hint(budget("seconds"))
            }
            Some(StoppedBy::OutputTruncated) => {
                limit("output_truncated", "the reply was cut off at a token limit")
                    .hint("Raise maxOutputTokens in agent.json, or ask for a shorter answer.")
            }
            Some(StoppedBy::SchemaFail) => {
                refused("schema_fail", format!("it did not fit its schema too often: {fault}"))
                    .hint("See what was tried with -v. budget.retriesPerCall allows more tries.")
            }
            Some(StoppedBy::LoopDetected) => refused("loop_detected", fault)
                .hint("The model repeats itself: another model or clearer instructions may help."),
            Some(StoppedBy::Refusal) => refused("refusal", format!("the model declined: {text}")),
            Some(StoppedBy::ToolChoice) => {
                refused("tool_choice", format!("the model called no tool where it had to: {text}"))
                    .hint("toolChoice and the loop's hops in agent.json say that a call is due.")
            }
            Some(StoppedBy::TooManyTools) => {
                Self::new(Exit::Configuration, "too_many_tools", fault)
                    .hint("Offer fewer: narrow \"tools\" in agent.json.")
            }
            Some(StoppedBy::ProviderError) => match &finish.provider {
                Some(error) => Self::provider(error),
                None => Self::new(Exit::Provider, "provider_error", fault),
            },
            None => {
                let what = match finish.status {
                    Status::Answered => "the run has an answer that was not understood",
                    Status::Stopped | Status::Failed | Status::Cancelled => "the run ended",
                };
                Self::new(Exit::Internal, "internal", format!("{what}: {fault}"))
            }
        }
    }

    fn provider(error: &ProviderError) -> Self {
        let said = words::clean(&error.message);
        // Where the fault is theirs, their own words seldom say so: "Overloaded".
        let message = match error.kind {
            ProviderErrorKind::RateLimit => format!("the provider takes no more for now: {said}"),
            ProviderErrorKind::Unavailable => format!("the provider is unavailable: {said}"),
            _ => said,
        };
        let code = match error.kind {
            ProviderErrorKind::Auth => "provider_auth",
            ProviderErrorKind::NotFound => "provider_not_found",
            ProviderErrorKind::RateLimit => "provider_rate_limit",
            ProviderErrorKind::Quota => "provider_quota",
            ProviderErrorKind::Unavailable => "provider_unavailable",
            ProviderErrorKind::ContextLength => "context_length",
            ProviderErrorKind::BadRequest => "provider_bad_request",
            ProviderErrorKind::MalformedCall => "provider_malformed_call",
            ProviderErrorKind::Transport => "provider_unreachable",
            ProviderErrorKind::StreamIncomplete => "stream_incomplete",
            ProviderErrorKind::BadReply => "provider_bad_reply",
        };
        let mut failure = Self::new(Exit::Provider, code, message);
        if let Some(status) = error.status {
            failure.more.insert("status".to_owned(), json!(status));
        }
        match (error.kind, error.retry) {
            (_, Retry::AfterMs(ms)) if ms >= 1000 => {
                failure.hint(format!("It asks to wait for {} s.", ms.div_ceil(1000)))
            }
            (
                ProviderErrorKind::RateLimit | ProviderErrorKind::Unavailable,
                Retry::Backoff | Retry::AfterMs(_),
            ) => failure.hint("This usually passes: run it later, or with another --model."),
            _ => failure,
        }
    }

    /// Mistakes in files that people write.
    pub(crate) fn mistakes(mistakes: &[Mistake]) -> Self {
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        let message = match told.as_slice() {
            [one] => one.clone(),
            several => format!("{} mistakes:\n{}", several.len(), several.join("\n")),
        };
        let mut failure = Self::configuration("mistakes", message);
        failure.more.insert("mistakes".to_owned(), json!(mistakes));
        failure
    }

    /// Says it on standard error.
    pub(crate) fn tell(&self, as_json: bool) {
        if self.silent {
            return;
        }
        if as_json {
            eprintln_quietly(&self.to_json().to_string());
            return;
        }
        if let Some(styled) = &self.styled {
            eprintln_quietly(styled.trim_end());
            return;
        }
        let paint = Paint::stderr();
        eprintln_quietly(&format!("{} {}", paint.red("error:"), self.message));
        if let Some(hint) = &self.hint {
            eprintln_quietly(&format!("{} {hint}", paint.cyan("hint:")));
        }
    }

    fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), json!(self.code));
        let message = self.message.strip_prefix("error: ").unwrap_or(&self.message);
        error.insert("message".to_owned(), json!(message));
        if let Some(hint) = &self.hint {
            error.insert("hint".to_owned(), json!(hint));
        }
        error.extend(self.more.iter().map(|(name, value)| (name.clone(), value.clone())));
        json!({ "error": error })
    }
}

/// A closed standard error is nobody's concern.
fn eprintln_quietly(text: &str) {
    use io::Write as _;
    let _ = writeln!(io::stderr().lock(), "{text}");
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match &error {
            Error::Contracts(mistakes) => Self::mistakes(mistakes),
            Error::Model(model) => Self::from(model),
            Error::Project(ProjectError::NoAgent(_)) => {
                Self::configuration("no_project", error.to_string())
            }
            Error::Project(ProjectError::NoServerTool { .. }) => {
                Self::configuration("unknown_tool", error.to_string())
            }
            Error::Project(ProjectError::Lock(LockError::Mistakes(mistakes))) => {
                Self::mistakes(mistakes)
            }
            Error::Project(ProjectError::Lock(LockError::Write { .. })) => {
                Self::new(Exit::Internal, "io", error.to_string())
            }
            Error::Project(_) => Self::configuration("unreadable_file", error.to_string()),
            Error::NoModel => no_model(),
            Error::Engine(EngineError::Journal(error)) => Self::from(error),
            Error::Engine(EngineError::Over { .. }) => {
                Self::configuration("run_over", error.to_string())
                    .hint("`callgate chat --resume ID` goes on with it, `callgate runs fork ID --at HOP` from an earlier hop.")
            }
            Error::Unanswered(finish) => Self::unanswered(finish),
            _ => Self::new(Exit::Internal, "internal", error.to_string()),
        }
    }
}

/// Nothing says which model to use.
pub(crate) fn no_model() -> Failure {
    Failure::configuration("no_model", "nothing says which model to use").hint(format!(
        "Give --model provider:model, set CALLGATE_MODEL, or write \"model\" in agent.json. {} needs neither key nor server.",
        crate::model::LOCAL
    ))
}

impl From<&JournalError> for Failure {
    fn from(error: &JournalError) -> Self {
        let message = words::clean(&error.to_string());
        let of_the_machine = |code| Self::new(Exit::Internal, code, message.clone());
        match error {
            JournalError::UnknownRun { .. } => Self::configuration("unknown_run", message),
            JournalError::Ambiguous { .. } => Self::configuration("ambiguous_run", message),
            JournalError::Held { pid, .. } => {
                Self::configuration("run_held", message).with("pid", json!(pid))
            }
            JournalError::Over { .. } => Self::configuration("run_over", message),
            JournalError::Exists { .. } => Self::configuration("run_exists", message),
            JournalError::Newer { .. } => Self::configuration("journal_newer", message),
            JournalError::Foreign { .. } => Self::configuration("journal_foreign", message),
            JournalError::Full { .. } => of_the_machine("journal_full"),
            JournalError::ReadOnly { .. } => of_the_machine("journal_read_only")
                .hint("--journal DIR keeps it elsewhere, --no-journal not at all."),
            JournalError::Busy { .. } => of_the_machine("journal_busy"),
            JournalError::Corrupt { .. }
            | JournalError::Damaged { .. }
            | JournalError::BlobMissing { .. }
            | JournalError::BlobDamaged { .. } => of_the_machine("journal_damaged")
                .hint("`callgate runs verify` says what is damaged; `callgate runs verify --salvage DIR` saves what can still be read."),
            _ => of_the_machine("journal"),
        }
    }
}

impl From<BookError> for Failure {
    fn from(error: BookError) -> Self {
        let message = words::clean(&error.to_string());
        let damaged = |message: String| {
            Self::new(Exit::Internal, "journal_damaged", message)
                .hint("`callgate runs verify` says what is damaged.")
        };
        match error {
            BookError::Journal(error) => Self::from(&error),
            BookError::Engine(EngineError::Catalog { run, .. }) => {
                damaged(format!("the contracts that run {run} went by are not in the journal"))
            }
            BookError::Engine(
                EngineError::NoStart { .. } | EngineError::UnreadableCatalog { .. },
            ) => damaged(message),
            BookError::Engine(error) => Error::from(error).into(),
            BookError::Over { .. } => Self::configuration("run_over", message),
            BookError::NotWaiting { .. } => Self::configuration("not_waiting", message),
            BookError::OtherWord(_) => Self::configuration("other_word", message),
            BookError::BadResult(_) => Self::configuration("bad_result", message),
            BookError::Delegated { .. } => Self::configuration("delegated", message),
            BookError::NoHop(_) => Self::configuration("no_hop", message),
            BookError::OtherBinding { .. } => Self::new(Exit::Refused, "other_binding", message),
            BookError::Decided(_) => Self::new(Exit::Refused, "already_decided", message),
            BookError::EditRefused(fault) => {
                Self::new(Exit::Refused, "edit_refused", message).with("fault", json!(fault))
            }
            BookError::RunFile(_) => Self::new(Exit::Internal, "run_file", message),
            _ => Self::new(Exit::Internal, "internal", message),
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::from(&error)
    }
}

impl From<&ModelError> for Failure {
    fn from(error: &ModelError) -> Self {
        match error {
            ModelError::Registry(error) => Self::from(error),
            _ => Self::configuration("bad_script", error.to_string()),
        }
    }
}

impl From<&RegistryError> for Failure {
    fn from(error: &RegistryError) -> Self {
        let code = match error {
            RegistryError::NoProvider { .. } | RegistryError::UnknownProvider { .. } => {
                "unknown_provider"
            }
            RegistryError::NotYet { .. } => "provider_not_supported",
            RegistryError::NoModel { .. } => "no_model",
            RegistryError::NoKey { .. } => "missing_key",
            RegistryError::NoBaseUrl { .. } => "missing_base_url",
            RegistryError::Endpoint { .. } => "bad_endpoint",
            RegistryError::Script(_) => "bad_script",
            RegistryError::Added { .. } => "model_unavailable",
        };
        Self::configuration(code, error.to_string())
    }
}
