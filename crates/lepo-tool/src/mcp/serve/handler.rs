//! Requests of a client, each answered by the library in a thread of its own, and change notifications of the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lepo_base::error::{Error, ExitKind};
use lepo_net::runtime::blocking;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ContentBlock, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
    ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::{OnceCell, Semaphore, mpsc, watch};

use super::{ActiveRequest, ResourceInfo, ServeBackend, ToolOutput};

/// Most requests in progress at once.
const AT_ONCE: usize = 4;

/// Shortest time between two change notifications: an answer writes several messages.
const PAUSE: Duration = Duration::from_millis(300);

pub struct ServeHandler {
    backend: Arc<dyn ServeBackend>,
    slots: Arc<Semaphore>,
    /// Counts changes of the list of resources; the watch starts with the first subscription.
    changes: OnceCell<watch::Receiver<u64>>,
}

impl ServeHandler {
    pub fn new(backend: Arc<dyn ServeBackend>) -> ServeHandler {
        ServeHandler { backend, slots: Arc::new(Semaphore::new(AT_ONCE)), changes: OnceCell::new() }
    }

    /// Runs blocking work of the backend in a thread, once a slot is free.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn ServeBackend) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let backend = Arc::clone(&self.backend);
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let done = blocking(move || {
            let result = work(&*backend);
            drop(slot);
            result
        });
        done.await.map_err(|_| ErrorData::internal_error("the request failed", None))
    }

    /// Returns the count of changes; the first call starts the watch.
    async fn changes(&self) -> watch::Receiver<u64> {
        let begin = || async {
            let (sender, receiver) = watch::channel(0);
            let backend = Arc::clone(&self.backend);
            // The watch ends with the session, because nobody receives any more.
            drop(blocking(move || {
                backend.watch(&|is_changed| {
                    if is_changed {
                        sender.send_modify(|count| *count += 1);
                    }
                    !sender.is_closed()
                });
            }));
            receiver
        };
        self.changes.get_or_init(begin).await.clone()
    }
}

impl ServerHandler for ServeHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({ "tools": {}, "resources": { "listChanged": true } });
        let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("lepo", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.backend.instructions())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            return Err(ErrorData::invalid_params(
                format!(
                    "there is no page {cursor:?}: the first has \
                everything"
                ),
                None,
            ));
        }
        let tools = self.backend.tools().into_iter().map(|offered| {
            let schema = match offered.input {
                Value::Object(schema) => schema,
                _ => serde_json::Map::new(),
            };
            let annotations = ToolAnnotations::default()
                .read_only(!offered.can_write)
                .destructive(false)
                .idempotent(!offered.can_write)
                .open_world(false);
            Tool::new(offered.name, offered.description, Arc::new(schema)).with_annotations(annotations)
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.backend.tools().iter().any(|tool| tool.name == request.name) {
            return Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None));
        }
        let cancelled = Arc::new(AtomicBool::new(false));
        let (sender, mut progress) = mpsc::unbounded_channel();
        let token = context.meta.get_progress_token();
        let active =
            ActiveRequest { cancelled: Arc::clone(&cancelled), progress: token.is_some().then_some(sender) };
        let arguments = request.arguments.unwrap_or_default();
        let work = self.work(move |backend| backend.call(&request.name, &arguments, &active));
        tokio::pin!(work);
        let mut reported = 0.0;
        let result = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    cancelled.store(true, Ordering::Relaxed);
                    return Err(ErrorData::internal_error("cancelled", None));
                }
                result = &mut work => break result?,
                Some((done, total)) = progress.recv() => {
                    // Several threads report: only a greater number is progress.
                    let (done, total) = (done as f64, total as f64);
                    if let Some(token) = &token && done > reported {
                        reported = done;
                        let news = ProgressNotificationParam::new(token.clone(), done).with_total(total);
                        let _ = context.peer.notify_progress(news).await;
                    }
                }
            }
        };
        Ok(tool_result(result).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let listed = self.work(move |backend| backend.resources(cursor.as_deref())).await?;
        let (resources, next) = listed.map_err(|error| refused(&error))?;
        let resource = |ResourceInfo { uri, name, title }: ResourceInfo| {
            let resource = Resource::new(uri, name).with_mime_type("text/plain");
            match title {
                Some(title) => resource.with_title(title),
                None => resource,
            }
        };
        let mut result = ListResourcesResult::with_all_items(resources.into_iter().map(resource).collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (form, what) = self.backend.template();
        let template =
            ResourceTemplate::new(form, "conversation").with_description(what).with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = self.work(move |backend| backend.read(&uri)).await?;
        let text = read.map_err(|error| match error.kind {
            ExitKind::Store => refused(&error),
            _ => ErrorData::resource_not_found(error.chain(), Some(json!({ "uri": request.uri }))),
        })?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    // The default answers of rmcp are empty lists, as if prompts were supported.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().resources_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes().await;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    let is_wanted = context.accepted().resources_list_changed == Some(true);
                    if changed.is_err()
                        || is_wanted && context.sink().notify_resource_list_changed().await.is_err()
                    {
                        return Ok(());
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.changes().await;
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                if context.peer.notify_resource_list_changed().await.is_err() {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
}

fn tool_result(output: ToolOutput) -> CallToolResult {
    let content = vec![ContentBlock::text(output.text)];
    let mut result =
        if output.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(output.structured).filter(|structured| !structured.is_null());
    result
}

fn refused(error: &Error) -> ErrorData {
    match error.kind {
        ExitKind::Usage | ExitKind::Nothing => ErrorData::invalid_params(error.chain(), None),
        _ => ErrorData::internal_error(error.chain(), None),
    }
}
