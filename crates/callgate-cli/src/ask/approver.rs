//! Approvals at the terminal, one at a time.

use std::sync::Arc;

use callgate::{
    contract::{Catalog, Mode, Verdict},
    engine::{AnswerFuture, Approver, ResolutionFuture, Word, WordFuture},
    machine::{Doubt, Question, UserQuestion, event::Decision},
};

use super::{Terminal, edit};
use crate::{
    show::{pretty::pretty, screen::Screen, words},
    signals::Stop,
};

pub(super) const WHO: &str = "The user";

/// Asks whoever sits at the terminal.
pub(crate) struct AtTerminal {
    pub(super) terminal: Arc<Terminal>,
    pub(super) screen: Arc<Screen>,
    catalog: Catalog,
    stop: Arc<Stop>,
    /// What arguments are edited in; on one line where there is none.
    editor: Option<String>,
}

impl AtTerminal {
    /// Where there is a terminal.
    pub(crate) fn open(catalog: &Catalog, screen: &Arc<Screen>, stop: &Arc<Stop>) -> Option<Self> {
        let terminal = Terminal::own()?;
        Some(Self::on(terminal, edit::editor(), catalog, screen, stop))
    }

    pub(super) fn on(
        terminal: Arc<Terminal>,
        editor: Option<String>,
        catalog: &Catalog,
        screen: &Arc<Screen>,
        stop: &Arc<Stop>,
    ) -> Self {
        let (catalog, screen, stop) = (catalog.clone(), screen.clone(), stop.clone());
        Self { terminal, screen, catalog, stop, editor }
    }

    async fn decide(&self, question: Question) -> Word {
        let _turn = self.terminal.turn().await;
        let _quiet = self.screen.question();
        self.terminal.say(&self.put(&question));
        loop {
            let Some(answer) = self.terminal.line("[y]es, [n]o, [e]dit, [a]bort the run? ").await
            else {
                self.terminal.say("\n");
                return Word::reject(WHO, "no answer was given");
            };
            match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => return Word::approve(WHO),
                "n" | "no" => {
                    let reason = self.terminal.line("why, for the model (or nothing)? ").await;
                    let reason = reason.map(|r| r.trim().to_owned()).filter(|r| !r.is_empty());
                    let decision = Decision::Reject { reason: reason.map(Into::into) };
                    return Word { decision, by: Some(WHO.into()) };
                }
                "a" | "abort" => {
                    self.stop.cancel();
                    return Word::reject(WHO, "the run was aborted");
                }
                "e" | "edit" => {
                    let editor = self.editor.as_deref();
                    let edited = edit::edited(&self.terminal, editor, &question.arguments).await;
                    let Some(text) = edited else {
                        self.terminal.say("nothing was changed\n");
                        continue;
                    };
                    if let Some(faults) = self.refused(&question.tool, &text) {
                        self.terminal.say(&faults);
                        continue;
                    }
                    let decision = Decision::Edit { arguments: text.into() };
                    return Word { decision, by: Some(WHO.into()) };
                }
                _ => {}
            }
        }
    }

    fn put(&self, question: &Question) -> String {
        let paint = self.screen.paint();
        let mut text = format!("\n{} {}", paint.yellow("approve?"), paint.bold(&question.tool));
        if question.destructive {
            text.push_str(&format!(" {}", paint.red("(may destroy something)")));
        }
        text.push('\n');
        if let Some(first) = question.description.lines().next().filter(|line| !line.is_empty()) {
            text.push_str(&format!("  {}\n", paint.dim(words::clean(first))));
        }
        for line in pretty(&words::clean(&question.arguments)).lines() {
            text.push_str(&format!("  {line}\n"));
        }
        if let Some(because) = &question.because {
            text.push_str(&format!("  asked because {}\n", words::clean(because)));
        }
        text
    }

    /// Why the gate would refuse an edit: told now, while the person can still mend it.
    fn refused(&self, tool: &str, text: &str) -> Option<String> {
        match self.catalog.get(tool)?.admit(text, Mode::Strict) {
            Verdict::Admitted { .. } => None,
            Verdict::Refused(fault) => {
                let lines = words::fault(&fault);
                Some(format!("the contract refuses that: {}\n", lines.join("\n  ")))
            }
        }
    }
}

