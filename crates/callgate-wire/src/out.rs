//! Memory that JSON is written to.

use std::io;

/// Bytes, for `serde_json::to_writer`.
///
/// A body is thousands of writes, most of them a quote mark, a comma or an escape. `Vec` takes
/// each by a call that copies memory; here the short ones are pushed in place.
#[derive(Debug)]
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }
}

impl io::Write for Out {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline(always)]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match *bytes {
            [one] => self.0.push(one),
            [one, two] => {
                self.0.push(one);
                self.0.push(two);
            }
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_as_a_vector_does() {
        let value = serde_json::json!({ "a": ["\"", "\u{1}ü\n", 12, -3.5, null], "": {} });
        let mut out = Out::with_capacity(1);
        serde_json::to_writer(&mut out, &value).unwrap();
        assert_eq!(out.0, serde_json::to_vec(&value).unwrap());
    }
}
