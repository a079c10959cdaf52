//! Modern clients: the question is a result, and its answer comes with the next call (SEP-2322).
//!
//! Between the two nothing is kept but a list of spent states. What was asked goes with the client
//! in `requestState`: a hash of the definition and the arguments that were shown, edits so far,
//! and an expiry, sealed by HMAC and bound to the tool, the call's arguments and the caller. The
//! state of a call that was approved is good once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use callgate_contract::{Tool, tool::hash};
use callgate_engine::{Approver, Word, WordFuture};
use callgate_machine::{Question, event::Decision};
use rmcp::model::{
    ElicitRequest, ElicitResult, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, RequestStateCodec, RequestStateError, SealOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::form::{form_of, word_of};
use crate::{ServeError, random};

/// The key of the question among a result's `inputRequests`.
pub(crate) const KEY: &str = "approval";

/// How long an answer may take where the agent sets no limit.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// What a client carries from a question to its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Tells it from every other.
    nonce: String,
    /// Hash of the definition and the arguments that were shown.
    shown: String,
    /// Arguments that took the place of those before, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edits: Vec<String>,
}

/// Seals and opens what clients carry.
pub(crate) struct Rounds {
    codec: RequestStateCodec,
    spent: Mutex<HashMap<String, Instant>>,
}

impl Rounds {
    pub(crate) fn new() -> Result<Self, ServeError> {
        let codec = RequestStateCodec::try_new(random::<32>()?)
            .map_err(|error| ServeError::Random(error.to_string()))?;
        Ok(Self { codec, spent: Mutex::default() })
    }

    /// What a call brings from an earlier round.
    ///
    /// # Errors
    /// `-32602`: the state is not of our making, or belongs to another call.
    pub(crate) fn open(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
        binding: &str,
    ) -> Result<Round, ErrorData> {
        let Some(sealed) = state else {
            // Without a question there is no answer.
            return Ok(Round::default());
        };
        let bytes = match self.codec.open_with(sealed, binding.as_bytes()) {
            Ok(bytes) => bytes,
            // It lapsed: ask again.
            Err(RequestStateError::Expired) => return Ok(Round::default()),
            Err(error) => {
                return Err(ErrorData::invalid_params(
                    format!("requestState is not one that this server gave for this call: {error}"),
                    None,
                ));
            }
        };
        let state: State = serde_json::from_slice(&bytes)
            .map_err(|error| ErrorData::invalid_params(format!("requestState: {error}"), None))?;
        if self.is_spent(&state.nonce) {
            return Ok(Round::default());
        }
        let answer = responses.and_then(|responses| responses.get(KEY)).map(read).transpose()?;
        Ok(Round { state: Some(state), answer })
    }

    /// The result that asks.
    pub(crate) fn ask(
        &self,
        asked: &Asked,
        binding: &str,
    ) -> Result<InputRequiredResult, ErrorData> {
        let form = form_of(&asked.question)?;
        let nonce = random::<16>().map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
        let state = State {
            nonce: hash(&format!("{nonce:?}")),
            shown: asked.shown.clone(),
            edits: asked.edits.clone(),
        };
        let bytes = serde_json::to_vec(&state)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let options =
            SealOptions::new().associated_data(binding.as_bytes()).ttl(left(&asked.question));
        let sealed = self.codec.seal_with(&bytes, &options);
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let requests: InputRequests = [(KEY.to_owned(), request)].into();
        Ok(InputRequiredResult::new(Some(requests), Some(sealed)))
    }

    fn is_spent(&self, nonce: &str) -> bool {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.contains_key(nonce)
    }

    /// Whether this is the first use of a state.
    fn spend(&self, nonce: &str) -> bool {
        let now = Instant::now();
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        // What has lapsed since cannot be opened any more.
        spent.retain(|_, until| *until > now);
        spent.insert(nonce.to_owned(), now + LONGEST).is_none()
    }
}

/// What a call brings from the round before.
#[derive(Debug, Default)]
pub(crate) struct Round {
    state: Option<State>,
    answer: Option<ElicitResult>,
}

fn read(answer: &Value) -> Result<ElicitResult, ErrorData> {
    serde_json::from_value(answer.clone()).map_err(|error| {
        ErrorData::invalid_params(
            format!("inputResponses.{KEY} is no result of elicitation/create: {error}"),
            None,
        )
    })
}

/// Until when an answer counts.
fn left(question: &Question) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    question.expires_at.map_or(LONGEST, |at| {
        Duration::from_millis(at).saturating_sub(now).clamp(Duration::from_millis(1), LONGEST)
    })
}

/// What a call's answer is good for: this tool, these arguments, this caller.
pub(crate) fn binding(tool: &str, arguments: &str, caller: &Value) -> String {
    hash(&format!("tools/call\n{tool}\n{caller}\n{arguments}"))
}

/// A question that has to go to the client.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    question: Question,
    shown: String,
    edits: Vec<String>,
}

/// Answers questions with what the round before brought, and stops the call at the first that it
/// does not answer.
pub(crate) struct RoundApprover {
    rounds: Arc<Rounds>,
    round: Round,
    fingerprint: String,
    progress: Mutex<Progress>,
    /// Stops the call that asked.
    stop: CancellationToken,
}

#[derive(Default)]
struct Progress {
    /// Edits of the state that were made again so far.
    replayed: usize,
    answered: bool,
    /// Whether the state was used up by this call.
    spent: bool,
    edits: Vec<String>,
    asked: Option<Asked>,
}

impl RoundApprover {
    pub(crate) fn new(
        rounds: Arc<Rounds>,
        round: Round,
        tool: &Tool,
        stop: CancellationToken,
    ) -> Self {
        let fingerprint = tool.fingerprint();
        Self { rounds, round, fingerprint, progress: Mutex::default(), stop }
    }

    /// The question that went unanswered.
    pub(crate) fn unanswered(&self) -> Option<Asked> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }

    /// The word on a question, if the round before has it.
    fn word(&self, question: &Question) -> Option<Word> {
        let shown = hash(&format!("{}\n{}", self.fingerprint, question.arguments));
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.known(question, &shown, &mut progress);
        if let Some(Word { decision: Decision::Edit { arguments }, .. }) = &known {
            progress.edits.push(arguments.to_string());
        }
        if known.is_none() {
            let edits = progress.edits.clone();
            progress.asked = Some(Asked { question: question.clone(), shown, edits });
        }
        known
    }

    fn known(&self, question: &Question, shown: &str, progress: &mut Progress) -> Option<Word> {
        let state = self.round.state.as_ref()?;
        let word = match state.edits.get(progress.replayed) {
            // The call starts over with the arguments that it came with: edits are made again.
            Some(edit) => {
                progress.replayed += 1;
                let decision = Decision::Edit { arguments: edit.as_str().into() };
                Word { decision, by: Some("The user".into()) }
            }
            // Law 8: an answer to anything but exactly this is no answer.
            None if progress.answered || state.shown != shown => return None,
            None => {
                let word = word_of(question, self.round.answer.as_ref()?)?;
                progress.answered = true;
                word
            }
        };
        if !progress.spent && !self.rounds.spend(&state.nonce) {
            return None;
        }
        progress.spent = true;
        Some(word)
    }
}

impl Approver for RoundApprover {
    fn ask(&self, question: Question) -> WordFuture<'_> {
        let word = self.word(&question);
        Box::pin(async move {
            match word {
                Some(word) => word,
                None => {
                    self.stop.cancel();
                    // The run's end drops this.
                    std::future::pending().await
                }
            }
        })
    }
}
