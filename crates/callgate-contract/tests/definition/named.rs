//! What discovered tools are called.

use std::collections::BTreeSet;

use callgate_contract::{
    definition::names::catalog_names,
    surface::names::{Named, is_legal},
};

fn named(pairs: &[(&str, &str)]) -> Vec<Named> {
    let one = |(server, name): &(&str, &str)| Named {
        server: Some((*server).into()),
        name: (*name).into(),
    };
    pairs.iter().map(one).collect()
}

fn names(pairs: &[(&str, &str)], taken: &[&str]) -> Vec<String> {
    let taken: BTreeSet<&str> = taken.iter().copied().collect();
    let names = catalog_names(&named(pairs), &taken);
    assert_eq!(names.len(), pairs.len());
    let mut seen = taken.clone();
    for name in &names {
        assert!(is_legal(name), "{name} of {pairs:?}");
        assert!(seen.insert(name), "{name} twice in {names:?}");
    }
    names
}

#[test]
fn the_server_is_the_namespace() {
    let long = "export_quarterly_revenue_report_of_all_regions_and_customers_v1";
    // Tools, names that are taken, names that come of it.
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a [&'a str]);
    let rows: &[Row<'_>] = &[
        (&[("time", "get_current_time")], &[], &["time__get_current_time"]),
        (&[("a", "deploy"), ("b", "deploy")], &[], &["a__deploy", "b__deploy"]),
        (&[("my-server", "x-y")], &[], &["my-server__x-y"]),
        // Cleaned, and told apart by a hash.
        (
            &[("gw", "notes.list"), ("gw", "notes_list"), ("gw", "notes/list")],
            &[],
            &["gw__notes_list_*", "gw__notes_list", "gw__notes_list_*"],
        ),
        (&[("gw", "search-a"), ("gw", "search_a")], &[], &["gw__search-a", "gw__search_a"]),
        (&[("größe", "messen")], &[], &["gr__e__messen_*"]),
        (&[("4me", "x")], &[], &["_4me__x_*"]),
        // Too long: cut, and the hash stays.
        (&[("reports", long)], &[], &["reports__export_quarterly_revenue_report_of_all_regions_*"]),
        // Two ways to split one name: a server that could be mistaken gets the hash.
        (&[("a", "b__c"), ("a__b", "c")], &[], &["a__b__c", "a__b__c_*"]),
        (&[("a", "_b"), ("a_", "b")], &[], &["a___b", "a___b_*"]),
        // A name that somebody else has.
        (&[("time", "now")], &["time__now"], &["time__now_*"]),
        // The same tool told twice.
        (&[("s", "t"), ("s", "t")], &[], &["s__t", "s__t_*"]),
    ];
    for (pairs, taken, expected) in rows {
        for (got, want) in names(pairs, taken).iter().zip(*expected) {
            let fits = match want.strip_suffix('*') {
                Some(start) => got.starts_with(start) && got.len() == start.len() + 8,
                None => got == want,
            };
            assert!(fits, "{pairs:?}: want {want}, got {got}");
        }
    }
}

#[test]
fn a_name_does_not_depend_on_the_order_nor_on_others() {
    let pairs = [("gw", "notes.list"), ("a__b", "c"), ("time", "now"), ("gw", "notes/list")];
    let all = names(&pairs, &[]);
    for (i, pair) in pairs.iter().enumerate() {
        assert_eq!(names(&[*pair], &[])[0], all[i]);
    }
    let mut backwards = pairs;
    backwards.reverse();
    let mut again = names(&backwards, &[]);
    again.reverse();
    assert_eq!(again, all);
}

#[test]
fn a_tool_that_bears_anothers_hashed_name_overwrites_nobody() {
    let hashed = names(&[("gw", "notes.list")], &[]).remove(0);
    let plain = hashed.strip_prefix("gw__").unwrap();
    let both = names(&[("gw", "notes.list"), ("gw", plain)], &[]);
    assert_eq!(both[1], hashed);
    assert_ne!(both[0], hashed);
}
