//! The token in the requests of a signed-in server: refreshed before it expires, and once when the server refuses it,
//! by one process at a time.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::stream::BoxStream;
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};
use tokio::sync::Mutex;

use super::sign_in_store::{SignInStore, StoredSignIn};
use super::{AuthManager, explain};
use crate::mcp::config::ServerConfig;
use lepo_base::secret::Secret;

/// Secrets of a sign-in; new tokens are added as they come.
pub type LiveSecrets = Arc<RwLock<Vec<Secret>>>;

/// The sign-in of a server, as its requests use it.
#[derive(Clone)]
pub struct Bearer {
    inner: Arc<Inner>,
}

struct Inner {
    server: ServerConfig,
    sign_in_store: SignInStore,
    secrets: LiveSecrets,
    /// Allows one refresh at a time in this process; the lock file is for other processes.
    refreshing: Mutex<()>,
}

/// Why no token can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenError {
    /// The sign-in is no longer valid, and why.
    Over(String),
    /// The token cannot be refreshed now, and why.
    Failed(String),
}

impl Bearer {
    /// Creates the sign-in of a server. Its tokens are added to `secrets`.
    pub fn new(server: &ServerConfig, sign_in_store: SignInStore, secrets: LiveSecrets) -> Bearer {
        let inner = Inner { server: server.clone(), sign_in_store, secrets, refreshing: Mutex::default() };
        Bearer { inner: Arc::new(inner) }
    }

    /// Returns the token to send, other than `refused`; `None` without a sign-in.
    pub async fn token(&self, refused: Option<&str>) -> Result<Option<String>, TokenError> {
        let Some(kept) = self.load()? else { return Ok(None) };
        if let Some(token) = usable(&kept, refused) {
            return Ok(Some(token));
        }
        let _one = self.inner.refreshing.lock().await;
        let failed = |error: std::io::Error| TokenError::Failed(lepo_base::error::cause(&error));
        let _lock = self.inner.sign_in_store.lock().await.map_err(failed)?;
        // Another process may have refreshed the token while this one waited for the lock.
        let Some(kept) = self.load()? else { return Ok(None) };
        if let Some(token) = usable(&kept, refused) {
            return Ok(Some(token));
        }
        if !kept.refreshes() {
            return Err(TokenError::Over("the sign-in has expired".to_string()));
        }
        self.refresh(kept).await?;
        let kept = self.load()?;
        let token = kept.as_ref().and_then(StoredSignIn::token).filter(|token| Some(*token) != refused);
        token
            .map(|token| Some(token.to_string()))
            .ok_or_else(|| TokenError::Over("the sign-in is refused".into()))
    }

    /// Requests a new token from the authorization server, and stores it.
    async fn refresh(&self, stored: StoredSignIn) -> Result<(), TokenError> {
        let Inner { server, sign_in_store, .. } = &*self.inner;
        let mut sign_in_store = sign_in_store.clone();
        sign_in_store.client_secret = stored.client_secret.as_ref().map(Secret::new);
        let AuthManager { mut manager, web } =
            AuthManager::new(server, sign_in_store).await.map_err(TokenError::Failed)?;
        let refreshed = async {
            let resolution = manager.resolve_metadata().await?;
            let issuer = resolution.metadata.issuer.clone();
            manager.set_metadata(resolution.metadata);
            if issuer != stored.credentials.issuer {
                // A token goes to no issuer but its own.
                return Err(AuthError::AuthorizationRequired);
            }
            let mut client = super::client_of(&stored.credentials.client_id, "http://127.0.0.1/callback");
            client.client_secret = super::secret_of(server, &stored);
            manager.configure_client(client)?;
            manager.refresh_token().await.map(drop)
        };
        refreshed.await.map_err(|error| match error {
            AuthError::AuthorizationRequired => {
                TokenError::Over("the sign-in is no longer valid".to_string())
            }
            AuthError::TokenRefreshRejected(_) => {
                TokenError::Over(format!("the sign-in has expired ({})", explain(&error, &web)))
            }
            error => {
                TokenError::Failed(format!("the sign-in cannot be refreshed: {}", explain(&error, &web)))
            }
        })
    }

    /// Loads the stored sign-in; from then on its secrets are masked.
    fn load(&self) -> Result<Option<StoredSignIn>, TokenError> {
        let stored = self.inner.sign_in_store.read_newest();
        let stored = stored.map_err(|error| TokenError::Failed(lepo_base::error::cause(&error)))?;
        if let Some(stored) = &stored {
            let mut secrets = self.inner.secrets.write().unwrap_or_else(PoisonError::into_inner);
            let new: Vec<Secret> =
                stored.secrets().into_iter().filter(|secret| !secrets.contains(secret)).collect();
            secrets.extend(new);
        }
        Ok(stored)
    }
}

/// Returns the stored token, unless it is about to expire or equals `refused`.
fn usable(stored: &StoredSignIn, refused: Option<&str>) -> Option<String> {
    stored.fresh().filter(|token| Some(*token) != refused).map(str::to_string)
}

/// An HTTP client whose requests carry the token.
#[derive(Clone)]
pub struct AuthorizedClient {
    /// The underlying client.
    pub client: Client,
    /// The sign-in; `None` if sign-ins are not used.
    pub bearer: Option<Bearer>,
}

type HttpTransportError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl AuthorizedClient {
    /// Calls `send` with the token, if there is one, and again with another token if the server refuses the first.
    async fn send<T, F: Future<Output = Result<T, HttpTransportError>>>(
        &self,
        send: impl Fn(Option<String>) -> F,
    ) -> Result<T, HttpTransportError> {
        let Some(bearer) = &self.bearer else { return send(None).await };
        let Some(token) = bearer.token(None).await.map_err(no_token)? else { return send(None).await };
        match send(Some(token.clone())).await {
            Err(StreamableHttpError::AuthRequired(_)) => {
                let another = bearer.token(Some(&token)).await.map_err(no_token)?;
                send(another).await
            }
            sent => sent,
        }
    }
}

fn no_token(why: TokenError) -> HttpTransportError {
    StreamableHttpError::Auth(match why {
        TokenError::Over(words) => AuthError::TokenRefreshRejected(words),
        TokenError::Failed(words) => AuthError::TokenRefreshFailed(words),
    })
}

impl StreamableHttpClient for AuthorizedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpTransportError> {
        self.send(|token| {
            self.client.post_message(uri.clone(), message.clone(), session.clone(), token, headers.clone())
        })
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, HttpTransportError> {
        self.send(|token| {
            let (uri, message, session) = (uri.clone(), message.clone(), session.clone());
            self.client.post_message_with_max_sse_event_size(
                uri,
                message,
                session,
                token,
                headers.clone(),
                limit,
            )
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpTransportError> {
        self.send(|token| self.client.delete_session(uri.clone(), session.clone(), token, headers.clone()))
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpTransportError> {
        self.send(|token| {
            self.client.get_stream(uri.clone(), session.clone(), last.clone(), token, headers.clone())
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpTransportError> {
        self.send(|token| {
            let (uri, session, last) = (uri.clone(), session.clone(), last.clone());
            self.client.get_stream_with_max_sse_event_size(uri, session, last, token, headers.clone(), limit)
        })
        .await
    }
}
