//! The inspector: its page at `/`, and a run with its page as one file.
//!
//! The page is built from `ui/` by `cargo xtask ui` into `ui/dist`, and lies in the binary. A binary
//! that was built without it serves a page that says how to build it; everything else works.
//!
//! Its files hold no data, so the door lets them through without a token ([`paths`]); what they show
//! they ask of the API, with the token of whoever looks. The policy of the page lets it load its own
//! files and ask its own server, and nothing else.

mod file;

use axum::{Router, body::Body, extract::State, response::Response, routing::get};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rust_embed::{EmbeddedFile, RustEmbed};

pub use file::{NotBuilt, page_of_run};

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Files;

const INDEX: &str = "index.html";

/// Scripts and styles are files of the page; it asks its own server alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; \
                      img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// What is served where the page was not built.
const ABSENT: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<title>Callgate</title></head><body><h1>Callgate</h1>\n\
<p>This binary was built without the inspector. With Node 20 or newer, in Callgate's sources:</p>\n\
<pre>cargo xtask ui build\ncargo install --path crates/callgate-cli</pre>\n\
<p>Everything else works: the API is described at <a href=\"api/openapi.json\">api/openapi.json</a>, \
and <code>callgate runs show ID</code> tells a run in the terminal.</p></body></html>\n";

/// Whether the page is in this binary.
pub fn is_built() -> bool {
    Files::get(INDEX).is_some()
}

/// The paths of the page's files: they hold no data and need no token.
pub fn paths() -> Vec<String> {
    let files = Files::iter().filter(|name| is_served(name)).map(|name| format!("/{name}"));
    std::iter::once("/".to_owned()).chain(files).collect()
}

/// The page at `/`, and its files beside it.
pub fn router() -> Router {
    let mut router = Router::new().route("/", get(index));
    // One route a file, so that nothing else of the server's paths is touched.
    for name in Files::iter().filter(|name| is_served(name)) {
        router = router.route(&format!("/{name}"), get(file).with_state(name.into_owned()));
    }
    router
}

/// The template of single files, what is only another form of a file, and what is none of the page's
/// are not served by name.
fn is_served(name: &str) -> bool {
    name != INDEX && name != file::TEMPLATE && !name.ends_with(".gz") && !name.starts_with('.')
}

async fn index(headers: HeaderMap) -> Response {
    match Files::get(INDEX) {
        Some(found) => answer(INDEX, found, &headers),
        None => dressed(Response::new(Body::from(ABSENT)), "text/html; charset=utf-8", "no-store"),
    }
}

async fn file(State(name): State<String>, headers: HeaderMap) -> Response {
    match Files::get(&name) {
        Some(found) => answer(&name, found, &headers),
        // Built anew while the server runs, which happens to developers alone.
        None => {
            let mut response = Response::new(Body::from("the page was built anew: reload it\n"));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

fn answer(name: &str, found: EmbeddedFile, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(found.metadata.sha256_hash()));
    // Names of files carry a hash of what is in them; the page itself is asked for each time.
    let cache = if name == INDEX { "no-cache" } else { "public, max-age=31536000, immutable" };
    let is_known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().trim_start_matches("W/") == tag);
    let zipped = accepts_gzip(headers).then(|| Files::get(&format!("{name}.gz"))).flatten();
    let is_zipped = zipped.is_some();
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(zipped.unwrap_or(found).data.into_owned()))
    };
    if is_zipped && !is_known {
        let gzip = HeaderValue::from_static("gzip");
        response.headers_mut().insert(header::CONTENT_ENCODING, gzip);
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    dressed(response, type_of(name), cache)
}

fn dressed(mut response: Response, of_type: &'static str, cache: &'static str) -> Response {
    let rows = [
        (header::CONTENT_TYPE, of_type),
        (header::CACHE_CONTROL, cache),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    for (name, value) in rows {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(header::ACCEPT_ENCODING).iter();
    all.any(|value| {
        value.to_str().unwrap_or_default().split(',').any(|one| {
            let mut parts = one.split(';').map(str::trim);
            let is_gzip = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
            is_gzip && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    })
}

fn type_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    async fn body(response: Response) -> String {
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn the_page_is_served_or_says_how_to_build_it() {
        let response = index(HeaderMap::new()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
        if !is_built() {
            assert!(body(response).await.contains("cargo xtask ui build"));
            return;
        }
        let tag = response.headers()[header::ETAG].clone();
        assert!(body(response).await.contains("<script type=\"module\""));
        let known = index(HeaderMap::from_iter([(header::IF_NONE_MATCH, tag)])).await;
        assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
        assert!(body(known).await.is_empty());
    }

    #[test]
    fn only_files_of_the_page_are_public() {
        for path in paths() {
            let is_of_page =
                path == "/" || [".js", ".css", ".svg"].iter().any(|end| path.ends_with(end));
            assert!(is_of_page, "{path}");
        }
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let of = |value: &'static str| {
            let value = HeaderValue::from_static(value);
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]))
        };
        assert!(of("gzip") && of("deflate, GZIP;q=0.5, br"));
        assert!(!of("br") && !of("gzip;q=0") && !of("") && !accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn nothing_in_a_run_ends_its_place_in_the_page() {
        let evil = "</script><script>alert(1)</script> %RUN-INSPECTION%";
        let Ok(page) = page_of_run(evil, evil, "<b>&%RUN-FILE%") else {
            assert!(!is_built());
            return;
        };
        assert!(!page.contains("alert(1)"));
        assert!(page.contains("<title>&lt;b>&amp;%RUN-FILE%</title>"));
        assert_eq!(page.matches(&STANDARD.encode(evil)).count(), 2);
    }
}
