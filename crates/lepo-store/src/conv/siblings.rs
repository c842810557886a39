//! Tails that answer the same question, found while tails are listed by reading no further ahead than necessary.

use std::collections::{HashMap, VecDeque};

use super::{Forest, Ix, NearestAncestor};

/// Yields tails, newest first, each with its last question and whether another tail has the same one.
pub struct SiblingTails<'f, T> {
    forest: &'f Forest,
    questions: NearestAncestor,
    tails: T,
    /// Tails read but not yielded yet, each with its last question.
    ahead: VecDeque<(Ix, Option<Ix>)>,
    last: Option<Ix>,
    /// Number of tails read with this last question.
    counts: HashMap<Ix, u32>,
}

impl<'f, T: Iterator<Item = Ix>> SiblingTails<'f, T> {
    pub fn new(forest: &'f Forest, tails: T) -> SiblingTails<'f, T> {
        let questions = NearestAncestor::new(Forest::is_question);
        SiblingTails { forest, questions, tails, ahead: VecDeque::new(), last: None, counts: HashMap::new() }
    }

    /// Reads another tail; `false` at the end.
    fn read(&mut self) -> bool {
        let Some(tail) = self.tails.next() else { return false };
        let question = self.questions.find(self.forest, tail);
        question.iter().for_each(|question| *self.counts.entry(*question).or_default() += 1);
        self.ahead.push_back((tail, question));
        self.last = Some(tail);
        true
    }
}

impl<T: Iterator<Item = Ix>> Iterator for SiblingTails<'_, T> {
    type Item = (Ix, Option<Ix>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        if self.ahead.is_empty() {
            self.read();
        }
        let question = self.ahead.front()?.1;
        // An answer is newer than its question, so older tails cannot have the same question.
        while question.is_some() && self.last > question && self.read() {}
        let (tail, question) = self.ahead.pop_front()?;
        let is_shared =
            question.is_some_and(|question| self.counts.get(&question).is_some_and(|count| *count > 1));
        Some((tail, question, is_shared))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn two_answers_to_one_question_are_siblings() {
        for (store, expected) in [
            ("A u0 head / B a0 A / C a0 A", "C+ B+"),
            ("A u0 head / B a0 A / C u0 head / D a0 C / E a0 A", "E+ D B+"),
            // below `SELECT`, where one of them continues
            ("A u0 head / B s1 A / C s1 A / D a0 B / E a0 C / F u0 D", "F E"),
            ("A u0 head / B s1 A / C s1 A / D a0 B / E a0 C", "E+ D+"),
            ("A a0 head / B a0 A / C a0 A", "C B"),
            ("A u0 head / B u0 A / C u0 A", "C B"),
        ] {
            let forest = fixture::forest(store);
            let told_as: Vec<String> = SiblingTails::new(&forest, forest.newest_first(false))
                .map(|(tail, _, shared)| fixture::letters(&forest, &[tail]) + if shared { "+" } else { "" })
                .collect();
            assert_eq!(told_as.join(" "), expected, "{store}");
        }
    }

    #[test]
    fn no_more_is_read_than_may_matter() {
        let forest = fixture::forest("A u0 head / B a0 A / C u0 head / D a0 C / E a0 C");
        let mut read = 0;
        let tails = forest.newest_first(false).inspect(|_| read += 1);
        assert!(SiblingTails::new(&forest, tails).take(1).all(|(.., shared)| shared));
        assert_eq!(read, 3, "E, D, and the first past the question");
    }
}
