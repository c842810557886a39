//! The turns of a conv: a question and all its answers.

use super::{Forest, Ix};
use crate::bubb::BubbName;
use lepo_base::role::Role;

impl Forest {
    /// Returns the shown questions and answers of the finished turns on `path`, in order, without unanswered
    /// questions and without answers that have no question.
    pub fn finished_turns(&self, path: &[Ix], is_shown: impl Fn(&BubbName) -> bool) -> Vec<Ix> {
        let mut shown: Vec<Ix> = Vec::new();
        let role = |ix: Ix| self.name(ix).role;
        for &ix in path.iter().filter(|&&ix| is_shown(&self.name(ix))) {
            match role(ix) {
                Role::User => {
                    shown.pop_if(|last| role(*last) == Role::User);
                    shown.push(ix);
                }
                Role::Assistant if !shown.is_empty() => shown.push(ix),
                Role::Assistant | Role::System | Role::Tool => {}
            }
        }
        shown.pop_if(|last| role(*last) == Role::User);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};

    #[test]
    fn only_what_was_asked_and_answered() {
        for (store, leaf, turns) in [
            ("A s1 head / B u0 A / C s1 B / D a0 C", "D", "BD"),
            // not answered yet
            ("A u0 head / B a0 A / C u0 B", "C", "AB"),
            ("A u0 head", "A", ""),
            // never answered, and asked again in another form
            ("A u0 head / B a1 A / C u0 B / D a0 C", "D", "CD"),
            // two answers, an answer without a question, the output of a command
            ("A u0 head / B a0 A / C a0 B", "C", "ABC"),
            ("A a0 head / B u0 A / C a0 B", "C", "BC"),
            ("A s0 head / B u0 A / C t0 B / D a0 C", "D", "BD"),
        ] {
            let forest = fixture::forest(store);
            let path = forest.conv(forest.find(id(leaf)).unwrap()).path;
            assert_eq!(
                fixture::letters(&forest, &forest.finished_turns(&path, |name| !name.hidden)),
                turns,
                "{store}"
            );
        }
    }
}
