//! The servers of a process: started together when a turn may use them, one session each for all
//! turns, and closed together at the end.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::client::{Client, Failure, Limits, List, ProcessSetup, Way};
use super::content::{self, CallResult};
use super::failure_words::{failure_words, hidden};
use super::form::Caller;
use super::offers::Offers;
use super::request::native_prefix;
use super::secrets::Secrets;
use super::tools::{Listing, Tool};
use super::{CallRequest, native_name};
use crate::consent::GrantedCall;
use crate::mcp::config::{ServerConfig, Target};

/// The time limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// To start, and to tell its tools.
    pub connect: Duration,
    /// For a call.
    pub call: Limits,
}

impl Patience {
    /// These limits, with what the configuration of a server says of them.
    pub(super) fn with(self, server: &ServerConfig) -> Patience {
        let connect = server.details.connect.unwrap_or(self.connect);
        let call = server.details.call.map_or(self.call, |limit| Limits { idle: limit, total: limit });
        Patience { connect, call }
    }
}

/// The time to wait for a sign of life from a server that may have ended.
const PROBE: Duration = Duration::from_secs(5);

/// The most starts of a server in one turn.
const MOST_STARTS: usize = 2;

/// All of them.
pub struct Servers {
    pub(super) each: Vec<Server>,
    pub(super) patience: Patience,
    pub(super) place: ProcessSetup,
    /// Notes that were not shown yet.
    unsaid: Vec<String>,
    starting: Vec<JoinHandle<(usize, Result<Session, Failure>)>>,
    begun: bool,
}

/// One of them.
pub struct Server {
    /// Configuration.
    pub config: ServerConfig,
    /// Tools of the server, once they are known.
    pub tools: Vec<Tool>,
    /// Why it cannot be used.
    pub failed: Option<String>,
    /// A sign-in to the server was made, and is over.
    pub sign_in_is_over: bool,
    /// Resources and prompts, once they were asked for.
    pub offers: Option<Offers>,
    pub(super) secrets: Secrets,
    pub(super) client: Option<Client>,
    /// Something went wrong with it over HTTP: it may be gone.
    pub(super) suspect: bool,
    /// The number of times it was started in this turn.
    starts: usize,
}

/// A server that has just been started.
struct Session {
    client: Client,
    tools: Vec<Tool>,
    notes: Vec<String>,
}

/// The result of a call.
#[derive(Debug)]
pub enum Called {
    /// The tool's result.
    Result(CallResult),
    /// None, and why.
    Failed(String),
}

impl Servers {
    /// These servers; none is started yet.
    pub fn new(configs: Vec<ServerConfig>, patience: Patience, place: ProcessSetup) -> Servers {
        let server = |config: ServerConfig| Server {
            secrets: Secrets::of(&config),
            config,
            tools: Vec::new(),
            failed: None,
            sign_in_is_over: false,
            offers: None,
            client: None,
            suspect: false,
            starts: 0,
        };
        let each = configs.into_iter().map(server).collect();
        Servers { each, patience, place, unsaid: Vec::new(), starting: Vec::new(), begun: false }
    }

    /// True if there are any.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Each of them.
    pub fn each(&self) -> &[Server] {
        &self.each
    }

