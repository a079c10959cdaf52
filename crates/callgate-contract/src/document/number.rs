//! Numbers as text: what a decimal means, without ever rounding it.

use std::str::FromStr;

use serde_json::Number;

/// Whether the text is a JSON number (RFC 8259 section 6) and nothing else.
pub fn is_json_number(text: &str) -> bool {
    let mut rest = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let digits = |bytes: &mut &[u8]| {
        let n = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
        *bytes = &bytes[n..];
        n
    };
    let leading_zero = rest.first() == Some(&b'0');
    let whole = digits(&mut rest);
    if whole == 0 || (leading_zero && whole > 1) {
        return false;
    }
    if let Some(after) = rest.strip_prefix(b".") {
        rest = after;
        if digits(&mut rest) == 0 {
            return false;
        }
    }
    if let [b'e' | b'E', after @ ..] = rest {
        rest = match after {
            [b'+' | b'-', after @ ..] => after,
            _ => after,
        };
        if digits(&mut rest) == 0 {
            return false;
        }
    }
    rest.is_empty()
}

/// Whether a JSON number's value is integral, however it is written: `3`, `3.0` and `30e-1` are.
pub fn is_integer_text(text: &str) -> bool {
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return true;
    }
    Decimal::of(text).is_some_and(|d| d.digits.is_empty() || d.exponent >= 0)
}

/// Whether two JSON numbers have the same value.
pub fn same_number(a: &str, b: &str) -> bool {
    a == b || Decimal::of(a).is_some_and(|a| Some(a) == Decimal::of(b))
}

/// One spelling for numbers of the same value.
pub fn canonical_number(text: &str) -> String {
    match Decimal::of(text) {
        Some(d) if d.digits.is_empty() => "0".to_owned(),
        Some(d) => {
            let sign = if d.negative { "-" } else { "" };
            format!("{sign}{}e{}", d.digits, d.exponent)
        }
        // An exponent beyond 64 bits.
        None => text.to_owned(),
    }
}

/// Parses into what `serde_json` can hold: 64-bit integers exactly, the rest as a double.
///
/// A magnitude beyond a double (`1e999`) becomes the largest one.
pub(crate) fn to_number(text: &str) -> Number {
    if let Ok(n) = i64::from_str(text) {
        // `-0` keeps its sign as a float; as an integer it would become `0`.
        if n != 0 || !text.starts_with('-') {
            return n.into();
        }
    }
    if let Ok(n) = u64::from_str(text) {
        return n.into();
    }
    let double = f64::from_str(text).unwrap_or_default().clamp(f64::MIN, f64::MAX);
    Number::from_f64(double).unwrap_or_else(|| 0.into())
}

/// `digits × 10^exponent`, without leading or trailing zeros in `digits`.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = format!("{whole}{fraction}");
        let mut exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let kept = digits.trim_end_matches('0').len();
        exponent = exponent.checked_add(i64::try_from(digits.len() - kept).ok()?)?;
        digits.truncate(kept);
        digits.drain(..digits.len() - digits.trim_start_matches('0').len());
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        Some(Self { negative, digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_recognised_by_the_grammar() {
        for ok in ["0", "-0", "12", "1.10", "1e5", "-1.5E-10", "9007199254740993"] {
            assert!(is_json_number(ok), "{ok}");
        }
        for no in ["", "-", "01", "+1", ".5", "5.", "1e", "0x10", "1,000", "10abc", " 1", "NaN"] {
            assert!(!is_json_number(no), "{no}");
        }
    }

    #[test]
    fn integral_values_are_seen_through_their_spelling() {
        for yes in ["3", "3.0", "30e-1", "1e3", "-0.0", "0.0e-5", "9007199254740993"] {
            assert!(is_integer_text(yes), "{yes}");
        }
        for no in ["3.5", "1e-3", "9007199254740993.5"] {
            assert!(!is_integer_text(no), "{no}");
        }
    }

    #[test]
    fn equality_is_of_values_and_exact() {
        assert!(same_number("1.0", "1"));
        assert!(same_number("1e2", "100"));
        assert!(same_number("-0", "0"));
        assert!(!same_number("9007199254740993", "9007199254740992"));
        assert!(!same_number("1", "-1"));
    }
}
