//! The part of a forest that a command needs, so that no more is read.

use super::address::{Address, AddressSpec, BranchLookup, file_name};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;

/// A part of a forest. Every bubb comes with its conv.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadScope {
    /// The newest tail alone, and the least time of a new root.
    Tip,
    /// This many of the newest tails; includes all that [`Tip`](ReadScope::Tip) does.
    Newest(usize),
    /// This many of the newest leaves, spent ones too.
    Leaves(usize),
    /// This many of the newest tails (leaves if true), and all others that answer the same questions.
    Siblings(usize, bool),
    Paths(Vec<BubbId>),
    /// A bubb, and all bubbs that decide whether it is answered or overtaken.
    Followed(BubbId),
    /// A bubb, and all bubbs of this store that are not older.
    Since(BubbId),
    /// The bubbs whose id starts with a text; without any, those whose id ends with it.
    Piece(String),
    /// This many of the newest tails whose id starts with a text, or all bubbs with such an id if no tail has one.
    Begun(String, usize),
    /// All bubbs of this store.
    All,
    /// All bubbs, other users' stores included.
    Everyone,
}

impl AddressSpec {
    /// Returns the parts of the store to read in order to resolve this.
    pub fn wanted(&self, branch: &BranchLookup<'_>) -> Result<Vec<ReadScope>> {
        Ok(match self {
            AddressSpec::One(address) => vec![address.read_scope(branch)?],
            AddressSpec::Range(from, to) => vec![from.read_scope(branch)?, to.read_scope(branch)?],
        })
    }

    /// Whether it contains `@`.
    pub fn has_newest(&self) -> bool {
        match self {
            AddressSpec::One(address) => address.base == "@",
            AddressSpec::Range(from, to) => from.base == "@" || to.base == "@",
        }
    }

    /// Replaces `@` by this message.
    pub fn with_newest(mut self, newest: BubbId) -> AddressSpec {
        let replace = |address: &mut Address| {
            if address.base == "@" {
                address.base = newest.to_string();
            }
        };
        match &mut self {
            AddressSpec::One(address) => replace(address),
            AddressSpec::Range(from, to) => {
                replace(from);
                replace(to);
            }
        }
        self
    }
}

impl Address {
    /// Returns the part of the store to read in order to resolve this address.
    pub fn read_scope(&self, branch: &BranchLookup<'_>) -> Result<ReadScope> {
        let text = self.base.as_str();
        if text == "@" {
            return Ok(ReadScope::Newest(1));
        }
        if text.contains('/')
            && let Some(id) = branch(text)?
        {
            return Ok(ReadScope::Paths(vec![id]));
        }
        if let Some(file) = file_name(text) {
            return Ok(ReadScope::Paths(
                BubbName::parse(file.as_bytes()).into_iter().map(|name| name.id).collect(),
            ));
        }
        if let Some(id) = branch(text)? {
            return Ok(ReadScope::Paths(vec![id]));
        }
        Ok(match BubbId::parse(text.as_bytes()) {
            Some(id) => ReadScope::Paths(vec![id]),
            None => ReadScope::Piece(text.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_wants_what_its_form_may_need() {
        let main = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A").unwrap();
        let branch = |name: &str| Ok((name == "main").then_some(main));
        let paths = |ids: &[BubbId]| ReadScope::Paths(ids.to_vec());
        for (text, wanted) in [
            ("@", vec![ReadScope::Newest(1)]),
            ("@~3", vec![ReadScope::Newest(1)]),
            ("main^", vec![paths(&[main])]),
            ("01jb3z0q4n8v2k5t7w9x1y3z5a", vec![paths(&[main])]),
            ("x/01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md", vec![paths(&[main])]),
            ("README.md", vec![paths(&[])]),
            ("5T7W", vec![ReadScope::Piece("5T7W".into())]),
            ("main..@", vec![paths(&[main]), ReadScope::Newest(1)]),
        ] {
            assert_eq!(AddressSpec::parse(text).unwrap().wanted(&branch).unwrap(), wanted, "{text}");
        }
    }
}
