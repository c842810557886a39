//! A session with an MCP server: the only module that knows the protocol's library. Every wait has a limit, and a
//! request is never sent twice.

pub mod auth;
mod cancel;
mod connect;
mod errors;
mod failure;
mod handler;
mod http;
mod message;
mod normalise;
mod pipes;
mod process;
mod request;
mod requests;
mod sse;
mod starting_names;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::ProtocolVersion;
use rmcp::service::RunningService;
use rmcp::transport::Transport as Carrier;
use rmcp::{ClientLifecycleMode, RoleClient, serve_client_with_lifecycle};
use tokio::sync::{mpsc, oneshot};

pub use connect::ConnectMethod;
pub use failure::{CallFailure, ServerTimeouts, SignInNeeded, TimeLimits, silence};
pub use process::ProcessSetup;
pub use requests::ListKind;
pub use starting_names::StartingNames;

use super::elicitation::{ElicitationResult, ServerQuestion};
use auth::{AuthorizedClient, Bearer, LiveSecrets, SignInStore};
use cancel::InFlightNotice;

use crate::mcp::config::{ServerConfig, ServerTarget, Transport};
use connect::{Handshake, RemoteTransport};
use handler::SessionHandler;
use message::AttributeErrors;
use pipes::StdioTransport;
use process::ServerProcess;

/// How long an error without a request id, sent by a program, waits for an answer that may still come. Over HTTP, such
/// an error is the answer.
const DOUBT: Duration = Duration::from_secs(1);

/// Time limit for a server's challenge.
const CHALLENGE: Duration = Duration::from_secs(30);

/// Time limit for closing a session, before a server's program is terminated.
const CLOSING: Duration = Duration::from_secs(2);

/// How long to wait for the exit status of a server that has closed its pipe.
const STDERR_GRACE: Duration = Duration::from_millis(500);

/// An open session.
pub struct McpClient {
    service: RunningService<RoleClient, SessionHandler>,
    handler: SessionHandler,
    progress: mpsc::Receiver<String>,
    /// Requests of the server during a request of lepo's, each with a channel for the answer.
    questions: mpsc::Receiver<(ServerQuestion, oneshot::Sender<ElicitationResult>)>,
    leaving: InFlightNotice,
    process: Option<ServerProcess>,
    junk: Arc<AtomicUsize>,
    /// Current limit for a line of a program, in bytes.
    limit: Arc<AtomicUsize>,
    way: ConnectMethod,
}

impl McpClient {
    /// Opens a session within `limit`.
    pub async fn open(
        server: &ServerConfig,
        setup: &ProcessSetup,
        limit: Duration,
        secrets: &LiveSecrets,
    ) -> Result<McpClient, CallFailure> {
        let ways = ConnectMethod::all(server, setup);
        let (start, mut failed): (_, Option<(ConnectMethod, CallFailure)>) = (Instant::now(), None);
        for (i, way) in ways.iter().enumerate() {
            let left = limit.saturating_sub(start.elapsed());
            let next = ways.get(i + 1);
            // A server of another transport may never answer.
            let is_last = next.is_none_or(|next| next.is_sse() == way.is_sse());
            let share = if is_last { left } else { left / 2 };
            match McpClient::connect(server, setup, share, secrets, *way).await {
                Ok(client) => {
                    way.remember(server, setup);
                    return Ok(client);
                }
                Err(failure) => {
                    let goes_on = matches!(failure, CallFailure::Lost(_) | CallFailure::Malformed(_))
                        || (!is_last && matches!(failure, CallFailure::Silent(_)));
                    let wants_sign_in = matches!(failure, CallFailure::SignIn(_));
                    // The first failure over HTTP is the most informative.
                    if wants_sign_in
                        || failed.as_ref().is_none_or(|(tried, _)| tried.is_sse() && !way.is_sse())
                    {
                        failed = Some((*way, failure));
                    }
                    if !goes_on || start.elapsed() >= limit {
                        break;
                    }
                }
            }
        }
        Err(failed.map_or_else(|| CallFailure::Silent(limit), |(_, failure)| failure))
    }

    /// Opens a session within `limit`, the way an earlier session of the server was opened.
    pub async fn open_again(
        way: ConnectMethod,
        server: &ServerConfig,
        setup: &ProcessSetup,
        limit: Duration,
        secrets: &LiveSecrets,
    ) -> Result<McpClient, CallFailure> {
        McpClient::connect(server, setup, limit, secrets, way).await
    }

