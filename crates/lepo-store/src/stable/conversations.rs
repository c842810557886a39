//! A store: open, list, read, check, append, watch.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, absolute};

use crate::bubb::ContentHash;
use crate::conv::{ConvEnd, Forest, ReadScope};
use crate::store::Store;
use lepo_base::error::Error;

use super::failure::{Failure, failed};
use super::message::{Conversation, MessageId, NewMessage, Problem, Tail, read};
use super::watching::Watching;

/// A store of conversations: a directory of plain files in the format of `docs/format.md`.
///
/// ```
/// use lepo_store::{Conversations, NewMessage, Speaker};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = Conversations::create(&dir.path().join(".lepo"))?;
/// let question = store.append(&NewMessage::root(Speaker::User, b"why?"))?;
/// let answer = store.append(&NewMessage::after(question, Speaker::Assistant, b"so"))?;
///
/// let tails = store.tails()?;
/// assert_eq!((tails[0].id, tails[0].height), (answer, 2));
/// for message in store.read(answer)?.messages {
///     println!("{}: {}", message.speaker, String::from_utf8_lossy(&message.text));
/// }
/// # Ok(())
/// # }
/// ```
pub struct Conversations {
    store: Store,
}

impl Conversations {
    /// Opens the store at `path`. A symbolic link to a store and a store of another user are errors.
    ///
    /// ```
    /// use lepo_store::Conversations;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let path = dir.path().join(".lepo");
    /// assert!(Conversations::open(&path).is_err(), "there is none");
    /// Conversations::create(&path).unwrap();
    /// assert!(Conversations::open(&path).unwrap().tails().unwrap().is_empty());
    /// ```
    pub fn open(path: &Path) -> Result<Conversations, Failure> {
        let whole = absolute(path).map_err(|error| {
            Failure::from_error(Error::store("the working directory no longer exists").because(error))
        })?;
        match failed(Store::anywhere(&whole))? {
            Some(store) => Ok(Conversations { store }),
            None => Err(Failure::from_error(Error::nothing(format!("no store {}", path.display())))),
        }
    }

