//! The same call through rmcp's client.
//!
//! Its `TokioChildProcess` is this transport over the pipes of a child that it starts itself.

use std::{path::Path, process::Stdio};

use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, JsonObject},
    service::RunningService,
};
use tokio::process::{Child, Command};

use crate::ARGUMENTS;

pub(crate) struct Theirs {
    service: RunningService<RoleClient, ()>,
    child: Child,
    arguments: JsonObject,
}

impl Theirs {
    pub(crate) async fn connect(program: &Path) -> Self {
        let mut child = Command::new(program)
            .arg("--echo")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("this program starts");
        let pipes = child.stdout.take().zip(child.stdin.take()).expect("pipes");
        let service = ().serve(pipes).await.expect("a handshake");
        let arguments = serde_json::from_str(ARGUMENTS).expect("an object");
        Self { service, child, arguments }
    }

    pub(crate) async fn call(&self) {
        let params = CallToolRequestParams::new("echo").with_arguments(self.arguments.clone());
        let result = self.service.call_tool(params).await.expect("an answer");
        let structured = result.structured_content.expect("a structured result");
        assert_eq!(structured["ticketId"], "T-1042");
    }

    pub(crate) async fn close(mut self) {
        self.service.cancel().await.expect("its task ends");
        self.child.wait().await.expect("its end");
    }
}
