//! Which trace a request belongs to (W3C Trace Context).

use http::HeaderMap;

pub use callgate_engine::trace::TraceContext;

/// Reads a request's headers; nothing where `traceparent` is absent, twice there, or senseless.
pub(super) fn of(headers: &HeaderMap) -> Option<TraceContext> {
    let mut all = headers.get_all("traceparent").iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    let context = TraceContext::read(one.to_str().ok()?)?;
    let states: Vec<&str> =
        headers.get_all("tracestate").iter().filter_map(|state| state.to_str().ok()).collect();
    // Several headers of that name are one list.
    Some(if states.is_empty() { context } else { context.with_state(&states.join(",")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Headers, and what of the state is kept where there is a context.
    type Row<'a> = (&'a [(&'static str, &'a str)], Option<Option<&'a str>>);

    #[test]
    fn headers_of_a_request() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let rows: [Row<'_>; 5] = [
            (&[], None),
            (&[("traceparent", parent)], Some(None)),
            (&[("traceparent", parent), ("traceparent", parent)], None),
            (
                &[("traceparent", parent), ("tracestate", "a=1"), ("tracestate", "b=2")],
                Some(Some("a=1,b=2")),
            ),
            (&[("tracestate", "a=1")], None),
        ];
        for (given, expected) in rows {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(*name, value.parse().unwrap());
            }
            let context = of(&headers);
            assert_eq!(context.as_ref().map(TraceContext::tracestate), expected, "{given:?}");
        }
    }
}
