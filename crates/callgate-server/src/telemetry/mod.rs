//! Metrics and traces, made from the events of runs.
