//! Signing in to a server (OAuth 2.1, as the protocol's revisions require): the library runs the protocol; lepo
//! provides the HTTP client, stores tokens, and decides when to refresh them.

mod bearer;
mod login;
mod oauth_client;
mod sign_in_store;

use std::error::Error;
use std::sync::Arc;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, OAuthClientConfig, ProtectedResourceMetadataInvalidReason as Invalid,
};

pub use bearer::{AuthorizedClient, Bearer, LiveSecrets, TokenError};
pub use login::{Login, RedirectParams};
pub use sign_in_store::{SignInInfo, SignInStore};

use super::errors::one_line;
use crate::mcp::config::{ServerConfig, ServerTarget};
use lepo_base::secret::Secret;
use lepo_net::fetch::redacted_url;
use oauth_client::OAuthClient;
use sign_in_store::StoredSignIn;

/// The library's state machine for a server, with lepo's HTTP client and files.
struct AuthManager {
    manager: AuthorizationManager,
    web: Arc<OAuthClient>,
}

impl AuthManager {
    async fn new(server: &ServerConfig, sign_in_store: SignInStore) -> Result<AuthManager, String> {
        let ServerTarget::Remote { url, .. } = &server.target else {
            return Err("it is a program, which signs in on its own".to_string());
        };
        let web = OAuthClient::new(url).map_err(|error| super::errors::reqwest_text(&error))?;
        web.check(url).map_err(|words| format!("{words}: a token would be sent unencrypted"))?;
        let web = Arc::new(web);
        let manager = AuthorizationManager::new_with_oauth_http_client(url.as_str(), web.clone()).await;
        let mut manager = manager.map_err(|error| one_line(&error.to_string()))?;
        manager.set_credential_store(sign_in_store);
        Ok(AuthManager { manager, web })
    }
}

fn client_of(id: &str, redirect: &str) -> OAuthClientConfig {
    OAuthClientConfig::new(id, redirect)
}

/// Returns the secret of a stored client: the configured secret if the client is configured, else the registration's.
fn secret_of(server: &ServerConfig, stored: &StoredSignIn) -> Option<String> {
    let registered = stored.client_secret.clone();
    let ServerTarget::Remote { identity, .. } = &server.target else { return registered };
    let is_configured = identity.client_id.as_deref() == Some(stored.credentials.client_id.as_str());
    let configured = identity.client_secret.as_ref().filter(|_| is_configured);
    configured.map(|secret: &Secret| secret.reveal().to_string()).or(registered)
}

/// Describes an error on one line, with the authorization server's explanation.
fn explain(error: &AuthError, web: &OAuthClient) -> String {
    let refusal = || web.refusal().unwrap_or_default();
    let with_refusal = |what: &str| match refusal() {
        words if words.is_empty() => what.to_string(),
        words => format!("{what}: {words}"),
    };
    let words = match error {
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => format!(
            "the answer is from issuer {received_issuer}, not from {expected_issuer}: refused, as it may be \
                an attack"
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            format!("the answer does not name the issuer {expected_issuer}, as it must")
        }
        AuthError::ProtectedResourceMetadataInvalid { url, reason } => match &**reason {
            Invalid::ResourceMismatch { permitted, .. } => {
                format!("{} is about another server: {}", redacted_url(url), redacted_url(permitted))
            }
            _ => format!("{} cannot be used: {reason}", redacted_url(url)),
        },
        AuthError::AuthorizationServersUnavailable { authorization_servers, .. } => {
            let named = authorization_servers.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            with_refusal(&format!("none of its authorization servers can be used ({named})"))
        }
        AuthError::DiscoveryRequestFailed { url, source } => {
            let source: &(dyn Error + 'static) = source.as_ref();
            format!("{} cannot be read: {}", redacted_url(url), lepo_base::error::cause(source))
        }
        AuthError::PkceUnsupported => "its authorization server does not support PKCE with S256".to_string(),
        AuthError::InvalidScope(_) => {
            "its authorization server does not support response_type code".to_string()
        }
        AuthError::RegistrationFailed(_) => {
            with_refusal("lepo cannot be registered with its authorization server")
        }
        AuthError::TokenExchangeFailed(_) => with_refusal("its authorization server gave no token"),
        AuthError::TokenRefreshFailed(_) => with_refusal("its authorization server cannot be asked now"),
        AuthError::TokenRefreshRejected(_) => with_refusal("its authorization server refuses it"),
        AuthError::InvalidTokenType(words) => format!("the token cannot be used: {words}"),
        AuthError::CredentialStoreError(words) => format!("cannot store the sign-in: {words}"),
        AuthError::NoAuthorizationSupport => "it offers no sign-in".to_string(),
        other => with_refusal(&other.to_string()),
    };
    one_line(&words)
}
