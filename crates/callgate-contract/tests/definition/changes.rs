//! What a change of a definition means.

use callgate_contract::{
    definition::{
        Definition, difference,
        difference::{Op, words},
    },
    document::Document,
    schema::{Schema, canonical::Relation},
};
use serde_json::{Value, json};

fn definition(more: &Value) -> Definition {
    let mut all = json!({"name": "t", "description": "Stores a note.", "inputSchema": {
        "type": "object", "properties": {"to": {"type": "string", "maxLength": 10}}, "required": ["to"],
        "additionalProperties": false}});
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    Definition::read(&all.to_string()).unwrap()
}

fn input(properties: &Value, required: &Value) -> Value {
    json!({"inputSchema": {"type": "object", "properties": properties, "required": required,
        "additionalProperties": false}})
}

fn admits(definition: &Definition, value: &Value) -> bool {
    let text = value.to_string();
    definition.input().admits(Document::parse(&text).unwrap().root())
}

#[test]
fn the_effect_on_what_a_tool_takes_is_proved() {
    let before = definition(&json!({}));
    let to = json!({"type": "string", "maxLength": 10});
    let rows = [
        // Words in a schema, and nothing else.
        (
            input(
                &json!({"to": {"type": "string", "maxLength": 10, "description": "Who."}}),
                &json!(["to"]),
            ),
            Relation::Equal,
            1,
        ),
        (
            input(&json!({"to": {"type": "string", "maxLength": 20}}), &json!(["to"])),
            Relation::Wider,
            1,
        ),
        (input(&json!({"to": to, "cc": {"type": "string"}}), &json!(["to"])), Relation::Wider, 1),
        (input(&json!({"to": to}), &json!([])), Relation::Wider, 1),
        (
            input(&json!({"to": {"type": "string", "maxLength": 5}}), &json!(["to"])),
            Relation::Narrower,
            1,
        ),
        (
            input(&json!({"to": to, "key": {"type": "string"}}), &json!(["to", "key"])),
            Relation::Both,
            2,
        ),
        (input(&json!({"to": {"type": "integer"}}), &json!(["to"])), Relation::Both, 2),
    ];
    for (more, relation, edits) in rows {
        let after = definition(&more);
        let found = difference(&before, &after).unwrap();
        assert_eq!(found.fields, ["inputSchema"], "{more}");
        let effect = found.input.unwrap();
        assert_eq!(
            (effect.relation, effect.edits.len()),
            (relation, edits),
            "{more}: {:?}",
            effect.edits
        );
        let wider = matches!(relation, Relation::Wider | Relation::Both);
        let narrower = matches!(relation, Relation::Narrower | Relation::Both);
        assert_eq!(effect.only_after.is_some(), wider, "{more}");
        assert_eq!(effect.only_before.is_some(), narrower, "{more}");
        if let Some(value) = effect.only_after {
            assert!(admits(&after, &value) && !admits(&before, &value), "{value}");
        }
        if let Some(value) = effect.only_before {
            assert!(admits(&before, &value) && !admits(&after, &value), "{value}");
        }
    }
}

#[test]
fn what_cannot_be_proved_says_so() {
    // What look-ahead admits is not decided, not even next to the very same set.
    let pattern = |p: &str| input(&json!({"to": {"type": "string", "pattern": p}}), &json!(["to"]));
    let (before, after) = (definition(&pattern("^(?!root)")), definition(&pattern("^(?!admin)")));
    let effect = difference(&before, &after).unwrap().input.unwrap();
    assert_eq!(
        (effect.relation, effect.only_after, effect.only_before),
        (Relation::Unknown, None, None)
    );
    // So a local contract may not claim it.
    let pinned = before.tool("s__t", "s", "callgate.lock", None);
    let faults = after.tool("mine", "s", "mine.json", None).narrowing(&pinned).unwrap_err();
    assert!(
        !faults[0].is_proved && faults[0].to_string().contains("cannot be proved"),
        "{faults:?}"
    );
    // Beside the same pattern more may be asked for.
    let narrow = input(
        &json!({"to": {"type": "string", "pattern": "^(?!root)", "maxLength": 3}}),
        &json!(["to"]),
    );
    assert!(definition(&narrow).tool("mine", "s", "mine.json", None).narrowing(&pinned).is_ok());
}

#[test]
fn an_output_that_comes_and_goes() {
    let schema = json!({"outputSchema": {"type": "object"}});
    let (none, some) = (definition(&json!({})), definition(&schema));
    let came = difference(&none, &some).unwrap();
    assert_eq!(came.fields, ["outputSchema"]);
    assert_eq!(came.output.unwrap().relation, Relation::Narrower);
    let went = difference(&some, &none).unwrap();
    assert_eq!(went.output.unwrap().relation, Relation::Wider);
}

