//! Events as lines of JSON on standard output.

use callgate::{engine::Notice, machine::Finish};
use serde_json::{Value, json};

use crate::{exit::Exit, failure::Failure, out, signals::Stop};

/// Prints one event. When nobody reads any more, the run is stopped.
pub(crate) fn see(notice: &Notice, stop: &Stop) {
    let Notice::Record(record) = notice else { return };
    let Ok(line) = serde_json::to_string(&**record) else { return };
    if out::line(&line).is_err() {
        stop.cancel();
    }
}

/// Prints the last line.
pub(crate) fn result(run: &str, finish: &Finish, exit: Exit) -> Result<(), Failure> {
    let mut line = json!({ "type": "result", "run": run, "exitCode": exit.code() });
    if let (Value::Object(line), Ok(Value::Object(finish))) =
        (&mut line, serde_json::to_value(finish))
    {
        line.extend(finish);
    }
    out::line(&line.to_string())
}
