//! The URL of a request: a template whose arguments can fill their place and nothing else.
//!
//! | place | an argument's value |
//! |---|---|
//! | path | everything but letters, digits and `-._~` is percent-encoded (RFC 3986 2.3), so it stays within its segment; a segment that would be empty, `.` or `..` is refused, since servers and URL parsers resolve those even when encoded |
//! | path, with a style | see `style.rs`, encoded likewise |
//! | query | encoded likewise; absent or null leaves the parameter out; a list repeats it, another style is written as in `style.rs` |
//! | host, port | letters, digits, `-` and `.` only; a host with an argument in it is not named by the contract |
//! | the whole URL (`"{url}"`) | read as a URL; without user name and password |
//!
//! A fragment is never sent.

use reqwest::Url;

use super::{
    field::Field,
    fill::{Fill, Filled, Unfilled},
    spec::PathStyle,
    style::{self, Escape},
};
use crate::{
    arguments::{as_text, items},
    guard::{self, Authority},
    template::{Piece, Pointer, Template},
};

/// A URL, and whether the contract itself named its host.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) shown: String,
    pub(crate) named: Option<Authority>,
}

/// Everything but unreserved characters as `%XX`.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(crate) fn target(
    template: &Template,
    path: &[(Pointer, PathStyle)],
    query: &[(String, Vec<Field>)],
    fill: &mut Fill<'_>,
) -> Result<Target, Unfilled> {
    let (mut text, mut parameters, named) = match template.sole_argument() {
        Some(pointer) => {
            let json = fill.argument(pointer);
            let json = json.ok_or_else(|| Unfilled::missing(Some(pointer), "the request's URL"))?;
            let url = guard::parse_untrusted(&as_text(json))?;
            (Filled::plain(url.as_str()), Vec::new(), false)
        }
        None => {
            let (before, after) = split(template, fill)?;
            let (text, named) = up_to_query(&before, path, fill)?;
            (text, in_url(&after, fill)?, named)
        }
    };
    for (key, values) in query {
        for value in values {
            for (name, value) in value.fill(key, fill, Escape::Percent)? {
                let mut out = Filled::plain(&format!("{}=", encode(&name)));
                out.append(&value);
                parameters.push(out);
            }
        }
    }
    let mut separator = if text.real.contains('?') { "&" } else { "?" };
    for parameter in &parameters {
        text.push(separator);
        text.append(parameter);
        separator = "&";
    }
    let mut url =
        Url::parse(&text.real).map_err(|_| Unfilled::Url { shown: text.shown.clone() })?;
    url.set_fragment(None);
    let named = Some(guard::authority(&url)?).filter(|_| named);
    Ok(Target { url, shown: text.shown, named })
}

/// A piece whose variable was looked up.
#[derive(Debug, Clone)]
enum Part {
    Fixed(Filled),
    Argument(Pointer),
}

/// The parts before and after the first `?`, without the fragment. Where a variable holds a `?`,
/// its name is shown with the part before.
fn split(template: &Template, fill: &mut Fill<'_>) -> Result<(Vec<Part>, Vec<Part>), Unfilled> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut in_query = false;
    for piece in &template.0 {
        let (real, shown) = match piece {
            Piece::Argument(pointer) => {
                let side = if in_query { &mut after } else { &mut before };
                side.push(Part::Argument(pointer.clone()));
                continue;
            }
            Piece::Text(text) => (text.clone(), None),
            // A variable in a path or query may be a credential; a base URL is told apart by its
            // form.
            Piece::Variable(variable) => {
                (fill.variable(variable, past_authority(&before))?, Some(variable.shown()))
            }
        };
        let (kept, ends) = match real.split_once('#') {
            Some((kept, _)) => (kept, true),
            None => (real.as_str(), false),
        };
        let fixed = |text: &str, shown: Option<&str>| {
            Part::Fixed(Filled {
                real: text.to_owned(),
                shown: shown.unwrap_or(text).to_owned(),
                secret: shown.is_some(),
            })
        };
        match kept.split_once('?') {
            Some((head, tail)) if !in_query => {
                before.push(fixed(head, shown.as_deref()));
                after.push(fixed(tail, shown.as_ref().map(|_| "…")));
                in_query = true;
            }
            _ if in_query => after.push(fixed(kept, shown.as_deref())),
            _ => before.push(fixed(kept, shown.as_deref())),
        }
        if ends {
            break;
        }
    }
    Ok((before, after))
}

fn past_authority(before: &[Part]) -> bool {
    let text: String = before
        .iter()
        .map(|part| match part {
            Part::Fixed(text) => text.real.as_str(),
            Part::Argument(_) => "x",
        })
        .collect();
    matches!(place(&text), Place::Path)
}

