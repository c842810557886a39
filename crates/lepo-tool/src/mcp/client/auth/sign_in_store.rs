//! Files of sign-ins: one per server and issuer, readable by their owner only, and a lock so that processes refresh one
//! after the other.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use oauth2::basic::BasicTokenType;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::mcp::config::{ServerConfig, ServerTarget};
use lepo_base::hash::hash_of;
use lepo_base::secret::Secret;

/// How long to wait for another process's refresh.
const PATIENCE: Duration = Duration::from_secs(60);

/// Interval at which the lock is tried again.
const STEP: Duration = Duration::from_millis(50);

/// A token that expires within this many seconds is refreshed first.
const SOON: u64 = 30;

/// Longest acceptable token, in bytes.
const LONGEST: usize = 64 << 10;

/// The stored sign-in of a server.
#[derive(Debug, Clone)]
pub struct SignInStore {
    dir: PathBuf,
    /// Hash of the server's name and address.
    key: String,
    server: String,
    url: String,
    /// Secret that the authorization server issued with the registration.
    pub client_secret: Option<Secret>,
}

#[derive(Serialize, Deserialize)]
pub struct StoredSignIn {
    server: String,
    /// Address of the server, without its query.
    url: String,
    /// Secret that the authorization server issued with the registration.
    pub client_secret: Option<String>,
    /// The library's part: client, tokens, scopes, issuer.
    pub credentials: StoredCredentials,
}

/// Public facts of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInInfo {
    /// Issuer of the sign-in.
    pub issuer: Option<String>,
    /// Scopes of the sign-in.
    pub scopes: Vec<String>,
    /// When the token expires, in seconds since 1970; not every server says so.
    pub until: Option<u64>,
    /// Whether the sign-in can be refreshed.
    pub refreshes: bool,
}

impl SignInInfo {
    /// Whether the sign-in has expired and cannot be refreshed.
    pub fn is_over(&self) -> bool {
        !self.refreshes && self.until.is_some_and(|until| until <= now())
    }
}

impl SignInStore {
    /// Returns the store of a server's sign-in; `None` for a program, or if `dir` is empty.
    pub fn for_server(dir: &Path, server: &ServerConfig) -> Option<SignInStore> {
        let ServerTarget::Remote { url, .. } = &server.target else { return None };
        let mut shown = url.clone();
        shown.set_query(None);
        let key = hash_of(&[server.name.as_bytes(), url.as_str().as_bytes()]);
        let key = key.get(..32)?.to_string();
        (!dir.as_os_str().is_empty()).then(|| SignInStore {
            dir: dir.to_path_buf(),
            key,
            server: server.name.clone(),
            url: shown.to_string(),
            client_secret: None,
        })
    }

    /// Returns the newest stored sign-in. Files that cannot be parsed are skipped.
    pub fn read_newest(&self) -> io::Result<Option<StoredSignIn>> {
        let mut newest: Option<(SystemTime, StoredSignIn)> = None;
        for path in self.files()? {
            let time = path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(UNIX_EPOCH);
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let Ok(kept) = serde_json::from_slice::<StoredSignIn>(&bytes) else { continue };
            if newest.as_ref().is_none_or(|(other, _)| time > *other) {
                newest = Some((time, kept));
            }
        }
        Ok(newest.map(|(_, kept)| kept))
    }

    /// Returns the public facts of the stored sign-in.
    pub fn signed_in(&self) -> io::Result<Option<SignInInfo>> {
        Ok(self.read_newest()?.and_then(|kept| kept.signed_in()))
    }

    /// Deletes the sign-in, and returns whether there was one.
    pub fn forget(&self) -> io::Result<bool> {
        let files = self.files()?;
        files.iter().try_for_each(std::fs::remove_file)?;
        Ok(!files.is_empty())
    }

    /// Waits until no other process refreshes this sign-in, and locks it.
    pub async fn lock(&self) -> io::Result<File> {
        self.make_dir()?;
        let path = self.dir.join(format!("{}.lock", self.key));
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let start = Instant::now();
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK) if start.elapsed() < PATIENCE => sleep(STEP).await,
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(io::Error::other("another lepo process has been refreshing it for a minute"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn write(&self, credentials: StoredCredentials) -> io::Result<()> {
        self.make_dir()?;
        let issuer = hash_of(&[credentials.issuer.as_deref().unwrap_or_default().as_bytes()]);
        let path = self.dir.join(format!("{}-{}.json", self.key, issuer.get(..16).unwrap_or_default()));
        let kept = StoredSignIn {
            server: self.server.clone(),
            url: self.url.clone(),
            client_secret: self.client_secret.as_ref().map(|secret| secret.reveal().to_string()),
            credentials,
        };
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(&serde_json::to_vec(&kept)?)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        // A sign-in of another issuer is obsolete, and must not come back.
        for other in self.files()?.into_iter().filter(|other| *other != path) {
            std::fs::remove_file(other)?;
        }
        File::open(&self.dir)?.sync_all()
    }

    fn make_dir(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let begin = format!("{}-", self.key);
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(&begin) && name.ends_with(".json")
        };
        Ok(entries.flatten().map(|entry| entry.path()).filter(is_ours).collect())
    }
}

impl StoredSignIn {
    pub fn token(&self) -> Option<&str> {
        self.credentials.token_response.as_ref().map(|tokens| tokens.access_token().secret().as_str())
    }

