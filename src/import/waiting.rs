//! Hidden parts before the first visible message of a conversation: they wait, and stand beside each first message.

use lepo_store::bubb::BubbId;

/// The most bytes of parts that are put beside a second first message, and on: in a hostile tree of many hidden
/// parts and many first messages these would be squared.
const COPIES: usize = 64 << 20;

/// The bytes that a part takes besides its text.
const PART: usize = 256;

/// The parts that wait. A place among them is counted from 1; 0 is before the first.
pub struct Waiting {
    parts: Vec<Part>,
    /// Bytes of copies that may still be made.
    left: usize,
}

struct Part {
    node: usize,
    /// The place of the one that waits before it.
    before: usize,
    /// The place of the first system prompt of these.
    prompt: usize,
    /// Of a prompt: its bubb.
    root: Option<BubbId>,
    /// It stands beside a first message.
    is_placed: bool,
}

impl Waiting {
    /// Nothing waits.
    pub fn new() -> Waiting {
        Waiting { parts: Vec::new(), left: COPIES }
    }

    fn get(&self, place: usize) -> Option<&Part> {
        self.parts.get(place.checked_sub(1)?)
    }

    fn get_mut(&mut self, place: usize) -> Option<&mut Part> {
        self.parts.get_mut(place.checked_sub(1)?)
    }

    /// Adds a node behind the one at `before`; its place.
    pub fn add(&mut self, node: usize, before: usize, is_prompt: bool) -> usize {
        let place = self.parts.len() + 1;
        let own = if is_prompt { place } else { 0 };
        let prompt = self.get(before).map(|part| part.prompt).filter(|&prompt| prompt > 0).unwrap_or(own);
        self.parts.push(Part { node, before, prompt, root: None, is_placed: false });
        place
    }

    /// The first system prompt of those that wait up to `place`: its place and its node.
    pub fn prompt(&self, place: usize) -> Option<(usize, usize)> {
        let prompt = self.get(place)?.prompt;
        Some((prompt, self.get(prompt)?.node))
    }

    /// The bubb of the prompt at `place`, if it has one.
    pub fn root(&self, place: usize) -> Option<BubbId> {
        self.get(place)?.root
    }

    /// Remembers the bubb of the prompt at `place`.
    pub fn set_root(&mut self, place: usize, id: BubbId) {
        if let Some(part) = self.get_mut(place) {
            part.root = Some(id);
        }
    }

    /// The nodes that go beside a first message behind `place`, the oldest first: all, or when too many were copied,
    /// those that stand nowhere yet.
    pub fn release(&mut self, mut place: usize, bytes: impl Fn(usize) -> usize) -> Vec<usize> {
        let (mut nodes, mut left) = (Vec::new(), self.left);
        while let Some(part) = self.get_mut(place) {
            if std::mem::replace(&mut part.is_placed, true) {
                // All before it stand there too.
                let Some(rest) = left.checked_sub(PART + bytes(part.node)) else {
                    left = 0;
                    break;
                };
                left = rest;
            }
            nodes.push(part.node);
            place = part.before;
        }
        self.left = left;
        nodes.reverse();
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_parts_before_many_messages_are_not_squared() {
        let mut waiting = Waiting::new();
        let (mut place, mut released) = (0, 0);
        for node in 0..100_000 {
            place = waiting.add(node, place, node == 1);
            let nodes = waiting.release(place, |_| 0);
            assert_eq!(nodes.last(), Some(&node), "each stands somewhere");
            released += nodes.len();
        }
        assert!(released <= 100_000 + COPIES / PART, "{released}");
        assert_eq!(waiting.prompt(place), Some((2, 1)));
        assert_eq!(waiting.prompt(1), None);
        assert_eq!(waiting.release(place, |_| 0), [0; 0]);
    }

    #[test]
    fn a_long_part_is_not_copied_for_each_message() {
        let mut waiting = Waiting::new();
        let place = waiting.add(7, 0, false);
        let copies = (0..1000).filter(|_| !waiting.release(place, |_| 1 << 20).is_empty()).count();
        assert!((2..=65).contains(&copies), "{copies}");
    }
}
