//! A sign-in, from the server's challenge to a token: discovery, the client's identity, the address for the user, and
//! the code in the redirect.

use std::path::Path;
use std::sync::Arc;

use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource, OAuthClientConfig,
};
use url::Url;

use super::oauth_client::OAuthClient;
use super::sign_in_store::SignInStore;
use super::{AuthManager, client_of, explain};
use crate::mcp::config::{ServerConfig, ServerTarget};
use lepo_base::secret::Secret;
use lepo_net::fetch::redacted_url;

const NAME: &str = "lepo";

/// A sign-in that waits for the user.
pub struct Login {
    manager: AuthorizationManager,
    web: Arc<OAuthClient>,
    address: Url,
    state: String,
}

/// Parameters of the browser's redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectParams {
    /// A code, and the issuer if it is named.
    Code(String, Option<String>),
    /// The sign-in was refused, with this text.
    Refused(String),
    /// The redirect does not answer this sign-in.
    Foreign,
}

impl Login {
    /// Starts a sign-in that ends at `redirect`. `challenge` is the server's answer to an unauthenticated request;
    /// `scopes` are requested in addition.
    pub async fn start(
        server: &ServerConfig,
        dir: &Path,
        redirect: &str,
        challenge: Option<&str>,
        scopes: &[String],
    ) -> Result<Login, String> {
        let sign_in_store =
            SignInStore::for_server(dir, server).ok_or("it is a program, which signs in on its own")?;
        let AuthManager { mut manager, web } = AuthManager::new(server, sign_in_store.clone()).await?;
        let explained = |error| explain(&error, &web);
        let resolution = manager.resolve_metadata_from_challenge(challenge).await.map_err(explained)?;
        if resolution.source == AuthorizationMetadataSource::LegacyEndpointFallback && challenge.is_none() {
            return Err("it offers no sign-in".to_string());
        }
        check_endpoints(&resolution.metadata, &web)?;
        let by_document = resolution.metadata.additional_fields.get("client_id_metadata_document_supported");
        let by_document = by_document.and_then(|value| value.as_bool()).unwrap_or_default();
        manager.set_metadata(resolution.metadata);

        let mut wanted = manager.select_initial_scopes(&[]).await;
        let before = sign_in_store.signed_in().ok().flatten().map(|before| before.scopes).unwrap_or_default();
        // The sign-in is not to lose the scopes that it already has.
        let more = scopes.iter().chain(before.iter().filter(|_| !scopes.is_empty()));
        for scope in more {
            if !wanted.contains(scope) {
                wanted.push(scope.clone());
            }
        }
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();

        let client = identity(server, redirect, by_document);
        let client = match client {
            Some(client) => client,
            None => manager.register_client(NAME, redirect, &wanted).await.map_err(explained)?,
        };
        let mut sign_in_store = sign_in_store;
        sign_in_store.client_secret = client.client_secret.as_ref().map(Secret::new);
        manager.set_credential_store(sign_in_store);
        manager.configure_client(client).map_err(explained)?;
        let address = manager.get_authorization_url(&wanted).await.map_err(explained)?;
        let address =
            Url::parse(&address).map_err(|_| "the address of its sign-in is not valid".to_string())?;
        let state =
            address.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned());
        let state = state.ok_or("the address of its sign-in has no state")?;
        Ok(Login { manager, web, address, state })
    }

    /// Returns the address for the user to visit.
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// Returns the host of that address, to display before the sign-in.
    pub fn host(&self) -> String {
        redacted_url(&self.address)
    }

    /// Parses the query of the address to which the browser was redirected.
    pub fn read(&self, redirected: &Url) -> RedirectParams {
        read(redirected, &self.state)
    }

    /// Returns a parser for redirects to this sign-in, for a listener that outlives this borrow.
    pub fn reader(&self) -> impl Fn(&Url) -> RedirectParams + Send + Sync + 'static {
        let state = self.state.clone();
        move |redirected| read(redirected, &state)
    }

    /// Exchanges the code for tokens, and stores them.
    pub async fn finish(self, code: &str, issuer: Option<&str>) -> Result<(), String> {
        let exchanged = self.manager.exchange_code_for_token_with_issuer(code, &self.state, issuer).await;
        exchanged.map(drop).map_err(|error| explain(&error, &self.web))
    }
}

