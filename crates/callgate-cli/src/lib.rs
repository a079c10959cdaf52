//! The callgate command
