//! Texts that live as long as a handler.
//!
//! A durable future borrows its promise's key for as long as it lives, and keys come up while the
//! run goes on: they are kept in a list that only grows.

use std::sync::OnceLock;

#[derive(Debug, Default)]
pub(crate) struct Keys {
    first: OnceLock<Box<Link>>,
}

#[derive(Debug)]
struct Link {
    text: String,
    next: OnceLock<Box<Link>>,
}

impl Keys {
    /// Keeps a text. Only one task of a handler adds texts.
    pub(crate) fn keep(&self, text: String) -> &str {
        let mut link = Box::new(Link { text, next: OnceLock::new() });
        let mut place = &self.first;
        loop {
            match place.set(link) {
                Ok(()) => return place.get().map_or("", |link| &link.text),
                Err(back) => {
                    link = back;
                    // It was full, or it could have been set.
                    let Some(full) = place.get() else { return "" };
                    place = &full.next;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay() {
        let keys = Keys::default();
        let kept: Vec<&str> = (0..100).map(|n| keys.keep(format!("k{n}"))).collect();
        assert_eq!((kept[0], kept[99]), ("k0", "k99"));
    }
}
