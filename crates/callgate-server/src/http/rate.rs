//! How often: a bucket for every token, and one for every address that shows wrong ones.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// Requests in a time: so many at once, so many a second after that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rate {
    /// Requests a second, in the long run; more than 0.
    pub per_second: f64,
    /// Requests at once; at least 1.
    pub burst: u32,
}

impl Rate {
    /// The least that is let through, so that a mistake in a file does not lock somebody out.
    fn sound(self) -> Self {
        let per_second = if self.per_second.is_finite() { self.per_second } else { f64::MAX };
        Self { per_second: per_second.max(0.001), burst: self.burst.max(1) }
    }
}

/// A bucket that fills with time, and empties by use.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn full(rate: Rate, now: Instant) -> Self {
        Self { left: f64::from(rate.burst), at: now }
    }

    fn fill(&mut self, rate: Rate, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * rate.per_second).min(f64::from(rate.burst));
        self.at = now;
    }

    /// How long until there is one to take.
    fn wait(&self, rate: Rate) -> Option<Duration> {
        let missing = 1.0 - self.left;
        // A hair's breadth is rounding.
        (missing > 1e-9).then(|| {
            Duration::try_from_secs_f64(missing / rate.per_second)
                .unwrap_or(Duration::from_secs(3600))
        })
    }

    fn take(&mut self, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.fill(rate, now);
        match self.wait(rate) {
            None => {
                self.left -= 1.0;
                Ok(())
            }
            Some(wait) => Err(wait),
        }
    }

    fn is_full(&mut self, rate: Rate, now: Instant) -> bool {
        self.fill(rate, now);
        self.left >= f64::from(rate.burst)
    }
}

/// Buckets of tokens, by name.
#[derive(Debug, Default)]
pub(super) struct ByToken(Mutex<HashMap<Arc<str>, Bucket>>);

impl ByToken {
    /// One request, or how long to wait.
    pub(super) fn take(&self, name: &Arc<str>, rate: Rate, now: Instant) -> Result<(), Duration> {
        let rate = rate.sound();
        // Names are those of a file that its owner writes: few.
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(name.clone()).or_insert_with(|| Bucket::full(rate, now));
        bucket.take(rate, now)
    }
}

/// Wrong tokens that an address may show: a slip of the hand is none, guessing is.
const WRONG: Rate = Rate { per_second: 0.5, burst: 20 };

/// Addresses that are remembered; beyond it those that behaved longest are forgotten.
const ADDRESSES: usize = 10_000;

/// Tokens of one address that are remembered as right.
const KNOWN: usize = 32;

/// What is known of addresses that came with tokens.
///
/// Once an address has used up its mistakes, only tokens that came from there rightly before are
/// still looked at: guessing ends, and others behind the same proxy go on.
#[derive(Debug, Default)]
pub(super) struct ByAddress(Mutex<HashMap<IpAddr, Stranger>>);

#[derive(Debug)]
struct Stranger {
    bucket: Bucket,
    known: Vec<Arc<str>>,
}

impl ByAddress {
    /// Judges a request of an address that showed a token of this name, or a wrong one.
    ///
    /// # Errors
    /// The address has to wait that long, whatever it shows.
    pub(super) fn judge(
        &self,
        address: IpAddr,
        right: Option<&Arc<str>>,
        now: Instant,
    ) -> Result<(), Duration> {
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let address = network(address);
        if strangers.len() >= ADDRESSES && !strangers.contains_key(&address) {
            forget(&mut strangers, now);
        }
        let stranger = strangers
            .entry(address)
            .or_insert_with(|| Stranger { bucket: Bucket::full(WRONG, now), known: Vec::new() });
        stranger.bucket.fill(WRONG, now);
        match right {
            None => stranger.bucket.take(WRONG, now),
            Some(name) if stranger.known.contains(name) => Ok(()),
            Some(name) => match stranger.bucket.wait(WRONG) {
                Some(wait) => Err(wait),
                None => {
                    if stranger.known.len() < KNOWN {
                        stranger.known.push(name.clone());
                    }
                    Ok(())
                }
            },
        }
    }
}

