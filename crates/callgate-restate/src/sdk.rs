//! The part of Restate's SDK that is not documented, met here alone.
//!
//! Its macros fix a service's name where the program is written. Ours depend on the worker (see
//! [`crate::names`]), so what the macros would generate is written by hand: a description that the
//! worker hands out when it is registered, and a dispatcher. The SDK's version is pinned.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use restate_sdk::{
    discovery::{
        Handler, HandlerName, HandlerType, InputPayload, OutputPayload, RetryPolicyOnMaxAttempts,
        Service as Described, ServiceName, ServiceType,
    },
    endpoint::{ContextInternal, Error},
    errors::HandlerResult,
    serde::{Deserialize, Json, Serialize},
    service::{Service, ServiceDefinition, macro_support::service_definition},
};

pub(crate) use restate_sdk::endpoint::InputMetadata;

/// How long a step of ours may take before the server takes it for stuck. Tools and models keep
/// their own, shorter time limits.
const ABORT: Duration = Duration::from_secs(24 * 3600);
/// A worker that cannot be reached is tried again this often at most.
const RETRY_MAX: Duration = Duration::from_secs(10);
/// And as long as this takes: about a month. Then the run is paused by the server.
const RETRY_ATTEMPTS: u64 = 260_000;

/// What a handler is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A workflow's own, once a key.
    Run,
    /// A workflow's others: read state, keep promises.
    Shared,
    /// A service's.
    Plain,
}

/// A handler's description.
pub(crate) struct HandlerSpec {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    /// How long what it did is kept, for looking into; nothing where it is of no interest.
    pub journal_retention: Option<Duration>,
    /// How long a workflow's state is kept after its end.
    pub retention: Option<Duration>,
    /// When the server lets go of a handler that waits.
    pub inactivity: Duration,
}

/// A service: its description, and what handles a request to it.
pub(crate) fn service(
    name: &str,
    ty: ServiceType,
    is_private: bool,
    about: &str,
    handlers: &[HandlerSpec],
    dispatcher: impl Dispatch,
) -> Result<ServiceDefinition, String> {
    let handlers = handlers.iter().map(described).collect::<Result<Vec<_>, String>>()?;
    let name = ServiceName::try_from(name.to_owned()).map_err(|e| format!("{name}: {e}"))?;
    let description = Described {
        ty,
        name,
        handlers,
        documentation: Some(about.to_owned()),
        metadata: Default::default(),
        abort_timeout: Some(millis(ABORT)),
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: Some(millis(Duration::from_secs(3600))),
        // State is read by key, where somebody asks for it; a run's own handler only writes.
        enable_lazy_state: Some(true),
        ingress_private: Some(is_private),
        retry_policy_initial_interval: Some(50),
        retry_policy_max_interval: Some(millis(RETRY_MAX)),
        retry_policy_max_attempts: Some(RETRY_ATTEMPTS),
        retry_policy_exponentiation_factor: Some(2.0),
        retry_policy_on_max_attempts: Some(RetryPolicyOnMaxAttempts::Pause),
    };
    Ok(service_definition(Dispatcher(Arc::new(dispatcher)), description))
}

fn described(spec: &HandlerSpec) -> Result<Handler, String> {
    let name = HandlerName::try_from(spec.name).map_err(|e| format!("{}: {e}", spec.name))?;
    Ok(Handler {
        name,
        input: Some(InputPayload::from_metadata::<Json<serde_json::Value>>()),
        output: Some(OutputPayload::from_metadata::<Json<serde_json::Value>>()),
        ty: match spec.kind {
            Kind::Run => Some(HandlerType::Workflow),
            Kind::Shared => Some(HandlerType::Shared),
            Kind::Plain => None,
        },
        documentation: Some(spec.about.to_owned()),
        metadata: Default::default(),
        abort_timeout: None,
        inactivity_timeout: Some(millis(spec.inactivity)),
        journal_retention: spec.journal_retention.map(millis),
        idempotency_retention: None,
        workflow_completion_retention: spec.retention.map(millis),
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What handles requests to a service.
pub(crate) trait Dispatch: Send + Sync + 'static {
    /// Handles one: calls [`answer`] with the handler that the context names, or gives
    /// [`unknown`].
    fn dispatch(self: Arc<Self>, ctx: ContextInternal) -> BoxFuture<'static, Result<(), Error>>;
}

struct Dispatcher<D>(Arc<D>);

impl<D: Dispatch> Service for Dispatcher<D> {
    type Future = BoxFuture<'static, Result<(), Error>>;

    fn handle(&self, ctx: ContextInternal) -> Self::Future {
        self.0.clone().dispatch(ctx)
    }
}

/// No such handler.
pub(crate) fn unknown(ctx: &ContextInternal) -> Error {
    Error::unknown_handler(ctx.service_name(), ctx.handler_name())
}

/// A handler's input, and what else is known of the request.
pub(crate) async fn input<T: Deserialize>(ctx: &ContextInternal) -> (T, InputMetadata) {
    ctx.input::<T>().await
}

/// Hands a handler's result to the server.
pub(crate) fn answer<T: Serialize>(ctx: &ContextInternal, result: HandlerResult<T>) {
    ctx.handle_handler_result(result);
    ctx.end();
}
