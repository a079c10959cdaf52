//! The content of JSON strings: where it stops being plain, and how it is written.

/// Eight bytes of one.
const ONES: u64 = u64::from_ne_bytes([1; 8]);
/// The highest bit of each of eight bytes.
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The first byte from `at` on that a string does not hold as it is: a quote mark, a backslash or a
/// control character; the end where there is none.
#[inline]
pub(super) fn plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return at + (stops.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // Of the last eight bytes those that are left; the zeros that come after them stop.
    if let (Some(word), 1..8) = (bytes.last_chunk(), bytes.len() - at) {
        let left = u64::from_le_bytes(*word) >> (8 * (8 - (bytes.len() - at)));
        return at + (stops(left).trailing_zeros() / 8) as usize;
    }
    // Short texts, such as names: two halves that overlap.
    if let (0, Some(first), Some(last)) = (at, bytes.first_chunk(), bytes.last_chunk()) {
        let halves = [u32::from_le_bytes(*first), u32::from_le_bytes(*last)].map(u64::from);
        if stops(halves[0] | (halves[1] << 32)) == 0 {
            return bytes.len();
        }
    }
    while let Some(byte) = bytes.get(at) {
        if is_stop(*byte) {
            return at;
        }
        at += 1;
    }
    at
}

/// Writes the content of a string, escaped as `serde_json` does it.
#[inline]
pub(super) fn escape(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let plain = plain(bytes, 0);
    out.extend_from_slice(&bytes[..plain]);
    if plain < bytes.len() {
        escape_from(out, bytes, plain);
    }
}

/// What is escaped is put together here before it is copied: what lies between two escapes is mostly
/// shorter than what it costs to grow a vector by it.
const PIECE: usize = 256;

/// The same from a byte on that has to be escaped.
fn escape_from(out: &mut Vec<u8>, bytes: &[u8], mut at: usize) {
    out.reserve(bytes.len() - at + bytes.len() / 8);
    let mut piece = [0; PIECE];
    let mut len = 0;
    loop {
        // Room for eight plain bytes and the longest escape.
        if len > PIECE - 16 {
            out.extend_from_slice(&piece[..len]);
            len = 0;
        }
        if let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            let stops = stops(u64::from_le_bytes(*word));
            piece[len..len + 8].copy_from_slice(word);
            let taken = (stops.trailing_zeros() / 8) as usize;
            at += taken;
            len += taken;
            if stops == 0 {
                continue;
            }
        }
        let Some(byte) = bytes.get(at) else { break };
        at += 1;
        if !is_stop(*byte) {
            piece[len] = *byte;
            len += 1;
            continue;
        }
        piece[len] = b'\\';
        let letter = len + 1;
        len += 2;
        piece[letter] = match byte {
            b'"' | b'\\' => *byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x8 => b'b',
            0xc => b'f',
            control => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let digit = |four: u8| DIGITS[usize::from(four & 15)];
                let unit = [b'0', b'0', digit(control >> 4), digit(*control)];
                piece[len..len + 4].copy_from_slice(&unit);
                len += 4;
                b'u'
            }
        };
    }
    out.extend_from_slice(&piece[..len]);
}

/// Copies what is plain from `at` on, and says where it ends.
///
/// Eight bytes at a time, of which those beyond the end are taken back: what lies between two
/// escapes is mostly shorter than what it costs to call a copy of any length.
#[inline]
pub(super) fn copy_plain(out: &mut Vec<u8>, bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let stops = stops(u64::from_le_bytes(*word));
        out.extend_from_slice(word);
        if stops != 0 {
            let taken = (stops.trailing_zeros() / 8) as usize;
            out.truncate(out.len() - (8 - taken));
            return at + taken;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at).filter(|byte| !is_stop(**byte)) {
        out.push(*byte);
        at += 1;
    }
    at
}

#[inline]
pub(super) fn is_stop(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The high bit of each byte that stops; above the lowest of them, bits may be set that mean nothing.
#[inline]
fn stops(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let is = |byte: u8| zeros(word ^ (ONES * u64::from(byte)));
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    is(b'"') | is(b'\\') | controls
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_byte_by_byte(text in r#"[ -~é\n\x00\x1f"\\]{0,40}"#, from in 0usize..9) {
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let rest = &bytes[from..];
            let expected = rest.iter().position(|byte| is_stop(*byte)).unwrap_or(rest.len());
            prop_assert_eq!(plain(bytes, from), from + expected);
            let mut out = b"before".to_vec();
            prop_assert_eq!(copy_plain(&mut out, bytes, from), from + expected);
            prop_assert_eq!(&out[6..], &rest[..expected]);
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for place in 0..16 {
                let mut bytes = [b'x'; 16];
                bytes[place] = byte;
                let expected = if is_stop(byte) { place } else { 16 };
                assert_eq!(plain(&bytes, 0), expected, "{byte} at {place}");
            }
        }
    }
}