enum Place {
    Scheme,
    Authority,
    Path,
}

/// Where the next character of a URL without a query stands.
fn place(so_far: &str) -> Place {
    match so_far.split_once("://") {
        None => Place::Scheme,
        // `\` is a `/` to URL parsers (WHATWG URL 4.4).
        Some((_, rest)) if rest.contains(['/', '\\']) => Place::Path,
        Some(_) => Place::Authority,
    }
}

/// Scheme, host and path; and whether no argument is in the host.
fn up_to_query(
    parts: &[Part],
    styles: &[(Pointer, PathStyle)],
    fill: &Fill<'_>,
) -> Result<(Filled, bool), Unfilled> {
    let mut out = Filled::default();
    let mut named = true;
    // Where arguments stand in the path: their segments are looked at once they are whole.
    let mut filled = Vec::new();
    for part in parts {
        let pointer = match part {
            Part::Fixed(text) => {
                out.append(text);
                continue;
            }
            Part::Argument(pointer) => pointer,
        };
        let json = fill.argument(pointer);
        let json = json.ok_or_else(|| Unfilled::missing(Some(pointer), "the request's URL"))?;
        let value = as_text(json);
        match place(&out.real) {
            Place::Path => {
                let from = out.real.len();
                match styles.iter().find(|(placeholder, _)| placeholder == pointer) {
                    Some((_, PathStyle { how, name })) => {
                        out.push(&style::text(name, json, *how, Escape::Percent)?);
                    }
                    None => out.push(&encode(&value)),
                }
                filled.push((from, out.real.len()));
            }
            Place::Authority
                if value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b)) =>
            {
                named = false;
                out.push(&value);
            }
            Place::Authority | Place::Scheme => {
                return Err(Unfilled::Host { value: value.into_owned() });
            }
        }
    }
    for (from, to) in filled {
        let start = out.real[..from].rfind('/').map_or(0, |i| i + 1);
        let end = out.real[to..].find('/').map_or(out.real.len(), |i| to + i);
        // `%2e` is a dot to URL parsers (WHATWG URL 4.4).
        match out.real[start..end].to_ascii_lowercase().replace("%2e", ".").as_str() {
            "" => return Err(Unfilled::EmptySegment),
            dots @ ("." | "..") => return Err(Unfilled::Climbs { value: dots.to_owned() }),
            _ => {}
        }
    }
    Ok((out, named))
}

/// The query that stands in the URL itself.
fn in_url(parts: &[Part], fill: &mut Fill<'_>) -> Result<Vec<Filled>, Unfilled> {
    // Parameter by parameter, each as its parts.
    let mut parameters: Vec<Vec<Part>> = vec![Vec::new()];
    for part in parts {
        match part {
            Part::Fixed(text) => {
                for (i, piece) in text.real.split('&').enumerate() {
                    if i > 0 {
                        parameters.push(Vec::new());
                    }
                    let mut piece = Filled::plain(piece);
                    if text.secret {
                        piece.shown = if i == 0 { text.shown.clone() } else { "…".to_owned() };
                        piece.secret = true;
                    }
                    if let Some(parameter) = parameters.last_mut() {
                        parameter.push(Part::Fixed(piece));
                    }
                }
            }
            argument => {
                if let Some(parameter) = parameters.last_mut() {
                    parameter.push(argument.clone());
                }
            }
        }
    }
    let mut all = Vec::new();
    for parts in parameters {
        if let [Part::Fixed(key), Part::Argument(pointer)] = parts.as_slice()
            && let Some(key) = key.real.strip_suffix('=')
        {
            all.extend(repeated(key, pointer, fill));
            continue;
        }
        let mut out = Filled::default();
        let mut present = true;
        for part in &parts {
            match part {
                Part::Fixed(text) => out.append(text),
                Part::Argument(pointer) => match fill.argument(pointer) {
                    Some(json) => out.push(&encode(&as_text(json))),
                    None => present = false,
                },
            }
        }
        if present && !out.real.is_empty() {
            all.push(out);
        }
    }
    Ok(all)
}

/// `key=value`, once for each item of a list.
fn repeated(key: &str, pointer: &Pointer, fill: &Fill<'_>) -> Vec<Filled> {
    let Some(json) = fill.argument(pointer) else { return Vec::new() };
    let values = items(json).unwrap_or_else(|| vec![json]);
    let one = |json: &str| Filled::plain(&format!("{key}={}", encode(&as_text(json))));
    values.into_iter().map(one).collect()
}
