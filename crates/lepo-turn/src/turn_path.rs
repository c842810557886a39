//! The path of a turn: its messages from the root, and the bubbs that the turn adds at its end.
//!
//! A bubb is written from a [`ScreenedBytes`] value: bytes after a search for secrets, or text that the user typed.
//! `tests/e2e/house.rs` lists the few files that write to the store by another way.

use std::sync::Arc;
use std::time::Duration;

use super::TurnStart;
use super::attach::{AttachedFile, FileUpload, UnsentFiles, choose};
use super::body::Body;
use super::journal::failure_entry;
use super::masking::Masking;
use super::message::{CallGroup, Message, NewMessage};
use super::stopped_answer::ends_with_part;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_model::{FileSupport, SharedText};
use lepo_net::runtime::{BlockingTask, blocking};
use lepo_secrets::ScreenedBytes;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Forest;
use lepo_store::store::{Claim, JournalRecord, Store};
use lepo_tool::ToolRequest;

/// The names of the bubbs that [`TurnPath::write_in_background`] wrote, each with its text.
pub type SaveResult = Vec<(BubbName, SharedText)>;

/// The bubbs written before an answer, and the mark that the question is being answered.
struct WrittenOpening {
    names: SaveResult,
    answering: Option<Claim>,
}

/// The path of a turn from its root to the tip.
pub struct TurnPath {
    store: Arc<Store>,
    /// The messages of the path, oldest first; the last ones may still be on their way to disk.
    pub messages: Vec<Message>,
    /// The answers of this turn with calls, in order.
    pub call_groups: Vec<CallGroup>,
    /// The bubbs that existed when the turn started, oldest first.
    pub loaded: Vec<BubbName>,
    /// The earliest time of a new root.
    not_before: u64,
    /// Masks written text; the messages here are unmasked.
    masking: Arc<Masking>,
    unsaved: Option<BlockingTask<Result<WrittenOpening>>>,
    /// Tells other processes that the question is being answered.
    answering: Option<Claim>,
    /// Whether texts that come with the question are sent without masks in this turn.
    pub sends_unmasked: bool,
}

impl TurnPath {
    /// Records a failed request in the journal.
    pub fn journal_failure(&self, model: Option<&str>, after: Duration) {
        self.store.journal().add(JournalRecord { under: self.tip(), ..failure_entry(model, after) });
    }

    /// Loads the conv up to `start`, or starts an empty one. Added text is masked on disk only.
    pub fn at(
        store: &Arc<Store>,
        forest: &Forest,
        start: TurnStart,
        masking: &Arc<Masking>,
    ) -> Result<TurnPath> {
        let conv = start.id().and_then(|id| forest.find(id)).map(|ix| forest.conv(ix));
        let mut path = TurnPath {
            store: store.clone(),
            messages: Vec::new(),
            call_groups: Vec::new(),
            loaded: Vec::new(),
            not_before: forest.root_time(),
            masking: masking.clone(),
            unsaved: None,
            answering: None,
            sends_unmasked: false,
        };
        for ix in conv.map(|conv| conv.path).unwrap_or_default() {
            let name = forest.name(ix);
            path.push(Message::stored(&name, store.text(&name)?));
            path.loaded.push(name);
        }
        Ok(path)
    }

    /// Replaces the outputs of the user's commands since the last answer by their unmasked texts, where this process has them.
    pub fn with_unmasked_outputs(mut self) -> TurnPath {
        let since = self.messages.iter().rposition(Message::is_answer).map_or(0, |at| at + 1);
        for message in self.messages.iter_mut().skip(since) {
            if let Some(text) = message.id.and_then(|id| self.masking.unmasked_text(id)) {
                message.text = text.into();
            }
        }
        self
    }

    /// Decides which of the files are sent to a model with these limits, and returns the others by reason.
    pub fn choose_files(&mut self, accepts: impl FnOnce() -> FileSupport) -> UnsentFiles {
        if self.messages.iter().all(|message| message.files.is_empty()) {
            return UnsentFiles::default();
        }
        choose(self.messages.iter_mut().map(|message| &mut message.files), &accepts())
    }

