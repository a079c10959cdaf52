//! Tokens: who may come in by which secret, and what each may do.
//!
//! A token is 256 bits from the system. Nobody guesses those, so its SHA-256 is all that has to be
//! kept: a slow hash or a salt protects passwords, which people choose, and would cost every
//! request its milliseconds. Hashes are compared in constant time.
//!
//! - [`Token`]: one secret, kept as its hash.
//! - [`TokensFile`]: named tokens in a file that is read again when it changes.
//! - [`TokenEntry`]: a line of it.

mod file;
mod watch;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

pub use self::file::{TokensError, TokensFile};
pub(super) use self::watch::{Stamp, Tokens};
use super::{Rate, Scope};
use crate::{ServeError, random};

/// The shortest token: 16 characters of anything random are more than anybody can try.
pub const SHORTEST_TOKEN: usize = 16;

/// How tokens that are made here begin, so that they are known for what they are where they leak.
const PREFIX: &str = "callgate_";

/// A bearer token, kept as its hash.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// A token of its text.
    ///
    /// # Errors
    /// It is too short.
    pub fn new(text: &str) -> Result<Self, ServeError> {
        let length = text.chars().count();
        if length < SHORTEST_TOKEN {
            return Err(ServeError::WeakToken(length));
        }
        Ok(Self::hashed(text))
    }

    /// A new one of 256 random bits, and its text, which is known only now.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn random() -> Result<(Self, String), ServeError> {
        use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
        let text = format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(random::<32>()?));
        Ok((Self::hashed(&text), text))
    }

    /// What was presented, whatever it is.
    pub(super) fn hashed(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Whether it is the other one; the time it takes says nothing.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    fn to_text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::from("sha256:");
        for byte in self.0 {
            // A String takes whatever is written to it.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    fn from_text(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 64 {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |c: u8| char::from(c).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        Some(Self(hash))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Serialize for Token {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_text(&text)
            .ok_or_else(|| serde::de::Error::custom("a hash is sha256: and 64 hexadecimal digits"))
    }
}

/// A named token in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenEntry {
    /// Its name: what logs and journals call whoever came with it.
    pub name: String,
    /// `sha256:` and the hash in hexadecimal digits.
    pub hash: Token,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// Who it stands for, as rules and tiers see it: an object with `id`, `roles`, claims.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub caller: Value,
    /// How often it may be used; else as the server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// When it was made, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<u64>,
    /// When it lapses, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_hash() {
        let (token, text) = Token::random().unwrap();
        assert!(text.starts_with(PREFIX) && text.len() == PREFIX.len() + 43, "{text}");
        assert!(token.is(&Token::hashed(&text)) && !token.is(&Token::random().unwrap().0));
        let written = serde_json::to_string(&token).unwrap();
        assert!(!written.contains(&text) && !format!("{token:?}").contains(&text));
        let read: Token = serde_json::from_str(&written).unwrap();
        assert!(read.is(&token));
        for wrong in ["", "sha256:", "sha256:00", "md5:00", &written[1..written.len() - 2]] {
            let text = serde_json::to_string(wrong).unwrap();
            assert!(serde_json::from_str::<Token>(&text).is_err(), "{wrong}");
        }
        let odd = format!("\"sha256:{}é\"", "0".repeat(62));
        assert!(serde_json::from_str::<Token>(&odd).is_err());
        assert!(Token::new("fifteen letters").is_err() && Token::new("sixteen  letters").is_ok());
    }
}
