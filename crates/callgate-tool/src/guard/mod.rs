//! The destination guard: where a tool's request may go.
//!
//! A model chooses arguments, and arguments can become a URL or a redirect. So a request goes to
//! public addresses only, unless the *contract* names the destination: literally in its own `url`
//! (also through `${VAR}`: its author's word, not the model's), or in `allow`. A host that comes
//! from an argument is never named by that.
//!
//! - Judged is the address that is connected to, after resolution, and the connection goes to
//!   exactly the judged addresses: a name that answers differently the second time changes nothing.
//! - One refused address refuses the name. A name with a public and a private address is an attack
//!   or a mistake, and picking the public one would leave it to chance.
//! - Every redirect is judged like the first hop, must not carry credentials in its URL, and must
//!   not step down from https to http.
//! - Odd spellings (`http://2130706433/`, `http://0x7f.1/`, `http://localhost./`) are read by the
//!   WHATWG URL parser, the same that the HTTP client uses: there is one opinion on what they mean.
//! - A host name in a contract admits loopback and private addresses; link-local, metadata,
//!   multicast and reserved ones only where the address itself is named, since a name is its
//!   owner's to point elsewhere.
//!
//! Not here: whether a person approves of a destination. That is the tool's tier.

mod address;
mod allow;

use std::{future::Future, io, net::IpAddr, pin::Pin};

use thiserror::Error;
use url::Host;

pub use address::{Place, place};
pub use allow::{Allowed, Authority, BadDestination};
#[doc(no_inline)]
pub use url::Url;

/// How many redirects are followed.
pub const MAX_REDIRECTS: usize = 5;

/// Where requests may go.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    allow: Vec<Allowed>,
}

impl Policy {
    /// Public destinations over http and https, nothing else.
    pub fn public() -> Self {
        Self::default()
    }

    /// These as well.
    #[must_use]
    pub fn allow(mut self, allowed: impl IntoIterator<Item = Allowed>) -> Self {
        self.allow.extend(allowed);
        self
    }

    fn admits(&self, authority: &Authority, address: IpAddr, place: Place) -> bool {
        self.allow.iter().any(|allowed| {
            allowed.names_address(authority, address)
                || (place.may_be_named_by_host() && allowed.names_host(authority))
        })
    }
}

/// A destination that is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Denied {
    /// No URL at all.
    #[error("`{url}` is not a URL")]
    NotAUrl {
        /// What came.
        url: String,
    },
    /// Neither http nor https.
    #[error("{scheme}: URLs are not fetched, only http and https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// A user name or password in a URL that the contract did not write.
    #[error("a URL with a user name or password in it is not fetched")]
    Credentials,
    /// An address that is not public and not named.
    #[error("{host} is {place} ({address}), which this tool may not reach", host = host.host)]
    Address {
        /// The host as the URL names it.
        host: Authority,
        /// The address it stands for.
        address: IpAddr,
        /// What kind of place that is.
        place: Place,
    },
    /// From https to http.
    #[error("{from} redirected to unencrypted http")]
    Downgrade {
        /// The host that did.
        from: String,
    },
    /// More than [`MAX_REDIRECTS`].
    #[error("more than {MAX_REDIRECTS} redirects")]
    TooManyRedirects,
    /// The name has no address.
    #[error("the host {host} is not found")]
    Unresolved {
        /// The name.
        host: String,
    },
}

/// A destination that was judged: connect to these addresses and no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Host and port.
    pub authority: Authority,
    /// Every address it may be connected at; never empty.
    pub addresses: Vec<IpAddr>,
}

