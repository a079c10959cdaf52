//! Questions to whoever sits at the terminal.

mod approver;
mod edit;
mod elicit;
mod field;
mod terminal;

pub(crate) use approver::AtTerminal;
pub(crate) use elicit::Elicit;
pub(crate) use terminal::Terminal;
