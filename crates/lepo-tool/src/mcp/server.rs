//! An MCP server: its tools, both as advertised to models and as listed by the server, and its session while it runs.

use std::path::PathBuf;
use std::time::SystemTime;

use super::client::{CallFailure, McpClient, ProcessSetup, TimeLimits};
use super::failure_text::{failure_text, hidden};
use super::folders::ServerFolders;
use super::notice::{ServerNotice, ToolsFault};
use super::offers::Offers;
use super::secrets::ServerSecrets;
use super::session::{StartedSession, is_responding, list};
use super::tool_list_cache::{ToolListCache, ToolListFile, is_recent};
use super::tools::{Tool, ToolListing};
use crate::mcp::client::ServerTimeouts;
use crate::mcp::config::{ServerConfig, ServerTarget};
use serde_json::Value;

/// Most starts of a server in a turn.
const MOST_STARTS: usize = 2;

/// A server of a process.
pub struct Server {
    /// Configuration.
    pub config: ServerConfig,
    /// Tools as advertised to models, once they are known. They do not change during a turn.
    pub tools: Vec<Tool>,
    /// Why the server cannot be used.
    pub failure: Option<String>,
    /// Whether a sign-in to the server has expired.
    pub sign_in_is_over: bool,
    /// Resources and prompts, once requested.
    pub offers: Option<Offers>,
    /// The folder that identifies its cached list and its pins; `None` for an address.
    pub(super) folder: Option<PathBuf>,
    /// The worktree in which the server does not start, because it is not trusted.
    kept_out: Option<PathBuf>,
    pub(super) secrets: ServerSecrets,
    pub(super) client: Option<McpClient>,
    /// Whether its program ran and failed: the files of a folder that it did not start in may be missing.
    has_run: bool,
    /// Whether a request over HTTP failed, so that the server may be gone.
    pub(super) suspect: bool,
    /// Whether it is starting in the background.
    pub(super) is_starting: bool,
    /// Whether it is waited for briefly, because it was silent lately.
    pub(super) is_brief: bool,
    /// Whether its last start used up the time limit.
    pub(super) ran_out: bool,
    /// The state of the record of changed files when its own were last compared.
    pub(super) compared_at: u64,
    /// Number of starts in this turn.
    pub(super) starts: usize,
    /// Tools as last listed by the running server, for the next turn.
    live: Vec<Tool>,
    /// When the server listed the known tools, in this process or an earlier one.
    asked_at: Option<SystemTime>,
    /// Caches the list of tools, so that a turn need not wait for a start.
    list_file: Option<ToolListFile>,
}

impl Server {
    /// Creates a server about which nothing is known.
    pub(super) fn new(config: ServerConfig, setup: &ProcessSetup, lists: Option<&ToolListCache>) -> Server {
        let folder = setup.folders.identity_folder(&config);
        Server {
            secrets: ServerSecrets::from_config(&config),
            list_file: lists.map(|lists| lists.file_for(&config, folder.as_deref())),
            folder,
            kept_out: setup.folders.lacks_trust(&config).then(|| setup.folders.work_dir.clone()),
            config,
            tools: Vec::new(),
            live: Vec::new(),
            asked_at: None,
            failure: None,
            sign_in_is_over: false,
            offers: None,
            client: None,
            has_run: false,
            suspect: false,
            is_starting: false,
            is_brief: false,
            ran_out: false,
            compared_at: 0,
            starts: 0,
        }
    }

    /// Sets other start folders. Unless the server runs, everything known about its tools belongs to the old folder and
    /// is dropped.
    pub(super) fn set_folders(&mut self, folders: &ServerFolders, lists: Option<&ToolListCache>) {
        let folder = folders.identity_folder(&self.config);
        if self.client.is_some() || self.is_starting {
            return;
        }
        self.notes_start_in(folders);
        if self.folder != folder {
            self.list_file = lists.map(|lists| lists.file_for(&self.config, folder.as_deref()));
            self.folder = folder;
            (self.asked_at, self.failure) = (None, None);
            (self.tools, self.live) = (Vec::new(), Vec::new());
        }
    }

    /// Notes whether it starts elsewhere than in the worktree: the trust in that may be another since the last start.
    pub(super) fn notes_start_in(&mut self, folders: &ServerFolders) {
        self.kept_out = folders.lacks_trust(&self.config).then(|| folders.work_dir.clone());
    }

    /// Notes that it is starting in the background, and for how long it is waited for.
    pub(super) fn starts_in(&mut self, setup: &ProcessSetup, may_be_brief: bool) {
        self.is_starting = true;
        self.is_brief = may_be_brief && self.list_file.as_ref().is_some_and(ToolListFile::was_silent);
        self.compared_at = setup.check.stamp();
        self.notes_start_in(&setup.folders);
    }

