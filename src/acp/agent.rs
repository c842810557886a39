//! The agent: dispatches the editor's requests until the editor disconnects or a signal arrives.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{rc::Rc, sync::Arc, time::Duration};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::{LocalSet, spawn_local};
use tokio::{sync::Notify, time::timeout};

use super::commands::available;
use super::editor_server::read_editor_servers;
use super::failure::{busy, no_session, rpc_error, wrong};
use super::history::HistorySender;
use super::inbox::read_stdin;
use super::list::{list, session_title};
use super::peer::EditorConnection;
use super::session::{AcpSession, CANCELLED, SessionStart};
use super::session_start::SessionTails;
use super::turns::SessionTurn;
use super::{FolderOpener, OpenFolder};
use crate::term::MessageWriter;
use lepo_acp::agent;
use lepo_acp::content::ContentBlock;
use lepo_acp::request::{self, ClientNotification, ClientRequest, SessionParams};
use lepo_acp::rpc::{RpcError, RpcMessage};
use lepo_acp::update::SessionUpdate;
use lepo_base::error::{ExitKind, Result};
use lepo_base::keyword::Keyword;
use lepo_store::bubb::BubbId;
use lepo_store::store::Store;
use lepo_turn::{Interrupt, Position, TurnEnv};

type RpcResult = std::result::Result<Value, RpcError>;

/// The time for turns to store their results after the editor disconnects.
const LAST: Duration = Duration::from_secs(10);

struct AcpAgent {
    peer: EditorConnection,
    folders: Box<dyn FolderOpener>,
    /// The process's own working directory.
    cwd: PathBuf,
    sessions: RefCell<HashMap<String, Rc<AcpSession>>>,
}

/// Serves the editor on stdin and stdout. A signal is returned as the error.
pub async fn serve(folders: Box<dyn FolderOpener>, cwd: PathBuf) -> Result<()> {
    let signals = Interrupt::listen()?;
    let gone = Arc::new(Notify::new());
    let cancelled = gone.clone();
    let messages = MessageWriter::start(move || cancelled.notify_one())?;
    let mut inbox = read_stdin()?;
    let agent = Rc::new(AcpAgent {
        peer: EditorConnection::new(messages),
        folders,
        cwd,
        sessions: RefCell::default(),
    });
    let local = LocalSet::new();
    let serving = agent.clone();
    let ended = local
        .run_until(async move {
            let ended = loop {
                tokio::select! {
                    biased;
                    signal = signals.wait() => break Err(signal),
                    () = gone.notified() => break Ok(()),
                    message = inbox.recv() => match message {
                        Some(message) => serving.clone().hear(message),
                        None => break Ok(()),
                    },
                }
            };
            let number = match &ended {
                Err(error) if let ExitKind::Signal(number) = error.kind => number,
                _ => Signal::HUP.as_raw() as u8,
            };
            serving.leave(number).await;
            ended
        })
        .await;
    drop(local);
    if let Ok(agent) = Rc::try_unwrap(agent).map_err(drop) {
        agent.peer.into_messages().finish(Duration::from_secs(2));
    }
    ended
}

impl AcpAgent {
    fn hear(self: Rc<Self>, message: RpcMessage) {
        match message {
            RpcMessage::Request { id, method, params } => match ClientRequest::read(&method, params) {
                Ok(call) => self.serve(id, call),
                Err(error) => self.peer.answer(&id, Err(error)),
            },
            RpcMessage::Notification { method, params } => self.notice(&method, params),
            RpcMessage::Answer { id, result } => self.peer.complete_request(&id, result),
            RpcMessage::Wrong { id, error } => self.peer.answer(&id, Err(error)),
        }
    }

    fn notice(&self, method: &str, params: Value) {
        match ClientNotification::read(method, params) {
            ClientNotification::Cancel { session_id } => {
                if let Some(session) = self.sessions.borrow().get(&session_id) {
                    session.cancel(None);
                }
            }
            ClientNotification::CancelRequest { request_id } => {
                self.sessions.borrow().values().for_each(|session| session.cancel(Some(&request_id)));
            }
            ClientNotification::Other => {}
        }
    }