/// Judges one hop: a URL and the addresses that its host resolved to.
///
/// For a host that is an address itself `resolved` is not looked at.
///
/// ```
/// use callgate_tool::guard::{Policy, judge};
///
/// let policy = Policy::public();
/// let url = "https://example.com/".parse().unwrap();
/// assert!(judge(&url, &["93.184.216.34".parse().unwrap()], &policy).is_ok());
/// assert!(judge(&url, &["127.0.0.1".parse().unwrap()], &policy).is_err());
///
/// let named = Policy::public().allow(["127.0.0.1:8080".parse().unwrap()]);
/// assert!(judge(&"http://127.0.0.1:8080/x".parse().unwrap(), &[], &named).is_ok());
/// assert!(judge(&"http://127.0.0.1:8081/x".parse().unwrap(), &[], &named).is_err());
/// ```
pub fn judge(url: &Url, resolved: &[IpAddr], policy: &Policy) -> Result<Destination, Denied> {
    let authority = authority(url)?;
    let addresses = authority.address().map_or_else(|| resolved.to_vec(), |a| vec![a]);
    if addresses.is_empty() {
        return Err(Denied::Unresolved { host: authority.host.to_string() });
    }
    for &address in &addresses {
        if let Some(place) = place(address)
            && !policy.admits(&authority, address, place)
        {
            return Err(Denied::Address { host: authority, address, place });
        }
    }
    Ok(Destination { authority, addresses })
}

/// Host and port of a URL that may be fetched at all.
pub(crate) fn authority(url: &Url) -> Result<Authority, Denied> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Denied::Scheme { scheme: url.scheme().to_owned() });
    }
    Authority::of(url).ok_or_else(|| Denied::NotAUrl { url: url.to_string() })
}

/// Reads a URL that an argument or a server chose.
pub fn parse_untrusted(url: &str) -> Result<Url, Denied> {
    without_credentials(Url::parse(url).map_err(|_| Denied::NotAUrl { url: url.to_owned() })?)
}

/// Where a redirect leads. The result has still to be judged.
pub fn next_hop(from: &Url, location: &str) -> Result<Url, Denied> {
    let next = from.join(location).map_err(|_| Denied::NotAUrl { url: location.to_owned() })?;
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(Denied::Downgrade { from: from.host_str().unwrap_or_default().to_owned() });
    }
    without_credentials(next)
}

fn without_credentials(mut url: Url) -> Result<Url, Denied> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Denied::Credentials);
    }
    url.set_fragment(None);
    Ok(url)
}

