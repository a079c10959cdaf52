//! Which destinations a contract names.

use std::{fmt, net::IpAddr, str::FromStr};

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;
use url::{Host, Url};

use super::address::{canonical, in_network};

/// A destination that a contract names: `127.0.0.1`, `127.0.0.1:8080`, `[::1]:8080`,
/// `billing.internal`, `*.internal`, `10.0.0.0/8`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Allowed {
    who: Who,
    port: Option<u16>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Who {
    Address(IpAddr),
    Network(IpAddr, u32),
    Name(String),
    Below(String),
}

/// Not a destination.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{text}` names no destination: write a host or address, with `:port` if only one is meant, `*.domain` or a network such as `10.0.0.0/8`"
)]
pub struct BadDestination {
    text: String,
}

/// Host and port of a URL, as the guard compares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
}

impl Authority {
    /// Of an http or https URL. A trailing dot of the name is no other host.
    pub fn of(url: &Url) -> Option<Self> {
        let host = match url.host()? {
            Host::Domain(name) => Host::Domain(plain_name(name)),
            other => other.to_owned(),
        };
        Some(Self { host, port: url.port_or_known_default()? })
    }

    /// The address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(v4) => Some(v4.into()),
            Host::Ipv6(v6) => Some(v6.into()),
            Host::Domain(_) => None,
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Allowed {
    /// One host and port, as the URL of a contract names them.
    pub fn authority(authority: &Authority) -> Self {
        let who = match &authority.host {
            Host::Domain(name) => Who::Name(name.clone()),
            Host::Ipv4(v4) => Who::Address((*v4).into()),
            Host::Ipv6(v6) => Who::Address(canonical((*v6).into())),
        };
        Self { who, port: Some(authority.port), text: authority.to_string() }
    }

    /// Whether it names this host by its name.
    pub(crate) fn names_host(&self, authority: &Authority) -> bool {
        let Host::Domain(host) = &authority.host else { return false };
        self.port_fits(authority)
            && match &self.who {
                Who::Name(name) => name == host,
                Who::Below(domain) => {
                    host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'))
                }
                Who::Address(_) | Who::Network(..) => false,
            }
    }

    /// Whether it names this address itself.
    pub(crate) fn names_address(&self, authority: &Authority, address: IpAddr) -> bool {
        let address = canonical(address);
        self.port_fits(authority)
            && match (&self.who, address) {
                (Who::Address(named), _) => *named == address,
                (Who::Network(IpAddr::V4(n), length), IpAddr::V4(a)) => {
                    in_network(a.to_bits().into(), n.to_bits().into(), *length, 32)
                }
                (Who::Network(IpAddr::V6(n), length), IpAddr::V6(a)) => {
                    in_network(a.to_bits(), n.to_bits(), *length, 128)
                }
                _ => false,
            }
    }

    fn port_fits(&self, authority: &Authority) -> bool {
        self.port.is_none_or(|port| port == authority.port)
    }
}

/// Lower case, without the trailing dot of a fully qualified name.
fn plain_name(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

impl FromStr for Allowed {
    type Err = BadDestination;

    fn from_str(text: &str) -> Result<Self, BadDestination> {
        let bad = || BadDestination { text: text.to_owned() };
        let made = |who, port| Ok(Self { who, port, text: text.to_owned() });
        if let Ok(address) = text.parse::<IpAddr>() {
            return made(Who::Address(canonical(address)), None);
        }
        if let Some((address, length)) = text.split_once('/') {
            let address: IpAddr = address.parse().map_err(|_| bad())?;
            let width = if address.is_ipv4() { 32 } else { 128 };
            let length = length.parse().ok().filter(|l| *l <= width).ok_or_else(bad)?;
            return made(Who::Network(address, length), None);
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
                (host, Some(port.parse().map_err(|_| bad())?))
            }
            _ => (text, None),
        };
        let below = host.strip_prefix("*.");
        match Host::parse(below.unwrap_or(host)).map_err(|_| bad())? {
            Host::Domain(name) if below.is_some() => made(Who::Below(plain_name(&name)), port),
            Host::Domain(name) if !name.contains('*') => made(Who::Name(plain_name(&name)), port),
            Host::Ipv4(v4) if below.is_none() => made(Who::Address(v4.into()), port),
            Host::Ipv6(v6) if below.is_none() => made(Who::Address(canonical(v6.into())), port),
            _ => Err(bad()),
        }
    }
}

impl TryFrom<String> for Allowed {
    type Error = BadDestination;

    fn try_from(text: String) -> Result<Self, BadDestination> {
        text.parse()
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl JsonSchema for Allowed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Destination".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A destination: a host or address, `host:port`, `*.domain`, or a network such as `10.0.0.0/8`."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named() {
        // entry, URL, an address of it, by host, by address
        let rows = [
            ("127.0.0.1", "http://127.0.0.1:9/", "127.0.0.1", false, true),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/", "127.0.0.1", false, true),
            ("127.0.0.1:8080", "http://127.0.0.1:8081/", "127.0.0.1", false, false),
            ("127.0.0.1", "http://2130706433/", "127.0.0.1", false, true),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1", false, true),
            ("[::1]:80", "http://[::1]/", "::1", false, true),
            ("::1", "http://[::1]/", "::1", false, true),
            ("billing.internal", "http://Billing.Internal./", "10.0.0.1", true, false),
            ("billing.internal:443", "https://billing.internal/", "10.0.0.1", true, false),
            ("billing.internal:443", "http://billing.internal/", "10.0.0.1", false, false),
            ("*.internal", "http://a.b.internal/", "10.0.0.1", true, false),
            ("*.internal", "http://internal/", "10.0.0.1", false, false),
            ("*.internal", "http://notinternal/", "10.0.0.1", false, false),
            ("10.0.0.0/8", "http://pub.test/", "10.9.9.9", false, true),
            ("10.0.0.0/8", "http://pub.test/", "11.0.0.1", false, false),
            ("fd00::/8", "http://pub.test/", "fd12::1", false, true),
            ("0.0.0.0/0", "http://pub.test/", "11.0.0.1", false, true),
        ];
        for (entry, url, address, by_host, by_address) in rows {
            let allowed: Allowed = entry.parse().unwrap();
            let authority = Authority::of(&url.parse().unwrap()).unwrap();
            assert_eq!(allowed.names_host(&authority), by_host, "{entry} {url}");
            let address = address.parse().unwrap();
            assert_eq!(allowed.names_address(&authority, address), by_address, "{entry} {url}");
        }
    }

    #[test]
    fn what_names_nothing() {
        for entry in ["", "*", "a.*", "http://x/", "10.0.0.0/33", "x:99999", "*.10.0.0.1", "a b"] {
            assert!(entry.parse::<Allowed>().is_err(), "{entry}");
        }
    }
}
