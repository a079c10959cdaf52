//! Family `security`: destinations and paths, by the guards that backends use.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use callgate_contract::{ErrorKind, Executed, Failure};
use callgate_tool::{guard, path};
use serde_json::{Value, json};

use crate::{Case, Verdict, check};

pub(crate) fn run(case: &Case) -> Verdict {
    let stated = &case.expected["any"];
    check::known(stated, &["outcome", "allowed", "error"], "expected")?;
    check::same("outcome", &stated["outcome"], &json!("policy"))?;
    let (asked, denied): (Vec<String>, Vec<Option<String>>) = if case.input.get("urls").is_some() {
        destinations(&case.input)?
    } else if case.input.get("paths").is_some() {
        paths(&case.input)?
    } else {
        return Err("the input has neither urls nor paths".to_owned());
    };
    let allowed: Vec<&String> =
        asked.iter().zip(&denied).filter(|(_, d)| d.is_none()).map(|(asked, _)| asked).collect();
    check::same("allowed", &json!(allowed), &stated["allowed"])?;
    if let Some(want) = stated.get("error") {
        check::known(want, &["class", "path", "retryable"], "error")?;
        // A guard judges one value: the argument that the case calls it by.
        let argument = if case.input.get("urls").is_some() { "/url" } else { "/path" };
        check::same("path", &json!(argument), &want["path"])?;
        for why in denied.iter().flatten() {
            let failure = Failure::new(ErrorKind::PolicyDenied, why.as_str());
            check::same("class", &json!(failure.kind), &want["class"])?;
            check::same("executed", &failure.executed, &Executed::No)?;
            if let Some(want) = want.get("retryable") {
                check::same("retryable", &json!(failure.retryable), want)?;
            }
        }
    }
    Ok(())
}

type Judged = (Vec<String>, Vec<Option<String>>);

fn destinations(input: &Value) -> Result<Judged, String> {
    check::known(input, &["policy", "resolver", "redirects", "urls"], "input")?;
    check::same("policy", &input["policy"], &json!("public_http_only"))?;
    let resolve = |host: &str| -> Vec<IpAddr> {
        let found = input["resolver"].get(host).and_then(Value::as_array);
        found.into_iter().flatten().map(|a| a.as_str().unwrap().parse().unwrap()).collect()
    };
    let redirect = |url: &guard::Url| {
        input.get("redirects")?.get(url.as_str()).map(|to| to.as_str().unwrap().to_owned())
    };
    let urls = check::texts(&input["urls"])?;
    let judge = |url: &String| guard::walk(url, &guard::Policy::public(), resolve, redirect);
    let denied = urls.iter().map(|url| judge(url).err().map(|d| d.to_string())).collect();
    Ok((urls, denied))
}

fn paths(input: &Value) -> Result<Judged, String> {
    check::known(input, &["root", "symlinks", "paths"], "input")?;
    let links = |path: &Path| {
        let target = input.get("symlinks")?.get(path.to_str().unwrap())?;
        Some(PathBuf::from(target.as_str().unwrap()))
    };
    let root = Path::new(input["root"].as_str().ok_or("root is no text")?);
    let paths = check::texts(&input["paths"])?;
    let judge = |path: &String| path::contain(root, Path::new(path), &links);
    let denied = paths.iter().map(|path| judge(path).err().map(|d| d.to_string())).collect();
    Ok((paths, denied))
}
