//! Work that many wait for and one task does.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
};

use tokio::{sync::watch, task::AbortHandle};

/// One piece of work at a time. Who comes while it is done waits for the same outcome; who leaves
/// does not stop it.
#[derive(Debug)]
pub(super) struct Flight<T> {
    current: Mutex<Option<Current<T>>>,
}

#[derive(Debug)]
struct Current<T> {
    outcome: watch::Receiver<Option<T>>,
    task: AbortHandle,
}

impl<T> Current<T> {
    /// The outcome is there a moment before the task is at its end.
    fn is_under_way(&self) -> bool {
        !self.task.is_finished() && self.outcome.borrow().is_none()
    }
}

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    pub(super) fn new() -> Self {
        Self { current: Mutex::new(None) }
    }

    /// The outcome of the work under way, or of this, begun now. Nothing where it was stopped.
    pub(super) async fn join<F>(&self, begin: impl FnOnce() -> F) -> Option<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut outcome = {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            match &*current {
                Some(flight) if flight.is_under_way() => flight.outcome.clone(),
                _ => {
                    let (done, outcome) = watch::channel(None);
                    let work = begin();
                    let task = tokio::spawn(async move {
                        // Nobody may be waiting any more.
                        let _ = done.send(Some(work.await));
                    });
                    *current =
                        Some(Current { outcome: outcome.clone(), task: task.abort_handle() });
                    outcome
                }
            }
        };
        outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone())
    }

    pub(super) fn is_under_way(&self) -> bool {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().is_some_and(Current::is_under_way)
    }

    pub(super) fn stop(&self) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(flight) = current {
            flight.task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;

    #[tokio::test]
    async fn many_wait_and_one_works() {
        let flight = Flight::new();
        let begun = Arc::new(AtomicU32::new(0));
        let begin = || {
            let begun = begun.clone();
            async move {
                tokio::task::yield_now().await;
                begun.fetch_add(1, Ordering::Relaxed) + 1
            }
        };
        let (a, b) = tokio::join!(flight.join(begin), flight.join(begin));
        assert_eq!((a, b), (Some(1), Some(1)));
        assert_eq!(flight.join(begin).await, Some(2));
        flight.stop();
        assert_eq!(flight.join(begin).await, Some(3));
    }

    #[tokio::test]
    async fn who_leaves_stops_nothing() {
        let flight = Flight::new();
        let (tell, told) = tokio::sync::oneshot::channel::<u32>();
        let mut told = Some(told);
        let first = flight.join(|| {
            let told = told.take();
            async move { told.unwrap().await.unwrap() }
        });
        tokio::select! {
            biased;
            _ = first => panic!("nobody told it"),
            () = tokio::task::yield_now() => {}
        }
        assert!(flight.is_under_way());
        tell.send(7).unwrap();
        // Either the flight under way, or, where it has just landed, one of its own.
        assert_eq!(flight.join(|| async { 7 }).await, Some(7));
    }
}