/// Returns the configured client, or the client of a metadata document; `None` if lepo has to register.
fn identity(server: &ServerConfig, redirect: &str, by_document: bool) -> Option<OAuthClientConfig> {
    let ServerTarget::Remote { identity, .. } = &server.target else { return None };
    if let Some(id) = &identity.client_id {
        let mut client = client_of(id, redirect);
        client.client_secret = identity.client_secret.as_ref().map(|secret| secret.reveal().to_string());
        return Some(client);
    }
    identity.client_metadata_url.as_ref().filter(|_| by_document).map(|url| client_of(url.as_str(), redirect))
}

/// Checks that every endpoint of an authorization server may be requested or opened.
fn check_endpoints(metadata: &AuthorizationMetadata, web: &OAuthClient) -> Result<(), String> {
    let registration = metadata.registration_endpoint.as_deref();
    let named = [metadata.authorization_endpoint.as_str(), metadata.token_endpoint.as_str()];
    for endpoint in named.into_iter().chain(registration) {
        let url =
            Url::parse(endpoint).map_err(|_| "its authorization server names no addresses".to_string())?;
        web.check(&url).map_err(|words| format!("its authorization server cannot be used: {words}"))?;
    }
    Ok(())
}

/// Parses a redirect. A wrong state makes it foreign; a key that appears twice makes it invalid.
fn read(redirected: &Url, state: &str) -> RedirectParams {
    let all = |wanted: &str| -> Vec<String> {
        let pairs = redirected.query_pairs().filter(|(key, _)| key == wanted);
        pairs.map(|(_, value)| value.into_owned()).collect()
    };
    if all("state") != [state] {
        return RedirectParams::Foreign;
    }
    let one = |mut values: Vec<String>| (values.len() == 1).then(|| values.remove(0));
    let (code, error) = (all("code"), all("error"));
    if let Some(error) = error.first() {
        let description = all("error_description").into_iter().next();
        let words = description.map_or(error.clone(), |description| format!("{error}: {description}"));
        return RedirectParams::Refused(super::one_line(&words));
    }
    let issuer = all("iss");
    match (one(code), issuer.len()) {
        (Some(code), 0 | 1) if !code.is_empty() => RedirectParams::Code(code, one(issuer)),
        _ => RedirectParams::Refused("the answer has no code, or has it twice".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_to_this_sign_in_is_read() {
        let refused = |words: &str| RedirectParams::Refused(words.into());
        for (query, expected) in [
            ("code=c&state=s", RedirectParams::Code("c".into(), None)),
            (
                "code=c&state=s&iss=https%3A%2F%2Fa",
                RedirectParams::Code("c".into(), Some("https://a".into())),
            ),
            ("code=c", RedirectParams::Foreign),
            ("code=c&state=t", RedirectParams::Foreign),
            ("code=c&state=s&state=s", RedirectParams::Foreign),
            ("code=c&state=", RedirectParams::Foreign),
            ("error=access_denied", RedirectParams::Foreign),
            ("error=access_denied&state=s", refused("access_denied")),
            ("error=x&error_description=a%0Ab%1b[2J&state=s&code=c", refused("x: a b [2J")),
            ("state=s", refused("the answer has no code, or has it twice")),
            ("code=c&code=d&state=s", refused("the answer has no code, or has it twice")),
            ("code=&state=s", refused("the answer has no code, or has it twice")),
            ("code=c&state=s&iss=a&iss=b", refused("the answer has no code, or has it twice")),
        ] {
            let url = Url::parse(&format!("http://127.0.0.1:1/callback?{query}")).unwrap();
            assert_eq!(read(&url, "s"), expected, "{query}");
        }
    }
}
