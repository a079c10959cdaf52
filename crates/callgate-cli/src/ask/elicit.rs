//! What a server wants to know of the person (MCP elicitation), asked at the terminal.
//!
//! A server's words come from outside: they are shown as its words, with nothing in them that
//! moves the cursor or hides. Nothing is sent before the person has seen the whole of it. Where
//! there is no terminal the answer is no, and a line says so.

use std::sync::Arc;

use callgate::{
    backend::mcp::{Answered, Answering, Elicitor, Question, Wants},
    contract::{Catalog, Mode, Verdict},
};
use serde_json::{Map, Value, json};

use super::{Terminal, field::Field};
use crate::show::{pretty::pretty, screen::Screen, words};

/// Puts servers' questions to whoever sits at the terminal.
pub(crate) struct Elicit {
    terminal: Option<Arc<Terminal>>,
    screen: Arc<Screen>,
}

impl Elicit {
    /// At the process's terminal, where there is one.
    pub(crate) fn new(screen: &Arc<Screen>) -> Self {
        Self { terminal: Terminal::own(), screen: screen.clone() }
    }

    async fn answer(&self, question: Question) -> Answered {
        let server = words::short(&words::shown(&question.server), 60);
        let Some(terminal) = &self.terminal else {
            self.screen.hint(&format!(
                "the server {server} asked for an answer; there is no terminal to ask on, so it was declined"
            ));
            return Answered::Decline;
        };
        let _turn = terminal.turn().await;
        let _quiet = self.screen.question();
        let paint = self.screen.paint();
        terminal.say(&format!("\n{} {}\n", paint.yellow("the server asks:"), paint.bold(&server)));
        for line in words::shown(&question.message).lines() {
            terminal.say(&format!("  {line}\n"));
        }
        match &question.wants {
            Wants::Form { schema } => form(terminal, schema).await,
            Wants::Url { url } => page(terminal, url).await,
        }
    }
}

impl Elicitor for Elicit {
    fn elicit(&self, question: Question) -> Answering<'_> {
        Box::pin(self.answer(question))
    }

    fn opens_urls(&self) -> bool {
        // The address is shown, and the person opens it.
        true
    }
}

async fn page(terminal: &Terminal, url: &str) -> Answered {
    terminal.say(&format!("  It wants you to open this page: {}\n", words::shown(url)));
    loop {
        let Some(line) = terminal.line("[y]es, I did so, [n]o, [c]ancel? ").await else {
            terminal.say("\n");
            return Answered::Cancel;
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Answered::Accept(Map::new()),
            "n" | "no" => return Answered::Decline,
            "c" | "cancel" => return Answered::Cancel,
            _ => {}
        }
    }
}

async fn form(terminal: &Terminal, schema: &Value) -> Answered {
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let required = schema["required"].as_array();
    let Some(judge) = Judge::of(schema) else {
        terminal.say("  Its form cannot be read, so it was declined.\n");
        return Answered::Decline;
    };
    loop {
        match choice(terminal, "[a]nswer, [d]ecline, [c]ancel? ").await {
            Some('a' | 'y') => {}
            Some('d' | 'n') => return Answered::Decline,
            Some('c') | None => return Answered::Cancel,
            Some(_) => continue,
        }
        let mut content = Map::new();
        for (name, schema) in properties {
            let is_required =
                required.is_some_and(|names| names.iter().any(|n| n == name.as_str()));
            let field = Field { name, schema, is_required };
            match filled(terminal, &field).await {
                Some(Some(value)) => {
                    content.insert(name.clone(), value);
                }
                Some(None) => {}
                None => return Answered::Cancel,
            }
        }
        if let Some(why) = judge.refuses(&content) {
            terminal.say(&format!("  the form refuses that: {why}\n"));
            continue;
        }
        terminal.say("  This is sent:\n");
        for line in pretty(&words::shown(&Value::from(content.clone()).to_string())).lines() {
            terminal.say(&format!("  {line}\n"));
        }
        match choice(terminal, "[s]end, [a]gain, [d]ecline, [c]ancel? ").await {
            Some('s' | 'y') => return Answered::Accept(content),
            Some('d' | 'n') => return Answered::Decline,
            Some('c') | None => return Answered::Cancel,
            Some(_) => {}
        }
    }
}

/// The first letter of what is typed; nothing at Ctrl-D.
async fn choice(terminal: &Terminal, prompt: &str) -> Option<char> {
    let Some(line) = terminal.line(prompt).await else {
        terminal.say("\n");
        return None;
    };
    Some(line.trim().chars().next().map_or(' ', |c| c.to_ascii_lowercase()))
}