    pub fn secrets(&self) -> Vec<Secret> {
        let tokens = self.credentials.token_response.as_ref();
        let of_tokens = tokens.into_iter().flat_map(|tokens| {
            let refresh = tokens.refresh_token().map(|token| token.secret().as_str());
            [Some(tokens.access_token().secret().as_str()), refresh]
        });
        of_tokens.chain([self.client_secret.as_deref()]).flatten().map(Secret::new).collect()
    }

    /// Returns the access token, unless it expires within `SOON` seconds.
    pub fn fresh(&self) -> Option<&str> {
        let over = self.until().is_some_and(|until| until <= now() + SOON);
        self.token().filter(|_| !over)
    }

    pub fn refreshes(&self) -> bool {
        self.credentials.token_response.as_ref().is_some_and(|tokens| tokens.refresh_token().is_some())
    }

    fn until(&self) -> Option<u64> {
        let lasts = self.credentials.token_response.as_ref()?.expires_in()?.as_secs();
        Some(self.credentials.token_received_at?.saturating_add(lasts))
    }

    fn signed_in(&self) -> Option<SignInInfo> {
        self.token()?;
        Some(SignInInfo {
            issuer: self.credentials.issuer.clone(),
            scopes: self.credentials.granted_scopes.clone(),
            until: self.until(),
            refreshes: self.refreshes(),
        })
    }
}

/// The credential store that the library asks for. `bearer.rs` locks it before a refresh starts, so that a process that
/// waited uses the token of the other one.
impl CredentialStore for SignInStore {
    fn load<'s, 'f>(&'s self) -> BoxFuture<'f, Option<StoredCredentials>>
    where
        's: 'f,
        Self: 'f,
    {
        let kept = self.read_newest().map(|kept| kept.map(|kept| kept.credentials)).map_err(failed);
        Box::pin(std::future::ready(kept))
    }

    fn save<'s, 'f>(&'s self, credentials: StoredCredentials) -> BoxFuture<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        let kept = check(&credentials).and_then(|()| self.write(credentials).map_err(failed));
        Box::pin(std::future::ready(kept))
    }

    fn clear<'s, 'f>(&'s self) -> BoxFuture<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(std::future::ready(self.forget().map(drop).map_err(failed)))
    }
}

type BoxFuture<'f, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'f>>;

fn failed(error: io::Error) -> AuthError {
    AuthError::CredentialStoreError(lepo_base::error::cause(&error))
}

/// Accepts only a bearer token that can be sent in a header.
fn check(credentials: &StoredCredentials) -> Result<(), AuthError> {
    let Some(tokens) = &credentials.token_response else { return Ok(()) };
    if *tokens.token_type() != BasicTokenType::Bearer {
        return Err(AuthError::InvalidTokenType("not Bearer".to_string()));
    }
    let token = tokens.access_token().secret();
    let is_sendable =
        !token.is_empty() && token.len() <= LONGEST && token.bytes().all(|b| (b'!'..=b'~').contains(&b));
    match is_sendable {
        true => Ok(()),
        false => Err(AuthError::InvalidTokenType("it cannot be sent in a header".to_string())),
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sign_in_store(dir: &Path, name: &str, url: &str) -> SignInStore {
        let text = json!({ "mcpServers": { name: { "url": url, "transport": "http" } } }).to_string();
        let server = crate::mcp::config::parse("m".as_ref(), text.as_bytes()).unwrap().remove(0);
        SignInStore::for_server(dir, &server).unwrap()
    }

    fn credentials(token: &str, kind: &str, issuer: &str) -> StoredCredentials {
        let tokens =
            json!({"access_token": token, "token_type": kind, "refresh_token": "r", "expires_in": 3600});
        serde_json::from_value(json!({
            "client_id": "c", "token_response": tokens, "token_received_at": now(), "issuer": issuer,
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn a_sign_in_is_its_servers_and_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("mcp-auth");
        let ours = sign_in_store(&dir, "s", "https://h/mcp");
        assert!(ours.read_newest().unwrap().is_none());
        ours.save(credentials("token-1", "bearer", "https://a")).await.unwrap();
        ours.save(credentials("token-2", "Bearer", "https://b")).await.unwrap();
        assert_eq!(ours.read_newest().unwrap().unwrap().fresh(), Some("token-2"));
        assert_eq!(ours.files().unwrap().len(), 1, "the other issuer's is gone");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&ours.files().unwrap()[0])), (0o700, 0o600));
        for (name, url) in [("t", "https://h/mcp"), ("s", "https://h/mcp2"), ("s", "https://h2/mcp")] {
            assert!(sign_in_store(&dir, name, url).read_newest().unwrap().is_none(), "{name} {url}");
        }
        assert!(ours.forget().unwrap() && !ours.forget().unwrap());
    }

    #[tokio::test]
    async fn a_token_that_is_none_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let ours = sign_in_store(dir.path(), "s", "https://h/mcp");
        for (token, kind) in [("t", "mac"), ("", "bearer"), ("a\r\nX: y", "bearer"), ("한글", "bearer")] {
            assert!(ours.save(credentials(token, kind, "https://a")).await.is_err(), "{token:?} {kind}");
        }
        std::fs::write(dir.path().join(format!("{}-x.json", ours.key)), "{broken").unwrap();
        assert!(ours.read_newest().unwrap().is_none());
    }
}