/// Makes room: whoever has behaved goes, then whoever has erred little, then anybody.
fn forget(strangers: &mut HashMap<IpAddr, Stranger>, now: Instant) {
    strangers.retain(|_, stranger| !stranger.bucket.is_full(WRONG, now));
    if strangers.len() >= ADDRESSES {
        let much = f64::from(WRONG.burst) / 2.0;
        strangers.retain(|_, stranger| stranger.bucket.left < much);
    }
    if strangers.len() >= ADDRESSES {
        // An eighth at once, so that not every newcomer costs a look at all of them.
        let mut place = 0_usize;
        strangers.retain(|_, _| {
            place += 1;
            !place.is_multiple_of(8)
        });
    }
}

/// Whoever has an IPv6 address has its whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let mut octets = v6.octets();
            octets[8..].fill(0);
            IpAddr::V6(octets.into())
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (all, now) = (ByToken::default(), Instant::now());
        let name: Arc<str> = "ci".into();
        let rate = Rate { per_second: 10.0, burst: 3 };
        for _ in 0..3 {
            assert!(all.take(&name, rate, now).is_ok());
        }
        let wait = all.take(&name, rate, now).unwrap_err();
        assert_eq!(wait.as_millis(), 100);
        assert!(all.take(&name, rate, at(now, 99)).is_err());
        assert!(all.take(&name, rate, at(now, 200)).is_ok());
        // Others have their own, and a rest fills no more than the burst.
        assert!(all.take(&"other".into(), rate, now).is_ok());
        for _ in 0..3 {
            assert!(all.take(&name, rate, at(now, 60_000)).is_ok());
        }
        assert!(all.take(&name, rate, at(now, 60_000)).is_err());
        // A rate that lets nobody in is none.
        let never = Rate { per_second: 0.0, burst: 0 };
        assert!(all.take(&"never".into(), never, now).is_ok());
    }

    #[test]
    fn guessing_ends_and_neighbours_go_on() {
        let (all, now) = (ByAddress::default(), Instant::now());
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let (old, new): (Arc<str>, Arc<str>) = ("old".into(), "new".into());
        assert!(all.judge(address, Some(&old), now).is_ok());
        for _ in 0..WRONG.burst {
            assert!(all.judge(address, None, now).is_ok());
        }
        let wait = all.judge(address, None, now).unwrap_err();
        assert!(wait <= Duration::from_secs(2), "{wait:?}");
        // A right guess is not told from a wrong one.
        assert_eq!(all.judge(address, Some(&new), now).unwrap_err(), wait);
        assert!(all.judge(address, Some(&old), now).is_ok());
        assert!(all.judge("192.0.2.2".parse().unwrap(), None, now).is_ok());
        assert!(all.judge(address, Some(&new), at(now, 2_100)).is_ok());
    }

    #[test]
    fn an_ipv6_network_is_one_address_and_memory_has_its_limit() {
        let (all, now) = (ByAddress::default(), Instant::now());
        for last in 0..WRONG.burst {
            let address = format!("2001:db8::{last:x}").parse().unwrap();
            assert!(all.judge(address, None, now).is_ok());
        }
        assert!(all.judge("2001:db8::ffff".parse().unwrap(), None, now).is_err());
        assert!(all.judge("2001:db8:0:1::1".parse().unwrap(), None, now).is_ok());
        for n in 0..ADDRESSES as u32 + 50 {
            let _ = all.judge(IpAddr::V4(n.into()), None, now);
        }
        assert!(all.0.lock().unwrap().len() <= ADDRESSES);
        // The one that guesses most is not among the forgotten.
        assert!(all.judge("2001:db8::ffff".parse().unwrap(), None, now).is_err());
    }
}
