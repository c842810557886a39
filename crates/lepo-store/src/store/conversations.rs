//! The methods of a store with a promise, for other programs: open, list tails, read, check, append, watch.
//!
//! Each has an example, and `public-interface.txt` lists them. The other methods of [`Store`] are lepo's own.

use std::fmt;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, absolute};
use std::time::Duration;

use super::finding::Finding;
use super::handle::Store;
use super::watch::StoreWatch;
use crate::bubb::{BubbId, BubbName, ContentHash};
use crate::conv::{ConvEnd, ReadScope};
use lepo_base::error::Error;
use lepo_base::role::Role;

/// A failure, described in one line: the action, its object and the reason.
///
/// ```
/// let failure = lepo_store::Store::open("/no/such/store".as_ref()).err().unwrap();
/// assert_eq!(failure.to_string(), "no store /no/such/store");
/// ```
pub struct StoreError(String);

/// A message of a store.
///
/// ```
/// # use lepo_store::{AppendedMessage, Role, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
/// # let id = store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
/// let message = &store.conversation(id).unwrap().messages[0];
/// assert_eq!((message.role, message.hidden, message.parent), (Role::User, false, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredMessage {
    /// The id of this message.
    pub id: BubbId,
    /// The previous message; `None` for a root.
    pub parent: Option<BubbId>,
    /// The author.
    pub role: Role,
    /// Whether the message is listed only on request: thinking, tool calls, results.
    pub hidden: bool,
    /// The content, byte for byte. Usually UTF-8, but never checked.
    pub text: Vec<u8>,
}

/// The messages from a root to the last one.
///
/// ```
/// # use lepo_store::{AppendedMessage, Role, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
/// # let id = store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
/// assert!(store.conversation(id).unwrap().is_whole);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredConversation {
    /// The messages, oldest first.
    pub messages: Vec<StoredMessage>,
    /// Whether the first message is a root, so that no earlier one is missing.
    pub is_whole: bool,
}

/// The end of a conversation that can be continued.
///
/// ```
/// # use lepo_store::{AppendedMessage, Role, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
/// # store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
/// for tail in store.tails().unwrap() {
///     println!("{} ({})", tail.id, tail.height);
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tail {
    /// The last message.
    pub id: BubbId,
    /// The number of messages from the root to `id`.
    pub height: u32,
}

/// A message to write.
///
/// ```
/// use lepo_store::{AppendedMessage, Role};
///
/// let root = AppendedMessage::root(Role::System, b"Be brief.").hidden();
/// assert!(root.hidden && root.parent.is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendedMessage<'m> {
    /// The previous message; `None` starts a conversation.
    pub parent: Option<BubbId>,
    /// The author.
    pub role: Role,
    /// Whether the message is listed only on request.
    pub hidden: bool,
    /// The content.
    pub text: &'m [u8],
}

