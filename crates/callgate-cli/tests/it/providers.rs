//! `callgate run` with each provider's own API, against servers that keep its rules: calls without
//! a result, results out of order, changed signatures and names that are not taken get its refusal.

#[path = "../../../callgate/tests/cases/forms.rs"]
mod forms;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../../../callgate-model/tests/providers/rules.rs"]
mod rules;
#[allow(dead_code, reason = "shared with other tests")]
#[path = "../../../callgate-model/tests/http/server.rs"]
mod server;

use forms::Form;
use rules::{API, Api};
use serde_json::{Value, json};
use server::{Script, Server};
use tokio::runtime::Runtime;

use crate::{
    binary::{Ended, callgate},
    project::Project,
};

/// What the servers take.
const KEY: &str = "sk-secret";

/// A tool that writes down the arguments it gets, and gives them back.
const NOTED: &str = "tee -a seen; echo >> seen";

/// A server in the provider's place.
struct Place {
    api: &'static Api,
    server: Server,
    /// Its server lives as long.
    _runtime: Runtime,
}

impl Place {
    fn new(api: &'static Api, answer: impl Fn(&str) -> Script + Send + Sync + 'static) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::judging(answer));
        Self { api, server, _runtime: runtime }
    }

    /// Runs a project there, found and opened by the provider's own variables.
    fn run(&self, project: &Project, more: &[&str]) -> Ended {
        let prefix = match form(self.api) {
            Form::Responses | Form::Chat => "OPENAI",
            Form::Anthropic => "ANTHROPIC",
            Form::Gemini => "GEMINI",
            Form::Ollama => "OLLAMA",
        };
        let root = self.server.base_url.strip_suffix("/v1").unwrap();
        let mut arguments = vec!["run", "Go.", "--model", self.api.spec];
        arguments.extend(more);
        callgate(project.dir(), &arguments)
            .env(&format!("{prefix}_BASE_URL"), &format!("{root}{}", self.api.base))
            .env(&format!("{prefix}_API_KEY"), KEY)
            .run()
    }

    /// The bodies of the requests so far.
    fn bodies(&self) -> Vec<Value> {
        let requests = self.server.requests();
        let bodies = requests.iter().map(|request| request.split_once("\r\n\r\n").unwrap().1);
        bodies.map(|body| serde_json::from_str(body).unwrap()).collect()
    }
}

fn form(api: &Api) -> Form {
    match api.spec.split(':').next().unwrap() {
        "openai-responses" => Form::Responses,
        "anthropic" => Form::Anthropic,
        "gemini" => Form::Gemini,
        "ollama" => Form::Ollama,
        other => panic!("{other}"),
    }
}

