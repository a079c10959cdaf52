//! Runs as files.

use callgate_engine::{
    Book,
    book::DOCUMENTS,
    runfile::{self, Mask},
};
use callgate_machine::{Event, Record, event::RunStarted};

use crate::world::World;

#[tokio::test]
async fn contracts_that_are_no_catalog_stay_as_they_are_and_are_told() {
    // what the journal keeps, whether it is a catalog
    let rows = [("[]", true), (r#"[{"name": "a"}]"#, true), ("{\"a\": 1}", false), ("[{", false)];
    for (text, is_catalog) in rows {
        let world = World::new();
        let hash = world.journal.keep(text).await.unwrap();
        let start = RunStarted { catalog: Some(hash.clone()), ..RunStarted::default() };
        let event = Event::RunStarted(start.into());
        let record = Record { run: "r1".into(), seq: 0, at: 1, event };
        let _lease = world.journal.claim("r1").await.unwrap();
        world.journal.append_settling(&[record], &[]).await.unwrap();

        let exported = Book::new(world.journal.clone()).export("r1", &Mask::none()).unwrap();
        assert_eq!(exported.gone.len(), 0, "{text}");
        let expected = if is_catalog { Vec::new() } else { vec![hash.clone()] };
        assert_eq!(exported.harmed, expected, "{text}");
        // Whatever it is, it is there word for word.
        let file = runfile::read(&mut exported.bytes.as_slice()).unwrap();
        let records: Vec<_> = file.lines.iter().filter_map(|line| line.record().ok()).collect();
        let kept = callgate_engine::book::documents(&file, &records);
        let kept = kept.iter().find(|(own, _)| *own == hash).map(|(_, text)| text.clone());
        if is_catalog {
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&kept.unwrap()), value(text));
        } else {
            assert_eq!(kept.as_deref(), Some(text));
            assert!(file.header.more.contains_key(DOCUMENTS), "{text}");
        }
    }
}
