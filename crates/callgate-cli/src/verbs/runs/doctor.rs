//! `callgate runs doctor ID|FILE`: the known ways in which runs go wrong.

use callgate::machine::doctor::{Finding, examine};
use serde_json::json;

use super::{cli::Doctor, recording};
use crate::{
    exit::Exit,
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

pub(super) fn go(doctor: &Doctor) -> Result<Exit, Failure> {
    let mut recordings = recording::all(&doctor.within, std::slice::from_ref(&doctor.of))?;
    if recordings.len() != 1 {
        let message = "the doctor looks at one run at a time";
        return Err(Failure::configuration("several_runs", message));
    }
    let (from, recording) = recordings.remove(0);
    let findings = examine(&recording?.records);
    if doctor.json {
        out::line(&json!({ "run": from, "findings": findings }).to_string())?;
    } else if findings.is_empty() {
        out::line("nothing of what is known to go wrong was found")?;
    } else {
        for finding in &findings {
            tell(finding)?;
        }
    }
    if doctor.strict && !findings.is_empty() {
        let message = words::count(findings.len(), "finding");
        return Err(Failure::new(Exit::Found, "findings", message));
    }
    Ok(Exit::Done)
}

fn tell(finding: &Finding) -> Result<(), Failure> {
    let paint = Paint::stdout();
    let symptom = json!(finding.symptom).as_str().unwrap_or_default().replace('-', " ");
    let mut place = format!("hop {} · event {}", finding.hop, finding.seq);
    if let (Some(tool), Some(call)) = (&finding.tool, &finding.call) {
        place.push_str(&format!(" · {} ({})", words::clean(tool), words::clean(call)));
    }
    out::line(&format!("{} {}", paint.yellow(&symptom), paint.dim(place)))?;
    out::line(&format!("  {}", words::clean(&finding.evidence)))?;
    out::line(&format!("  {} {}", paint.cyan("try:"), words::clean(&finding.fix)))
}