    /// Returns the way in which the session was opened.
    pub fn connect_method(&self) -> ConnectMethod {
        self.way
    }

    async fn connect(
        server: &ServerConfig,
        setup: &ProcessSetup,
        limit: Duration,
        secrets: &LiveSecrets,
        way: ConnectMethod,
    ) -> Result<McpClient, CallFailure> {
        let ConnectMethod { transport, beginning } = way;
        let (progress_sender, progress) = mpsc::channel(1);
        let (question_sender, questions) = mpsc::channel(1);
        let mut handler = SessionHandler {
            root: None,
            progress: progress_sender,
            questions: question_sender,
            changed: Arc::new(AtomicBool::new(false)),
            offers_changed: Arc::new(AtomicBool::new(false)),
        };
        let (junk, limit_of_lines) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(pipes::LIMIT)));
        let mut process = None;
        let begun = match &server.target {
            ServerTarget::Program { command, args, env, .. } => {
                let start = setup.folders.start_of(server).map_err(CallFailure::NotStarted)?;
                let Some(start) = start else {
                    return Err(CallFailure::NotStarted("it has no folder".to_string()));
                };
                let (program, stdout, stdin) = ServerProcess::start(command, args, env, &start, setup)
                    .map_err(|error| not_started(command, &error))?;
                handler.root = setup.folders.root_for(&start);
                process = Some(program);
                let pipes =
                    StdioTransport::new(stdout, stdin, Arc::clone(&junk), Arc::clone(&limit_of_lines));
                handshake(&handler, AttributeErrors::new(pipes, DOUBT), beginning, limit).await
            }
            ServerTarget::Remote { url, transport: configured, headers, .. } => {
                let follow = transport == RemoteTransport::Http;
                let client = http::client(url, follow)
                    .map_err(|error| CallFailure::Lost(errors::reqwest_text(&error)))?;
                let has_own = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                let sign_in_store = SignInStore::for_server(&setup.sign_ins, server).filter(|_| !has_own);
                let bearer =
                    sign_in_store.map(|sign_in_store| Bearer::new(server, sign_in_store, secrets.clone()));
                match transport {
                    RemoteTransport::Http => {
                        let carrier = http::streamable(AuthorizedClient { client, bearer }, url, headers);
                        handshake(&handler, AttributeErrors::new(carrier, Duration::ZERO), beginning, limit)
                            .await
                    }
                    RemoteTransport::Sse => {
                        let is_certain = *configured == Transport::Sse;
                        let headers = http::headers(headers);
                        let opening =
                            sse::SseTransport::open_signed(client, url, headers, bearer, is_certain);
                        match tokio::time::timeout(limit, opening).await {
                            Ok(Ok(events)) => {
                                handshake(
                                    &handler,
                                    AttributeErrors::new(events, Duration::ZERO),
                                    Handshake::Initialize,
                                    limit,
                                )
                                .await
                            }
                            Ok(Err(failure)) => Err(failure),
                            Err(_) => Err(CallFailure::Silent(limit)),
                        }
                    }
                }
            }
        };
        match begun {
            Ok(service) => {
                let leaving = InFlightNotice::default();
                Ok(McpClient {
                    service,
                    handler,
                    progress,
                    questions,
                    leaving,
                    process,
                    junk,
                    limit: limit_of_lines,
                    way,
                })
            }
            Err(failure) => Err(with_stderr_end(failure, process).await),
        }
    }

    /// Whether the server is gone. Over HTTP, only a request can show that.
    pub fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// Whether the server has reported a change of its tools since the last call.
    pub fn tools_changed(&self) -> bool {
        self.handler.changed.swap(false, Ordering::Relaxed)
    }

    /// Whether the server has reported a change of its resources or prompts since the last call.
    pub fn offers_changed(&self) -> bool {
        self.handler.offers_changed.swap(false, Ordering::Relaxed)
    }

    /// Returns the number of lines on stdout that were not messages.
    pub fn junk(&self) -> usize {
        self.junk.load(Ordering::Relaxed)
    }

    /// Returns the protocol revision in use.
    pub fn protocol(&self) -> String {
        let info = self.service.peer().peer_info();
        info.map(|info| info.protocol_version.to_string()).unwrap_or_default()
    }

    /// Adds the program's exit status and its last stderr output to a failure, if it has exited.
    pub async fn explain(&mut self, failure: CallFailure) -> CallFailure {
        match &mut self.process {
            Some(process) if matches!(failure, CallFailure::Lost(_)) => exit_failure(failure, process).await,
            _ => failure,
        }
    }

    /// Closes the session and terminates the server's process tree.
    pub async fn close(mut self) {
        self.leaving.wait().await;
        let _ = self.service.close_with_timeout(CLOSING).await;
        if let Some(process) = self.process.take() {
            process.terminate().await;
        }
    }
}