    fn serve(self: Rc<Self>, id: Value, call: ClientRequest) {
        match call {
            ClientRequest::Prompt(asked) => self.prompt(id, &asked.session_id, asked.prompt),
            ClientRequest::Load(old) => {
                spawn_local(async move { self.resume(&id, old.id, &old.folder, true).await });
            }
            ClientRequest::Resume(old) => {
                spawn_local(async move { self.resume(&id, old.id, &old.folder, false).await });
            }
            ClientRequest::New(folder) => self.new_session(&id, &folder, |_| Ok(None)),
            ClientRequest::Fork(request::ExistingSessionParams { id: of, folder }) => {
                let (at, store) = match self.session(&of) {
                    Ok(session) => (session.tip(), Some(session.store.clone())),
                    Err(_) => (None, None),
                };
                self.new_session(&id, &folder, move |own| match (at, &store) {
                    (Some(at), Some(store)) if store.path() == own.path() => Ok(Some(at)),
                    _ => match SessionTails::read(own).and_then(|lines| lines.find(own, &of)) {
                        Ok(Some(start)) => Ok(start.position.tip),
                        Ok(None) => Err(no_session(&of)),
                        Err(error) => Err(rpc_error(&error)),
                    },
                });
            }
            call => self.peer.answer(&id, self.at_once(call)),
        }
    }

    /// Answers requests that need no waiting.
    fn at_once(&self, call: ClientRequest) -> RpcResult {
        match call {
            ClientRequest::Initialize(_) => Ok(agent::initialized("lepo", "lepo", env!("CARGO_PKG_VERSION"))),
            ClientRequest::List(params) => {
                let request::ListParams { cwd, cursor } = params.unwrap_or_default();
                let cwd = cwd.map_or_else(|| Ok(self.cwd.clone()), |cwd| folder_of(&cwd))?;
                let store = self.folders.store(&cwd).map_err(|error| rpc_error(&error))?;
                let Some(store) = store else { return Ok(agent::list(&[], None)) };
                list(&store, &cwd, cursor.as_deref()).map_err(|error| rpc_error(&error))
            }
            ClientRequest::Close(request::SessionIdParams { session_id: id }) => {
                let session = self.session(&id)?;
                self.sessions.borrow_mut().remove(&id);
                session.cancel(None);
                session.interrupt.cancel(CANCELLED);
                spawn_local(async move { close(&session).await });
                Ok(json!({}))
            }
            ClientRequest::SetMode(request::SetModeParams { session_id: id, mode_id: mode }) => {
                let session = self.session(&id)?;
                session.set_mode(&mode).map_err(|error| rpc_error(&error))?;
                let mode = session.state.borrow().mode.as_str().to_string();
                self.peer.update(&id, &SessionUpdate::CurrentModeUpdate { current_mode_id: mode });
                Ok(json!({}))
            }
            ClientRequest::SetOption(set) => {
                let session = self.session(&set.session_id)?;
                session.set_option(&set.config_id, &set.value).map_err(|error| rpc_error(&error))?;
                Ok(agent::options_set(session.options().unwrap_or_default()))
            }
            ClientRequest::ForkAt(request::ForkParams { session_id, message_id: message }) => {
                let session = self.session(&session_id)?;
                let message_id = BubbId::parse(message.as_bytes());
                let message_id =
                    message_id.ok_or_else(|| wrong(format!("{message:?} is not the id of a message")))?;
                let forest = session.store.forest().map_err(|error| rpc_error(&error))?;
                let is_there = forest.find(message_id).is_some_and(|ix| forest.store_of(ix).is_none());
                match is_there {
                    true => self.fork_at(&session, message_id).map(|fork| agent::forked(&fork.id)),
                    false => Err(wrong(format!("no message {message_id} in this store"))),
                }
            }
            ClientRequest::Prompt(_)
            | ClientRequest::New(_)
            | ClientRequest::Load(_)
            | ClientRequest::Resume(_)
            | ClientRequest::Fork(_)
            | ClientRequest::Other => Err(wrong("this request cannot be answered here")),
        }
    }

