//! The requests of a client: tools, resources and prompts. Results are as the server wrote them.

use std::sync::atomic::Ordering;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value};

use super::super::form::{Caller, NoPerson};
use super::{Client, Failure, Limits};

/// Longest page of a list that a program may write, in bytes.
const PAGE: usize = 4 << 20;

/// A list that a server may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `prompts/list`
    Prompts,
}

impl List {
    /// Returns the JSON key of the entries.
    pub fn key(self) -> &'static str {
        match self {
            List::Tools => "tools",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
            List::Prompts => "prompts",
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

impl Client {
    /// Whether the server declares the list; every server is assumed to have tools.
    pub fn has(&self, list: List) -> bool {
        let Some(info) = self.service.peer().peer_info() else { return false };
        match list {
            List::Tools => true,
            List::Resources | List::Templates => info.capabilities.resources.is_some(),
            List::Prompts => info.capabilities.prompts.is_some(),
        }
    }

    /// Requests a page of a list.
    pub async fn page(
        &mut self,
        list: List,
        cursor: Option<String>,
        limits: Limits,
    ) -> Result<Value, Failure> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = match list {
            List::Tools => paged!(ListToolsRequest, params),
            List::Resources => paged!(ListResourcesRequest, params),
            List::Templates => paged!(ListResourceTemplatesRequest, params),
            List::Prompts => paged!(ListPromptsRequest, params),
        };
        // A whole list stays in memory, and parsing needs many times its length.
        self.limit.store(PAGE, Ordering::Relaxed);
        self.request(request, limits, &mut NoPerson).await
    }

    /// Calls a tool and returns the result as the server wrote it.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        limits: Limits,
        caller: &mut impl Caller,
    ) -> Result<Value, Failure> {
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
        limits: Limits,
        caller: &mut impl Caller,
    ) -> Result<Value, Failure> {
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
        limits: Limits,
        caller: &mut impl Caller,
    ) -> Result<Value, Failure> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = |answers, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (answers, state);
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        self.converse(limits, caller, request).await
    }
}
