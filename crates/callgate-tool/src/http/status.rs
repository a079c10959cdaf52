//! What a status code means for the next decision.
//!
//! `executed` answers one question: may a repeat repeat a side effect? Methods that change nothing
//! (GET, HEAD) never executed anything in that sense.
//!
//! | status | executed | retryable | the model is told |
//! |---|---|---|---|
//! | 400, 422 | false | yes, with other arguments | what the server said about them |
//! | 401, 403, 407 | false | no | credentials are missing or not enough: not its to fix |
//! | 404, 410 | false | no | there is no such thing: check the id, or search |
//! | 405, 406, 415, 501, 505 | false | no | the tool does not speak as this server wants |
//! | 409, 412 | false; unknown from the second attempt on (the first may have caused it) | no | read the current state first |
//! | 408, 425, 429 | false | yes, after `Retry-After` | wait |
//! | 413, 414, 431 | false | yes, with less | send less |
//! | other 4xx | false | no | what the server said |
//! | 5xx | unknown; false for GET and HEAD | only GET and HEAD | whether a repeat is safe |
//! | 3xx not followed | unknown; false for GET and HEAD | no | where it points |
//!
//! Sources: RFC 9110 15, RFC 6585 (428, 429, 431), RFC 8470 (425); `Retry-After` in seconds or as
//! an HTTP date by RFC 9110 10.2.3.

use std::time::SystemTime;

use callgate_contract::{ErrorKind, Executed, Failure};

use crate::text;

/// A response that is no success, as far as it decides anything.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) reason: &'a str,
    pub(crate) retry_after: Option<&'a str>,
    pub(crate) location: Option<&'a str>,
    pub(crate) is_html: bool,
    pub(crate) body: &'a str,
}

/// The failure that a response stands for.
pub(crate) fn failure(answer: &Answer<'_>, safe: bool, attempt: u32) -> Failure {
    let maybe = if safe { Executed::No } else { Executed::Unknown };
    let again = if safe || attempt < 2 { Executed::No } else { Executed::Unknown };
    let (executed, retryable, hint) = match answer.status {
        400 | 422 => {
            (Executed::No, true, "Change the arguments as the server's words say, then call again.")
        }
        401 | 403 | 407 => (
            Executed::No,
            false,
            "The tool's credentials are missing or do not allow this. No arguments will change that: tell the user.",
        ),
        404 | 410 => (
            Executed::No,
            false,
            "There is nothing under these arguments. Check the id, or look it up with another tool.",
        ),
        409 | 412 => (
            again,
            false,
            "It conflicts with the current state. Read that state first, then decide.",
        ),
        408 | 425 | 429 => (Executed::No, true, "Wait before calling again."),
        413 | 414 | 431 => (Executed::No, true, "The request is too large. Send less at once."),
        405 | 406 | 415 | 501 | 505 => (
            Executed::No,
            false,
            "The tool is not set up for this server. Go on without it or tell the user.",
        ),
        300..=399 => {
            (maybe, false, "The tool's URL is out of date. Go on without it or tell the user.")
        }
        400..=499 => (Executed::No, false, "The server does not take this request as it is."),
        _ if safe => (maybe, true, "The service failed. Try once more later, or tell the user."),
        _ => (
            maybe,
            false,
            "The service failed and may have done part of the work. Find out what is there before repeating it.",
        ),
    };
    Failure {
        retry_after_ms: answer.retry_after.and_then(|text| wait(text, SystemTime::now())),
        ..Failure::new(ErrorKind::ToolError, message(answer))
            .executed(executed)
            .retryable(retryable)
            .hint(hint)
    }
}

fn message(answer: &Answer<'_>) -> String {
    let mut message = format!("the server answered {}", answer.status);
    if !answer.reason.is_empty() {
        message.push_str(&format!(" {}", answer.reason));
    }
    if let Some(location) = answer.location.filter(|_| (300..400).contains(&answer.status)) {
        let location = location.split(['?', '#']).next().unwrap_or_default();
        message.push_str(&format!(" and points to {}", text::ends(&text::clean(location), 200)));
    }
    let words = if answer.is_html {
        // A page for people: its title is all that a sentence can hold.
        title(answer.body).unwrap_or_default()
    } else {
        text::without_traces(&text::clean(answer.body))
    };
    let words = text::ends(&words, text::QUOTED);
    if words.is_empty() { message } else { format!("{message}: {words}") }
}

fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    Some(text::clean(html[start..end].trim()))
}

/// Milliseconds to wait, from `Retry-After`.
pub(crate) fn wait(text: &str, now: SystemTime) -> Option<u64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    // A time that has passed means now.
    let wait = at.duration_since(now).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn codes() {
        use Executed::{No, Unknown};
        // status, safe, attempt, executed, retryable, words of the hint
        let rows = [
            (400, false, 1, No, true, "Change the arguments"),
            (422, false, 1, No, true, "Change the arguments"),
            (401, true, 1, No, false, "credentials"),
            (403, false, 1, No, false, "credentials"),
            (404, true, 1, No, false, "Check the id"),
            (405, false, 1, No, false, "not set up"),
            (409, false, 1, No, false, "current state"),
            (409, false, 2, Unknown, false, "current state"),
            (409, true, 2, No, false, "current state"),
            (408, false, 1, No, true, "Wait"),
            (429, false, 1, No, true, "Wait"),
            (413, false, 1, No, true, "Send less"),
            (451, false, 1, No, false, "does not take"),
            (500, true, 1, No, true, "Try once more"),
            (500, false, 1, Unknown, false, "Find out"),
            (503, false, 1, Unknown, false, "Find out"),
            (501, false, 1, No, false, "not set up"),
            (302, true, 1, No, false, "out of date"),
            (302, false, 1, Unknown, false, "out of date"),
        ];
        for (status, safe, attempt, executed, retryable, hint) in rows {
            let answer = Answer {
                status,
                reason: "Reason",
                retry_after: None,
                location: None,
                is_html: false,
                body: "{\"detail\":\"why\"}",
            };
            let failure = failure(&answer, safe, attempt);
            assert_eq!(failure.executed, executed, "{status} {safe} {attempt}");
            assert_eq!(failure.retryable, retryable, "{status}");
            assert!(failure.hint.unwrap().contains(hint), "{status}");
            assert_eq!(
                failure.message,
                format!("the server answered {status} Reason: {{\"detail\":\"why\"}}")
            );
        }
    }

    #[test]
    fn messages() {
        let answer = |status, is_html, body| Answer {
            status,
            reason: "",
            retry_after: None,
            location: Some("https://h/x?token=1"),
            is_html,
            body,
        };
        let rows = [
            (answer(500, false, ""), "the server answered 500"),
            (answer(302, false, ""), "the server answered 302 and points to https://h/x"),
            (
                answer(502, true, "<html><Title>Bad\u{7} gate</title>"),
                "the server answered 502: Bad gate",
            ),
            (answer(502, true, "<html>İ"), "the server answered 502"),
            (
                answer(
                    500,
                    false,
                    "Traceback (most recent call last):\n  File \"x\"\nKeyError: 'a'",
                ),
                "the server answered 500: KeyError: 'a'",
            ),
        ];
        for (answer, message) in rows {
            assert_eq!(failure(&answer, true, 1).message, message);
        }
    }

    #[test]
    fn waiting() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap();
        let rows = [
            ("0", Some(0)),
            (" 120 ", Some(120_000)),
            ("Wed, 21 Oct 2015 07:28:30 GMT", Some(30_000)),
            ("Wednesday, 21-Oct-15 07:28:30 GMT", Some(30_000)),
            ("Wed, 21 Oct 2015 07:00:00 GMT", Some(0)),
            ("99999999999999999999", None),
            ("soon", None),
            ("-1", None),
        ];
        for (text, expected) in rows {
            assert_eq!(wait(text, now), expected, "{text}");
        }
        assert_eq!(wait("1", now + Duration::from_secs(1)), Some(1000));
    }
}