    /// Starts a session that forks `from` at a message and can be prompted immediately.
    fn fork_at(&self, from: &AcpSession, at: BubbId) -> std::result::Result<Rc<AcpSession>, RpcError> {
        let opened = self.folders.open(&from.cwd).map_err(|error| rpc_error(&error))?;
        let editor_servers = {
            let state = from.state.borrow();
            state.unapproved.iter().chain(&state.approved).cloned().collect()
        };
        let id = from.store.journal().new_session(Some(at));
        let start = SessionStart { position: Position::at(Some(at)), is_journaled: true };
        let fork = AcpSession::new(id, from.cwd.clone(), opened, start, editor_servers)
            .map_err(|error| rpc_error(&error))?;
        let fork = Rc::new(fork);
        self.sessions.borrow_mut().insert(fork.id.clone(), fork.clone());
        Ok(fork)
    }

    fn session(&self, id: &str) -> std::result::Result<Rc<AcpSession>, RpcError> {
        self.sessions.borrow().get(id).cloned().ok_or_else(|| no_session(id))
    }

    /// Starts a session with a new id: an empty one, or a fork at a message.
    fn new_session(
        &self,
        id: &Value,
        folder: &SessionParams,
        fork_of: impl FnOnce(&Store) -> std::result::Result<Option<BubbId>, RpcError>,
    ) {
        let started = (|| {
            let (cwd, opened) = self.open(folder)?;
            let editor_servers = read_editor_servers(folder, &opened.configured.paths)?;
            let at = fork_of(&opened.store)?;
            let own = opened.store.journal().new_session(at);
            let start = SessionStart { position: Position::at(at), is_journaled: true };
            AcpSession::new(own, cwd, opened, start, editor_servers).map_err(|error| rpc_error(&error))
        })();
        match started {
            Ok(session) => {
                let session = Rc::new(session);
                self.peer.answer(id, Ok(session.answer(true)));
                self.send_commands(&session);
                self.sessions.borrow_mut().insert(session.id.clone(), session);
            }
            Err(error) => self.peer.answer(id, Err(error)),
        }
    }

    fn open(&self, folder: &SessionParams) -> std::result::Result<(PathBuf, OpenFolder), RpcError> {
        let cwd = folder_of(&folder.cwd)?;
        let opened = self.folders.open(&cwd).map_err(|error| rpc_error(&error))?;
        Ok((cwd, opened))
    }

    /// Reopens a session; with `replays`, sends its history first.
    async fn resume(self: Rc<Self>, id: &Value, session: String, folder: &SessionParams, replays: bool) {
        match self.find_session(session, folder, replays).await {
            Ok(session) => {
                self.peer.answer(id, Ok(session.answer(false)));
                self.send_commands(&session);
                if session.state.borrow().conversation.position.pending.is_some() {
                    self.ask_again(session);
                }
            }
            Err(error) => self.peer.answer(id, Err(error)),
        }
    }

    async fn find_session(
        &self,
        id: String,
        folder: &SessionParams,
        replays: bool,
    ) -> std::result::Result<Rc<AcpSession>, RpcError> {
        let (cwd, opened) = self.open(folder)?;
        let editor_servers = read_editor_servers(folder, &opened.configured.paths)?;
        let store = opened.store.clone();
        let lines = SessionTails::read(&store).map_err(|error| rpc_error(&error))?;
        let start = lines.find(&store, &id).map_err(|error| rpc_error(&error))?;
        let start = start.ok_or_else(|| no_session(&id))?;
        if let Ok(old) = self.session(&id) {
            // Reopening repeats a pending consent question, but never interrupts a turn.
            if old.state.borrow().is_running && !old.state.borrow().is_asking {
                return Err(busy());
            }
            old.interrupt.cancel(CANCELLED);
            old.wait_idle().await;
            close(&old).await;
        }
        let Position { tip: at, pending, .. } = start.position;
        let session = AcpSession::new(id.clone(), cwd, opened, start, editor_servers)
            .map_err(|error| rpc_error(&error))?;
        let tail = at.and_then(|at| lines.forest.find(at));
        session.state.borrow_mut().title = tail.and_then(|ix| session_title(&store, &lines.forest, ix));
        let session = Rc::new(session);
        self.sessions.borrow_mut().insert(id.clone(), session.clone());
        if replays {
            let replay =
                HistorySender { peer: &self.peer, session: &id, store: &store, forest: &lines.forest };
            replay.send(at, pending).await.map_err(|error| rpc_error(&error))?;
        }
        Ok(session)
    }