    /// Returns the bubb that the next one follows.
    pub fn tip(&self) -> Option<BubbId> {
        self.ids().next_back()
    }

    /// Returns the ids of the messages on disk, oldest first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = BubbId> {
        self.messages.iter().filter_map(|message| message.id)
    }

    /// Returns the number of the messages on disk.
    pub fn saved_len(&self) -> usize {
        self.ids().count()
    }

    /// Returns the id of the message at this index, if it is on disk.
    pub fn id_at(&self, index: usize) -> Option<BubbId> {
        self.messages.get(index)?.id
    }

    /// Whether the last answer of the path has another visible successor outside of the path.
    pub fn forks(&self, forest: &Forest) -> bool {
        let Some(at) = self.messages.iter().rposition(Message::is_answer) else { return false };
        let Some(answer) = self.id_at(at).and_then(|id| forest.find(id)) else { return false };
        let next = self.id_at(at + 1);
        let others = forest.children(answer).map(|child| forest.name(child));
        others.into_iter().any(|other| !other.hidden && Some(other.id) != next)
    }

    /// Returns the last visible question of the path.
    pub fn question(&self) -> Option<BubbId> {
        self.messages.iter().rfind(|message| message.is_question()).and_then(|question| question.id)
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether no text of a model or a tool follows the last visible question.
    pub fn is_bare(&self) -> bool {
        let after = self.messages.iter().rev().take_while(|message| !message.is_question());
        let mut after =
            after.filter(|message| message.role != Role::System || message.body.request().is_some());
        after.next().is_none()
    }

    /// Replaces the text of the last bubb, which is masked on disk, by this unmasked text.
    pub fn restore_last(&mut self, text: &str) {
        if let Some(message) = self.messages.last_mut() {
            message.text = text.into();
            message.body = Body::read(message.role, message.hidden, text);
        }
    }

    /// Adds a bubb, durably. Its secrets are masked on disk.
    pub fn add(&mut self, role: Role, hidden: bool, text: &[u8]) -> Result<BubbName> {
        let masking = self.masking.clone();
        self.add_as(role, hidden, text, &masking.screen(text, source_of(role, text)))
    }

    /// Returns the form in which a message of the question is sent: with its masks, as each later turn will send it,
    /// because a server's cache would otherwise lose what follows it.
    fn sent_form(&mut self, new: &NewMessage) -> Message {
        let message = &new.message;
        if self.sends_unmasked || message.text.as_bytes() == new.screened.bytes() {
            return message.clone();
        }
        self.masking.note_sent_masked();
        Message::new(message.role, message.hidden, new.screened.text().into_owned())
    }

    /// Adds a message that comes with the question, durably; returns its name and the text for the model.
    pub fn add_new(&mut self, new: &NewMessage) -> Result<(BubbName, SharedText)> {
        let Message { role, hidden, text, .. } = self.sent_form(new);
        Ok((self.add_as(role, hidden, text.as_bytes(), &new.screened)?, text))
    }

    /// Adds a bubb whose text on disk differs from the text for the model, durably.
    fn add_as(
        &mut self,
        role: Role,
        hidden: bool,
        text: &[u8],
        screened: &ScreenedBytes<'_>,
    ) -> Result<BubbName> {
        let name = write_bubb(&self.store, (role, hidden), self.tip(), self.not_before, screened)?;
        self.push(Message::stored(&name, String::from_utf8_lossy(text).into_owned()));
        Ok(name)
    }

    /// Writes a hidden bubb after the first `base` bubbs of the path, as a sibling of the existing successor.
    /// The path does not change.
    pub fn add_sibling(&mut self, base: usize, role: Role, text: &[u8]) -> Result<BubbName> {
        let screened = self.masking.screen(text, source_of(role, text));
        let under = base.checked_sub(1).and_then(|last| self.id_at(last));
        write_bubb(&self.store, (role, true), under, self.not_before, &screened)
    }

    /// Starts to write bubbs in a separate thread, while a connection opens; the last bubb has these files.
    /// Calls `written` when all are durable.
    pub fn write_in_background(
        &mut self,
        bubbs: Vec<NewMessage>,
        mut files: Vec<FileUpload>,
        written: impl FnOnce() + Send + 'static,
    ) {
        let (store, not_before, mut tip) = (self.store.clone(), self.not_before, self.tip());
        let mut sent: Vec<Message> = bubbs.iter().map(|new| self.sent_form(new)).collect();
        let texts: Vec<SharedText> = sent.iter().map(|message| message.text.clone()).collect();
        if let Some(last) = sent.last_mut() {
            last.files = files.iter().map(FileUpload::attached).collect();
        }
        self.push_all(sent);
        self.unsaved = Some(blocking(move || {
            files.iter_mut().try_for_each(|file| file.publish(&store))?;
            let mut names = Vec::new();
            for (NewMessage { message, screened }, text) in bubbs.into_iter().zip(texts) {
                let name = write_bubb(&store, (message.role, message.hidden), tip, not_before, &screened)?;
                tip = Some(name.id);
                names.push((name, text));
            }
            let question =
                names.iter().rev().map(|(name, _)| name).find(|name| name.role == Role::User && !name.hidden);
            let answering = question.and_then(|question| store.mark_answering(question.id));
            written();
            // Deletes the damaged blobs that these replaced.
            drop(files);
            Ok(WrittenOpening { names, answering })
        }));
    }

    /// Tells other processes that this question, which is on disk, is being answered.
    pub fn mark_answering(&mut self, question: BubbId) {
        self.answering = self.store.mark_answering(question);
    }

    /// Adds messages in the form in which they would be sent, without writing them.
    pub fn imagine(&mut self, bubbs: &[NewMessage]) {
        let sent = bubbs.iter().map(|new| self.sent_form(new)).collect();
        self.push_all(sent);
    }

    fn push_all(&mut self, messages: Vec<Message>) {
        for message in messages {
            let is_root = self.messages.is_empty();
            self.push(Message { is_root, ..message });
        }
    }

    /// Waits until the bubbs of [`TurnPath::write_in_background`] are durable; returns their names.
    pub async fn saved(&mut self) -> Result<SaveResult> {
        let Some(unsaved) = &mut self.unsaved else { return Ok(Vec::new()) };
        let names = unsaved.await;
        self.unsaved = None;
        let WrittenOpening { names, answering } =
            names.map_err(|error| Error::store("the writer ended early").because(error))??;
        self.answering = answering.or(self.answering.take());
        let unsaved = self.messages.iter_mut().filter(|message| message.id.is_none());
        unsaved.zip(&names).for_each(|(message, (name, _))| message.id = Some(name.id));
        Ok(names)
    }

    /// Appends a bubb that was already written after the end of the path.
    pub fn append(&mut self, name: &BubbName) -> Result<()> {
        let bytes = match self.masking.unmasked_text(name.id) {
            Some(given) => given.into_bytes(),
            None => self.store.read_bubb(name)?,
        };
        self.push(Message::stored(name, String::from_utf8_lossy(&bytes).into_owned()));
        Ok(())
    }

    /// Proves the calls and results that the turn wrote and that are on its path, because a later turn may continue from
    /// there, or send them.
    pub fn prove_side_branch(&self, partial: Option<BubbId>) {
        let since = self.loaded.len();
        let is_beside =
            |message: &Message| message.hidden && matches!(message.role, Role::Assistant | Role::Tool);
        let beside = self.messages.iter().skip(since).filter(|message| is_beside(message));
        let beside = beside.filter_map(|message| message.id);
        let is_elsewhere = |id: &BubbId| self.ids().all(|known| known != *id);
        let beside: Vec<BubbId> = beside.chain(partial.filter(is_elsewhere)).collect();
        self.store.journal().prove(beside);
    }

    /// Ends the side branch after the first `base` messages. The instructions of skills on it, if there are any, are a
    /// message after them.
    pub fn end_side_branch(&mut self, base: usize, skills: Option<(String, BubbId)>) {
        self.messages.truncate(base);
        let message = |(text, id)| Message { id: Some(id), ..Message::new(Role::System, true, text) };
        self.messages.extend(skills.map(message));
    }

    /// Returns the length of the path at the start of the side branch at its end; `None` if it does not end
    /// in a side branch.
    pub fn side_branch(&self) -> Option<usize> {
        let on_it =
            |message: &&Message| message.hidden && matches!(message.role, Role::Assistant | Role::Tool);
        match self.messages.iter().rev().take_while(on_it).count() {
            0 => None,
            // A stopped answer whose rest is asked for.
            _ if ends_with_part(&self.messages) => None,
            side => Some(self.saved_len() - side),
        }
    }

    /// Returns the requests executed since the question.
    pub fn requests_of_turn(&self) -> Vec<ToolRequest> {
        let since = self.messages.iter().rposition(Message::is_question);
        let turn = self.messages.get(since.unwrap_or_default()..).unwrap_or_default();
        // A result directly follows its request. A request after a request is its edited form.
        let carried_out = turn.windows(2).filter(|pair| pair[1].body.request().is_none());
        carried_out.filter_map(|pair| pair[0].body.request().cloned()).collect()
    }

    /// Appends a message, with its files; its bubb is written elsewhere.
    fn push(&mut self, message: Message) {
        let files = match message.files.is_empty() {
            true => files_of(&self.store, self.messages.last(), &message),
            false => message.files,
        };
        self.messages.push(Message { files, ..message });
    }
}

