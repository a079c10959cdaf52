//! Law 2: projections are lenses, for any schema and any of its instances.
//!
//! 500 instances a surface; `PROPTEST_CASES` says another number of schemas (five instances each),
//! `CALLGATE_NIGHTLY=1` makes it 10,000 instances and another seed every time.

use callgate_contract::{
    Mode, Verdict,
    schema::{
        Schema,
        canonical::{Comparison, Relation, compare},
    },
    surface::{How, Options, Projection, Source, Surface, Unsayable, normalised, project_with},
};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::Value;

use crate::{
    instances::{Dice, instance},
    schemas,
    subset::{faults, meaning},
    support::{admits, same, schema, tool},
};

/// Instances of one schema.
const EACH: usize = 5;

/// What came of the instances that were tried.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) said: usize,
    pub(crate) unsayable: usize,
    pub(crate) merged: usize,
}

/// Checks the law on some instances of one schema.
pub(crate) fn check<'s>(
    contract: &Schema,
    source: impl Into<Source<'s>>,
    surface: Surface,
    options: Options,
    seed: u64,
    tally: &mut Tally,
) -> Result<Projection, String> {
    let projection = project_with(source, surface, options);
    let wrong = faults(projection.surface, &projection.parameters);
    if !wrong.is_empty() {
        return Err(format!("{surface} does not admit {}: {wrong:?}", projection.parameters));
    }
    let meaning = meaning(projection.surface, &projection.parameters);
    let projected = Schema::compile(meaning.clone())
        .map_err(|faults| format!("{meaning} does not compile: {faults:?}"))?;
    let mut dice = Dice::new(seed);
    let mut found = 0;
    for _ in 0..EACH * 8 {
        if found == EACH {
            break;
        }
        let x = instance(&mut dice, contract.value()).to_string();
        if !admits(contract, &x) {
            continue;
        }
        found += 1;
        one(&projection, &projected, &x, tally).map_err(|why| {
            format!("{why}\n  instance {x}\n  projection {}", projection.parameters)
        })?;
    }
    Ok(projection)
}

fn one(
    projection: &Projection,
    projected: &Schema,
    x: &str,
    tally: &mut Tally,
) -> Result<(), String> {
    let lost = |how: How| projection.losses.iter().any(|loss| loss.how == how);
    match projection.restore.forward(x) {
        Ok(forwarded) => {
            tally.said += 1;
            if !admits(projected, &forwarded.text) {
                return Err(format!("the projection does not admit {}", forwarded.text));
            }
            let restored = projection.restore.restore(&forwarded.text).text;
            let mut expected: Value = serde_json::from_str(x).map_err(|e| e.to_string())?;
            let expected = if forwarded.merged.is_empty() {
                x.to_owned()
            } else {
                tally.merged += 1;
                if !lost(How::Merged) {
                    return Err(format!("merged without a word: {:?}", forwarded.merged));
                }
                for place in &forwarded.merged {
                    put_null(&mut expected, place);
                }
                expected.to_string()
            };
            if !same(&expected, &restored) {
                return Err(format!("{} comes back as {restored}", forwarded.text));
            }
            Ok(())
        }
        Err(Unsayable::Outside { path }) => {
            tally.unsayable += 1;
            if lost(How::Narrowed) {
                Ok(())
            } else {
                Err(format!("narrower without a word at {path}"))
            }
        }
        Err(Unsayable::Ambiguous { path }) => {
            tally.unsayable += 1;
            if lost(How::Merged) {
                Ok(())
            } else {
                Err(format!("ambiguous without a word at {path}"))
            }
        }
        Err(Unsayable::Malformed) => Err("malformed".to_owned()),
    }
}

fn put_null(value: &mut Value, place: &str) {
    let (parent, name) = place.rsplit_once('/').expect("a member");
    let name = name.replace("~1", "/").replace("~0", "~");
    if let Some(Value::Object(members)) = value.pointer_mut(parent) {
        members.insert(name, Value::Null);
    }
}

fn runner() -> TestRunner {
    let nightly = std::env::var("CALLGATE_NIGHTLY").is_ok_and(|on| on == "1");
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(if nightly { 2_000 } else { 100 });
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    if nightly {
        TestRunner::new(config)
    } else {
        // The same run every time: what fails here fails everywhere.
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }
}

