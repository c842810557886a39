//! The servers of a process: each starts when it is needed, has one session for all turns, and is closed at the end
//! together with the others.

#[cfg(test)]
mod tests;

use std::time::Instant;

use futures_util::future::join_all;
use tokio::task::JoinHandle;

use super::client::{ProcessSetup, ServerTimeouts, TimeLimits};
use super::content::{self, CallResult};
use super::elicitation::ElicitationHandler;
use super::failure_text::{failure_text, hidden};
use super::folders::{ServerFolders, program_label};
use super::notice::ServerNotice;
use super::request::native_prefix;
use super::server::Server;
use super::start_tasks::StartTasks;
use super::tool_list_cache::ToolListCache;
use super::tools::Tool;
use super::{CallRequest, native_name};
use crate::consent::GrantedCall;
use crate::mcp::config::{ServerConfig, ServerTarget};
use lepo_base::error::Error;
use lepo_base::tool_name::{bare_name, folded_name};

/// All servers.
pub struct Servers {
    pub(super) each: Vec<Server>,
    /// Servers set aside for a turn with tools off: none is used, and none starts.
    pub(super) shelved: Vec<Server>,
    pub(super) patience: ServerTimeouts,
    pub(super) setup: ProcessSetup,
    /// Notices that have not been printed yet.
    pub(super) unsaid: Vec<ServerNotice>,
    starting: StartTasks,
    /// Whether every server is asked for its tools, in spite of cached lists.
    pub(super) asks_all: bool,
    /// Whether a server that was silent lately is given its whole time limit.
    waits_fully: bool,
    lists: Option<ToolListCache>,
}

/// The result of a call.
#[derive(Debug)]
pub enum CallOutcome {
    /// The tool's result.
    Result(CallResult),
    /// The call failed, and why.
    Failed(String),
    /// The call was not made: the tool is no longer the version to which the user agreed.
    Changed,
}

impl Servers {
    /// Creates the servers without starting any. `lists` caches their tools.
    pub fn new(
        configs: Vec<ServerConfig>,
        patience: ServerTimeouts,
        setup: ProcessSetup,
        lists: Option<&ToolListCache>,
    ) -> Servers {
        let each = configs.into_iter().map(|config| Server::new(config, &setup, lists)).collect();
        Servers {
            each,
            shelved: Vec::new(),
            unsaid: Vec::new(),
            patience,
            setup,
            starting: StartTasks::default(),
            asks_all: false,
            waits_fully: false,
            lists: lists.cloned(),
        }
    }

    /// Whether no servers are configured.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Returns all servers.
    pub fn each(&self) -> &[Server] {
        &self.each
    }

    /// Returns the folders in which servers start.
    pub fn folders(&self) -> &ServerFolders {
        &self.setup.folders
    }

    /// Sets the folders for servers that start from now on.
    pub fn set_folders(&mut self, folders: ServerFolders) {
        let lists = self.lists.as_ref();
        self.each.iter_mut().for_each(|server| server.set_folders(&folders, lists));
        self.setup.folders = folders;
    }

    /// Whether a server is about to start whose folder depends on trust in the worktree: a server that is asked for
    /// its tools, or the server named `called`.
    pub fn is_trust_needed(&mut self, called: Option<&str>) -> bool {
        if called.is_none() && !self.asks_all {
            self.load_cached_lists();
        }
        let Servers { each, setup, asks_all, .. } = self;
        let is_wanted = |server: &Server| match called {
            Some(name) => server.config.name == name,
            None => *asks_all || !server.is_known(),
        };
        let starts = |server: &&Server| {
            let is_off = server.client.is_none() && server.failure.is_none() && !server.is_starting;
            is_off && is_wanted(server) && setup.folders.depends_on_trust(&server.config)
        };
        each.iter().any(|server| starts(&server))
    }

    /// Returns the programs whose folder depends on trust in the worktree, without duplicates.
    pub fn programs(&self) -> Vec<String> {
        let mut labels = Vec::new();
        for server in self.each.iter().filter(|server| self.setup.folders.depends_on_trust(&server.config)) {
            if let ServerTarget::Program { command, args, .. } = &server.config.target {
                labels.push(program_label(command, args));
            }
        }
        labels.sort();
        labels.dedup();
        labels
    }

    /// Asks every server for its tools, in spite of cached lists, and gives each its whole time limit.
    pub fn ask_all(&mut self) {
        self.asks_all = true;
        self.waits_fully = true;
    }

    /// Gives servers that are started from now on their whole time limit, those that were silent lately too.
    pub fn wait_fully(&mut self) {
        self.waits_fully = true;
    }

    /// Starts, concurrently, the servers whose tools are not known. For the others, the cached lists are loaded.
    pub fn start_all(&mut self) {
        for at in 0..self.each.len() {
            let Some(server) = self.each.get_mut(at) else { continue };
            if server.is_starting || server.client.is_some() || server.failure.is_some() {
                continue;
            }
            if !self.asks_all {
                let (is_listed, notices) = server.load_cached_list();
                self.unsaid.extend(notices);
                if is_listed {
                    continue;
                }
            }
            self.start(at);
        }
    }

