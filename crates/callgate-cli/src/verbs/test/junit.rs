//! JUnit's XML, as CI servers read it: a suite a tool, a case a fixture.

use std::fmt::Write as _;

use callgate::contract::fixture::Gate;

use super::report::{Case, Outcome, Report, Tested, name, why};

pub(super) fn write(report: &Report) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"callgate\">\n",
    );
    for tested in &report.tools {
        suite(tested, &mut xml);
    }
    xml + "</testsuites>"
}

fn suite(tested: &Tested, xml: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
        escaped(&tested.tool),
        tested.cases.len(),
        tested.count(Outcome::Failed),
        tested.count(Outcome::Skipped),
    );
    for case in &tested.cases {
        one(tested, case, xml);
    }
    xml.push_str("  </testsuite>\n");
}

fn one(tested: &Tested, case: &Case, xml: &mut String) {
    let gate = match (case.is_live, case.fixture.gate) {
        (true, _) => "live",
        (false, Gate::In) => "in",
        (false, Gate::Out) => "out",
    };
    #[allow(clippy::cast_precision_loss)]
    let time =
        case.ms.map_or_else(String::new, |ms| format!(" time=\"{:.3}\"", ms as f64 / 1000.0));
    let _ = write!(
        xml,
        "    <testcase classname=\"{}.{gate}\" name=\"{}\"{time}",
        escaped(&tested.tool),
        escaped(&name(case)),
    );
    let _ = match case.outcome {
        Outcome::Held => writeln!(xml, "/>"),
        Outcome::Skipped => {
            writeln!(xml, "><skipped message=\"{}\"/></testcase>", escaped(&why(case)))
        }
        Outcome::Failed => writeln!(
            xml,
            "><failure message=\"{}\">{}</failure></testcase>",
            escaped(&why(case)),
            escaped(&case.fixture.instance),
        ),
    };
}

/// For text and attributes; characters that XML 1.0 cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_breaks_out_of_an_attribute() {
        assert_eq!(escaped("<a b='\"'>&\n\0"), "&lt;a b=&apos;&quot;&apos;&gt;&amp;&#10;\u{fffd}");
    }
}