/// Returns the server's challenge to a request without a sign-in; `None` if it answers.
pub async fn challenge(server: &ServerConfig) -> Result<Option<String>, String> {
    match McpClient::open(server, &ProcessSetup::default(), CHALLENGE, &LiveSecrets::default()).await {
        Ok(client) => {
            client.close().await;
            Ok(None)
        }
        Err(CallFailure::SignIn(needed)) => Ok(needed.challenge),
        Err(CallFailure::Lost(words)) => Err(words),
        Err(CallFailure::Silent(limit)) => Err(silence(limit)),
        // The server answered something; its sign-in may still be found.
        Err(CallFailure::Refused(_) | CallFailure::NotStarted(_) | CallFailure::Malformed(_)) => Ok(None),
    }
}

async fn handshake<T: Carrier<RoleClient> + 'static>(
    handler: &SessionHandler,
    carrier: AttributeErrors<T>,
    beginning: Handshake,
    limit: Duration,
) -> Result<RunningService<RoleClient, SessionHandler>, CallFailure> {
    let mode = match beginning {
        Handshake::Initialize => ClientLifecycleMode::Initialize,
        Handshake::Either => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    };
    let serving = serve_client_with_lifecycle(handler.clone(), carrier, mode);
    let service = match tokio::time::timeout(limit, serving).await {
        Ok(served) => served.map_err(errors::from_init_error)?,
        Err(_) => return Err(CallFailure::Silent(limit)),
    };
    // The library does not check whether it knows the revision in the answer.
    let version = service.peer().peer_info().map(|info| info.protocol_version.clone());
    match version {
        Some(version) if ProtocolVersion::KNOWN_VERSIONS.contains(&version) => Ok(service),
        _ => {
            Err(CallFailure::Refused("it uses a version of the protocol that lepo does not know".to_string()))
        }
    }
}

/// Adds the program's last output to the failure of a start, and terminates the program.
async fn with_stderr_end(failure: CallFailure, process: Option<ServerProcess>) -> CallFailure {
    let Some(mut process) = process else { return failure };
    let failure = exit_failure(failure, &mut process).await;
    process.terminate().await;
    failure
}

async fn exit_failure(failure: CallFailure, process: &mut ServerProcess) -> CallFailure {
    // A server that answered what lepo cannot use exits because lepo closes its pipe.
    let ended = match &failure {
        CallFailure::Silent(_) | CallFailure::Refused(_) | CallFailure::Malformed(_) => None,
        _ => process.wait_exit(STDERR_GRACE).await,
    };
    let mut words = match &failure {
        CallFailure::Lost(words)
        | CallFailure::Refused(words)
        | CallFailure::NotStarted(words)
        | CallFailure::Malformed(words) => words.clone(),
        CallFailure::Silent(limit) => silence(*limit),
        CallFailure::SignIn(needed) => needed.reason.clone(),
    };
    if let Some(status) = ended {
        use std::os::unix::process::ExitStatusExt;
        words = match (status.code(), status.signal()) {
            (Some(code), _) => format!("it exited with code {code}"),
            (None, Some(signal)) => format!("it was terminated by signal {signal}"),
            (None, None) => "it exited".to_string(),
        };
    }
    let stderr_end = process.stderr_end().await;
    if !stderr_end.is_empty() {
        words = format!("{words}; the end of its stderr:\n{stderr_end}");
    }
    match failure {
        CallFailure::Refused(_) => CallFailure::Refused(words),
        CallFailure::NotStarted(_) => CallFailure::NotStarted(words),
        CallFailure::Malformed(_) => CallFailure::Malformed(words),
        CallFailure::SignIn(_) => failure,
        CallFailure::Lost(_) | CallFailure::Silent(_) => CallFailure::Lost(words),
    }
}

fn not_started(command: &str, error: &io::Error) -> CallFailure {
    CallFailure::NotStarted(match error.kind() {
        io::ErrorKind::NotFound => format!("{command} is not installed or not in PATH"),
        _ => format!("cannot run {command}: {}", lepo_base::error::cause(error)),
    })
}