fn law(surface: Surface, options: Options) {
    let tally = std::cell::Cell::new(Tally::default());
    let outcome = runner().run(&(schemas::input(), proptest::num::u64::ANY), |(input, seed)| {
        let Ok(contract) = Schema::compile(input.clone()) else {
            return Err(TestCaseError::reject("no schema"));
        };
        let tool = tool("the_tool", &input);
        let mut sum = tally.get();
        let projection = check(&contract, &*tool, surface, options, seed, &mut sum)
            .map_err(TestCaseError::fail)?;
        tally.set(sum);
        // What is restored is judged by the contract alone.
        if let Verdict::Admitted { arguments, .. } =
            projection.restore.admit(&tool, "{}", Mode::Strict)
        {
            proptest::prop_assert!(admits(&contract, arguments.text()));
        }
        Ok(())
    });
    report(surface, outcome.map_err(|error| told(&error)), tally.get());
}

fn answers(surface: Surface) {
    let tally = std::cell::Cell::new(Tally::default());
    let outcome = runner().run(&(schemas::answer(), proptest::num::u64::ANY), |(answer, seed)| {
        let Ok(contract) = Schema::compile(answer) else {
            return Err(TestCaseError::reject("no schema"));
        };
        let mut sum = tally.get();
        check(&contract, &contract, surface, Options::default(), seed, &mut sum)
            .map_err(TestCaseError::fail)?;
        tally.set(sum);
        Ok(())
    });
    report(surface, outcome.map_err(|error| told(&error)), tally.get());
}

fn told(error: &TestError<(Value, u64)>) -> String {
    match error {
        TestError::Fail(why, (input, seed)) => format!("{why}\n  schema {input}\n  seed {seed}"),
        TestError::Abort(why) => format!("aborted: {why}"),
    }
}

fn report(surface: Surface, outcome: Result<(), String>, tally: Tally) {
    println!("{surface}: {tally:?}");
    if let Err(why) = outcome {
        panic!("{surface}: {why}");
    }
    // A projection that could say little would keep the law by saying nothing.
    let all = tally.said + tally.unsayable;
    assert!(tally.said * 10 >= all * 7, "{surface} can say {} of {all}", tally.said);
}

