//! Scopes, and the `Bearer` challenge that asks for them (RFC 6750, section 3).

use rmcp::transport::auth::WWWAuthenticateParams;
use url::Url;

/// What a challenge asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bearer {
    /// The scopes it names.
    pub(super) scopes: Vec<String>,
    /// `error="insufficient_scope"`.
    pub(super) insufficient_scope: bool,
}

impl Bearer {
    pub(super) fn parse(header: Option<&str>) -> Self {
        // The base matters for `resource_metadata` only, which discovery reads for itself.
        let (Some(header), Ok(base)) = (header, Url::parse("http://localhost/")) else {
            return Self::default();
        };
        let parameters = WWWAuthenticateParams::parse(header, &base);
        let scope = parameters.scope.as_deref().unwrap_or_default();
        Self {
            scopes: scope.split_whitespace().map(str::to_owned).collect(),
            insufficient_scope: parameters.is_insufficient_scope(),
        }
    }
}

/// Where a challenge says that the resource's metadata is (RFC 9728, section 5.1).
pub(super) fn metadata_url(header: &str, resource: &Url) -> Option<String> {
    WWWAuthenticateParams::parse(header, resource).resource_metadata_url.map(Into::into)
}

/// What is in either, each once, in the order of appearance.
pub(super) fn union(first: &[String], second: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in first.iter().chain(second) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// What of `wanted` is not in `have`.
pub(super) fn missing(wanted: &[String], have: &[String]) -> Vec<String> {
    wanted.iter().filter(|scope| !have.contains(scope)).cloned().collect()
}
