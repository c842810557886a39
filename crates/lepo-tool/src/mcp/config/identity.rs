//! lepo's client identity at an authorization server: keys of a remote server in `mcp.json`.

use url::Url;

use lepo_base::secret::Secret;

/// The client that signs in to a server; empty where lepo registers by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The id of a client that was registered by hand.
    pub client_id: Option<String>,
    /// Secret of the client.
    pub client_secret: Option<Secret>,
    /// The address of a client metadata document, used where no id is given and the server takes one.
    pub client_metadata_url: Option<Url>,
}

impl ClientIdentity {
    /// Reads the three keys; a mistake is told with its remedy.
    pub(super) fn read(
        id: Option<&str>,
        secret: Option<&str>,
        document: Option<&str>,
    ) -> Result<ClientIdentity, (&'static str, &'static str)> {
        if secret.is_some() && id.is_none() {
            return Err(("`client_secret` is there without `client_id`", "give both, or neither"));
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
