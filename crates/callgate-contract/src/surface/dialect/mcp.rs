//! MCP carries JSON Schema as it is: the canonical schema goes out unchanged.

use super::{Dialect, KEEP};

pub(super) const IDENTITY: Dialect = Dialect { identity: true, ..KEEP };