/// Describes the source of a bubb's text for a notice.
fn source_of(role: Role, text: &[u8]) -> &'static str {
    match role {
        Role::Assistant => "a request of the model",
        Role::Tool | Role::System if text.starts_with(b"$ ") => "the output of a command",
        Role::Tool => "the result of a tool",
        Role::System => "what the model was told",
        Role::User => "what came with the question",
    }
}

/// Writes a bubb, durably, and proves it if models follow it without the user seeing it. The time of a root
/// is at least `not_before`.
pub fn write_bubb(
    store: &Store,
    (role, hidden): (Role, bool),
    prev: Option<BubbId>,
    not_before: u64,
    text: &ScreenedBytes<'_>,
) -> Result<BubbName> {
    let name = write_unproven_bubb(store, (role, hidden), prev, not_before, text)?;
    prove_written(store, &name);
    Ok(name)
}

/// Writes a bubb of another program, durably. Without a proof, lepo asks before a model follows it.
pub fn write_unproven_bubb(
    store: &Store,
    (role, hidden): (Role, bool),
    prev: Option<BubbId>,
    not_before: u64,
    text: &ScreenedBytes<'_>,
) -> Result<BubbName> {
    store.create_bubb(role, hidden, prev, not_before, text.bytes())
}

/// Writes a bubb of the given `time`, or as soon after its prev as ids allow.
pub fn write_bubb_at(
    store: &Store,
    (role, hidden): (Role, bool),
    prev: Option<BubbId>,
    time: u64,
    text: &ScreenedBytes<'_>,
) -> Result<BubbName> {
    let name = store.create_bubb_at(role, hidden, prev, time, text.bytes())?;
    prove_written(store, &name);
    Ok(name)
}

fn prove_written(store: &Store, name: &BubbName) {
    if name.is_proven_when_written() {
        store.journal().prove([name.id]);
    }
}

/// Returns the files of a message: files of a question, or in the result of a server's tool, which follows its request.
fn files_of(store: &Store, before: Option<&Message>, message: &Message) -> Vec<AttachedFile> {
    let asked = before.filter(|_| message.hidden && message.role == Role::Tool);
    match asked.and_then(|asked| asked.body.request()) {
        Some(ToolRequest::Call(call)) => AttachedFile::of_result(store, &call.tool, &message.text),
        _ => AttachedFile::read(store, message.role, &message.text),
    }
}