    fn send_commands(&self, session: &AcpSession) {
        if let Some(commands) = session.with_configured(|configured| available(&session.store, configured)) {
            let update = SessionUpdate::AvailableCommandsUpdate { available_commands: commands };
            self.peer.update(&session.id, &update);
        }
    }

    /// Asks again about the pending request.
    fn ask_again(self: Rc<Self>, session: Rc<AcpSession>) {
        let Some(mut env) = session.lend_env() else { return };
        session.state.borrow_mut().is_asking = true;
        spawn_local(async move {
            SessionTurn { peer: &self.peer, session: &session, env: &mut env }.ask_again().await;
            session.return_env(env);
        });
    }

    /// Starts a turn, or refuses it while another one runs. A cancelled turn is awaited, and a repeated consent
    /// question is withdrawn.
    fn prompt(self: Rc<Self>, id: Value, session: &str, blocks: Vec<ContentBlock>) {
        let session = match self.session(session) {
            Ok(session) => session,
            Err(error) => return self.peer.answer(&id, Err(error)),
        };
        let (works, gives_way, has_waiting, is_taken) = {
            let state = session.state.borrow();
            let is_taken = state.waiting.iter().any(|(_, is_cancelled)| !is_cancelled);
            (state.is_running, state.is_asking || state.is_cancelled, !state.waiting.is_empty(), is_taken)
        };
        if is_taken || (works && !gives_way && !has_waiting) {
            return self.peer.answer(&id, Err(busy()));
        }
        if !works && !has_waiting {
            let Some(env) = session.lend_env() else { return self.peer.answer(&id, Err(busy())) };
            session.state.borrow_mut().prompt = Some(id.clone());
            return self.turn(id, session, env, blocks);
        }
        if session.state.borrow().is_asking {
            session.interrupt.cancel(CANCELLED);
            session.state.borrow_mut().is_asking = false;
        }
        session.state.borrow_mut().waiting.push((id.clone(), false));
        spawn_local(async move {
            let is_cancelled = session.wait_for_turn(&id).await;
            let Some(env) = session.lend_env() else { return self.peer.answer(&id, Err(busy())) };
            session.state.borrow_mut().prompt = Some(id.clone());
            if is_cancelled {
                session.cancel(Some(&id));
            }
            self.turn(id, session, env, blocks);
        });
    }

    /// Runs a turn that has been started.
    fn turn(self: Rc<Self>, id: Value, session: Rc<AcpSession>, mut env: TurnEnv, blocks: Vec<ContentBlock>) {
        spawn_local(async move {
            let answer =
                SessionTurn { peer: &self.peer, session: &session, env: &mut env }.prompt(blocks).await;
            session.return_env(env);
            self.peer.answer(&id, answer);
            session.tidy();
        });
    }

    /// Ends all turns, which store their partial results.
    async fn leave(&self, signal: u8) {
        self.peer.close();
        let sessions: Vec<Rc<AcpSession>> =
            self.sessions.borrow_mut().drain().map(|(_, session)| session).collect();
        for session in &sessions {
            session.interrupt.cancel(signal);
        }
        let _ = timeout(LAST, async {
            for session in &sessions {
                session.wait_idle().await;
                close(session).await;
            }
        })
        .await;
    }
}

/// Waits for the end of the turn, and stops the MCP servers.
async fn close(session: &AcpSession) {
    session.wait_idle().await;
    if let Some(env) = session.lend_env() {
        env.close().await;
    }
}

/// Checks a folder from the editor: absolute, and existing.
fn folder_of(cwd: &str) -> std::result::Result<PathBuf, RpcError> {
    let path = Path::new(cwd);
    match path.is_absolute() && path.is_dir() {
        true => Ok(path.to_path_buf()),
        false => Err(wrong(format!("`cwd` is not the absolute path of a folder: {cwd:?}"))),
    }
}
