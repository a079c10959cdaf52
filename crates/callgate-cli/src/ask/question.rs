//! What the model asks the user, and what became of a call whose outcome was lost.

use callgate::{
    engine::{Answered, Resolved},
    machine::{Doubt, UserQuestion, event::Resolution},
};

use super::{AtTerminal, approver::WHO};
use crate::show::{pretty::pretty, words};

impl AtTerminal {
    /// The user's answer; nothing where they leave it for later.
    pub(super) async fn answered(&self, question: UserQuestion) -> Option<Answered> {
        let _turn = self.terminal.turn().await;
        let _quiet = self.screen.question();
        let paint = self.screen.paint();
        let mut text = format!("\n{} {}\n", paint.yellow("?"), words::clean(&question.question));
        for (choice, number) in question.choices.iter().zip(1..) {
            text.push_str(&format!("  {number}) {}\n", words::clean(choice)));
        }
        self.terminal.say(&text);
        let prompt = if question.choices.is_empty() {
            "your answer (nothing leaves it for later): "
        } else {
            "a number, or your answer (nothing leaves it for later): "
        };
        let Some(line) = self.terminal.line(prompt).await else {
            self.terminal.say("\n");
            return None;
        };
        let typed = line.trim();
        let number = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let chosen = number.and_then(|at| question.choices.get(at)).cloned();
        let text = chosen.unwrap_or_else(|| typed.into());
        (!text.is_empty()).then(|| Answered { text, by: Some(WHO.into()) })
    }

    /// What became of a call; nothing where they leave it for later.
    pub(super) async fn resolved(&self, doubt: Doubt) -> Option<Resolved> {
        let _turn = self.terminal.turn().await;
        let _quiet = self.screen.question();
        let paint = self.screen.paint();
        let (lost, tool) = (paint.yellow("in doubt:"), paint.bold(words::clean(&doubt.tool)));
        let attempt = doubt.attempt;
        let mut text =
            format!("\n{lost} {tool} was begun (attempt {attempt}), and its outcome is lost\n");
        for line in pretty(&words::clean(&doubt.arguments)).lines() {
            text.push_str(&format!("  {line}\n"));
        }
        text.push_str(&format!("  idempotency key {}\n", words::clean(&doubt.idempotency_key)));
        text.push_str("  Look whether it had its effect, then say so.\n");
        self.terminal.say(&text);
        let resolution = loop {
            let prompt = "[d]one, [r]edo with the same key, [f]ail, [l]ater? ";
            let Some(line) = self.terminal.line(prompt).await else {
                self.terminal.say("\n");
                return None;
            };
            match line.trim().to_lowercase().as_str() {
                "d" | "done" => break Resolution::Done { result: self.result().await? },
                "r" | "redo" => break Resolution::Redo,
                "f" | "fail" => break Resolution::Fail,
                "l" | "later" => return None,
                _ => {}
            }
        };
        Some(Resolved { resolution, by: Some(WHO.into()) })
    }

    /// What a call that was done brought, where that is known; nothing at the end of the file.
    #[allow(clippy::option_option, reason = "no answer is another thing than no result")]
    async fn result(&self) -> Option<Option<std::sync::Arc<str>>> {
        loop {
            let line = self.terminal.line("its result as JSON (or nothing): ").await?;
            let text = line.trim();
            if text.is_empty() {
                return Some(None);
            }
            match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                Ok(_) => return Some(Some(text.into())),
                Err(error) => self.terminal.say(&format!("that is no JSON: {error}\n")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::approver::tests::sitting, *};

    #[tokio::test]
    async fn answers() {
        let question = || UserQuestion {
            run: "run_1".into(),
            call: "call_1".into(),
            question: "Which one?".into(),
            choices: vec!["red".into(), "blue".into()],
            expires_at: None,
        };
        for (typed, expected) in [
            ("2\n", Some("blue")),
            ("3\n", Some("3")),
            (" green \n", Some("green")),
            ("0\n", Some("0")),
            ("\n", None),
            ("", None),
        ] {
            let (approver, said, _) = sitting(typed);
            let answer = approver.answered(question()).await;
            assert_eq!(answer.map(|a| a.text).as_deref(), expected, "{typed:?}");
            let said = said.text();
            assert!(said.contains("Which one?") && said.contains("  2) blue"), "{said}");
        }
    }

    #[tokio::test]
    async fn doubts() {
        let doubt = || Doubt {
            run: "run_1".into(),
            call: "call_1".into(),
            tool: "refund".into(),
            arguments: r#"{"amount":1.10}"#.into(),
            idempotency_key: "run_1-call_1".into(),
            attempt: 2,
        };
        let done = |result: Option<&str>| Resolution::Done { result: result.map(Into::into) };
        for (typed, expected) in [
            ("r\n", Some(Resolution::Redo)),
            ("what\nfail\n", Some(Resolution::Fail)),
            ("d\n\n", Some(done(None))),
            ("done\n{\"id\n{\"id\":1.0}\n", Some(done(Some(r#"{"id":1.0}"#)))),
            ("later\n", None),
            ("", None),
            ("d\n", None),
        ] {
            let (approver, said, _) = sitting(typed);
            let resolved = approver.resolved(doubt()).await;
            assert_eq!(resolved.map(|r| r.resolution), expected, "{typed:?}");
            let said = said.text();
            for part in ["refund was begun (attempt 2)", "\"amount\": 1.10", "run_1-call_1"] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
    }
}
