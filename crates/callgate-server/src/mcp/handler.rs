//! What rmcp asks: tools from the catalog, everything else from the handler beside it.

#![allow(deprecated, reason = "legacy clients are served as well")]

use std::borrow::Cow;

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
        CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
        ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ResultType, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;

use super::{McpServer, call, raw::RawArguments};

/// What a cursor into the other handler's tools begins with.
const THEIRS: &str = "more:";

type Context = RequestContext<RoleServer>;

impl<H: ServerHandler> McpServer<H> {
    /// A page of the other handler's tools, without those that the catalog has.
    async fn their_tools(
        &self,
        cursor: Option<String>,
        context: Context,
    ) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
        if self.more.get_info().capabilities.tools.is_none() {
            return Ok((Vec::new(), None));
        }
        let params =
            cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let mut page = self.more.list_tools(params, context).await?;
        let list = self.shared.held().list;
        page.tools.retain(|tool| list.get(&tool.name).is_none());
        Ok((page.tools, page.next_cursor.map(|next| format!("{THEIRS}{next}"))))
    }

    fn is_ours(&self, name: &str) -> bool {
        self.shared.held().catalog.get(name).is_some()
    }

    /// Whether a call is for the other handler: a name that is not in the catalog, where it has
    /// tools at all.
    fn is_theirs(&self, name: &str) -> bool {
        !self.is_ours(name) && self.more.get_info().capabilities.tools.is_some()
    }
}

impl<H: ServerHandler> ServerHandler for McpServer<H> {
    fn get_info(&self) -> ServerConfig {
        self.shared.info(self.more.get_info())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.more.supported_protocol_versions()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let theirs = cursor.as_deref().and_then(|cursor| cursor.strip_prefix(THEIRS));
        let (tools, next) = match theirs {
            Some(theirs) => self.their_tools(Some(theirs.to_owned()), context).await?,
            None => {
                let list = self.shared.held().list;
                let page = list.page(cursor.as_deref(), self.shared.options.page_size.max(1))?;
                let (mut tools, mut next) = (page.tools, page.next);
                if next.is_none() {
                    let (more, after) = self.their_tools(None, context).await?;
                    tools.extend(more);
                    next = after;
                }
                (tools, next)
            }
        };
        let ttl = self.shared.options.ttl.as_millis();
        Ok(ListToolsResult {
            result_type: Some(ResultType::COMPLETE),
            meta: None,
            next_cursor: next,
            ttl_ms: Some(u64::try_from(ttl).unwrap_or(u64::MAX)),
            cache_scope: Some(self.shared.scope()),
            tools,
        })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let ours = self.shared.held().list.get(name).cloned();
        ours.or_else(|| self.more.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.is_theirs(&request.name) {
            return self.more.call_tool(request, context).await;
        }
        let arguments = match RawArguments::of_request(&context) {
            Some(raw) => raw.0,
            // In another transport than ours nobody cut the text out.
            None => match request.arguments {
                Some(members) => Value::Object(members).to_string().into(),
                None => "{}".into(),
            },
        };
        let incoming = call::Incoming {
            name: request.name.into_owned(),
            arguments,
            responses: request.input_responses,
            state: request.request_state,
        };
        call::call(&self.shared, &self.connection, incoming, &context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return self.more.on_custom_request(request, context).await;
        }
        // A call that rmcp cannot read as one, since its arguments are no object: the gates say so
        // better than a protocol error does (SEP-1303).
        let params = request.params.unwrap_or_default();
        let raw = RawArguments::of_request(&context)
            .or_else(|| RawArguments::of_extensions(&request.extensions));
        let (Some(Value::String(name)), Some(raw)) = (params.get("name"), raw) else {
            let message =
                "tools/call needs a name and, where there are arguments, one object of them";
            return Err(ErrorData::invalid_params(message, None));
        };
        let incoming =
            call::Incoming { name: name.clone(), arguments: raw.0, responses: None, state: None };
        let response = call::call(&self.shared, &self.connection, incoming, &context).await?;
        let result = rmcp::model::ServerResult::from(response);
        serde_json::to_value(&result)
            .map(CustomResult::new)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // rmcp takes out what the capabilities do not have.
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.shared.changes.listen(subscription, &self.shared.closed).await;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.changes.join(context.peer.clone());
        self.more.on_initialized(context).await;
    }

    // What follows is the other handler's alone.

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        self.more.ping(context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.more.complete(request, context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.more.set_level(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.more.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.more.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.more.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.more.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.more.read_resource(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.more.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.more.unsubscribe(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        self.more.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.more.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.more.cancel_task(request, context).await
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.more.on_cancelled(notification, context).await;
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.more.on_progress(notification, context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.more.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        context: NotificationContext<RoleServer>,
    ) {
        self.more.on_custom_notification(notification, context).await;
    }
}