    /// Loads the cached lists of tools; starts no server.
    pub fn load_cached_lists(&mut self) {
        for server in &mut self.each {
            let (_, notices) = server.load_cached_list();
            self.unsaid.extend(notices);
        }
    }

    /// Starts, concurrently, the named servers that do not run. Returns notices for the user.
    pub async fn start_named(&mut self, is_wanted: impl Fn(&str) -> bool) -> Vec<ServerNotice> {
        for at in 0..self.each.len() {
            let Some(server) = self.each.get(at) else { continue };
            let is_off = server.client.is_none() && server.failure.is_none() && !server.is_starting;
            if is_off && is_wanted(&server.config.name) {
                self.start(at);
            }
        }
        self.started().await
    }

    fn start(&mut self, at: usize) {
        let Some(server) = self.each.get_mut(at) else { return };
        server.starts_in(&self.setup, !self.waits_fully);
        let patience = self.patience.with(&server.config);
        let patience = if server.is_brief { patience.shortened() } else { patience };
        self.starting.spawn(at, server, &self.setup, patience);
    }

    /// Waits for the servers that are starting.
    async fn started(&mut self) -> Vec<ServerNotice> {
        let mut notices = Vec::new();
        while let Some(finished) = self.starting.next().await {
            let Some(server) = self.each.get_mut(finished.server) else { continue };
            (server.is_starting, server.ran_out) = (false, finished.ran_out);
            server.starts += 1;
            notices.extend(server.finish_start(finished.session, false));
        }
        notices
    }

    /// Starts a turn: a server that died repeatedly may be tried again.
    pub fn new_turn(&mut self) {
        self.each.iter_mut().for_each(Server::new_turn);
    }

    /// Waits until every server's tools are known or it has failed, and lists tools again where a server reported a
    /// change. Returns notices for the user, without duplicates.
    pub async fn ready(&mut self) -> Vec<ServerNotice> {
        self.start_all();
        let mut notices = self.unsaid();
        notices.extend(self.started().await);
        for server in &mut self.each {
            notices.extend(server.list_again(self.patience.with(&server.config), false).await);
        }
        notices
    }

    /// Returns the notices that have not been printed yet.
    pub fn unsaid(&mut self) -> Vec<ServerNotice> {
        std::mem::take(&mut self.unsaid)
    }

    /// Defers notices that cannot be printed yet.
    pub fn defer_notices(&mut self, notices: Vec<ServerNotice>) {
        self.unsaid.extend(notices);
    }

    /// Makes sure that a request's server runs and its tools are known; an error says why not. Defers notices of its start.
    pub async fn up(&mut self, request: &CallRequest) -> Result<(), String> {
        let Servers { each, patience, setup, unsaid, .. } = self;
        let Some(server) = each.iter_mut().find(|server| server.config.name == request.server) else {
            return Err(format!("there is no server {:?}", request.server));
        };
        let patience = patience.with(&server.config);
        server.wake(setup, patience, unsaid).await?;
        unsaid.extend(server.list_again(patience, true).await);
        Ok(())
    }

    /// Returns the server and the tool of a request, as last listed by the running server.
    pub fn live(&self, request: &CallRequest) -> Option<(&Server, &Tool)> {
        let server = self.each.iter().find(|server| server.config.name == request.server)?;
        Some((server, server.live_tool(&request.tool)?))
    }

    /// Whether the tool of a request was advertised to a model.
    pub fn is_advertised(&self, request: &CallRequest) -> bool {
        let is_of = |server: &&Server| server.config.name == request.server;
        let tools = self.each.iter().find(is_of).map(|server| server.tools.as_slice()).unwrap_or_default();
        tools.iter().any(|tool| tool.name == request.tool)
    }

    /// Returns the tool that a model means by a single name: `server__tool`, or the tool's name if only one server has
    /// it.
    pub fn by_name(&self, name: &str) -> Option<(&Server, &Tool)> {
        let exact = self.all().find(|(server, tool)| native_name(&server.config.name, &tool.name) == name);
        exact.or_else(|| {
            let mut bare = self.all().filter(|(_, tool)| tool.name == name);
            bare.next().filter(|_| bare.next().is_none())
        })
    }

    /// Returns the names of the tools in models' APIs.
    pub fn native_names(&self) -> Vec<String> {
        self.all().map(|(server, tool)| native_name(&server.config.name, &tool.name)).collect()
    }

    /// Corrects a request with an inexact name, if it can mean only one tool; otherwise returns it unchanged.
    pub fn meant(&self, request: CallRequest) -> CallRequest {
        let is_there = |(server, tool): &(&Server, &Tool)| {
            server.config.name == request.server && tool.name == request.tool
        };
        let server_is = |server: &Server| folded_name(&server.config.name) == folded_name(&request.server);
        let wanted = folded_name(bare_name(&request.tool));
        let tool_is = |tool: &Tool| folded_name(&tool.name) == wanted;
        let mut near = self.all().filter(|(server, tool)| server_is(server) && tool_is(tool));
        match near.next().filter(|_| near.next().is_none() && !self.all().any(|one| is_there(&one))) {
            Some((server, tool)) => {
                CallRequest { server: server.config.name.clone(), tool: tool.name.clone(), ..request }
            }
            None => request,
        }
    }

