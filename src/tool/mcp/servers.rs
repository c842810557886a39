//! The servers of a process: started together when a turn may use them, one session each for all
//! turns, and closed together at the end.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinHandle;

use super::client::{Client, Failure, Limits, List, ProcessSetup};
use super::content::{self, CallResult};
use super::form::Caller;
use super::offers::Offers;
use super::secrets::Secrets;
use super::tools::{Listing, Tool};
use super::{CallRequest, native_name};
use crate::config::{ServerConfig, Target, Transport};
use crate::error::quoted;
use crate::tool::consent::GrantedCall;

/// The time limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// To start, and to tell its tools.
    pub connect: Duration,
    /// For a call.
    pub call: Limits,
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
            let (patience, place) = (self.patience, self.place.clone());
            self.starting.push(tokio::spawn(async move {
                (i, Session::open(&config, &place, patience, &secrets).await)
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
        let mut said = std::mem::take(&mut self.unsaid);
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
                said.extend(server.list_again(self.patience).await);
            }
        }
        said
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

    /// Makes the call that was granted, once. A server that is gone is started again first; what was
    /// sent is not sent again.
    pub async fn call(&mut self, granted: GrantedCall, caller: &mut impl Caller) -> Called {
        let request = granted.request();
        let patience = self.patience;
        let Some(server) = self.each.iter_mut().find(|server| server.config.name == request.server) else {
            return Called::Failed(format!("there is no server {:?}", request.server));
        };
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
        client.close().await;
        self.starts += 1;
        let opened = Session::open(&self.config, place, patience, &self.secrets).await;
        let failed = opened.as_ref().err().map(|failure| {
            let words = failure_words(failure, &self.secrets, &self.config.name);
            format!("it was gone, and cannot be started again: {words}")
        });
        self.take(opened);
        failed.map_or(Ok(()), Err)
    }

    fn is_remote(&self) -> bool {
        matches!(&self.config.target, Target::Remote { transport: Transport::Http, .. })
    }

    async fn list_again(&mut self, patience: Patience) -> Vec<String> {
        let Some(client) = &mut self.client else { return Vec::new() };
        match list(client, patience).await {
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
    ) -> Result<Session, Failure> {
        let start = Instant::now();
        tracing::debug!(server = config.name, "starting");
        let mut client = Client::open(config, place, patience.connect, &secrets.live).await?;
        let (protocol, ms) = (client.protocol(), start.elapsed().as_millis() as u64);
        tracing::debug!(server = config.name, protocol, ms, "started");
        let left = patience.connect.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
        match tokio::time::timeout(left, list(&mut client, patience)).await {
            Ok(Ok(listing)) => {
                let (tools, notes) = listing.into_notes();
                Ok(Session { client, tools, notes })
            }
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
async fn list(client: &mut Client, patience: Patience) -> Result<Listing, Failure> {
    let (mut listing, mut cursor) = (Listing::default(), None);
    loop {
        let page = client
            .page(List::Tools, cursor, Limits { idle: patience.connect, total: patience.connect })
            .await?;
        cursor = listing.take(page);
        if cursor.is_none() {
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

/// A result without the server's secrets.
pub(super) fn hidden(value: Value, secrets: &Secrets) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.hide(&text)),
        Value::Array(items) => items.into_iter().map(|item| hidden(item, secrets)).collect(),
        Value::Object(object) => {
            Value::Object(object.into_iter().map(|(key, value)| (key, hidden(value, secrets))).collect())
        }
        other => other,
    }
}

pub(super) fn failure_words(failure: &Failure, secrets: &Secrets, server: &str) -> String {
    let words = match failure {
        Failure::Refused(words) | Failure::Lost(words) | Failure::Malformed(words) => words.clone(),
        Failure::Silent(limit) => format!("it said nothing for {} s", limit.as_secs_f32()),
        Failure::SignIn(needed) => {
            let scopes = needed.scope.iter().flat_map(|scope| scope.split(' '));
            // The server's own words, in a line that is pasted into a shell.
            let scopes: String = scopes.map(|scope| format!(" --scope {}", quoted(scope))).collect();
            format!("{}; sign in with `lepo mcp login {}{scopes}`", needed.words, quoted(server))
        }
    };
    secrets.hide_all(&words)
}

#[cfg(test)]
mod tests {
    use super::super::client::SignInNeeded;
    use super::*;

    #[test]
    fn a_scope_that_a_server_names_is_one_word_of_the_command() {
        let needed = SignInNeeded {
            words: "no".into(),
            scope: Some("files:read a;id`x`".into()),
            ..SignInNeeded::default()
        };
        let words = failure_words(&Failure::SignIn(needed), &Secrets::default(), "my s");
        assert_eq!(words, "no; sign in with `lepo mcp login 'my s' --scope files:read --scope 'a;id`x`'`");
    }
}
