//! The messages of a range as a text has them.

use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName, plural_in_thousands};
use lepo_store::conv::{AddressMatch, ConvEnd, Forest, Ix, ReadScope};
use lepo_store::store::{JournalIndex, Store};

use super::choose::line;
use crate::rebase_text::{MessageSource, PrintedMessage, RangeBase, TextRange, print};
use crate::term::one_line;
use crate::ui::{ShortIds, ended_early};
use lepo_turn::StoppedAnswers;

/// A message of more bytes is printed as a line.
const MOST_TEXT: u64 = 1 << 20;

/// A range of messages that can be edited as one text.
pub struct EditableLine<'s> {
    pub store: &'s Store,
    pub forest: Forest,
    /// Oldest first; not empty.
    pub path: Vec<Ix>,
    pub range: TextRange,
    shorts: ShortIds,
    facts: JournalIndex,
    stopped: StoppedAnswers,
}

impl<'s> EditableLine<'s> {
    /// Finds the messages of an address that the conversation of `onto` lacks.
    pub fn new(
        store: &'s Store,
        forest: Forest,
        found: &AddressMatch,
        (base, onto): (RangeBase, Option<Ix>),
        all: bool,
    ) -> Result<EditableLine<'s>> {
        let path = line(&forest, found, onto);
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else {
            return Err(Error::nothing("there is no message to edit: the base has them all"));
        };
        let is_whole = forest.conv(last).path.first() == Some(&first);
        let after = forest.prev(first).filter(|_| !is_whole).map(|prev| forest.name(prev).id);
        let range = TextRange { after, last: forest.name(last).id, base, all };
        Ok(Self::with_path(store, forest, path, range))
    }

    /// Finds the messages that the first line of a text names.
    pub fn from_range(store: &'s Store, range: TextRange) -> Result<EditableLine<'s>> {
        let onto = match range.base {
            RangeBase::Onto(id) => Some(id),
            RangeBase::Own | RangeBase::Root => None,
        };
        let ids = [range.after, Some(range.last), onto];
        let mut scopes = vec![ReadScope::Ids(ids.into_iter().flatten().collect())];
        scopes.extend(range.all.then_some(ReadScope::All { peers: true }));
        let forest = store.forest_for(&scopes)?;
        let find = |id: BubbId| {
            forest.find(id).ok_or_else(|| {
                Error::usage(format!("the first line of the text names {id}, which is not in this store"))
                    .hint("ADDR names the messages in its place")
            })
        };
        onto.map(find).transpose()?;
        let last = find(range.last)?;
        let path = match range.after {
            Some(after) => forest.beyond(find(after)?, last),
            None => forest.conv(last).path,
        };
        if path.is_empty() {
            return Err(Error::usage("the first line of the text names no messages"));
        }
        Ok(Self::with_path(store, forest, path, range))
    }

    fn with_path(store: &'s Store, forest: Forest, path: Vec<Ix>, range: TextRange) -> EditableLine<'s> {
        let names: Vec<BubbName> = path.iter().map(|ix| forest.name(*ix)).collect();
        let has_parts = names.iter().any(|name| name.hidden && name.role == Role::Assistant);
        let facts = if has_parts { store.journal().index() } else { JournalIndex::default() };
        let shorts = ShortIds::new(names.iter().map(|name| name.id));
        let stopped = StoppedAnswers::new(store, &forest);
        EditableLine { store, forest, path, range, shorts, facts, stopped }
    }

    pub fn name(&self, index: usize) -> BubbName {
        self.forest.name(self.path[index])
    }

    /// Returns the id that the first message names as its prev, also if the store does not have that.
    pub fn own_base(&self) -> Option<BubbId> {
        self.path.first().and_then(|first| self.forest.name(*first).prev)
    }

    /// Whether the prev of the first message is missing, or comes after it.
    pub fn is_incomplete(&self) -> bool {
        let Some(&last) = self.path.last() else { return false };
        let conv = self.forest.conv(last);
        conv.end != ConvEnd::Root && conv.path.first() == self.path.first()
    }

    pub fn text(&self) -> Result<Vec<u8>> {
        let messages = (0..self.path.len()).map(|index| self.printed(index));
        Ok(print(&self.range, &messages.collect::<Result<Vec<PrintedMessage>>>()?))
    }

    /// Returns the note of a hidden message whose text is not printed.
    fn about_hidden(&self, name: &BubbName) -> Result<String> {
        let size = self.store.bubb_size(name).unwrap_or_default();
        let size = plural_in_thousands(usize::try_from(size).unwrap_or(usize::MAX), "byte");
        if name.role != Role::System {
            return Ok(size);
        }
        let path = instructions_path(name, &self.store.glance(name)?);
        Ok(path.map_or_else(|| size.clone(), |path| format!("{path}, {size}")))
    }
}

/// Returns the path of the first file in a message of a repository's instructions.
fn instructions_path(name: &BubbName, text: &str) -> Option<String> {
    if !lepo_turn::Body::read_named(name, text).is_of_repository() {
        return None;
    }
    let header = text.lines().find_map(|line| line.strip_prefix("== "))?;
    Some(one_line(header.split_once(", ")?.0))
}

impl MessageSource for EditableLine<'_> {
    fn marks(&self) -> Vec<(BubbId, Role, bool)> {
        let names = self.path.iter().map(|ix| self.forest.name(*ix));
        names.map(|name| (name.id, name.role, name.hidden)).collect()
    }

    fn printed(&self, index: usize) -> Result<PrintedMessage> {
        let name = self.name(index);
        let id = self.shorts.show(name.id);
        let message = |note: Option<String>, text: Option<Vec<u8>>| {
            Ok(PrintedMessage { id: id.clone(), role: name.role, hidden: name.hidden, note, text })
        };
        let fact = (name.hidden && name.role == Role::Assistant).then(|| self.facts.get(name.id)).flatten();
        let early = match self.stopped.contains(name.id) {
            true => Some("stopped".to_string()),
            false => fact.as_ref().and_then(ended_early).map(str::to_string),
        };
        if name.hidden && !self.range.all && early.is_none() {
            return message(Some(self.about_hidden(&name)?), None);
        }
        let size = self.store.bubb_size(&name).unwrap_or_default();
        let bytes = if size > MOST_TEXT { Vec::new() } else { self.bytes(index)? };
        let is_text = std::str::from_utf8(&bytes).is_ok() && !bytes.contains(&0);
        if size > MOST_TEXT || !is_text {
            let size = plural_in_thousands(usize::try_from(size).unwrap_or(usize::MAX), "byte");
            return message(Some(if is_text { size } else { format!("not text, {size}") }), None);
        }
        message(early, Some(bytes))
    }

    fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        self.store.read_bubb(&self.name(index))
    }
}
