//! Colours, where they are wanted.

use std::{
    env,
    io::{self, IsTerminal as _},
    sync::OnceLock,
};

use crate::cli::Color;

static CHOSEN: OnceLock<Color> = OnceLock::new();

/// What the command line says, for everything that follows.
pub(crate) fn choose(color: Color) {
    // Set once, at the start.
    let _ = CHOSEN.set(color);
}

/// Puts colours around texts, or leaves them as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// For standard error.
    pub(crate) fn stderr() -> Self {
        let chosen = CHOSEN.get().copied().unwrap_or(Color::Auto);
        Self(wanted(chosen, &|name| env::var(name).ok(), io::stderr().is_terminal()))
    }

    /// For standard output.
    pub(crate) fn stdout() -> Self {
        let chosen = CHOSEN.get().copied().unwrap_or(Color::Auto);
        Self(wanted(chosen, &|name| env::var(name).ok(), io::stdout().is_terminal()))
    }

    pub(crate) fn is_on(self) -> bool {
        self.0
    }

    fn with(self, code: &str, text: impl AsRef<str>) -> String {
        let text = text.as_ref();
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: impl AsRef<str>) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: impl AsRef<str>) -> String {
        self.with("2", text)
    }

    pub(crate) fn red(self, text: impl AsRef<str>) -> String {
        self.with("1;31", text)
    }

    pub(crate) fn green(self, text: impl AsRef<str>) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: impl AsRef<str>) -> String {
        self.with("33", text)
    }

    pub(crate) fn cyan(self, text: impl AsRef<str>) -> String {
        self.with("36", text)
    }
}

/// The option, then NO_COLOR (<https://no-color.org>), then CLICOLOR_FORCE and CLICOLOR, then
/// whether anybody would see them.
fn wanted(chosen: Color, env: &dyn Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    match chosen {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR").is_some() => false,
        Color::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        Color::Auto if set("CLICOLOR").is_some_and(|value| value == "0") => false,
        Color::Auto => is_terminal && set("TERM").is_none_or(|term| term != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides() {
        for (chosen, env, is_terminal, expected) in [
            (Color::Auto, &[][..], true, true),
            (Color::Auto, &[], false, false),
            (Color::Auto, &[("NO_COLOR", "1")], true, false),
            (Color::Auto, &[("NO_COLOR", "")], true, true),
            (Color::Auto, &[("CLICOLOR", "0")], true, false),
            (Color::Auto, &[("CLICOLOR_FORCE", "1")], false, true),
            (Color::Auto, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false, false),
            (Color::Auto, &[("TERM", "dumb")], true, false),
            (Color::Always, &[("NO_COLOR", "1")], false, true),
            (Color::Never, &[("CLICOLOR_FORCE", "1")], true, false),
        ] {
            let read = |name: &str| {
                env.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(wanted(chosen, &read, is_terminal), expected, "{chosen:?} {env:?}");
        }
    }
}
