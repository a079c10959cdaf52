//! Laws 6 and 10, on every recorded stream.

use callgate_wire::ProviderErrorKind;

use crate::{decode, dialects};

/// A stream cut at any byte, and at every byte at once, gives the same deltas and the same reply.
#[test]
fn every_cut_gives_the_same() {
    for dialect in dialects() {
        for recorded in decode::recorded(&dialect).iter().filter(|one| one.streamed) {
            let stream = &recorded.bytes;
            let whole = decode::decode(&dialect, recorded, &[stream]);
            let bytes: Vec<_> = stream.chunks(1).collect();
            assert_eq!(decode::decode(&dialect, recorded, &bytes), whole, "{}", recorded.name);
            for cut in 0..=stream.len() {
                let (head, tail) = stream.split_at(cut);
                let both = decode::decode(&dialect, recorded, &[head, tail]);
                assert_eq!(both, whole, "{} {} at {cut}", dialect.name, recorded.name);
            }
        }
    }
}

/// A stream that loses its end gives no reply to run anything of, wherever it was lost.
#[test]
fn a_stream_that_ends_early_gives_nothing() {
    for dialect in dialects() {
        for recorded in decode::recorded(&dialect)
            .iter()
            .filter(|one| one.name.starts_with("calls.") && one.streamed)
        {
            let stream = &recorded.bytes;
            let whole = decode::decode(&dialect, recorded, &[stream]).1;
            for cut in 0..stream.len() {
                match decode::decode(&dialect, recorded, &[&stream[..cut]]).1 {
                    Err(error) => assert_eq!(
                        error.kind,
                        ProviderErrorKind::StreamIncomplete,
                        "{} {cut}",
                        dialect.name
                    ),
                    // Only what comes after the end may be missing: the usage, an end marker.
                    Ok(reply) => {
                        let ended = whole.as_ref().unwrap();
                        assert_eq!(reply.content, ended.content, "{} at {cut}", dialect.name);
                    }
                }
            }
        }
    }
}
