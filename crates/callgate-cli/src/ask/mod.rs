//! Questions to whoever sits at the terminal.

mod approver;
mod edit;
mod elicit;
mod field;
mod option;
mod question;
mod terminal;

pub(crate) use approver::AtTerminal;
pub(crate) use elicit::Elicit;
pub(crate) use option::ByOption;
pub(crate) use terminal::Terminal;
