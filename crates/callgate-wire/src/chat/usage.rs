//! How many tokens were used, under the names that servers have for that.

use std::{fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, de};

use crate::{
    Usage, json,
    raw::{Count, Raw},
};

/// The counts that were sent; none where it was something else, or a text or number that no parser takes:
/// that costs a reply nothing.
pub(super) fn sent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
    let raw: Raw<'de> = Deserialize::deserialize(deserializer)?;
    let counts = raw.and_then(|raw| json::from_str::<Sent<Counts>>(raw.get()).ok()?.0);
    Ok(counts.map(Counts::usage))
}

/// An object's members; nothing of anything else.
#[derive(Debug, Clone, Copy, Default)]
struct Sent<T>(Option<T>);

/// Counts of tokens.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    input: Count,
    output: Count,
    /// Of the input, where servers count that beside it.
    cached: Count,
    of_input: Sent<Details>,
    of_output: Sent<Details>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Details {
    cached: Count,
    reasoning: Count,
}

impl Counts {
    fn usage(self) -> Usage {
        let cached = self.of_input.0.and_then(|details| details.cached.0);
        let reasoning = self.of_output.0.and_then(|details| details.reasoning.0);
        Usage {
            input_tokens: self.input.0.unwrap_or(0),
            output_tokens: self.output.0.unwrap_or(0),
            cached_tokens: cached.or(self.cached.0).unwrap_or(0),
            reasoning_tokens: reasoning.unwrap_or(0),
        }
    }
}

/// What reads an object member by member. Of a member that comes twice, the first that says something
/// counts: gateways send a count under several names.
trait Members: Default {
    fn take<'de, A: de::MapAccess<'de>>(&mut self, key: Key, map: &mut A) -> Result<(), A::Error>;
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    #[serde(alias = "input_tokens")]
    PromptTokens,
    #[serde(alias = "output_tokens")]
    CompletionTokens,
    PromptTokensDetails,
    CompletionTokensDetails,
    CachedTokens,
    ReasoningTokens,
    /// DeepSeek, and Mistral.
    #[serde(alias = "num_cached_tokens")]
    PromptCacheHitTokens,
    #[serde(other)]
    Other,
}

fn first<'de, A: de::MapAccess<'de>>(count: &mut Count, map: &mut A) -> Result<(), A::Error> {
    let next: Count = map.next_value()?;
    count.0 = count.0.or(next.0);
    Ok(())
}

impl Members for Counts {
    fn take<'de, A: de::MapAccess<'de>>(&mut self, key: Key, map: &mut A) -> Result<(), A::Error> {
        match key {
            Key::PromptTokens => first(&mut self.input, map),
            Key::CompletionTokens => first(&mut self.output, map),
            Key::PromptCacheHitTokens => first(&mut self.cached, map),
            Key::PromptTokensDetails => map.next_value().map(|details| self.of_input = details),
            Key::CompletionTokensDetails => {
                map.next_value().map(|details| self.of_output = details)
            }
            Key::CachedTokens | Key::ReasoningTokens | Key::Other => {
                map.next_value::<de::IgnoredAny>().map(drop)
            }
        }
    }
}

impl Members for Details {
    fn take<'de, A: de::MapAccess<'de>>(&mut self, key: Key, map: &mut A) -> Result<(), A::Error> {
        match key {
            Key::CachedTokens => first(&mut self.cached, map),
            Key::ReasoningTokens => first(&mut self.reasoning, map),
            _ => map.next_value::<de::IgnoredAny>().map(drop),
        }
    }
}

impl<'de, T: Members> Deserialize<'de> for Sent<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Members> de::Visitor<'de> for Any<T> {
            type Value = Sent<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Sent<T>, A::Error> {
                let mut members = T::default();
                while let Some(key) = map.next_key()? {
                    members.take(key, &mut map)?;
                }
                Ok(Sent(Some(members)))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Sent<T>, A::Error> {
                while list.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(Sent(None))
            }

            fn visit_unit<E>(self) -> Result<Sent<T>, E> {
                Ok(Sent(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Sent<T>, E> {
                Ok(Sent(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Sent<T>, E> {
                Ok(Sent(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Sent<T>, E> {
                Ok(Sent(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Sent<T>, E> {
                Ok(Sent(None))
            }

            fn visit_str<E>(self, _: &str) -> Result<Sent<T>, E> {
                Ok(Sent(None))
            }
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, expected: Option<[u64; 4]>) {
        #[derive(Deserialize)]
        struct Body {
            #[serde(deserialize_with = "sent")]
            usage: Option<Usage>,
        }
        let body: Body = json::from_str(&format!(r#"{{"usage":{text},"id":1}}"#)).unwrap();
        let read = body
            .usage
            .map(|u| [u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens]);
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn counts_are_read_under_every_name_and_spelling() {
        reads(
            r#"{"prompt_tokens":9,"completion_tokens":"4","total_tokens":13}"#,
            Some([9, 4, 0, 0]),
        );
        reads(r#"{"input_tokens":9.0,"output_tokens":4}"#, Some([9, 4, 0, 0]));
        reads(
            r#"{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":3,"audio_tokens":0},"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":2}}"#,
            Some([9, 4, 3, 2]),
        );
        reads(r#"{"prompt_tokens":9,"prompt_cache_hit_tokens":5}"#, Some([9, 0, 5, 0]));
        reads(r#"{"prompt_tokens":9,"num_cached_tokens":5}"#, Some([9, 0, 5, 0]));
        reads("{}", Some([0; 4]));
    }

    #[test]
    fn what_comes_twice_or_is_no_count_costs_nothing() {
        reads(r#"{"prompt_tokens":9,"input_tokens":8,"output_tokens":null}"#, Some([9, 0, 0, 0]));
        reads(r#"{"prompt_tokens":null,"input_tokens":8}"#, Some([8, 0, 0, 0]));
        reads(
            r#"{"prompt_tokens":[1],"completion_tokens":4,"prompt_tokens_details":"none","completion_tokens_details":null}"#,
            Some([0, 4, 0, 0]),
        );
        for odd in ["null", "true", "12", "-1", "0.5", r#""none""#, "[1,{}]"] {
            reads(odd, None);
        }
        for unreadable in ["1e999", r#""\ud800""#] {
            reads(unreadable, None);
            reads(&format!(r#"{{"prompt_tokens":{unreadable}}}"#), None);
        }
    }
}
