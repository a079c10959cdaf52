//! Content of a message: one text where that is enough, a list of parts where it is not.
//!
//! A single string is sent whenever there is no image, since many compatible servers and chat
//! templates know nothing else.

use std::{borrow::Cow, fmt};

use serde::{Serialize, Serializer};

use crate::{Part, history::Image};

/// Texts as one string, written without being joined first.
pub(super) struct Joined<I> {
    pub(super) texts: I,
    pub(super) separator: &'static str,
}

impl<'a, I: Iterator<Item = Cow<'a, str>> + Clone> Serialize for Joined<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut texts = self.texts.clone();
        match (texts.next(), texts.next()) {
            (None, _) => serializer.serialize_str(""),
            (Some(only), None) => serializer.serialize_str(&only),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'a, I: Iterator<Item = Cow<'a, str>> + Clone> fmt::Display for Joined<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, text) in self.texts.clone().enumerate() {
            if n > 0 {
                f.write_str(self.separator)?;
            }
            f.write_str(&text)?;
        }
        Ok(())
    }
}

/// A list that writes itself from an iterator.
pub(super) struct List<I>(pub(super) I);

impl<T: Serialize, I: Iterator<Item = T> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WirePart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
}

impl<'a> From<&'a Part> for WirePart<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Text { text } => Self::Text { text: Cow::Borrowed(text) },
            Part::Image { media_type, data } => Image { media_type, data }.into(),
        }
    }
}

impl<'a> From<Image<'a>> for WirePart<'a> {
    fn from(image: Image<'a>) -> Self {
        Self::ImageUrl { image_url: ImageUrl { url: DataUrl(image) } }
    }
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

#[derive(Clone, Copy)]
struct DataUrl<'a>(Image<'a>);

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Image { media_type, data } = self.0;
        serializer.collect_str(&format_args!("data:{media_type};base64,{data}"))
    }
}
