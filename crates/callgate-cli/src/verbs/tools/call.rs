//! `callgate tools call NAME JSON`: one call through every gate, and the envelope that comes of it.

use std::{
    io::{self, IsTerminal as _},
    sync::Arc,
};

use callgate::{Project, contract::Mode, machine::Status};

use crate::{
    cli::{CallOptions, ToolsCall},
    exit::Exit,
    failure::Failure,
    input, out, project,
    show::{pretty::pretty, screen::Screen, view::View, words},
    signals::{Signals, Stop},
    verbs::block_on,
};

pub(super) fn go(call: &ToolsCall) -> Result<Exit, Failure> {
    make(&call.arguments, &call.options, |_| Ok(call.name.clone()))
}

/// Makes the call of the tool that is found in the project.
pub(in crate::verbs) fn make(
    arguments: &str,
    call: &CallOptions,
    find: impl FnOnce(&Project) -> Result<String, Failure>,
) -> Result<Exit, Failure> {
    let arguments = input::text(arguments)?;
    let arguments = arguments.trim_end_matches(['\r', '\n']);
    let caller = input::caller(call.caller.as_deref())?;
    let screen = Screen::stderr();
    if call.json {
        screen.silence();
    }
    let screen = Arc::new(screen);
    let stop = Arc::new(Stop::default());
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let opened = &call.project;
        let project = project::open(opened, call.json, &screen, &stop, &mut signals).await?;
        let name = match find(&project) {
            Ok(name) => name,
            Err(failure) => {
                project::end(&project, &stop, &mut signals).await;
                return Err(failure);
            }
        };
        let mode = call.mode.map_or(project.spec().mode, Mode::from);
        let detail = project::detail(&call.loudness, call.json || call.loudness.quiet);
        let view = View::new(screen.clone(), detail, project.catalog()).of_one_call(mode);
        let work = project
            .call(&name, arguments)
            .mode(mode)
            .caller(caller)
            .approver(project::approver(&call.approvals, project.catalog(), &screen, &stop))
            .cancel_with(stop.token())
            .on_notice(move |notice| view.see(notice))
            .make();
        let called = signals.guard(work, &stop, || {}).await;
        screen.still();
        let called = called.ok_or_else(Failure::killed)?.map_err(callgate::Error::from);
        project::end(&project, &stop, &mut signals).await;
        let called = called?;
        match (call.json, io::stdout().is_terminal()) {
            (true, _) => out::line(&called.text)?,
            (false, true) => out::line(&pretty(&words::clean(&called.text)))?,
            (false, false) => out::line(&pretty(&called.text))?,
        }
        Ok(match called.finish.status {
            Status::Cancelled => Exit::Cancelled,
            _ if called.envelope.ok => Exit::Done,
            _ => Exit::Call,
        })
    })
}
