//! `callgate test`: what the contracts imply, before their gates; on demand before the backends too.

mod junit;
mod kept;
mod live;
mod report;

use std::sync::Arc;

use callgate::contract::{
    Catalog, Tool,
    fixture::{Expect, Fixture, Kind, Made, judge, of_tool},
};

use self::{
    kept::Kept,
    report::{Case, Outcome, Report, Tested},
};
use super::catalogs;
use crate::{
    cli::{InDir, Opened, Test, TestFormat},
    exit::Exit,
    failure::Failure,
    out, project,
    show::{screen::Screen, words},
};

pub(super) fn go(test: &Test) -> Result<Exit, Failure> {
    let (catalog, project) = match &test.from {
        Some(path) => (catalogs::read(path)?, None),
        None => {
            let opened = Opened { project: InDir { dir: test.project.dir.clone() }, frozen: true };
            let project = project::read(&opened, &Arc::new(Screen::stderr()))?;
            let unpinned = project.unpinned();
            let names = unpinned.iter().map(|server| &**server.name());
            project::tell_unpinned(names, test.format == TestFormat::Json);
            (project.catalog().clone(), Some(project))
        }
    };
    if let [tool, kind] = test.show.as_slice() {
        return show(named(&catalog, tool)?, kind);
    }
    let tools: Vec<&Arc<Tool>> = if test.tools.is_empty() {
        catalog.tools().collect()
    } else {
        test.tools.iter().map(|name| named(&catalog, name)).collect::<Result<_, _>>()?
    };
    let kept = Kept::at(test)?;
    let mut report = Report::default();
    for tool in tools {
        report.tools.push(gates(test, &kept, tool)?);
    }
    if let (true, Some(project)) = (test.live, &project) {
        live::run(test, project, &catalog, &mut report)?;
    }
    report.say(test)?;
    Ok(if report.failed() == 0 { Exit::Done } else { Exit::Found })
}

fn named<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c Arc<Tool>, Failure> {
    catalog.get(name).ok_or_else(|| {
        let names = catalog.names();
        let failure = Failure::configuration(
            "unknown_tool",
            format!("there is no tool {name:?}; there are: {}", names.join(", ")),
        );
        match callgate::contract::nearest(name, &names) {
            Some(near) => failure.hint(format!("Did you mean {near:?}?")),
            None => failure,
        }
    })
}

/// A tool's fixtures, made and kept, before its gates.
fn gates(test: &Test, kept: &Kept, tool: &Tool) -> Result<Tested, Failure> {
    let made = of_tool(tool);
    let files = kept.of(tool, test.update)?;
    let mut tested = Tested::new(&tool.name, &made);
    let generated = if test.update {
        tested.written = kept.write(tool, &made)?;
        made.fixtures
    } else {
        // Those that are kept say what the contract was. Where it became another, they tell.
        tested.is_stale = files.generated.as_ref().is_some_and(|kept| *kept != made.fixtures);
        files.generated.unwrap_or(made.fixtures)
    };
    let own = files.own.into_iter().map(|(file, fixtures)| (Some(file), fixtures));
    for (file, fixtures) in std::iter::once((None, generated)).chain(own) {
        for fixture in fixtures {
            let judged = judge(tool, &fixture);
            let outcome = if judged.held { Outcome::Held } else { Outcome::Failed };
            tested.cases.push(Case {
                file: file.clone(),
                outcome,
                why: judged.why,
                note: judged.note,
                is_live: false,
                ms: None,
                fixture,
            });
        }
    }
    Ok(tested)
}

/// Prints one instance, to be given to `tools call`.
fn show(tool: &Tool, wanted: &str) -> Result<Exit, Failure> {
    let Made { fixtures, .. } = of_tool(tool);
    let of_kind = |fixture: &&Fixture| fixture.kind.word() == wanted;
    let found = fixtures.iter().find(|fixture| &*fixture.id == wanted);
    // What the contract's author shows says more than what is made up.
    let shown = |fixture: &&Fixture| of_kind(fixture) && fixture.id.starts_with("valid:example");
    let found = found.or_else(|| fixtures.iter().find(shown));
    let Some(fixture) = found.or_else(|| fixtures.iter().find(of_kind)) else {
        let mut kinds: Vec<&str> = fixtures.iter().map(|fixture| fixture.kind.word()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let is_kind = Kind::ALL.iter().any(|kind| kind.word() == wanted);
        let what = if is_kind { "implies no fixture of the kind" } else { "has no fixture" };
        let message =
            format!("{} {what} {wanted:?}; its kinds are: {}", tool.name, kinds.join(", "));
        return Err(Failure::configuration("unknown_fixture", message));
    };
    out::line(&fixture.instance)?;
    let expected = match &fixture.expect {
        Expect::Admitted => "to be admitted".to_owned(),
        Expect::Refused(refusal) => format!(
            "to be refused by {} at \"{}\"",
            refusal.keyword.as_deref().unwrap_or("the gate"),
            refusal.path.as_deref().unwrap_or_default()
        ),
    };
    eprintln!("{}: {}", fixture.id, words::clean(&expected));
    let others: Vec<&str> = fixtures
        .iter()
        .filter(|other| other.kind == fixture.kind && other.id != fixture.id)
        .map(|other| &*other.id)
        .collect();
    if !others.is_empty() {
        eprintln!("others of the kind: {}", words::clean(&others.join(", ")));
    }
    Ok(Exit::Done)
}