impl Approver for AtTerminal {
    fn ask(&self, question: Question) -> WordFuture<'_> {
        Box::pin(self.decide(question))
    }

    fn answer(&self, question: UserQuestion) -> AnswerFuture<'_> {
        Box::pin(self.answered(question))
    }

    fn resolve(&self, doubt: Doubt) -> ResolutionFuture<'_> {
        Box::pin(self.resolved(doubt))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::{io, sync::Mutex as StdMutex};

    use super::*;

    #[derive(Clone, Default)]
    pub(in crate::ask) struct Said(Arc<StdMutex<Vec<u8>>>);

    impl Said {
        pub(in crate::ask) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl io::Write for Said {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Somebody who types `typed`, and what they see.
    pub(in crate::ask) fn sitting(typed: &'static str) -> (AtTerminal, Said, Arc<Stop>) {
        let said = Said::default();
        let terminal = Terminal::of(Box::new(typed.as_bytes()), Box::new(said.clone()));
        let catalog = Catalog::load([("refund.json", CONTRACT)]).unwrap();
        let stop = Arc::new(Stop::default());
        let screen = Arc::new(Screen::stderr());
        (AtTerminal::on(Arc::new(terminal), None, &catalog, &screen, &stop), said, stop)
    }

    const CONTRACT: &str = r#"{"name": "refund", "description": "Pays money back.\nMore.",
        "input": {"type": "object", "properties": {"amount": {"type": "number", "maximum": 10}},
                  "required": ["amount"]}}"#;

    /// What a person who types `typed` decides, what they saw, and whether the run goes on.
    async fn typed(typed: &'static str) -> (Decision, String, bool) {
        let (approver, said, stop) = sitting(typed);
        let question = Question {
            run: "run_1".into(),
            call: "call_1".into(),
            tool: "refund".into(),
            description: "Pays money back.\nMore.".into(),
            arguments: r#"{"amount":1.10}"#.into(),
            binding: "b".into(),
            because: Some("input.amount > 1.0".into()),
            destructive: true,
            expires_at: None,
        };
        let word = approver.ask(question).await;
        assert_eq!(word.by.as_deref(), Some(WHO));
        (word.decision, said.text(), !stop.token().is_cancelled())
    }

    fn no(reason: Option<&str>) -> Decision {
        Decision::Reject { reason: reason.map(Into::into) }
    }

    fn edit(arguments: &str) -> Decision {
        Decision::Edit { arguments: arguments.into() }
    }

    #[tokio::test]
    async fn what_people_type() {
        for (text, expected, goes_on) in [
            ("y\n", Decision::Approve, true),
            ("what?\nYES\n", Decision::Approve, true),
            ("n\nToo much. \n", no(Some("Too much.")), true),
            ("no\n\n", no(None), true),
            ("", no(Some("no answer was given")), true),
            ("a\n", no(Some("the run was aborted")), false),
            ("e\n{\"amount\": 2.50}\n", edit(r#"{"amount": 2.50}"#), true),
            ("e\n\ny\n", Decision::Approve, true),
            ("e\n{\"amount\": 99}\ny\n", Decision::Approve, true),
        ] {
            let (decision, _, goes) = typed(text).await;
            assert_eq!((decision, goes), (expected, goes_on), "{text:?}");
        }
    }

    #[tokio::test]
    async fn what_people_see() {
        let (_, said, _) = typed("y\n").await;
        for part in [
            "refund (may destroy something)",
            "Pays money back.\n",
            "\"amount\": 1.10\n",
            "asked because input.amount > 1.0",
            "[y]es",
        ] {
            assert!(said.contains(part), "{part:?} in {said}");
        }
        assert!(!said.contains("More."), "{said}");
        let (_, said, _) = typed("e\n{\"amount\": 99}\nn\n\n").await;
        assert!(said.contains("the contract refuses that: schema_mismatch"), "{said}");
        assert!(said.contains("/amount maximum: expected 10; got 99"), "{said}");
    }
}
