//! `callgate schema`: what editors and other programs check files by.

use callgate::{
    contract::{
        catalog::tool_file_schema, envelope::envelope_schema, fixture::fixture_file_schema,
        lint::check_file_schema,
    },
    machine::{agent::agent_schema, event::event_schema},
};

use crate::{cli::SchemaOf, exit::Exit, failure::Failure, out};

pub(super) fn go(of: SchemaOf) -> Result<Exit, Failure> {
    let schema = match of {
        SchemaOf::Tool => tool_file_schema(),
        SchemaOf::Agent => agent_schema(),
        SchemaOf::Event => event_schema(),
        SchemaOf::Envelope => envelope_schema(),
        SchemaOf::Check => check_file_schema(),
        SchemaOf::Fixtures => fixture_file_schema(),
        SchemaOf::Serve => super::serve::config::schema(),
    };
    out::line(&format!("{schema:#}"))?;
    Ok(Exit::Done)
}
