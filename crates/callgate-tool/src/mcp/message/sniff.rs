//! Whose answer a broken message was.

/// The id of an answer that cannot be parsed, from its head or its tail.
///
/// Looked at are the plain members before the first nested value, and an id that is the last
/// member: servers write the id first or last. An `"id":` from within a result is never taken.
pub(in crate::mcp) fn sniff_id(message: &[u8]) -> Option<u64> {
    from_head(message).or_else(|| from_tail(message))
}

fn from_head(message: &[u8]) -> Option<u64> {
    let mut rest = skip_space(message).strip_prefix(b"{")?;
    loop {
        let (key, after) = string(skip_space(rest))?;
        let value = skip_space(skip_space(after).strip_prefix(b":")?);
        let end = match value.first()? {
            b'"' => value.len() - string(value)?.1.len(),
            b'{' | b'[' => return None,
            _ => value.iter().position(|b| matches!(b, b',' | b'}'))?,
        };
        if key == b"id" {
            return number(&value[..end]);
        }
        rest = skip_space(&value[end..]).strip_prefix(b",")?;
    }
}

fn from_tail(message: &[u8]) -> Option<u64> {
    let message = message.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let digits = message.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let (before, number_text) = message.split_at(message.len() - digits);
    let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let before = before.strip_suffix(b"\"id\"")?.trim_ascii_end();
    // A member of the outermost object: something ended before it, or a plain member stands there.
    before.strip_suffix(b",")?;
    number(number_text)
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn skip_space(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_start()
}

/// The string at the beginning, without its quotes, and what follows.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = bytes.strip_prefix(b"\"")?;
    let mut escaped = false;
    for (i, b) in inner.iter().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some((&inner[..i], &inner[i + 1..])),
            _ => {}
        }
    }
    None
}
