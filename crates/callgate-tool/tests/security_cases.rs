//! The destination and path cases of the family `security`, from the file of cases itself.
#![allow(clippy::unwrap_used)]

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use callgate_tool::{guard, path};
use serde_json::Value;

fn case(id: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/cases.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn ssrf_destinations() {
    let case = case("ssrf-destinations");
    let input = &case["input"];
    let resolve = |host: &str| -> Vec<IpAddr> {
        let found = input["resolver"].get(host);
        found
            .map(|list| texts(list).iter().map(|a| a.parse().unwrap()).collect())
            .unwrap_or_default()
    };
    let redirect =
        |url: &guard::Url| Some(input["redirects"].get(url.as_str())?.as_str().unwrap().to_owned());
    let mut allowed = texts(&input["urls"]);
    allowed.retain(|url| guard::walk(url, &guard::Policy::public(), resolve, redirect).is_ok());
    assert_eq!(allowed, texts(&case["expected"]["any"]["allowed"]));
}

#[test]
fn path_containment() {
    let case = case("path-containment");
    let input = &case["input"];
    let links = |path: &Path| {
        let target = input["symlinks"].get(path.to_str().unwrap())?;
        Some(PathBuf::from(target.as_str().unwrap()))
    };
    let root = Path::new(input["root"].as_str().unwrap());
    let mut allowed = texts(&input["paths"]);
    allowed.retain(|path| path::contain(root, Path::new(path), &links).is_ok());
    assert_eq!(allowed, texts(&case["expected"]["any"]["allowed"]));
}
