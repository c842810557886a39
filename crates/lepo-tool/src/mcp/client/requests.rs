//! The requests of a client: tools, resources and prompts. Results are as the server wrote them.

use std::sync::atomic::Ordering;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value};

use super::super::elicitation::{ElicitationHandler, NonInteractiveHandler};
use super::{CallFailure, McpClient, TimeLimits};

/// Longest page of a list that a program may write, in bytes.
const PAGE: usize = 4 << 20;

/// A list that a server may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `prompts/list`
    Prompts,
}

impl ListKind {
    /// Returns the JSON key of the entries.
    pub fn key(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Resources => "resources",
            ListKind::Templates => "resourceTemplates",
            ListKind::Prompts => "prompts",
        }
    }
}

/// Builds a request whose parameters are a page.
macro_rules! paged {
    ($request:ident, $params:expr) => {
        ClientRequest::$request($request {
            method: Default::default(),
            params: Some($params),
            extensions: Default::default(),
        })
    };
}

impl McpClient {
    /// Whether the server declares the list; every server is assumed to have tools.
    pub fn has(&self, list: ListKind) -> bool {
        let Some(info) = self.service.peer().peer_info() else { return false };
        match list {
            ListKind::Tools => true,
            ListKind::Resources | ListKind::Templates => info.capabilities.resources.is_some(),
            ListKind::Prompts => info.capabilities.prompts.is_some(),
        }
    }

    /// Requests a page of a list.
    pub async fn page(
        &mut self,
        list: ListKind,
        cursor: Option<String>,
        limits: TimeLimits,
    ) -> Result<Value, CallFailure> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = match list {
            ListKind::Tools => paged!(ListToolsRequest, params),
            ListKind::Resources => paged!(ListResourcesRequest, params),
            ListKind::Templates => paged!(ListResourceTemplatesRequest, params),
            ListKind::Prompts => paged!(ListPromptsRequest, params),
        };
        // A whole list stays in memory, and parsing needs many times its length.
        self.limit.store(PAGE, Ordering::Relaxed);
        self.request(request, limits, &mut NonInteractiveHandler).await
    }

    /// Calls a tool and returns the result as the server wrote it.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        limits: TimeLimits,
        caller: &mut impl ElicitationHandler,
    ) -> Result<Value, CallFailure> {
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments.clone());
        let request = |answers, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (answers, state);
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        self.converse(limits, caller, request).await
    }

    /// Reads a resource and returns the result as the server wrote it.
    pub async fn read(
        &mut self,
        uri: &str,
        limits: TimeLimits,
        caller: &mut impl ElicitationHandler,
    ) -> Result<Value, CallFailure> {
        let params = ReadResourceRequestParams::new(uri);
        let request = |answers, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (answers, state);
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        self.converse(limits, caller, request).await
    }

    /// Fills in a prompt and returns the result as the server wrote it.
    pub async fn prompt(
        &mut self,
        name: &str,
        arguments: Map<String, Value>,
        limits: TimeLimits,
        caller: &mut impl ElicitationHandler,
    ) -> Result<Value, CallFailure> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = |answers, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (answers, state);
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        self.converse(limits, caller, request).await
    }
}