/// The arguments that the tools got, in order.
fn seen(project: &Project) -> Vec<String> {
    let text = std::fs::read_to_string(project.path("tools/seen")).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn input(properties: &Value, required: &[&str]) -> Value {
    json!({ "input": { "type": "object", "properties": properties, "required": required,
                       "additionalProperties": false } })
}

/// The model calls two tools at once, one under a name that no provider takes, and then answers.
#[test]
fn a_loop_of_two_hops() {
    let customer = json!({ "id": { "type": "integer" }, "rate": { "type": "number" } });
    let project = Project::new(&json!([]))
        .tool("crm.get_customer", NOTED, &input(&customer, &["id"]))
        .tool("now", "echo '{\"time\": \"12:00\"}'", &input(&json!({}), &[]));
    for api in API {
        for more in [&[][..], &["--no-stream"]] {
            let what = format!("{} {more:?}", api.spec);
            let place = Place::new(api, api.judge());
            let ended = place.run(&project, more);
            assert_eq!(ended.code, 0, "{what}: {}", ended.err);
            assert_eq!(ended.out.trim_end(), "All done.", "{what}");
            // Law 7: digits beyond a float's, and a closing zero.
            assert_eq!(seen(&project), [r#"{"id":1234567890123456789,"rate":1.10}"#], "{what}");
            let bodies = place.bodies();
            assert_eq!(bodies.len(), 2, "{what}");
            let last = bodies[1].to_string();
            assert!(last.contains("1234567890123456789") && last.contains("12:00"), "{last}");
            std::fs::remove_file(project.path("tools/seen")).unwrap();
        }
    }
}

#[test]
fn a_wrong_enum_is_put_right_by_the_model() {
    let level = json!({ "level": { "enum": ["low", "high"] } });
    for api in API {
        let project = Project::new(&json!([])).tool("set_level", NOTED, &input(&level, &["level"]));
        let calls = |arguments| form(api).calling(&[("set_level", arguments)]);
        let replies = vec![calls(r#"{"level":"medium"}"#), calls(r#"{"level":"high"}"#)];
        let place = Place::new(api, api.playing(replies));
        let ended = place.run(&project, &["--no-stream"]).with(0);
        assert_eq!(ended.out.trim_end(), "All done.", "{}", api.spec);
        assert_eq!(seen(&project), [r#"{"level":"high"}"#], "{}", api.spec);
        let [_, told, _] = &place.bodies()[..] else { panic!("{}: not three hops", api.spec) };
        let told = told.to_string();
        for part in ["schema_mismatch", "/level", "medium"] {
            assert!(told.contains(part), "{}: no {part} in {told}", api.spec);
        }
    }
}

/// The null that a strict surface invites stands for a value that is not there.
#[test]
fn an_optional_value_given_as_null() {
    let place = json!({ "city": { "type": "string" }, "unit": { "type": "string" } });
    for api in API {
        for mode in ["lenient", "strict"] {
            let invited = form(api) == Form::Responses;
            if mode == "strict" && !invited {
                // Without an invitation it is a mend, which this mode does not make.
                continue;
            }
            let project = Project::new(&json!([]))
                .tool("get_weather", NOTED, &input(&place, &["city"]))
                .with("strict", json!(true))
                .with("mode", json!(mode));
            let call = form(api).calling(&[("get_weather", r#"{"city":"Oslo","unit":null}"#)]);
            let place = Place::new(api, api.playing(vec![call]));
            let ended = place.run(&project, &["--no-stream", "--json"]).with(0);
            let got: Vec<Value> =
                seen(&project).iter().map(|text| serde_json::from_str(text).unwrap()).collect();
            assert_eq!(got, [json!({ "city": "Oslo" })], "{} {mode}", api.spec);
            let restored = ended.out.contains("restored:optional_null");
            assert_eq!(restored, invited, "{} {mode}: {}", api.spec, ended.out);
            let tool = &place.bodies()[0]["tools"][0];
            match form(api) {
                Form::Responses => {
                    assert_eq!(tool["strict"], true);
                    assert_eq!(tool["parameters"]["required"], json!(["city", "unit"]));
                }
                Form::Anthropic => {
                    assert_eq!(tool["strict"], true);
                    assert_eq!(tool["input_schema"]["required"], json!(["city"]));
                }
                // These have no such flag, and refuse what they do not know.
                _ => assert!(!tool.to_string().contains("\"strict\""), "{tool}"),
            }
        }
    }
}

/// The providers' errors in their own shapes: exit code 5, told once, with what to do.
#[test]
fn errors_in_their_own_shapes() {
    let openai = |kind: &str, code: &str, message: &str| json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    let anthropic = |kind: &str, message: &str| {
        json!({ "type": "error", "error": { "type": kind, "message": message },
                "request_id": "req_1" })
    };
    let google = |code: u16, status: &str, message: &str, wait: &str| {
        json!({ "error": { "code": code, "status": status, "message": message, "details": [
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait }] } })
    };
    // Provider, status, what it advises, body; attempts, what is said.
    for (spec, status, after, body, attempts, says) in [
        (
            "openai-responses",
            401,
            None,
            openai(
                "invalid_request_error",
                "invalid_api_key",
                "Incorrect API key provided: sk-secret.",
            ),
            1,
            &["OPENAI_API_KEY"][..],
        ),
        (
            "anthropic",
            401,
            None,
            anthropic("authentication_error", "invalid x-api-key"),
            1,
            &["ANTHROPIC_API_KEY"],
        ),
        (
            "gemini",
            400,
            None,
            google(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                "0s",
            ),
            1,
            &["GEMINI_API_KEY"],
        ),
        (
            "openai-responses",
            429,
            Some("0"),
            openai("requests", "rate_limit_exceeded", "Rate limit reached for gpt-5.4"),
            3,
            &["takes no more for now: Rate limit reached for gpt-5.4"],
        ),
        // Longer than anybody waits: told, not waited for.
        (
            "anthropic",
            429,
            Some("3600"),
            anthropic("rate_limit_error", "This request would exceed your rate limit"),
            1,
            &["This request would exceed your rate limit", "wait for 3600 s"],
        ),
        (
            "gemini",
            429,
            None,
            google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", "0.001s"),
            3,
            &["You exceeded your current quota"],
        ),
        (
            "anthropic",
            529,
            Some("0"),
            anthropic("overloaded_error", "Overloaded"),
            3,
            &["the provider is unavailable: Overloaded", "This usually passes"],
        ),
        (
            "gemini",
            503,
            None,
            google(503, "UNAVAILABLE", "The model is overloaded.", "0.001s"),
            3,
            &["The model is overloaded."],
        ),
        (
            "ollama",
            503,
            Some("0"),
            json!({ "error": "server busy, please try again. maximum pending requests exceeded" }),
            3,
            &["server busy"],
        ),
    ] {
        let api = API.iter().find(|api| api.spec.starts_with(spec)).unwrap();
        let (body, what) = (body.to_string(), format!("{spec} {status}"));
        let headers: Vec<_> = after.map(|after| ("retry-after", after)).into_iter().collect();
        let place = Place::new(api, move |_| server::json(status, &headers, &body));
        let ended = place.run(&Project::new(&json!([])), &[]);
        assert!(!ended.err.contains(KEY), "{what}: {}", ended.err);
        assert_eq!(place.server.requests().len(), attempts, "{what}: {}", ended.err);
        assert_eq!(ended.out, "", "{what}");
        ended.with(5).tells_once().says(says);
    }
}
