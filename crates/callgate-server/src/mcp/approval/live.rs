//! Legacy clients: the question is a request of the server's while the call waits.

use callgate_engine::{Approver, Word, WordFuture};
use callgate_machine::Question;
use rmcp::{Peer, RoleServer, model::ElicitRequestParams};
use tokio::sync::{mpsc, oneshot};

use super::form::{form_of, word_of};

/// A question, and where the word on it goes.
pub(crate) type Asked = (Question, oneshot::Sender<Word>);

/// Hands questions to the task that serves the call: rmcp ties requests of the server's to the
/// client's by the task that makes them.
#[derive(Debug)]
pub(crate) struct LiveApprover(mpsc::UnboundedSender<Asked>);

impl LiveApprover {
    /// The approver, and where its questions come out.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Asked>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
}

impl Approver for LiveApprover {
    fn ask(&self, question: Question) -> WordFuture<'_> {
        let (sender, receiver) = oneshot::channel();
        // Whoever would ask is gone: the receiver below says so.
        let _ = self.0.send((question, sender));
        Box::pin(async move {
            receiver.await.unwrap_or_else(|_| {
                Word::reject("The runtime", "the client went away before anybody answered")
            })
        })
    }
}

/// Asks the client's user.
pub(crate) async fn ask(peer: &Peer<RoleServer>, question: &Question) -> Word {
    let form: ElicitRequestParams = match form_of(question) {
        Ok(form) => form,
        Err(error) => return Word::reject("The runtime", &error.message),
    };
    match peer.create_elicitation(form).await {
        Ok(answer) => word_of(question, &answer).unwrap_or_else(|| {
            let why = "the client's answer to the approval form does not fit the form";
            Word::reject("The runtime", why)
        }),
        Err(error) => {
            Word::reject("The runtime", &format!("the client could not ask anybody ({error})"))
        }
    }
}
