//! A call through the gates and our client.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use callgate_contract::{Mode, Tool, Verdict, result};
use callgate_tool::{
    Backend as _, Invocation,
    lock::Lock,
    mcp::{Client, ClientOptions, Lifecycle, McpTool, ServerConfig, Timeouts, Transport},
    process_env,
};
use tokio_util::sync::CancellationToken;

use crate::ARGUMENTS;

/// Long enough for any machine.
const LONG: Duration = Duration::from_secs(120);

pub(crate) struct Ours {
    client: Arc<Client>,
    tool: Tool,
    backend: McpTool,
    run: Arc<str>,
    id: Arc<str>,
}

impl Ours {
    pub(crate) async fn connect(program: &Path) -> Self {
        let config = ServerConfig {
            name: "echo".into(),
            transport: Transport::Stdio {
                command: program.display().to_string(),
                args: vec!["--echo".to_owned()],
                env: BTreeMap::new(),
                cwd: None,
            },
            timeouts: Timeouts { start: LONG, idle: LONG, max: LONG },
            lifecycle: Lifecycle::Auto,
        };
        let client = Client::new(config, process_env(), ClientOptions::default());
        let listing = client.list().await.expect("a list");
        let mut lock = Lock::default();
        lock.accept("echo", &listing);
        let pin = lock.server("echo").and_then(|pins| pins.get("echo")).expect("a pin");
        let tool = pin.definition().tool("echo", "echo", "callgate.lock", Some(LONG));
        let check = Some(pin.checker("echo"));
        let backend = McpTool::new(client.clone(), "echo", tool.is_repeatable(), check);
        Self { client, tool, backend, run: "run_1".into(), id: "call_1".into() }
    }

    pub(crate) async fn call(&self) {
        let Verdict::Admitted { arguments, .. } = self.tool.admit(ARGUMENTS, Mode::Lenient) else {
            panic!("the arguments are right")
        };
        let invocation = Invocation {
            run: self.run.clone(),
            call: self.id.clone(),
            tool: self.tool.name.clone(),
            arguments,
            idempotency_key: self.id.clone(),
            attempt: 1,
            timeout: LONG,
            cancel: CancellationToken::new(),
            trace: None,
        };
        let invoked = self.backend.invoke(invocation).await;
        let passed = result::pass(&self.tool, Mode::Lenient, &invoked.result).expect("it passes");
        // Digit for digit, what was sent.
        assert_eq!(passed.result.get(), ARGUMENTS);
    }

    pub(crate) async fn close(&self) {
        self.client.close().await;
    }
}