    /// Creates an empty store, readable by its user alone, and opens it. An existing store is opened unchanged.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// let path = dir.path().join(".lepo");
    /// let store = lepo_store::Conversations::create(&path).unwrap();
    /// assert!(path.is_dir() && store.verify().unwrap().is_empty());
    /// ```
    pub fn create(path: &Path) -> Result<Conversations, Failure> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| {
            Failure::from_error(Error::store(format!("cannot create {}", path.display())).because(error))
        })?;
        Conversations::open(path)
    }

    /// Returns the ends of conversations that can be continued, newest first.
    ///
    /// ```
    /// use lepo_store::{Conversations, NewMessage, Speaker};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
    /// let root = store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
    /// for answer in [&b"so"[..], b"or so"] {
    ///     store.append(&NewMessage::after(root, Speaker::Assistant, answer)).unwrap();
    /// }
    /// assert_eq!(store.tails().unwrap().len(), 2);
    /// ```
    pub fn tails(&self) -> Result<Vec<Tail>, Failure> {
        let forest = failed(self.store.forest())?;
        let tails: Vec<_> = forest.newest_first(false).collect();
        let mut heights = forest.heights();
        let tail = |(ix, height)| Tail { id: MessageId(forest.name(ix).id), height };
        Ok(tails.into_iter().map(|ix| (ix, heights.value(ix))).map(tail).collect())
    }

    /// Returns the conversation that ends with a message, from its root, including hidden messages.
    ///
    /// ```
    /// use lepo_store::{Conversations, NewMessage, Speaker};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
    /// let root = store.append(&NewMessage::root(Speaker::System, b"Be brief.").hidden()).unwrap();
    /// let end = store.append(&NewMessage::after(root, Speaker::User, "왜?".as_bytes())).unwrap();
    /// let conversation = store.read(end).unwrap();
    /// assert!(conversation.is_whole);
    /// let texts: Vec<&[u8]> = conversation.messages.iter().map(|message| &message.text[..]).collect();
    /// assert_eq!(texts, [b"Be brief.", "왜?".as_bytes()]);
    /// assert!(conversation.messages[0].hidden && conversation.messages[1].after == Some(root));
    /// ```
    pub fn read(&self, end: MessageId) -> Result<Conversation, Failure> {
        let forest = self.path_to(end)?;
        let ix = forest.find(end.0).ok_or_else(|| no_message(end))?;
        let conv = forest.conv(ix);
        let messages = conv.path.iter().map(|ix| read(&self.store, &forest.name(*ix)));
        Ok(Conversation {
            messages: messages.collect::<Result<_, _>>()?,
            is_whole: conv.end == ConvEnd::Root,
        })
    }

    /// Returns the bytes of a blob by the 64 digits of its hash; `None` if it is missing or damaged.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = lepo_store::Conversations::create(&dir.path().join(".lepo")).unwrap();
    /// assert_eq!(store.blob(&"0".repeat(64)), None);
    /// ```
    pub fn blob(&self, hash: &str) -> Option<Vec<u8>> {
        self.store.blob_bytes(&ContentHash::parse(hash)?)
    }

    /// Checks every id, name, link and blob of the store.
    ///
    /// ```
    /// use lepo_store::{Conversations, NewMessage, Speaker};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join(".lepo");
    /// # let store = Conversations::create(&path).unwrap();
    /// store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
    /// assert!(store.verify().unwrap().is_empty());
    /// # let name = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|end| end == "md").then(|| entry.path());
    /// # let file = path.read_dir().unwrap().flatten().find_map(name).unwrap();
    /// std::fs::write(file, "edited by hand").unwrap();
    /// assert_eq!(store.verify().unwrap()[0].what, "edited");
    /// ```
    pub fn verify(&self) -> Result<Vec<Problem>, Failure> {
        let found = failed(self.store.check(&mut |_, _| ()))?;
        let problem = |finding: crate::store::Finding| Problem {
            what: finding.what.as_str(),
            is_warning: finding.what.is_warning(),
            file: finding.name,
            why: finding.why,
        };
        Ok(found.into_iter().map(problem).collect())
    }

    /// Writes a message, durable when this returns; other processes may write at the same time. The text is written
    /// unchanged and is not searched for secrets.
    ///
    /// ```
    /// use lepo_store::{Conversations, NewMessage, Speaker};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
    /// let id = store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
    /// let elsewhere = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A".parse().unwrap();
    /// assert!(store.append(&NewMessage::after(elsewhere, Speaker::Assistant, b"so")).is_err());
    /// assert!(store.append(&NewMessage::after(id, Speaker::Assistant, b"so")).is_ok());
    /// ```
    pub fn append(&self, new: &NewMessage<'_>) -> Result<MessageId, Failure> {
        if let Some(after) = new.after
            && failed(failed(self.store.listing())?.find_own(after.0))?.is_none()
        {
            return Err(no_message(after));
        }
        let after = new.after.map(|id| id.0);
        // A new conversation must be newer than all others.
        let not_before = match after {
            None => failed(self.store.forest_for(&[ReadScope::Tip]))?.root_time(),
            Some(_) => 0,
        };
        let name = failed(self.store.write_bubb(new.speaker.into(), new.hidden, after, not_before, new.text))?;
        Ok(MessageId(name.id))
    }

    /// Watches the store for messages that any process writes from now on.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use lepo_store::{Conversations, NewMessage, Speaker};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
    /// let mut watching = store.watch().unwrap();
    /// let id = store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
    /// let seen = watching.next(Duration::from_secs(60)).unwrap().unwrap();
    /// assert_eq!((seen.id, &seen.text[..]), (id, &b"why?"[..]));
    /// ```
    pub fn watch(&self) -> Result<Watching<'_>, Failure> {
        Watching::new(&self.store)
    }

    fn path_to(&self, id: MessageId) -> Result<Forest, Failure> {
        failed(self.store.forest_for(&[ReadScope::Ids(vec![id.0])]))
    }
}

fn no_message(id: MessageId) -> Failure {
    Failure::from_error(Error::nothing(format!("no message {id} in this store")))
}
