//! Asking the model until there is an answer.

use std::{future::Future, time::Duration};

use callgate_model::Model;
use callgate_wire::{Delta, inbound::Refusal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    live::Live,
    trail::Trail,
    turn::{Answer, Next, Turn},
};

/// Asks until the turn is over. With `live`, words are shown as they come; `trail` hears of every
/// attempt, `after` sees the turn after it.
///
/// Dropping the future stops the request that is under way.
pub(super) async fn drive(
    model: &dyn Model,
    turn: &mut Turn,
    live: Option<&Live>,
    trail: &Trail,
    mut after: impl FnMut(&mut Turn),
) -> Result<Box<Answer>, Refusal> {
    loop {
        turn.trace(trail.asks());
        let outcome = match live {
            Some(live) => {
                let show = |delta: Delta| live.delta(delta);
                model.reply(turn.request(), Some(&show)).await
            }
            None => model.reply(turn.request(), None).await,
        };
        trail.told(&outcome);
        let next = match outcome {
            Ok(reply) => turn.replied(reply),
            Err(error) => {
                tracing::debug!(model = model.id(), kind = ?error.kind, "no reply");
                turn.failed(&error, &live.map(Live::words).unwrap_or_default())
            }
        };
        after(turn);
        match next {
            Next::Done(answer) => return Ok(answer),
            Next::Over(refusal) => return Err(refusal),
            Next::Again => {
                tracing::debug!(model = model.id(), "the reply goes back to the model");
                if let Some(live) = live {
                    live.again();
                }
            }
        }
    }
}

/// Shows that the connection is alive while something else has nothing to say.
pub(super) async fn alive<T>(live: &Live, every: Duration, work: impl Future<Output = T>) -> T {
    // An interval of nothing panics.
    let every = every.max(Duration::from_millis(10));
    let mut ticks = interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = ticks.tick() => live.keep_alive(),
        }
    }
}