/// The addresses of a name, on their way.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Turns names into addresses.
pub trait Resolver: Send + Sync {
    /// Every address of a host name.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Resolves and judges one hop.
pub async fn admit(
    url: &Url,
    policy: &Policy,
    resolver: &dyn Resolver,
) -> Result<Destination, Denied> {
    let resolved = match authority(url)?.host {
        // A name that cannot be resolved has no addresses: `judge` says so.
        Host::Domain(name) => resolver.resolve(&name).await.unwrap_or_default(),
        _ => Vec::new(),
    };
    judge(url, &resolved, policy)
}

/// Walks a URL chosen by an argument, and its redirects, without fetching anything: what the HTTP
/// backend would do if servers answered as `redirect` says.
///
/// This is how the cases of the family `security` are run.
pub fn walk(
    url: &str,
    policy: &Policy,
    resolve: impl Fn(&str) -> Vec<IpAddr>,
    redirect: impl Fn(&Url) -> Option<String>,
) -> Result<Url, Denied> {
    let mut url = Url::parse(url).map_err(|_| Denied::NotAUrl { url: url.to_owned() })?;
    for hop in 0..=MAX_REDIRECTS {
        let resolved = match authority(&url)?.host {
            Host::Domain(name) => resolve(&name),
            _ => Vec::new(),
        };
        judge(&url, &resolved, policy)?;
        if hop == 0 {
            url = without_credentials(url)?;
        }
        match redirect(&url) {
            Some(location) => url = next_hop(&url, &location)?,
            None => return Ok(url),
        }
    }
    Err(Denied::TooManyRedirects)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(host: &str) -> Vec<IpAddr> {
        let addresses: &[&str] = match host {
            "pub.test" | "other.test" => &["93.184.216.34"],
            "reb.test" | "billing.internal" | "localhost" => &["127.0.0.1"],
            "mix.test" => &["93.184.216.34", "10.0.0.5"],
            "meta.internal" => &["169.254.169.254"],
            _ => &[],
        };
        addresses.iter().map(|a| a.parse().unwrap()).collect()
    }

    fn redirect(url: &Url) -> Option<String> {
        let to = match url.as_str() {
            "https://pub.test/r" => "http://169.254.169.254/latest/",
            "https://pub.test/meta" => "https://169.254.169.254/latest/",
            "https://pub.test/name" => "//reb.test/",
            "https://pub.test/ok" => "/a",
            "https://pub.test/down" => "http://pub.test/a",
            "https://pub.test/user" => "https://me:pw@other.test/",
            "https://pub.test/file" => "file:///etc/passwd",
            "https://pub.test/loop" => "/loop",
            _ => return None,
        };
        Some(to.to_owned())
    }

    #[test]
    fn public_policy() {
        // URL, what is said (nothing: admitted)
        let rows = [
            ("https://pub.test/a", ""),
            ("https://pub.test/ok", ""),
            ("http://127.0.0.1:9/", "this machine"),
            ("http://169.254.169.254/latest/", "metadata"),
            ("http://[::1]/", "this machine"),
            ("http://[::ffff:127.0.0.1]/", "this machine"),
            ("http://2130706433/", "this machine"),
            ("http://0x7f.1/", "this machine"),
            ("http://0177.0.0.1/", "this machine"),
            ("http://127.1/", "this machine"),
            ("http://localhost./", "this machine"),
            ("http://reb.test/", "this machine"),
            ("http://mix.test/", "a private network (10.0.0.5)"),
            ("http://0.0.0.0/", "no particular address"),
            ("http://user@10.1.2.3/", "private network"),
            ("http://user:pw@pub.test/", "user name or password"),
            ("http://nowhere.test/", "not found"),
            ("file:///etc/passwd", "file: URLs"),
            ("gopher://pub.test/", "gopher: URLs"),
            ("not a url", "not a URL"),
            ("https://pub.test/r", "unencrypted"),
            ("https://pub.test/meta", "metadata"),
            ("https://pub.test/name", "this machine"),
            ("https://pub.test/down", "unencrypted"),
            ("https://pub.test/user", "user name or password"),
            ("https://pub.test/file", "file: URLs"),
            ("https://pub.test/loop", "more than 5 redirects"),
        ];
        for (url, expected) in rows {
            match walk(url, &Policy::public(), resolve, redirect) {
                Ok(_) => assert_eq!(expected, "", "{url} was admitted"),
                Err(denied) => {
                    let said = denied.to_string();
                    assert!(!expected.is_empty() && said.contains(expected), "{url}: {said}");
                }
            }
        }
    }

    #[test]
    fn named_destinations() {
        // allowed, URL, admitted
        let rows = [
            ("billing.internal", "http://billing.internal/", true),
            ("billing.internal:80", "http://billing.internal:81/", false),
            ("billing.internal", "http://reb.test/", false),
            ("127.0.0.1", "http://reb.test/", true),
            ("127.0.0.1:80", "http://127.0.0.1:81/", false),
            ("*.internal", "http://billing.internal/", true),
            // A name is not enough for a metadata address; the address is.
            ("meta.internal", "http://meta.internal/", false),
            ("169.254.169.254", "http://meta.internal/", true),
            ("10.0.0.0/8", "http://mix.test/", true),
        ];
        for (allowed, url, admitted) in rows {
            let policy = Policy::public().allow([allowed.parse().unwrap()]);
            let verdict = walk(url, &policy, resolve, |_| None);
            assert_eq!(verdict.is_ok(), admitted, "{allowed} {url}: {verdict:?}");
        }
    }
}