    /// Begins to start them all at once; the first time only.
    pub fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) || self.each.is_empty() {
            return;
        }
        for (i, server) in self.each.iter().enumerate() {
            let (config, secrets) = (server.config.clone(), server.secrets.clone());
            let (patience, place) = (self.patience.with(&config), self.place.clone());
            self.starting.push(tokio::spawn(async move {
                (i, Session::open(&config, &place, patience, &secrets, None).await)
            }));
        }
    }

    /// A turn begins: a server that died again and again may be tried anew.
    pub fn new_turn(&mut self) {
        self.each.iter_mut().for_each(|server| server.starts = 0);
    }

    /// Waits until each is up or has failed, and lists tools anew where a server said that they are
    /// others now. Gives what a person should know of it, each thing once.
    pub async fn ready(&mut self) -> Vec<String> {
        self.begin();
        let mut said = self.unsaid();
        while let Some(starting) = self.starting.last_mut() {
            let started = starting.await;
            self.starting.pop();
            // It cannot be cancelled, and says of itself what goes wrong.
            let Ok((i, started)) = started else { continue };
            let Some(server) = self.each.get_mut(i) else { continue };
            server.starts += 1;
            said.extend(server.take(started));
        }
        for server in &mut self.each {
            if server.client.as_ref().is_some_and(Client::tools_changed) {
                said.extend(server.list_again(self.patience.with(&server.config)).await);
            }
        }
        said
    }

    /// The notes that were not shown yet.
    pub fn unsaid(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaid)
    }

    /// Keeps notes that could not be shown yet for the next time.
    pub fn say_later(&mut self, said: Vec<String>) {
        self.unsaid.extend(said);
    }

    /// The server and the tool that a request means, if they are there.
    pub fn find(&self, request: &CallRequest) -> Option<(&Server, &Tool)> {
        let server = self.each.iter().find(|server| server.config.name == request.server)?;
        Some((server, server.tools.iter().find(|tool| tool.name == request.tool)?))
    }

    /// The tool that a model means by a name in one word: `server__tool`, or the tool's alone where
    /// only one server has it.
    pub fn by_name(&self, name: &str) -> Option<(&Server, &Tool)> {
        let all = || self.each.iter().flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
        let exact = all().find(|(server, tool)| native_name(&server.config.name, &tool.name) == name);
        exact.or_else(|| {
            let mut bare = all().filter(|(_, tool)| tool.name == name);
            bare.next().filter(|_| bare.next().is_none())
        })
    }

    /// Why the server of this name is not up, for the model; `None` if it is, or if there is none.
    pub fn not_up(&self, name: &str) -> Option<String> {
        self.each.iter().find(|server| server.config.name == name)?.not_up()
    }

    /// The same of the server whose tool a model means by a name in one word.
    pub fn not_up_by_name(&self, name: &str) -> Option<String> {
        let is_of = |server: &&Server| name.starts_with(&native_prefix(&server.config.name));
        self.each.iter().filter(is_of).find_map(Server::not_up)
    }

    /// Makes the call that was granted, once. A server that is gone is started again first; what was
    /// sent is not sent again.
    pub async fn call(&mut self, granted: GrantedCall, caller: &mut impl Caller) -> Called {
        let request = granted.request();
        let Some(server) = self.each.iter_mut().find(|server| server.config.name == request.server) else {
            return Called::Failed(format!("there is no server {:?}", request.server));
        };
        let patience = self.patience.with(&server.config);
        if let Err(words) = server.wake(&self.place, patience).await {
            return Called::Failed(words);
        }
        let Some(client) = &mut server.client else {
            return Called::Failed("the server is not there".to_string());
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
                    Some(result) => Called::Result(result),
                    None => Called::Failed("its answer is not the result of a tool".to_string()),
                }
            }
            Err(failure) => {
                server.suspect = true;
                let words = failure_words(&failure, &server.secrets, name);
                tracing::warn!(server = name, tool, ms, failed = words, "tool call failed");
                Called::Failed(words)
            }
        }
    }

    /// Closes all sessions at once, and ends their programs with all that they started.
    pub async fn close(&mut self) {
        let closing: Vec<JoinHandle<()>> = self
            .each
            .iter_mut()
            .filter_map(|server| server.client.take())
            .map(|client| tokio::spawn(client.close()))
            .collect();
        for starting in std::mem::take(&mut self.starting) {
            starting.abort();
            let _ = starting.await;
        }
        for closed in closing {
            let _ = closed.await;
        }
    }
}

impl Server {
    /// Takes what came of its start; gives what is to be said of it.
    fn take(&mut self, started: Result<Session, Failure>) -> Vec<String> {
        let name = &self.config.name;
        match started {
            Ok(session) => {
                let mut notes = session.notes;
                if session.client.junk() > 0 {
                    notes.push("lines on its stdout that are no messages were skipped".to_string());
                }
                (self.client, self.tools, self.failed, self.suspect) =
                    (Some(session.client), session.tools, None, false);
                self.offers = None;
                notes.iter().map(|note| format!("note: server {name}: {note}")).collect()
            }
            Err(failure) => {
                let words = failure_words(&failure, &self.secrets, name);
                self.sign_in_is_over = matches!(&failure, Failure::SignIn(needed) if needed.over);
                tracing::warn!(server = name, failed = words, "not started");
                let said = format!("warning: server {name} cannot be used: {words}");
                self.failed = Some(words);
                vec![said]
            }
        }
    }

