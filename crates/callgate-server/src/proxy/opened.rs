//! Models by name, opened once.

use std::{
    error::Error,
    sync::{Arc, Mutex, PoisonError},
};

use callgate_model::Model;
use callgate_wire::inbound::{Refusal, RefusalKind};
use tokio::sync::OnceCell;

/// How many models are kept open. Clients name them, so there is a bound.
const KEPT: usize = 64;

/// A model, or why it cannot be had, in words for the client's developer.
pub type Opened = Result<Arc<dyn Model>, Box<dyn Error + Send + Sync>>;

/// Where models come from: a [`Registry`](callgate_model::Registry), or whoever knows more, such as
/// the model in this process.
pub trait Opener: Send + Sync + 'static {
    /// The model of a name, `provider:model`. May block.
    ///
    /// # Errors
    /// There is none of that name here, or something it needs is missing.
    fn open(&self, spec: &str) -> Opened;
}

impl<F> Opener for F
where
    F: Fn(&str) -> Opened + Send + Sync + 'static,
{
    fn open(&self, spec: &str) -> Opened {
        self(spec)
    }
}

impl Opener for callgate_model::Registry {
    fn open(&self, spec: &str) -> Opened {
        Ok(Arc::from(Self::open(self, spec, None)?))
    }
}

type Cell = Arc<OnceCell<Arc<dyn Model>>>;

/// The models that are open.
pub(super) struct Models {
    opener: Arc<dyn Opener>,
    open: Mutex<Vec<(String, Cell)>>,
}

impl Models {
    pub(super) fn new(opener: Arc<dyn Opener>) -> Self {
        Self { opener, open: Mutex::default() }
    }

    /// The model of a name, opened now or before. One that cannot be opened is tried anew each time.
    pub(super) async fn get(&self, spec: &str) -> Result<Arc<dyn Model>, Refusal> {
        let cell = self.cell(spec);
        let model = cell.get_or_try_init(async || {
            let (opener, spec) = (self.opener.clone(), spec.to_owned());
            // A model in this process is read from disk.
            let opening = tokio::task::spawn_blocking(move || opener.open(&spec));
            match opening.await {
                Ok(Ok(model)) => Ok(model),
                Ok(Err(error)) => Err(Refusal {
                    param: Some("model".to_owned()),
                    ..Refusal::new(RefusalKind::NotFound, error.to_string())
                        .with_code("model_not_found")
                }),
                Err(_) => Err(Refusal::new(RefusalKind::Internal, "the model could not be opened")),
            }
        });
        model.await.cloned()
    }

    fn cell(&self, spec: &str) -> Cell {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // The least recently used one stands first.
        let kept = open.iter().position(|(other, _)| other == spec).map(|at| open.remove(at));
        let entry = kept.unwrap_or_else(|| {
            if open.len() >= KEPT {
                open.remove(0);
            }
            (spec.to_owned(), Cell::default())
        });
        let cell = entry.1.clone();
        open.push(entry);
        cell
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use callgate_model::ScriptedModel;

    use super::*;

    #[tokio::test]
    async fn once_and_within_bounds() {
        let opened = Arc::new(AtomicUsize::new(0));
        let count = opened.clone();
        let models = Models::new(Arc::new(move |spec: &str| -> Opened {
            count.fetch_add(1, Ordering::SeqCst);
            if spec == "bad" {
                return Err("there is no such model".into());
            }
            Ok(Arc::new(ScriptedModel::from_json(r#"{"replies":[]}"#)?))
        }));
        for _ in 0..3 {
            models.get("a").await.unwrap();
        }
        assert_eq!(opened.load(Ordering::SeqCst), 1);
        for n in 2..4 {
            let refusal = models.get("bad").await.err().unwrap();
            assert_eq!(refusal.message, "there is no such model");
            assert_eq!(opened.load(Ordering::SeqCst), n);
        }
        for n in 0..100 {
            models.get(&n.to_string()).await.unwrap();
        }
        assert_eq!(models.open.lock().unwrap().len(), KEPT);
    }
}