/// A field's value, asked for until it fits; `None` at Ctrl-D.
async fn filled(terminal: &Terminal, field: &Field<'_>) -> Option<Option<Value>> {
    let one = json!({ "type": "object", "properties": { field.name: field.schema } });
    let judge = Judge::of(&one);
    terminal.say(&field.put());
    loop {
        let Some(line) = terminal.line("  > ").await else {
            terminal.say("\n");
            return None;
        };
        let value = match field.read(&line) {
            Ok(value) => value,
            Err(why) => {
                terminal.say(&format!("    {why}\n"));
                continue;
            }
        };
        let Some(found) = &value else { return Some(None) };
        let content = Map::from_iter([(field.name.to_owned(), found.clone())]);
        match judge.as_ref().and_then(|judge| judge.refuses(&content)) {
            None => return Some(value),
            Some(why) => terminal.say(&format!("    {why}\n")),
        }
    }
}

/// A form's schema as the gate of a tool that takes it.
struct Judge(Catalog);

impl Judge {
    fn of(schema: &Value) -> Option<Self> {
        let tool = json!([{ "name": NAME, "input": schema }]).to_string();
        Catalog::from_text("form", &tool).ok().map(Self)
    }

    /// Why the schema refuses what was filled in.
    fn refuses(&self, content: &Map<String, Value>) -> Option<String> {
        let text = Value::from(content.clone()).to_string();
        match self.0.get(NAME)?.admit(&text, Mode::Strict) {
            Verdict::Admitted { .. } => None,
            Verdict::Refused(fault) => Some(words::fault(&fault)[1..].join("; ")),
        }
    }
}

const NAME: &str = "form";

#[cfg(test)]
mod tests {
    use std::{io, sync::Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Said(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Said {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a person who types `typed` answers, and what they saw.
    async fn typed(typed: &'static str, wants: Wants) -> (Answered, String) {
        let said = Said::default();
        let terminal = Terminal::of(Box::new(typed.as_bytes()), Box::new(said.clone()));
        let screen = Arc::new(Screen::stderr());
        let elicit = Elicit { terminal: Some(Arc::new(terminal)), screen };
        let question =
            Question { server: "shop".into(), message: "Who\u{1b}[2J are you?".to_owned(), wants };
        let answered = elicit.elicit(question).await;
        let said = String::from_utf8(said.0.lock().unwrap().clone()).unwrap();
        (answered, said)
    }

    fn form() -> Wants {
        Wants::Form {
            schema: json!({"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "minLength": 2},
                "age": {"type": "integer", "minimum": 18},
                "mail": {"type": "string", "format": "email", "default": "a@b.example"}}}),
        }
    }

    fn accept(content: &Value) -> Answered {
        Answered::Accept(content.as_object().unwrap().clone())
    }

    #[tokio::test]
    async fn what_people_type() {
        let whole = accept(&json!({"name": "Ann", "age": 40, "mail": "c@d.example"}));
        let least = accept(&json!({"name": "Ann", "mail": "a@b.example"}));
        for (text, expected) in [
            ("d\n", Answered::Decline),
            ("no\n", Answered::Decline),
            ("c\n", Answered::Cancel),
            ("", Answered::Cancel),
            ("x\nd\n", Answered::Decline),
            ("a\nAnn\n40\nc@d.example\ns\n", whole.clone()),
            // Corrected on the way: too short, no number, too young, no address.
            ("a\nA\nAnn\nforty\n4\n40\nnobody\nc@d.example\ns\n", whole.clone()),
            ("a\n\nAnn\n\n\ns\n", least),
            ("a\nBob\n40\n\na\na\nAnn\n40\nc@d.example\ns\n", whole),
            ("a\nAnn\n40\n\nd\n", Answered::Decline),
            ("a\nAnn\n", Answered::Cancel),
        ] {
            let (answered, said) = typed(text, form()).await;
            assert_eq!(answered, expected, "{text:?}: {said}");
            assert!(said.contains("the server asks:") && !said.contains('\u{1b}'), "{said:?}");
        }
    }

    #[tokio::test]
    async fn a_page_is_shown_whole_and_never_opened() {
        let url = || Wants::Url { url: "https://shop.example/pay?id=1".to_owned() };
        for (text, expected) in [
            ("y\n", accept(&json!({}))),
            ("?\nn\n", Answered::Decline),
            ("c\n", Answered::Cancel),
            ("", Answered::Cancel),
        ] {
            let (answered, said) = typed(text, url()).await;
            assert_eq!(answered, expected, "{text:?}");
            assert!(said.contains("https://shop.example/pay?id=1"), "{said}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_asked_is_declined() {
        let odd = Wants::Form { schema: json!({"type": "objekt"}) };
        assert_eq!(typed("a\n", odd).await.0, Answered::Decline);
        let elicit = Elicit { terminal: None, screen: Arc::new(Screen::stderr()) };
        let question =
            Question { server: "shop".into(), message: "Who?".to_owned(), wants: form() };
        assert_eq!(elicit.elicit(question).await, Answered::Decline);
    }
}