impl Store {
    /// Opens the store at `path`. A symbolic link to a store and a store of another user are errors.
    ///
    /// ```
    /// use lepo_store::Store;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let path = dir.path().join(".lepo");
    /// assert!(Store::open(&path).is_err());
    /// Store::create(&path).unwrap();
    /// assert!(Store::open(&path).unwrap().tails().unwrap().is_empty());
    /// ```
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let whole = absolute(path)
            .map_err(|error| Error::store("the working directory no longer exists").because(error))?;
        match Store::anywhere(&whole)? {
            Some(store) => Ok(store),
            None => Err(Error::nothing(format!("no store {}", path.display())).into()),
        }
    }

    /// Creates an empty store, readable by its user alone, and opens it. An existing store is opened unchanged.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// let path = dir.path().join(".lepo");
    /// let store = lepo_store::Store::create(&path).unwrap();
    /// assert!(path.is_dir() && store.verify().unwrap().is_empty());
    /// ```
    pub fn create(path: &Path) -> Result<Store, StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| Error::store(format!("cannot create {}", path.display())).because(error))?;
        Store::open(path)
    }

    /// Returns the ends of conversations that can be continued, newest first.
    ///
    /// ```
    /// use lepo_store::{AppendedMessage, Role, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
    /// let root = store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
    /// for answer in [&b"so"[..], b"or so"] {
    ///     store.append(&AppendedMessage::after(root, Role::Assistant, answer)).unwrap();
    /// }
    /// assert_eq!(store.tails().unwrap().len(), 2);
    /// ```
    pub fn tails(&self) -> Result<Vec<Tail>, StoreError> {
        let forest = self.forest()?;
        let mut heights = forest.heights();
        let tails: Vec<_> = forest.newest_first(false).collect();
        Ok(tails.into_iter().map(|ix| Tail { id: forest.name(ix).id, height: heights.value(ix) }).collect())
    }

    /// Returns the conversation that ends with a message, from its root, including hidden messages.
    ///
    /// ```
    /// use lepo_store::{AppendedMessage, Role, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
    /// let root = store.append(&AppendedMessage::root(Role::System, b"Be brief.").hidden()).unwrap();
    /// let end = store.append(&AppendedMessage::after(root, Role::User, "왜?".as_bytes())).unwrap();
    /// let conversation = store.conversation(end).unwrap();
    /// assert!(conversation.is_whole);
    /// let texts: Vec<&[u8]> = conversation.messages.iter().map(|message| &message.text[..]).collect();
    /// assert_eq!(texts, [b"Be brief.", "왜?".as_bytes()]);
    /// assert!(conversation.messages[0].hidden && conversation.messages[1].parent == Some(root));
    /// ```
    pub fn conversation(&self, end: BubbId) -> Result<StoredConversation, StoreError> {
        let forest = self.forest_for(&[ReadScope::Ids(vec![end])])?;
        let ix = forest.find(end).ok_or_else(|| no_message(end))?;
        let conv = forest.conv(ix);
        let messages = conv.path.iter().map(|ix| self.stored_message(&forest.name(*ix)));
        Ok(StoredConversation {
            messages: messages.collect::<Result<_, Error>>()?,
            is_whole: conv.end == ConvEnd::Root,
        })
    }

    /// Returns the bytes of a blob by the 64 digits of its hash; `None` if it is missing or damaged.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = lepo_store::Store::create(&dir.path().join(".lepo")).unwrap();
    /// assert_eq!(store.blob(&"0".repeat(64)), None);
    /// ```
    pub fn blob(&self, hash: &str) -> Option<Vec<u8>> {
        self.blob_bytes(&ContentHash::parse(hash)?)
    }

    /// Checks every id, name, link and blob of the store. The kinds of findings are in `docs/format.md`, section 15.
    ///
    /// ```
    /// use lepo_store::{AppendedMessage, Role, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join(".lepo");
    /// # let store = Store::create(&path).unwrap();
    /// store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
    /// assert!(store.verify().unwrap().is_empty());
    /// # let name = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|end| end == "md").then(|| entry.path());
    /// # let file = path.read_dir().unwrap().flatten().find_map(name).unwrap();
    /// std::fs::write(file, "edited by hand").unwrap();
    /// assert_eq!(store.verify().unwrap()[0].what.as_str(), "edited");
    /// ```
    pub fn verify(&self) -> Result<Vec<Finding>, StoreError> {
        Ok(self.check(&mut |_, _| ())?)
    }

    /// Writes a message, durable when this returns; other processes may write at the same time. The text is written
    /// unchanged and is not searched for secrets.
    ///
    /// ```
    /// use lepo_store::{AppendedMessage, Role, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
    /// let id = store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
    /// let elsewhere = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A".parse().unwrap();
    /// assert!(store.append(&AppendedMessage::after(elsewhere, Role::Assistant, b"so")).is_err());
    /// assert!(store.append(&AppendedMessage::after(id, Role::Assistant, b"so")).is_ok());
    /// ```
    pub fn append(&self, new: &AppendedMessage<'_>) -> Result<BubbId, StoreError> {
        if let Some(parent) = new.parent
            && self.listing()?.find_own(parent)?.is_none()
        {
            return Err(no_message(parent).into());
        }
        // A new conversation must be newer than all others.
        let not_before = match new.parent {
            None => self.forest_for(&[ReadScope::Tip])?.root_time(),
            Some(_) => 0,
        };
        Ok(self.create_bubb(new.role, new.hidden, new.parent, not_before, new.text)?.id)
    }

    /// Watches the store for messages that any process writes from now on.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use lepo_store::{AppendedMessage, Role, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(&dir.path().join(".lepo")).unwrap();
    /// let mut watch = store.watch().unwrap();
    /// let id = store.append(&AppendedMessage::root(Role::User, b"why?")).unwrap();
    /// let seen = watch.next_message(Duration::from_secs(60)).unwrap().unwrap();
    /// assert_eq!((seen.id, &seen.text[..]), (id, &b"why?"[..]));
    /// ```
    pub fn watch(&self) -> Result<StoreWatch<'_>, StoreError> {
        Ok(StoreWatch::start(self, None)?)
    }

    fn stored_message(&self, name: &BubbName) -> Result<StoredMessage, Error> {
        let text = self.read_bubb(name)?;
        Ok(StoredMessage { id: name.id, parent: name.prev, role: name.role, hidden: name.hidden, text })
    }
}

impl StoreWatch<'_> {
    /// Returns the next message of the store itself; `None` if no message is written within `patience`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = lepo_store::Store::create(&dir.path().join(".lepo")).unwrap();
    /// let mut watch = store.watch().unwrap();
    /// assert!(watch.next_message(Duration::ZERO).unwrap().is_none(), "nobody writes");
    /// ```
    pub fn next_message(&mut self, patience: Duration) -> Result<Option<StoredMessage>, StoreError> {
        loop {
            match self.next(patience)? {
                // A message of another user's store.
                Some(seen) if seen.from.is_some() => {}
                Some(seen) => return Ok(Some(seen.store.stored_message(&seen.name)?)),
                None => return Ok(None),
            }
        }
    }
}

impl<'m> AppendedMessage<'m> {
    /// Creates a message that starts a conversation.
    ///
    /// ```
    /// let new = lepo_store::AppendedMessage::root(lepo_store::Role::User, b"why?");
    /// assert_eq!(new.parent, None);
    /// ```
    pub fn root(role: Role, text: &'m [u8]) -> AppendedMessage<'m> {
        AppendedMessage { parent: None, role, hidden: false, text }
    }

    /// Creates a message that follows another.
    ///
    /// ```
    /// let id = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A".parse().unwrap();
    /// let new = lepo_store::AppendedMessage::after(id, lepo_store::Role::Assistant, b"so");
    /// assert_eq!(new.parent, Some(id));
    /// ```
    pub fn after(parent: BubbId, role: Role, text: &'m [u8]) -> AppendedMessage<'m> {
        AppendedMessage { parent: Some(parent), role, hidden: false, text }
    }

    /// Hides the message: it is then listed only on request.
    ///
    /// ```
    /// use lepo_store::{AppendedMessage, Role};
    ///
    /// assert!(AppendedMessage::root(Role::System, b"x").hidden().hidden);
    /// ```
    pub fn hidden(self) -> AppendedMessage<'m> {
        AppendedMessage { hidden: true, ..self }
    }
}

fn no_message(id: BubbId) -> Error {
    Error::nothing(format!("no message {id} in this store"))
}

impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        StoreError(error.chain())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}
