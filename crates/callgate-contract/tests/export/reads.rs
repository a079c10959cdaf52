
/// What the contracts admit reads, and comes out as it went in; what they refuse does not read.
fn main() {
    use serde_json::{Value, json};

    fn both_ways<T: serde::Serialize + serde::de::DeserializeOwned>(value: Value) {
        let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}"));
        assert_eq!(serde_json::to_value(read).unwrap(), value);
    }
    fn refused<T: serde::de::DeserializeOwned>(value: Value) {
        assert!(serde_json::from_value::<T>(value.clone()).is_err(), "{value}");
    }

    let tree = json!({"value": 1, "children": [{"value": null}], "parent": {"value": "x"}});
    both_ways::<odd::RecursiveInput>(json!({"tree": tree}));
    both_ways::<odd::RecursiveInput>(json!({"tree": {"value": 1}, "json": [1.5, ["x", {"a": true}]]}));
    both_ways::<odd::RecursiveInput>(json!({"tree": {"value": 1}, "table": {"a": {"b": {}}}}));
    refused::<odd::RecursiveInput>(json!({"tree": {}}));
    let least = json!({"type": "us-customary", "self": "", "日本": null, "pair": ["a", 1], "nothing": null, "some-name": "two"});
    let with = |name: &str, value: Value| {
        let mut whole = least.clone();
        whole[name] = value;
        whole
    };
    both_ways::<odd::CornersInput2>(least.clone());
    both_ways::<odd::CornersInput2>(with("by", json!({"kind": "name", "name": "n"})));
    both_ways::<odd::CornersInput2>(with("titled", json!("r")));
    both_ways::<odd::CornersInput2>(with("something else", json!([1])));
    both_ways::<odd::CornersInput2>(with("map", json!({"a": [1.5, null]})));
    refused::<odd::CornersInput2>(with("type", json!("b")));
    refused::<odd::CornersInput2>(with("by", json!({"kind": "id", "name": "n"})));
    refused::<odd::CornersInput2>(with("pair", json!(["a"])));
    let mut without = least.clone();
    without.as_object_mut().unwrap().remove("日本");
    refused::<odd::CornersInput2>(without);
}