#[test]
fn words_hints_and_flags() {
    let before =
        definition(&json!({"annotations": {"readOnlyHint": true, "idempotentHint": true}}));
    assert_eq!(difference(&before, &before.clone()), None);
    let after = definition(&json!({
        "description": "Stores a note and\u{200b} posts it.",
        "annotations": {"readOnlyHint": false, "idempotentHint": true, "destructiveHint": true}
    }));
    let found = difference(&before, &after).unwrap();
    assert_eq!(found.fields, ["description", "annotations"]);
    assert_eq!(found.input, None);
    let hints: Vec<Value> = found.annotations.iter().map(|hint| json!(hint)).collect();
    assert_eq!(
        hints,
        [
            json!({"hint": "destructiveHint", "before": null, "after": true}),
            json!({"hint": "readOnlyHint", "before": true, "after": false}),
        ]
    );
    assert_eq!(found.flags.len(), 1);
    // A flag that was accepted once is told once.
    let again = difference(
        &after,
        &definition(&json!({
            "description": "Stores a note and\u{200b} posts it.", "title": "Store"
        })),
    )
    .unwrap();
    assert_eq!(again.flags, []);
}

#[test]
fn a_diff_by_words_makes_both_texts() {
    let rows = [
        ("", ""),
        ("", "a b"),
        ("a b", ""),
        ("Stores a note.", "Stores a note and posts it too."),
        ("one two three four", "one 2 three  four\nfive"),
        ("a a a b", "a b a a"),
        ("  lead", "lead  "),
    ];
    for (before, after) in rows {
        let diff = words(before, after);
        let side = |drop: Op| {
            diff.iter().filter(|c| c.op != drop).map(|c| c.text.as_str()).collect::<String>()
        };
        assert_eq!(side(Op::Added), before, "{diff:?}");
        assert_eq!(side(Op::Removed), after, "{diff:?}");
    }
    // Too long to compare word by word: told as replaced, at once.
    let (long, other) = ("a ".repeat(9000), "b ".repeat(9000));
    assert!(words(&long, &other).len() <= 3);
}

#[test]
fn many_edits_are_counted_and_not_all_listed() {
    let many = |prefix: &str| {
        let properties: serde_json::Map<String, Value> =
            (0..150).map(|i| (format!("{prefix}{i}"), json!({"type": "string"}))).collect();
        input(&properties.into(), &json!([]))
    };
    let found = difference(&definition(&many("a")), &definition(&many("b"))).unwrap();
    let effect = found.input.unwrap();
    assert_eq!((effect.edits.len(), effect.more), (100, 200));
    assert!(Schema::compile(json!(true)).is_ok());
}

#[test]
fn a_local_contract_narrows_and_never_widens() {
    let pinned = definition(
        &json!({"annotations": {"destructiveHint": true}, "outputSchema": {"type": "object"}}),
    )
    .tool("s__t", "s", "callgate.lock", None);
    let local = |more: Value| {
        let mut all = json!({"name": "store", "input": {"type": "object",
            "properties": {"to": {"type": "string", "maxLength": 10}}, "required": ["to"],
            "additionalProperties": false}});
        for (name, value) in more.as_object().unwrap() {
            all[name] = value.clone();
        }
        let text = all.to_string();
        let catalog = callgate_contract::Catalog::load([("store.json", text.as_str())]).unwrap();
        catalog.get("store").unwrap().narrowing(&pinned)
    };
    let to = |to: Value| json!({"type": "object", "properties": {"to": to}, "required": ["to"], "additionalProperties": false});
    let same = local(json!({})).unwrap();
    assert_eq!((&*same.name, &*same.description), ("store", "Stores a note."));
    assert!(same.annotations.destructive && same.output.is_some());
    assert!(format!("{:?}", same.tier).contains("Approve"));
    // What the file form says is what the contract is: a journal keeps it.
    assert_eq!(same.to_file().description.as_deref(), Some("Stores a note."));
    let narrow = local(
        json!({"input": to(json!({"enum": ["a", "b"]})), "tier": "auto", "description": "Mine."}),
    )
    .unwrap();
    assert_eq!(&*narrow.description, "Mine.");
    assert!(format!("{:?}", narrow.tier).contains("Auto"));

    for (more, member, witness) in [
        (json!({"input": to(json!({"type": "string"}))}), "input", true),
        (json!({"input": {"type": "object"}}), "input", true),
        (json!({"output": {"type": ["object", "null"]}}), "output", true),
    ] {
        let faults = local(more.clone()).unwrap_err();
        assert_eq!(faults.len(), 1, "{more}");
        assert_eq!((faults[0].member, faults[0].witness.is_some()), (member, witness), "{more}");
        assert!(faults[0].to_string().contains("such as"), "{}", faults[0]);
    }
}
