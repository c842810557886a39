//! Defers the hidden parts before the first visible message, and attaches them to each first message.

use lepo_store::bubb::BubbId;

/// Limits the bytes of copies attached to a second and further first message: a hostile tree with many hidden
/// parts and many first messages would need quadratic space.
const COPIES: usize = 64 << 20;

/// Bytes of a part besides its text.
const PART: usize = 256;

/// The deferred parts. Indexes count from 1; 0 means none.
pub struct DeferredParts {
    parts: Vec<DeferredPart>,
    remaining: usize,
}

struct DeferredPart {
    node: usize,
    /// Index of the previous deferred part.
    before: usize,
    /// Index of the first system prompt up to this part.
    prompt: usize,
    root: Option<BubbId>,
    /// Attached to a first message already.
    is_placed: bool,
}

impl DeferredParts {
    pub fn new() -> DeferredParts {
        DeferredParts { parts: Vec::new(), remaining: COPIES }
    }

    fn get(&self, index: usize) -> Option<&DeferredPart> {
        self.parts.get(index.checked_sub(1)?)
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut DeferredPart> {
        self.parts.get_mut(index.checked_sub(1)?)
    }

    /// Adds a node after the part at `before`; returns its index.
    pub fn add(&mut self, node: usize, before: usize, is_prompt: bool) -> usize {
        let index = self.parts.len() + 1;
        let own = if is_prompt { index } else { 0 };
        let prompt = self.get(before).map(|part| part.prompt).filter(|&prompt| prompt > 0).unwrap_or(own);
        self.parts.push(DeferredPart { node, before, prompt, root: None, is_placed: false });
        index
    }

    /// Finds the first deferred system prompt up to this index; returns its index and node.
    pub fn prompt(&self, index: usize) -> Option<(usize, usize)> {
        let prompt = self.get(index)?.prompt;
        Some((prompt, self.get(prompt)?.node))
    }

    pub fn root(&self, index: usize) -> Option<BubbId> {
        self.get(index)?.root
    }

    pub fn set_root(&mut self, index: usize, id: BubbId) {
        if let Some(part) = self.get_mut(index) {
            part.root = Some(id);
        }
    }

    /// Returns the nodes to attach to a first message, up to this index, oldest first: all, or, once the limit on
    /// copies is reached, only those not attached yet.
    pub fn release(&mut self, mut index: usize, bytes: impl Fn(usize) -> usize) -> Vec<usize> {
        let (mut nodes, mut left) = (Vec::new(), self.remaining);
        while let Some(part) = self.get_mut(index) {
            if std::mem::replace(&mut part.is_placed, true) {
                // All parts before it are attached too.
                let Some(rest) = left.checked_sub(PART + bytes(part.node)) else {
                    left = 0;
                    break;
                };
                left = rest;
            }
            nodes.push(part.node);
            index = part.before;
        }
        self.remaining = left;
        nodes.reverse();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_parts_before_many_messages_are_not_squared() {
        let mut waiting = DeferredParts::new();
        let (mut index, mut released) = (0, 0);
        for node in 0..100_000 {
            index = waiting.add(node, index, node == 1);
            let nodes = waiting.release(index, |_| 0);
            assert_eq!(nodes.last(), Some(&node), "each stands somewhere");
            released += nodes.len();
        }
        assert!(released <= 100_000 + COPIES / PART, "{released}");
        assert_eq!(waiting.prompt(index), Some((2, 1)));
        assert_eq!(waiting.prompt(1), None);
        assert_eq!(waiting.release(index, |_| 0), [0; 0]);
    }

    #[test]
    fn a_long_part_is_not_copied_for_each_message() {
        let mut waiting = DeferredParts::new();
        let index = waiting.add(7, 0, false);
        let copies = (0..1000).filter(|_| !waiting.release(index, |_| 1 << 20).is_empty()).count();
        assert!((2..=65).contains(&copies), "{copies}");
    }
}