    /// Whether the tools are known, from the server or from a cached list.
    pub fn is_known(&self) -> bool {
        self.asked_at.is_some()
    }

    /// Returns the worktree in which the server does not start and whose files it may be missing.
    pub(super) fn missing_folder(&self) -> Option<&PathBuf> {
        self.kept_out.as_ref().filter(|_| self.has_run)
    }

    /// Starts a turn: advertises the tools as last listed, and allows a dead server to be restarted.
    pub(super) fn new_turn(&mut self) {
        self.starts = 0;
        if self.client.is_some() {
            self.tools.clone_from(&self.live);
        } else if self.is_known() {
            (self.failure, self.sign_in_is_over) = (None, false);
        }
    }

    /// Loads the cached list of tools, unless a recent one is known. Returns whether a list is known then, and notices
    /// about it.
    pub(super) fn load_cached_list(&mut self) -> (bool, Vec<ServerNotice>) {
        if self.asked_at.is_some_and(is_recent) {
            return (true, Vec::new());
        }
        let Some((tools, asked)) = self.list_file.as_ref().and_then(ToolListFile::load) else {
            return (false, Vec::new());
        };
        let mut listing = ToolListing::new(tools);
        listing.choose(&self.config.details);
        (self.tools, self.asked_at) = (listing.tools, Some(asked));
        (true, self.to_notices(listing.notes))
    }

    /// Advertises the last list of a server that failed and whose tools are not known, however old the list is.
    pub(super) fn use_last_list(&mut self) {
        if self.failure.is_none() || !self.tools.is_empty() {
            return;
        }
        let mut listing =
            ToolListing::new(self.list_file.as_ref().and_then(ToolListFile::last).unwrap_or_default());
        listing.choose(&self.config.details);
        self.tools = listing.tools;
    }

    /// Finishes a start, and caches the list for the next turn; returns notices. The tools are advertised at once if
    /// this turn has not advertised any yet.
    pub(super) fn finish_start(
        &mut self,
        started: Result<StartedSession, CallFailure>,
        in_a_turn: bool,
    ) -> Vec<ServerNotice> {
        match started {
            Ok(StartedSession { client, listing }) => {
                let faults = self.take_list(listing, in_a_turn);
                let mut notices = self.to_notices(faults);
                if client.junk() > 0 {
                    notices.push(ServerNotice::Junk(self.config.name.clone()));
                }
                (self.client, self.failure, self.suspect) = (Some(client), None, false);
                self.offers = None;
                if let Some(kept) = &self.list_file {
                    kept.forget_silence();
                }
                notices
            }
            Err(failure) => {
                let name = &self.config.name;
                let mut words = failure_text(&failure, &self.secrets, name);
                if self.ran_out && self.is_brief {
                    words.push_str(", as some minutes ago; `lepo do --list-tools` waits longer");
                } else if self.ran_out
                    && let Some(kept) = &self.list_file
                {
                    kept.note_silence();
                }
                self.sign_in_is_over = matches!(&failure, CallFailure::SignIn(needed) if needed.has_expired);
                tracing::warn!(server = name, failed = words, "not started");
                let mut notices = vec![ServerNotice::CannotBeUsed(name.clone(), words.clone())];
                self.has_run = !matches!(failure, CallFailure::NotStarted(_));
                notices.extend(
                    self.missing_folder().map(|dir| ServerNotice::KeptOut(name.clone(), dir.clone())),
                );
                self.failure = Some(words);
                notices
            }
        }
    }

    fn take_list(&mut self, mut listing: ToolListing, in_a_turn: bool) -> Vec<ToolsFault> {
        if let Some(kept) = &self.list_file {
            kept.save(&listing.tools, &self.secrets);
        }
        listing.choose(&self.config.details);
        self.live = listing.tools;
        if !in_a_turn {
            self.tools.clone_from(&self.live);
        }
        self.asked_at = Some(SystemTime::now());
        listing.notes
    }

    fn to_notices(&self, faults: Vec<ToolsFault>) -> Vec<ServerNotice> {
        faults.into_iter().map(|fault| ServerNotice::Tools(self.config.name.clone(), fault)).collect()
    }

    /// Returns the tool of this name, as last listed by the running server.
    pub(super) fn live_tool(&self, name: &str) -> Option<&Tool> {
        self.live.iter().find(|tool| tool.name == name)
    }