    /// True if the server was not started, or could not be; in words why.
    fn not_up(&self) -> Option<String> {
        let why = self.failed.as_deref().unwrap_or("it was not started");
        let first = why.lines().next().unwrap_or_default().trim_end_matches([';', ':']);
        let first = first.trim_end_matches("the end of its stderr").trim_end_matches([';', ' ']);
        self.client.is_none().then(|| format!("server {:?} is not up: {first}", self.config.name))
    }

    /// Makes sure that the server runs, and starts it again once if it does not.
    pub(super) async fn wake(&mut self, place: &ProcessSetup, patience: Patience) -> Result<(), String> {
        let doubtful = self.suspect && self.is_remote();
        if let Some(client) = &mut self.client {
            let gone = client.is_closed() || (doubtful && !answers(client).await);
            if !gone {
                return Ok(());
            }
        }
        if self.client.is_some() && self.starts >= MOST_STARTS {
            return Err(format!("it ended again; lepo starts a server at most {MOST_STARTS} times a turn"));
        }
        let Some(client) = self.client.take() else {
            return Err(self.failed.clone().unwrap_or_else(|| "it was not started".to_string()));
        };
        let way = client.way();
        client.close().await;
        self.starts += 1;
        let opened = Session::open(&self.config, place, patience, &self.secrets, Some(way)).await;
        let failed = opened.as_ref().err().map(|failure| {
            let words = failure_words(failure, &self.secrets, &self.config.name);
            format!("it was gone, and cannot be started again: {words}")
        });
        self.take(opened);
        failed.map_or(Ok(()), Err)
    }

    fn is_remote(&self) -> bool {
        let is_sse = self.client.as_ref().is_some_and(|client| client.way().is_sse());
        matches!(&self.config.target, Target::Remote { .. }) && !is_sse
    }

    async fn list_again(&mut self, patience: Patience) -> Vec<String> {
        let Some(client) = &mut self.client else { return Vec::new() };
        match list(client, &self.config, patience).await {
            Ok(listing) => self.tools = listing.tools,
            Err(failure) => {
                let words = failure_words(&failure, &self.secrets, &self.config.name);
                return vec![format!(
                    "warning: server {}: its tools changed and cannot be listed: {words}",
                    self.config.name
                )];
            }
        }
        Vec::new()
    }
}

impl Session {
    async fn open(
        config: &ServerConfig,
        place: &ProcessSetup,
        patience: Patience,
        secrets: &Secrets,
        known: Option<Way>,
    ) -> Result<Session, Failure> {
        let start = Instant::now();
        tracing::debug!(server = config.name, "starting");
        let (connect, live) = (patience.connect, &secrets.live);
        let mut client = match known {
            Some(way) => Client::open_again(way, config, place, connect, live).await?,
            None => Client::open(config, place, connect, live).await?,
        };
        let (protocol, ms) = (client.protocol(), start.elapsed().as_millis() as u64);
        tracing::debug!(server = config.name, protocol, ms, "started");
        let left = patience.connect.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
        match tokio::time::timeout(left, list(&mut client, config, patience)).await {
            Ok(Ok(listing)) => Ok(Session { client, tools: listing.tools, notes: listing.notes }),
            failed => {
                let failure = match failed {
                    Ok(Err(failure)) => client.explain(failure).await,
                    _ => Failure::Silent(patience.connect),
                };
                client.close().await;
                Err(failure)
            }
        }
    }
}

/// All tools, page by page.
async fn list(client: &mut Client, config: &ServerConfig, patience: Patience) -> Result<Listing, Failure> {
    let (mut listing, mut cursor) = (Listing::default(), None);
    loop {
        let page = client
            .page(List::Tools, cursor, Limits { idle: patience.connect, total: patience.connect })
            .await?;
        cursor = listing.take(&page);
        if cursor.is_none() {
            listing.choose(&config.details);
            return Ok(listing);
        }
    }
}

/// True if the server answers.
async fn answers(client: &mut Client) -> bool {
    let limits = Limits { idle: PROBE, total: PROBE };
    // A server that was started anew refuses everything: it knows nothing of the session.
    client.page(List::Tools, None, limits).await.is_ok()
}
