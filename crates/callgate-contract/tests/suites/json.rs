//! JSONTestSuite: `y_` must be taken, `n_` refused; `i_` is ours to say, and said here.

use callgate_contract::document::{Document, Syntax};

use crate::{files, shared};

/// JSON by the grammar, and refused on purpose: which value a reader takes is anybody's guess.
const DUPLICATE_KEYS: &[&str] =
    &["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

/// What the grammar leaves open and we take: any number, kept as written.
const TAKEN: &[&str] = &[
    "i_number_double_huge_neg_exp.json",
    "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json",
    "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json",
    "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
];

#[test]
fn json_test_suite() {
    let Some(folder) = shared("suites/json-parsing/test_parsing") else { return };
    let (mut yes, mut no, mut open) = (0, 0, 0);
    for (name, path) in files(&folder) {
        let bytes = std::fs::read(path).unwrap();
        // Texts are UTF-8 by their type; bytes that are not never get here.
        let verdict = std::str::from_utf8(&bytes).ok().map(Document::parse);
        let taken = matches!(&verdict, Some(Ok(_)));
        match &name[..2] {
            "y_" if DUPLICATE_KEYS.contains(&name.as_str()) => {
                let Some(Err(error)) = verdict else { panic!("{name}") };
                assert_eq!(error.fault, Syntax::DuplicateKey, "{name}");
                yes += 1;
            }
            "y_" => {
                assert!(taken, "{name}: {verdict:?}");
                yes += 1;
            }
            "n_" => {
                assert!(!taken, "{name} was taken");
                no += 1;
            }
            "i_" => {
                // Refused: unpaired surrogates, nesting beyond the limit, a byte order mark, bytes
                // that are no UTF-8.
                assert_eq!(taken, TAKEN.contains(&name.as_str()), "{name}: {verdict:?}");
                open += 1;
            }
            _ => panic!("{name}"),
        }
    }
    println!("y_ {yes}, n_ {no}, i_ {open}");
    assert_eq!((yes, no), (95, 188), "the suite changed");
}
