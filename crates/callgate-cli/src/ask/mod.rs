//! Questions to whoever sits at the terminal.

mod approver;
mod edit;
mod terminal;

pub(crate) use approver::AtTerminal;
pub(crate) use terminal::Terminal;
