//! One MCP server: its tools as models are told of them and as it lists them itself, and its session once it runs.

use std::path::PathBuf;
use std::time::SystemTime;

use super::client::{Client, Failure, Limits, ProcessSetup};
use super::failure_words::{failure_words, hidden};
use super::folders::ServerFolders;
use super::lists::{ToolListFile, ToolLists, is_recent};
use super::notice::{Notice, ToolsFault};
use super::offers::Offers;
use super::patience::Patience;
use super::secrets::Secrets;
use super::session::{Session, answers, list};
use super::tools::{Listing, Tool};
use crate::mcp::config::{ServerConfig, Target};
use serde_json::Value;

/// The most starts of a server in one turn.
const MOST_STARTS: usize = 2;

/// A server.
pub struct Server {
    /// Configuration.
    pub config: ServerConfig,
    /// Tools of the server as models are told of them, once they are known. They stay as they are during a turn.
    pub tools: Vec<Tool>,
    /// Why it cannot be used.
    pub failed: Option<String>,
    /// A sign-in to the server was made, and is over.
    pub sign_in_is_over: bool,
    /// Resources and prompts, once they were asked for.
    pub offers: Option<Offers>,
    /// The folder that its list and its pins are kept by; none for an address.
    pub(super) folder: Option<PathBuf>,
    /// The work tree that it does not start in, as that is not trusted.
    kept_out: Option<PathBuf>,
    pub(super) secrets: Secrets,
    pub(super) client: Option<Client>,
    /// Its program ran and failed: files of a folder that it is kept out of may be what is missing.
    has_run: bool,
    /// Something went wrong with it over HTTP: it may be gone.
    pub(super) suspect: bool,
    /// It is starting in the background.
    pub(super) is_starting: bool,
    /// The state of the record of changed files when its own were last compared.
    pub(super) compared_at: u64,
    /// The number of times it was started in this turn.
    pub(super) starts: usize,
    /// Tools as the running server listed them last: those of the next turn.
    live: Vec<Tool>,
    /// The time at which the server listed the tools that are known, in this process or an earlier one.
    asked: Option<SystemTime>,
    /// The file that keeps its list of tools, so that a turn need not wait until it has started.
    kept: Option<ToolListFile>,
}

impl Server {
    /// A server that nothing is known of yet.
    pub(super) fn new(config: ServerConfig, setup: &ProcessSetup, lists: Option<&ToolLists>) -> Server {
        let folder = setup.folders.kept_by(&config);
        Server {
            secrets: Secrets::of(&config),
            kept: lists.map(|lists| lists.of(&config, folder.as_deref())),
            folder,
            kept_out: setup.folders.is_kept_out(&config).then(|| setup.folders.work_dir.clone()),
            config,
            tools: Vec::new(),
            live: Vec::new(),
            asked: None,
            failed: None,
            sign_in_is_over: false,
            offers: None,
            client: None,
            has_run: false,
            suspect: false,
            is_starting: false,
            compared_at: 0,
            starts: 0,
        }
    }

    /// Takes other folders to start in. What is known of the tools was told in the folder of before, unless it runs.
    pub(super) fn set_folders(&mut self, folders: &ServerFolders, lists: Option<&ToolLists>) {
        let folder = folders.kept_by(&self.config);
        if self.client.is_some() || self.is_starting {
            return;
        }
        self.notes_start_in(folders);
        if self.folder != folder {
            self.kept = lists.map(|lists| lists.of(&self.config, folder.as_deref()));
            self.folder = folder;
            (self.asked, self.failed) = (None, None);
            (self.tools, self.live) = (Vec::new(), Vec::new());
        }
    }

    /// Notes whether it starts elsewhere than in the work tree: the trust in that may be another since the last start.
    pub(super) fn notes_start_in(&mut self, folders: &ServerFolders) {
        self.kept_out = folders.is_kept_out(&self.config).then(|| folders.work_dir.clone());
    }

    /// Notes that it is starting in the background.
    pub(super) fn starts_in(&mut self, setup: &ProcessSetup) {
        self.is_starting = true;
        self.compared_at = setup.check.stamp();
        self.notes_start_in(&setup.folders);
    }

    /// True if its tools are known, from itself or from a kept list.
    pub fn is_known(&self) -> bool {
        self.asked.is_some()
    }

    /// The work tree that it does not start in and whose files it may have missed.
    pub(super) fn missing_folder(&self) -> Option<&PathBuf> {
        self.kept_out.as_ref().filter(|_| self.has_run)
    }

    /// A turn begins: models are told what the server listed last, and one that died may be started anew.
    pub(super) fn new_turn(&mut self) {
        self.starts = 0;
        if self.client.is_some() {
            self.tools.clone_from(&self.live);
        } else if self.is_known() {
            (self.failed, self.sign_in_is_over) = (None, false);
        }
    }

    /// Takes up the kept list of tools, unless a recent one is known. True if a list is known then; with notes about it.
    pub(super) fn take_up_list(&mut self) -> (bool, Vec<Notice>) {
        if self.asked.is_some_and(is_recent) {
            return (true, Vec::new());
        }
        let Some((tools, asked)) = self.kept.as_ref().and_then(ToolListFile::load) else {
            return (false, Vec::new());
        };
        let mut listing = Listing::of(tools);
        listing.choose(&self.config.details);
        (self.tools, self.asked) = (listing.tools, Some(asked));
        (true, self.said(listing.notes))
    }

