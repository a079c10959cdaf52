//! Agents for other agents: an A2A server (1.0, and 0.3 by flag).
