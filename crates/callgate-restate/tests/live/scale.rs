//! Three servers, two workers behind HAProxy.
