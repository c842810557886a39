//! A session with an MCP server: the only module that knows the protocol's library. Every wait has a limit, and a
//! request is never sent twice.

mod abandoned;
pub mod auth;
mod errors;
mod failure;
mod handler;
mod http;
mod message;
mod pipes;
mod process;
mod request;
mod requests;
mod sse;
mod way;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::ProtocolVersion;
use rmcp::service::RunningService;
use rmcp::transport::Transport as Carrier;
use rmcp::{ClientLifecycleMode, RoleClient, serve_client_with_lifecycle};
use tokio::sync::{mpsc, oneshot};

pub use failure::{Failure, Limits, SignInNeeded, silence};
pub use process::ProcessSetup;
pub use requests::List;
pub use way::Way;

use super::form::{Asked, FormAnswer};
use abandoned::PendingNotice;
use auth::{Bearer, LiveSecrets, SignInStore, Signed};

use crate::mcp::config::{ServerConfig, Target, Transport};
use handler::Handler;
use message::AttributeErrors;
use pipes::Pipes;
use process::Process;
use way::{Beginning, Remote};

/// How long an error without a request id, sent by a program, waits for an answer that may still come. Over HTTP, such
/// an error is the answer.
const DOUBT: Duration = Duration::from_secs(1);

/// Time limit for a server's challenge.
const CHALLENGE: Duration = Duration::from_secs(30);

/// Time limit for closing a session, before a server's program is terminated.
const CLOSING: Duration = Duration::from_secs(2);

/// How long to wait for the exit status of a server that has closed its pipe.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// An open session.
pub struct Client {
    service: RunningService<RoleClient, Handler>,
    handler: Handler,
    progress: mpsc::Receiver<String>,
    /// Requests of the server during a request of lepo's, each with a channel for the answer.
    questions: mpsc::Receiver<(Asked, oneshot::Sender<FormAnswer>)>,
    leaving: PendingNotice,
    process: Option<Process>,
    junk: Arc<AtomicUsize>,
    /// Current limit for a line of a program, in bytes.
    limit: Arc<AtomicUsize>,
    way: Way,
}