macro_rules! laws {
    ($($name:ident: $surface:ident,)*) => {
        mod arguments {
            use super::*;
            $(#[test] fn $name() { law(Surface::$surface, Options::default()); })*
        }
        mod final_answers {
            use super::*;
            $(#[test] fn $name() { answers(Surface::$surface); })*
        }
    };
}

laws! {
    openai_strict: OpenAiStrict,
    openai_loose: OpenAiLoose,
    anthropic_strict: AnthropicStrict,
    anthropic_loose: AnthropicLoose,
    gemini_parameters: GeminiParameters,
    gemini_json_schema: GeminiJsonSchema,
    deepseek_strict: DeepSeekStrict,
    mistral_strict: MistralStrict,
    mistral_loose: MistralLoose,
    ollama: Ollama,
    compatible: Compatible,
    mcp: Mcp,
}

#[test]
fn maps_as_pairs_are_lenses_too() {
    for surface in [Surface::OpenAiStrict, Surface::AnthropicStrict, Surface::DeepSeekStrict] {
        law(surface, Options { maps_as_pairs: true, ..Options::default() });
    }
}

/// Law 11 for projections: where the sets of values differ, a loss says so.
pub(crate) fn told_in_full(contract: &Schema, projection: &Projection) -> Result<Relation, String> {
    let Comparison { relation, only_first, only_second, .. } =
        compare(&projection.scope, &normalised(contract));
    let lost = |hows: &[How]| projection.losses.iter().any(|loss| hows.contains(&loss.how));
    let wider = matches!(relation, Relation::Wider | Relation::Both);
    if wider && !lost(&[How::Dropped, How::Described, How::Widened]) {
        return Err(format!("admits more without a word: {only_first:?}"));
    }
    let narrower = matches!(relation, Relation::Narrower | Relation::Both);
    if narrower && !lost(&[How::Narrowed]) {
        return Err(format!("admits less without a word: {only_second:?}"));
    }
    Ok(relation)
}

#[test]
fn nothing_is_lost_in_silence() {
    let mut runner = runner();
    let undecided = std::cell::Cell::new((0, 0));
    let outcome = runner.run(&schemas::input(), |input| {
        let Ok(contract) = Schema::compile(input.clone()) else {
            return Err(TestCaseError::reject("no schema"));
        };
        let tool = tool("the_tool", &input);
        for surface in Surface::ALL {
            let projection = project_with(&*tool, surface, Options::default());
            let relation = told_in_full(&contract, &projection).map_err(|why| {
                TestCaseError::fail(format!("{surface} {why}\n  scope {}", projection.scope))
            })?;
            let (unknown, all) = undecided.get();
            undecided.set((unknown + usize::from(relation == Relation::Unknown), all + 1));
        }
        Ok(())
    });
    println!("undecided, of all: {:?}", undecided.get());
    if let Err(error) = outcome {
        match error {
            TestError::Fail(why, input) => panic!("{why}\n  schema {input}"),
            TestError::Abort(why) => panic!("{why}"),
        }
    }
}

/// The same checks on a schema that a test found by hand.
#[test]
fn known_hard_schemas() {
    let rows = [
        // Two branches that one null tells apart.
        serde_json::json!({"type": "object", "properties": {"u": {"anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false},
            {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"], "additionalProperties": false},
        ]}}, "required": ["u"]}),
        // Strings and numbers that read alike.
        serde_json::json!({"type": "object", "properties": {"e": {"enum": ["1", 1, "", null, true, "true"]}}}),
        // References that fan out, and unions that would multiply.
        fan_out(),
        unions_in_unions(),
        // A recursion that never leaves `anyOf`.
        serde_json::json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
            "$defs": {"T": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"l": {"$ref": "#/$defs/T"}, "r": {"$ref": "#/$defs/T"}}, "additionalProperties": false}]}}}),
        // The root itself.
        serde_json::json!({"type": "object", "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name"], "additionalProperties": false}),
        serde_json::json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x.example/y", "type": "object",
            "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}, "pair": {"type": "array", "items": [{"type": "string"}, {"$ref": "#/definitions/N"}], "additionalItems": false}},
            "definitions": {"N": {"type": "integer"}}}),
        serde_json::json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"a": {"$ref": "#/properties/b", "minLength": 40}, "b": {"type": "string"}}, "dependencies": {"a": ["b"]}}),
    ];
    for input in rows {
        let contract = schema(&input);
        let tool = tool("the_tool", &input);
        for surface in Surface::ALL {
            for maps_as_pairs in [false, true] {
                if maps_as_pairs && !surface.is_strict() {
                    continue;
                }
                let options = Options { maps_as_pairs, ..Options::default() };
                for seed in 0..2 {
                    let checked =
                        check(&contract, &*tool, surface, options, seed, &mut Tally::default());
                    if let Err(why) = checked {
                        panic!("{surface}: {why}\n  schema {input}");
                    }
                }
            }
        }
    }
}

/// Five objects in each other, each a union of six beside its properties: 7,776 leaves if pushed
/// down.
fn unions_in_unions() -> Value {
    let mut inner = serde_json::json!({"type": "string", "minLength": 1});
    for _ in 0..5 {
        let branches: Vec<Value> = (0..6)
            .map(|n| {
                serde_json::json!({
                    "properties": {format!("t{n}"): {"type": "integer"}},
                    "required": [format!("t{n}")],
                })
            })
            .collect();
        inner =
            serde_json::json!({"type": "object", "properties": {"x": inner}, "anyOf": branches});
    }
    serde_json::json!({"type": "object", "properties": {"x": inner}})
}

/// Twenty definitions, each of which refers to the next one twice: a million nodes if written out.
fn fan_out() -> Value {
    let mut definitions = serde_json::Map::new();
    for n in 0..20 {
        let next = serde_json::json!({"$ref": format!("#/$defs/D{}", n + 1)});
        definitions.insert(
            format!("D{n}"),
            serde_json::json!({"type": "object", "properties": {"a": next, "b": next}, "additionalProperties": false}),
        );
    }
    definitions.insert("D20".to_owned(), serde_json::json!({"type": "string"}));
    serde_json::json!({"type": "object", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions})
}
