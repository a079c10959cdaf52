//! `read_result`: a page of a result that the model was shown a part of.

use std::sync::Arc;

use callgate_contract::{
    Admitted, ErrorKind, Executed, Failure, Output,
    page::{Cursor, PageError, Wanted, page},
};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Arguments {
    call: Arc<str>,
    select: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

/// What a page is read of.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The value as JSON text, and the most bytes of a page; none where there is no such result.
    pub result: Option<(Arc<str>, usize)>,
    /// The calls whose results can be read on in.
    pub calls: Vec<Arc<str>>,
}

/// The call whose result is asked for.
pub(crate) fn asked(arguments: &Admitted) -> Option<Arc<str>> {
    serde_json::from_str(arguments.text()).ok().map(|asked: Arguments| asked.call)
}

pub(super) fn read(source: &Source, arguments: &Admitted) -> Result<Output, Failure> {
    let asked: Arguments = serde_json::from_str(arguments.text()).map_err(|error| {
        // Such as an offset beyond what a machine counts.
        failure(format!("The arguments cannot be read: {error}."), "Correct them and call again.")
    })?;
    let Some((text, most_bytes)) = &source.result else {
        let hint = match source.calls.as_slice() {
            [] => "No result of this run was cut: what was shown is all there is.".to_owned(),
            calls => format!("There is more to read of these calls: {}.", calls.join(", ")),
        };
        let message = format!("There is nothing to read on of a call {:?}.", asked.call);
        return Err(failure(message, hint));
    };
    let wanted =
        Wanted { select: asked.select.as_deref(), offset: asked.offset, limit: asked.limit };
    let part = page(text, wanted, *most_bytes).map_err(|error| {
        let hint = match &error {
            PageError::Path { .. } => "Write it as RFC 9535 has it, such as $.items[0].name.",
            PageError::Nothing { .. } => "Select something that is there, or leave out \"select\".",
            PageError::Beyond { .. } => "Everything before it has been shown.",
            PageError::NoJson => "Go on without it.",
        };
        failure(format!("{error}."), hint)
    })?;
    let next = part.next.map(|offset| {
        let (call, select) = (asked.call.clone(), asked.select.clone());
        // A struct of strings and a number always serialises.
        serde_json::to_string(&Cursor { call, select, offset }).unwrap_or_default()
    });
    let next = next.map_or_else(String::new, |next| format!(r#","next":{next}"#));
    // The part is copied as text: its digits stay.
    Ok(Output::json(format!(
        r#"{{"of":"{}","total":{},"offset":{},"count":{},"part":{}{next}}}"#,
        part.unit.as_str(),
        part.total,
        part.offset,
        part.count,
        part.text,
    )))
}

fn failure(message: String, hint: impl Into<String>) -> Failure {
    Failure::new(ErrorKind::ToolError, message).executed(Executed::No).hint(hint)
}