    /// Returns why the server could not be started, or why nothing is known about it; `None` otherwise.
    pub(super) fn not_up(&self) -> Option<String> {
        let why = match &self.failure {
            Some(why) => why,
            None if self.is_known() => return None,
            None => "it was not started",
        };
        let first = why.lines().next().unwrap_or_default().trim_end_matches([';', ':']);
        let first = first.trim_end_matches("the end of its stderr").trim_end_matches([';', ' ']);
        self.client.is_none().then(|| format!("server {:?} is not running: {first}", self.config.name))
    }

    /// Makes sure that the server runs: starts it if needed, and restarts it once if it is gone. `said` receives
    /// notices about a first start.
    pub(super) async fn wake(
        &mut self,
        setup: &ProcessSetup,
        patience: ServerTimeouts,
        notices: &mut Vec<ServerNotice>,
    ) -> Result<(), String> {
        let doubtful = self.suspect && self.is_remote();
        if let Some(client) = &mut self.client {
            let gone = client.is_closed() || (doubtful && !is_responding(client).await);
            if !gone {
                return self.compare_running(setup);
            }
        }
        match (&self.client, &self.failure) {
            (Some(_), _) if self.starts >= MOST_STARTS => {
                return Err(format!(
                    "it exited again; lepo starts a server at most {MOST_STARTS} times per turn"
                ));
            }
            (None, Some(failed)) => return Err(failed.clone()),
            _ => {}
        }
        let again = match self.client.take() {
            Some(client) => {
                let way = client.connect_method();
                client.close().await;
                Some(way)
            }
            None => None,
        };
        self.starts += 1;
        self.ran_out = false;
        self.notes_start_in(&setup.folders);
        self.compared_at = setup.check.stamp();
        let opened = StartedSession::open(&self.config, setup, patience, &self.secrets, again).await;
        let failed = opened.as_ref().err().map(|failure| {
            let words = failure_text(failure, &self.secrets, &self.config.name);
            match again {
                Some(_) => format!("it exited and cannot be restarted: {words}"),
                None => words,
            }
        });
        let notes = self.finish_start(opened, true);
        if again.is_none() {
            notices.extend(notes);
        }
        failed.map_or(Ok(()), Err)
    }

    /// Whether a command may have changed a file that the running server may still load.
    pub(super) fn is_in_doubt(&self, setup: &ProcessSetup) -> bool {
        self.client.is_some() && self.compared_at != setup.check.stamp()
    }

    fn compare_running(&mut self, setup: &ProcessSetup) -> Result<(), String> {
        let stamp = setup.check.stamp();
        if self.compared_at != stamp
            && let Some(program) = setup.folders.program(&self.config)
        {
            setup.check.compare_running(&program)?;
        }
        self.compared_at = stamp;
        Ok(())
    }

    fn is_remote(&self) -> bool {
        let is_sse = self.client.as_ref().is_some_and(|client| client.connect_method().is_sse());
        matches!(&self.config.target, ServerTarget::Remote { .. }) && !is_sse
    }

    /// Lists the tools again if the running server reported a change; returns a notice if that fails.
    pub(super) async fn list_again(
        &mut self,
        patience: ServerTimeouts,
        in_a_turn: bool,
    ) -> Option<ServerNotice> {
        let client = self.client.as_mut().filter(|client| client.tools_changed())?;
        match list(client, patience).await {
            Ok(listing) => {
                self.take_list(listing, in_a_turn);
                None
            }
            Err(failure) => {
                let words = failure_text(&failure, &self.secrets, &self.config.name);
                Some(ServerNotice::ToolsUnlisted(self.config.name.clone(), words))
            }
        }
    }

    /// Lists the server's resources and prompts, unless they are known; an error says why it cannot.
    pub(super) async fn list_offers(&mut self, limits: TimeLimits) -> Result<(), String> {
        let Some(client) = &mut self.client else { return Ok(()) };
        if client.offers_changed() {
            self.offers = None;
        }
        if self.offers.is_some() {
            return Ok(());
        }
        let listed = Offers::list(client, limits).await;
        let offers = listed.map_err(|failure| failure_text(&failure, &self.secrets, &self.config.name))?;
        self.offers = Some(offers);
        Ok(())
    }

    /// Returns a result without the secrets of the server, or the reason of the failure.
    pub(super) async fn screen_result(
        &mut self,
        result: Result<Value, CallFailure>,
    ) -> Result<Value, String> {
        match (result, &mut self.client) {
            (Ok(result), _) => {
                self.suspect = false;
                Ok(hidden(result, &self.secrets))
            }
            (Err(failure), client) => {
                self.suspect = true;
                let failure = match client {
                    Some(client) => client.explain(failure).await,
                    None => failure,
                };
                Err(failure_text(&failure, &self.secrets, &self.config.name))
            }
        }
    }
}