    /// Takes what came of its start, and keeps its list for the next turn; gives what is to be said of it. Models are
    /// told the tools at once if the turn has not told them any yet.
    pub(super) fn take(&mut self, started: Result<Session, Failure>, in_a_turn: bool) -> Vec<Notice> {
        match started {
            Ok(Session { client, listing }) => {
                let faults = self.take_list(listing, in_a_turn);
                let mut said = self.said(faults);
                if client.junk() > 0 {
                    said.push(Notice::Junk(self.config.name.clone()));
                }
                (self.client, self.failed, self.suspect) = (Some(client), None, false);
                self.offers = None;
                said
            }
            Err(failure) => {
                let name = &self.config.name;
                let words = failure_words(&failure, &self.secrets, name);
                self.sign_in_is_over = matches!(&failure, Failure::SignIn(needed) if needed.over);
                tracing::warn!(server = name, failed = words, "not started");
                let mut said = vec![Notice::CannotBeUsed(name.clone(), words.clone())];
                self.has_run = !matches!(failure, Failure::NotStarted(_));
                said.extend(self.missing_folder().map(|dir| Notice::KeptOut(name.clone(), dir.clone())));
                self.failed = Some(words);
                said
            }
        }
    }

    fn take_list(&mut self, mut listing: Listing, in_a_turn: bool) -> Vec<ToolsFault> {
        if let Some(kept) = &self.kept {
            kept.keep(&listing.tools, &self.secrets);
        }
        listing.choose(&self.config.details);
        self.live = listing.tools;
        if !in_a_turn {
            self.tools.clone_from(&self.live);
        }
        self.asked = Some(SystemTime::now());
        listing.notes
    }

    fn said(&self, faults: Vec<ToolsFault>) -> Vec<Notice> {
        faults.into_iter().map(|fault| Notice::Tools(self.config.name.clone(), fault)).collect()
    }

    /// The tool of this name as the running server has it.
    pub(super) fn live_tool(&self, name: &str) -> Option<&Tool> {
        self.live.iter().find(|tool| tool.name == name)
    }

    /// True if the server could not be started, or nothing is known of it; in words why.
    pub(super) fn not_up(&self) -> Option<String> {
        let why = match &self.failed {
            Some(why) => why,
            None if self.is_known() => return None,
            None => "it was not started",
        };
        let first = why.lines().next().unwrap_or_default().trim_end_matches([';', ':']);
        let first = first.trim_end_matches("the end of its stderr").trim_end_matches([';', ' ']);
        self.client.is_none().then(|| format!("server {:?} is not running: {first}", self.config.name))
    }

    /// Makes sure that the server runs: starts it if that was not needed before, and again once if it is gone. `said`
    /// receives notes about a first start.
    pub(super) async fn wake(
        &mut self,
        setup: &ProcessSetup,
        patience: Patience,
        said: &mut Vec<Notice>,
    ) -> Result<(), String> {
        let doubtful = self.suspect && self.is_remote();
        if let Some(client) = &mut self.client {
            let gone = client.is_closed() || (doubtful && !answers(client).await);
            if !gone {
                return self.compare_running(setup);
            }
        }
        match (&self.client, &self.failed) {
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
                let way = client.way();
                client.close().await;
                Some(way)
            }
            None => None,
        };
        self.starts += 1;
        self.notes_start_in(&setup.folders);
        self.compared_at = setup.check.stamp();
        let opened = Session::open(&self.config, setup, patience, &self.secrets, again).await;
        let failed = opened.as_ref().err().map(|failure| {
            let words = failure_words(failure, &self.secrets, &self.config.name);
            match again {
                Some(_) => format!("it exited and cannot be restarted: {words}"),
                None => words,
            }
        });
        let notes = self.take(opened, true);
        if again.is_none() {
            said.extend(notes);
        }
        failed.map_or(Ok(()), Err)
    }

    /// True if a command may have changed something that the running server may still load.
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
        let is_sse = self.client.as_ref().is_some_and(|client| client.way().is_sse());
        matches!(&self.config.target, Target::Remote { .. }) && !is_sse
    }

    /// Lists the tools again if the running server said that they changed; gives a warning if they cannot be listed.
    pub(super) async fn list_again(&mut self, patience: Patience, in_a_turn: bool) -> Option<Notice> {
        let client = self.client.as_mut().filter(|client| client.tools_changed())?;
        match list(client, patience).await {
            Ok(listing) => {
                self.take_list(listing, in_a_turn);
                None
            }
            Err(failure) => {
                let words = failure_words(&failure, &self.secrets, &self.config.name);
                Some(Notice::ToolsUnlisted(self.config.name.clone(), words))
            }
        }
    }

    /// Lists the resources and prompts of the server, if they are not known; in words why they cannot be listed.
    pub(super) async fn list_offers(&mut self, limits: Limits) -> Result<(), String> {
        let Some(client) = &mut self.client else { return Ok(()) };
        if client.offers_changed() {
            self.offers = None;
        }
        if self.offers.is_some() {
            return Ok(());
        }
        let listed = Offers::list(client, limits).await;
        let offers = listed.map_err(|failure| failure_words(&failure, &self.secrets, &self.config.name))?;
        self.offers = Some(offers);
        Ok(())
    }

    /// A result without the secrets of the server, or the reason of the failure.
    pub(super) async fn taken(&mut self, result: Result<Value, Failure>) -> Result<Value, String> {
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
                Err(failure_words(&failure, &self.secrets, &self.config.name))
            }
        }
    }
}