    fn all(&self) -> impl Iterator<Item = (&Server, &Tool)> {
        self.each.iter().flat_map(|server| server.tools.iter().map(move |tool| (server, tool)))
    }

    /// Returns, for the model, why the server of this name does not run; `None` if it runs or does not exist.
    pub fn not_up(&self, name: &str) -> Option<String> {
        self.each.iter().find(|server| server.config.name == name)?.not_up()
    }

    /// Like `not_up`, for the server of the tool that a model means by a single name.
    pub fn not_up_by_name(&self, name: &str) -> Option<String> {
        let is_of = |server: &&Server| name.starts_with(&native_prefix(&server.config.name));
        self.each.iter().filter(is_of).find_map(Server::not_up)
    }

    /// Makes a granted call once, if its tool is the version to which the user agreed. A server that is gone is
    /// restarted first; a sent request is never sent again.
    pub async fn call(&mut self, granted: GrantedCall, caller: &mut impl ElicitationHandler) -> CallOutcome {
        let request = granted.request();
        if let Err(words) = self.up(request).await {
            return CallOutcome::Failed(words);
        }
        let Some(server) = self.each.iter_mut().find(|server| server.config.name == request.server) else {
            return CallOutcome::Failed("the server is not there".to_string());
        };
        let patience = self.patience.with(&server.config);
        if server.live_tool(&request.tool).map(Tool::fingerprint).as_deref() != Some(granted.tool()) {
            return CallOutcome::Changed;
        }
        let Some(client) = &mut server.client else {
            return CallOutcome::Failed("the server is not there".to_string());
        };
        let start = Instant::now();
        let called = client.call(&request.tool, &request.arguments, patience.call, caller).await;
        let called = match called {
            Ok(result) => Ok(result),
            Err(failure) => Err(client.explain(failure).await),
        };
        let ms = start.elapsed().as_millis() as u64;
        let (name, tool) = (&request.server, &request.tool);
        match called {
            Ok(result) => {
                server.suspect = false;
                let result = hidden(result, &server.secrets);
                tracing::info!(server = name, tool, ms, "tool called");
                tracing::debug!(server = name, tool, result = %server.secrets.hide_all(&result.to_string()), "result");
                match content::read(&result) {
                    Some(result) => CallOutcome::Result(result),
                    None => CallOutcome::Failed("its answer is not the result of a tool".to_string()),
                }
            }
            Err(failure) => {
                server.suspect = true;
                let words = failure_text(&failure, &server.secrets, name);
                tracing::warn!(server = name, tool, ms, failed = words, "tool call failed");
                CallOutcome::Failed(words)
            }
        }
    }

    /// Lists the resources and prompts of all running servers, unless they are known. Returns notices for the user.
    pub async fn list_offers(&mut self) -> Vec<ServerNotice> {
        let limit = self.patience.connect;
        let limits = TimeLimits { idle: limit, total: limit };
        let listing = self.each.iter_mut().map(|server| async move {
            let words = server.list_offers(limits).await.err()?;
            Some(ServerNotice::OffersUnlisted(server.config.name.clone(), words))
        });
        join_all(listing).await.into_iter().flatten().collect()
    }

    /// Returns the server of this name, running.
    pub(super) async fn awake(&mut self, name: &str) -> lepo_base::error::Result<&mut Server> {
        let names: Vec<String> = self.each.iter().map(|server| server.config.name.clone()).collect();
        let Some(server) = self.each.iter_mut().find(|server| server.config.name == name) else {
            let hint = match names.is_empty() {
                true => "no servers are enabled; they are configured in mcp.json, see \
                    lepo-config(5)"
                    .to_string(),
                false => format!("the servers are {}", names.join(", ")),
            };
            return Err(Error::usage(format!("no MCP server {name:?}")).hint(hint));
        };
        let mut notices = Vec::new();
        match server.wake(&self.setup, self.patience.with(&server.config), &mut notices).await {
            Ok(()) => {
                self.unsaid.extend(notices);
                Ok(server)
            }
            Err(words) => {
                let error = Error::remote_lines(&format!("server {name} cannot be used: {words}"));
                Err(match server.missing_folder() {
                    Some(dir) => error.hint(format!(
                        "it starts in an empty folder, because {} is not trusted: `lepo trust`",
                        dir.display()
                    )),
                    None => error,
                })
            }
        }
    }

    /// Closes all sessions concurrently, and terminates the servers' process trees.
    pub async fn close(&mut self) {
        let closing: Vec<JoinHandle<()>> = self
            .each
            .iter_mut()
            .filter_map(|server| server.client.take())
            .map(|client| tokio::spawn(client.close()))
            .collect();
        self.starting.abort().await;
        for closed in closing {
            let _ = closed.await;
        }
    }
}
