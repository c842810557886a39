//! lepo's client identity at an authorization server: three keys of a remote server in `mcp.json`.

use url::Url;

use lepo_base::secret::Secret;

/// The client that signs in to a server; empty if lepo registers itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientIdentity {
    /// Id of a manually registered client.
    pub client_id: Option<String>,
    /// Secret of that client.
    pub client_secret: Option<Secret>,
    /// URL of a client metadata document, used without an id if the server supports such documents.
    pub client_metadata_url: Option<Url>,
}

impl ClientIdentity {
    /// Parses the three keys; an error is a mistake and its remedy.
    pub(super) fn read(
        id: Option<&str>,
        secret: Option<&str>,
        document: Option<&str>,
    ) -> Result<ClientIdentity, (&'static str, &'static str)> {
        if secret.is_some() && id.is_none() {
            return Err(("`client_secret` needs a `client_id`", "give both, or neither"));
        }
        let wrong = (
            "`client_metadata_url` is not an https address with a path",
            "it is like https://you.example/lepo.json",
        );
        let document = match document.map(Url::parse) {
            None => None,
            Some(Ok(url)) if url.scheme() == "https" && url.path() != "/" => Some(url),
            Some(_) => return Err(wrong),
        };
        Ok(ClientIdentity {
            client_id: id.map(str::to_string),
            client_secret: secret.map(Secret::new),
            client_metadata_url: document,
        })
    }
}