impl Client {
    /// Opens a session within `limit`.
    pub async fn open(
        server: &ServerConfig,
        place: &ProcessSetup,
        limit: Duration,
        secrets: &LiveSecrets,
    ) -> Result<Client, Failure> {
        let ways = Way::all(server, place);
        let (start, mut failed): (_, Option<(Way, Failure)>) = (Instant::now(), None);
        for (i, way) in ways.iter().enumerate() {
            let left = limit.saturating_sub(start.elapsed());
            let next = ways.get(i + 1);
            // A server of another transport may never answer.
            let is_last = next.is_none_or(|next| next.is_sse() == way.is_sse());
            let share = if is_last { left } else { left / 2 };
            match Client::begin(server, place, share, secrets, *way).await {
                Ok(client) => {
                    way.remember(server, place);
                    return Ok(client);
                }
                Err(failure) => {
                    let goes_on = matches!(failure, Failure::Lost(_) | Failure::Malformed(_))
                        || (!is_last && matches!(failure, Failure::Silent(_)));
                    let wants_sign_in = matches!(failure, Failure::SignIn(_));
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
        Err(failed.map_or_else(|| Failure::Silent(limit), |(_, failure)| failure))
    }

    /// Opens a session within `limit`, the way an earlier session of the server was opened.
    pub async fn open_again(
        way: Way,
        server: &ServerConfig,
        place: &ProcessSetup,
        limit: Duration,
        secrets: &LiveSecrets,
    ) -> Result<Client, Failure> {
        Client::begin(server, place, limit, secrets, way).await
    }

    /// Returns the way in which the session was opened.
    pub fn way(&self) -> Way {
        self.way
    }

    async fn begin(
        server: &ServerConfig,
        place: &ProcessSetup,
        limit: Duration,
        secrets: &LiveSecrets,
        way: Way,
    ) -> Result<Client, Failure> {
        let Way { transport, beginning } = way;
        let (progress_sender, progress) = mpsc::channel(1);
        let (question_sender, questions) = mpsc::channel(1);
        let mut handler = Handler {
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
            Target::Program { command, args, env, .. } => {
                let start = place.folders.start_of(server).map_err(Failure::NotStarted)?;
                let Some(start) = start else {
                    return Err(Failure::NotStarted("it has no folder".to_string()));
                };
                let (program, stdout, stdin) = Process::start(command, args, env, &start, place)
                    .map_err(|error| not_started(command, &error))?;
                handler.root = place.folders.root_for(&start);
                process = Some(program);
                let pipes = Pipes::new(stdout, stdin, Arc::clone(&junk), Arc::clone(&limit_of_lines));
                handshake(&handler, AttributeErrors::new(pipes, DOUBT), beginning, limit).await
            }
            Target::Remote { url, transport: configured, headers, .. } => {
                let follow = transport == Remote::Http;
                let client = http::client(url, follow)
                    .map_err(|error| Failure::Lost(errors::reqwest_words(&error)))?;
                let has_own = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                let sign_in_store = SignInStore::of(&place.sign_ins, server).filter(|_| !has_own);
                let bearer =
                    sign_in_store.map(|sign_in_store| Bearer::new(server, sign_in_store, secrets.clone()));
                match transport {
                    Remote::Http => {
                        let carrier = http::streamable(Signed { client, bearer }, url, headers);
                        handshake(&handler, AttributeErrors::new(carrier, Duration::ZERO), beginning, limit)
                            .await
                    }
                    Remote::Sse => {
                        let is_certain = *configured == Transport::Sse;
                        let headers = http::headers(headers);
                        let opening = sse::Events::open_signed(client, url, headers, bearer, is_certain);
                        match tokio::time::timeout(limit, opening).await {
                            Ok(Ok(events)) => {
                                handshake(
                                    &handler,
                                    AttributeErrors::new(events, Duration::ZERO),
                                    Beginning::Initialize,
                                    limit,
                                )
                                .await
                            }
                            Ok(Err(failure)) => Err(failure),
                            Err(_) => Err(Failure::Silent(limit)),
                        }
                    }
                }
            }
        };
        match begun {
            Ok(service) => {
                let leaving = PendingNotice::default();
                Ok(Client {
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
            Err(failure) => Err(with_last_words(failure, process).await),
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
    pub async fn explain(&mut self, failure: Failure) -> Failure {
        match &mut self.process {
            Some(process) if matches!(failure, Failure::Lost(_)) => last_words(failure, process).await,
            _ => failure,
        }
    }

    /// Closes the session and terminates the server's process tree.
    pub async fn close(mut self) {
        self.leaving.wait().await;
        let _ = self.service.close_with_timeout(CLOSING).await;
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }
}

/// Returns the server's challenge to a request without a sign-in; `None` if it answers.
pub async fn challenge(server: &ServerConfig) -> Result<Option<String>, String> {
    match Client::open(server, &ProcessSetup::default(), CHALLENGE, &LiveSecrets::default()).await {
        Ok(client) => {
            client.close().await;
            Ok(None)
        }
        Err(Failure::SignIn(needed)) => Ok(needed.challenge),
        Err(Failure::Lost(words)) => Err(words),
        Err(Failure::Silent(limit)) => Err(silence(limit)),
        // The server answered something; its sign-in may still be found.
        Err(Failure::Refused(_) | Failure::NotStarted(_) | Failure::Malformed(_)) => Ok(None),
    }
}

async fn handshake<T: Carrier<RoleClient> + 'static>(
    handler: &Handler,
    carrier: AttributeErrors<T>,
    beginning: Beginning,
    limit: Duration,
) -> Result<RunningService<RoleClient, Handler>, Failure> {
    let mode = match beginning {
        Beginning::Initialize => ClientLifecycleMode::Initialize,
        Beginning::Either => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    };
    let serving = serve_client_with_lifecycle(handler.clone(), carrier, mode);
    let service = match tokio::time::timeout(limit, serving).await {
        Ok(served) => served.map_err(errors::of_start)?,
        Err(_) => return Err(Failure::Silent(limit)),
    };
    // The library does not check whether it knows the revision in the answer.
    let version = service.peer().peer_info().map(|info| info.protocol_version.clone());
    match version {
        Some(version) if ProtocolVersion::KNOWN_VERSIONS.contains(&version) => Ok(service),
        _ => Err(Failure::Refused("it uses a version of the protocol that lepo does not know".to_string())),
    }
}

/// Adds the program's last output to the failure of a start, and terminates the program.
async fn with_last_words(failure: Failure, process: Option<Process>) -> Failure {
    let Some(mut process) = process else { return failure };
    let failure = last_words(failure, &mut process).await;
    process.end().await;
    failure
}

async fn last_words(failure: Failure, process: &mut Process) -> Failure {
    let ended = match &failure {
        Failure::Silent(_) => None,
        _ => process.ended(LAST_WORDS).await,
    };
    let mut words = match &failure {
        Failure::Lost(words)
        | Failure::Refused(words)
        | Failure::NotStarted(words)
        | Failure::Malformed(words) => words.clone(),
        Failure::Silent(limit) => silence(*limit),
        Failure::SignIn(needed) => needed.words.clone(),
    };
    if let Some(status) = ended {
        use std::os::unix::process::ExitStatusExt;
        words = match (status.code(), status.signal()) {
            (Some(code), _) => format!("it exited with code {code}"),
            (None, Some(signal)) => format!("it was terminated by signal {signal}"),
            (None, None) => "it exited".to_string(),
        };
    }
    let said = process.last_words().await;
    if !said.is_empty() {
        words = format!("{words}; the end of its stderr:\n{said}");
    }
    match failure {
        Failure::Refused(_) => Failure::Refused(words),
        Failure::NotStarted(_) => Failure::NotStarted(words),
        Failure::Malformed(_) => Failure::Malformed(words),
        Failure::SignIn(_) => failure,
        Failure::Lost(_) | Failure::Silent(_) => Failure::Lost(words),
    }
}

fn not_started(command: &str, error: &io::Error) -> Failure {
    Failure::NotStarted(match error.kind() {
        io::ErrorKind::NotFound => format!("{command} is not installed or not in PATH"),
        _ => format!("cannot run {command}: {}", lepo_base::error::cause(error)),
    })
}
