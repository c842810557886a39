//! The rules of a debate: rounds, the participants that are still in, and the next speaker if the
//! orchestrator does not choose one.

use super::protocol::Bid;

/// Number of consecutive failures that end the participation of a model, or of the orchestrator.
pub const FAILURES: u32 = 3;

/// The participants of a debate by index, with their state.
#[derive(Debug)]
pub struct DebateRules {
    debaters: Vec<Debater>,
    max_rounds: u32,
    /// The current round, counted from 1.
    pub round: u32,
}

#[derive(Debug, Clone, Default)]
struct Debater {
    speeches: usize,
    /// Whether the participant wants to speak in this round.
    wants_to_speak: bool,
    /// Whether the participant wanted to speak in an earlier round, and has not spoken since.
    is_unheard: bool,
    /// Whether the participant failed in this round.
    has_failed: bool,
    /// Number of consecutive rounds in which it failed.
    failures: u32,
}

impl Debater {
    fn is_out(&self) -> bool {
        self.failures >= FAILURES
    }
}

impl DebateRules {
    /// Creates a debate without speeches.
    pub fn new(participants: usize, max_rounds: u32) -> DebateRules {
        DebateRules { debaters: vec![Debater::default(); participants], max_rounds, round: 0 }
    }

    /// Starts the next round. Returns false at the limit of rounds, or without remaining participants.
    pub fn begin_round(&mut self) -> bool {
        let continues = self.round < self.max_rounds && !self.present().is_empty();
        self.round += u32::from(continues);
        continues
    }

    /// Ends a round and returns the participants that are out because of it.
    pub fn end_round(&mut self) -> Vec<usize> {
        let still_in: Vec<usize> = self.matching(|debater| !debater.is_out());
        for &index in &still_in {
            let debater = &mut self.debaters[index];
            debater.failures = if std::mem::take(&mut debater.has_failed) { debater.failures + 1 } else { 0 };
        }
        for debater in &mut self.debaters {
            debater.is_unheard |= std::mem::take(&mut debater.wants_to_speak);
        }
        still_in.into_iter().filter(|&index| self.debaters[index].is_out()).collect()
    }

    /// Records whether a participant wants to speak.
    pub fn bid(&mut self, index: usize, bid: Bid) {
        self.debaters[index].wants_to_speak = bid == Bid::Request;
    }

    pub fn speak(&mut self, index: usize) {
        let debater = &mut self.debaters[index];
        debater.speeches += 1;
        (debater.wants_to_speak, debater.is_unheard) = (false, false);
    }

    /// Returns the participants that wanted to speak in an earlier round, were not chosen, and can speak now.
    pub fn unheard(&self) -> Vec<usize> {
        self.matching(|debater| debater.is_unheard && !debater.has_failed && !debater.is_out())
    }

    /// Records a failure: the participant is skipped for the rest of this round.
    pub fn fail(&mut self, index: usize) {
        self.debaters[index].has_failed = true;
    }

    /// Removes a participant that cannot be asked.
    pub fn remove(&mut self, index: usize) {
        self.debaters[index].failures = FAILURES;
    }

    /// Returns the participants that can speak in this round.
    pub fn present(&self) -> Vec<usize> {
        self.matching(|debater| !debater.has_failed && !debater.is_out())
    }

    /// Returns the next speaker if the orchestrator does not choose one: among the participants that want to
    /// speak, the one with the fewest speeches.
    pub fn least_heard(&self, bids: &[(usize, Bid)]) -> Option<usize> {
        let requests = |index: &usize| bids.contains(&(*index, Bid::Request));
        self.present().into_iter().filter(requests).min_by_key(|&index| self.debaters[index].speeches)
    }

    fn matching(&self, condition: impl Fn(&Debater) -> bool) -> Vec<usize> {
        (0..self.debaters.len()).filter(|&index| condition(&self.debaters[index])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a+ b- c!`: a wants to speak, b passes, c fails. With `*`, the participant then speaks.
    fn round(rules: &mut DebateRules, replies: &str) -> Vec<(usize, Bid)> {
        assert!(rules.begin_round());
        let mut bids = Vec::new();
        for word in replies.split_whitespace() {
            let index = usize::from(word.as_bytes()[0] - b'a');
            match word.as_bytes()[1] {
                b'+' => bids.push((index, Bid::Request)),
                b'-' => bids.push((index, Bid::Pass)),
                _ => rules.fail(index),
            }
            if word.ends_with('*') {
                rules.speak(index);
            }
        }
        bids.iter().for_each(|&(index, bid)| rules.bid(index, bid));
        bids
    }

    #[test]
    fn who_speaks_without_a_decision_is_who_has_spoken_least() {
        for (before, now, speaks) in [
            ("", "a+ b+ c-", Some(0)),
            ("a+*", "a+ b+ c-", Some(1)),
            ("a+* / b+*", "a+ b+ c+", Some(2)),
            // all pass
            ("a+ b+ c- / a+*", "a- b- c-", None),
            ("", "a- b- c-", None),
            // one that failed in this round cannot
            ("c+", "a- b- c!", None),
            ("c+", "a! b+ c-", Some(1)),
        ] {
            let mut rules = DebateRules::new(3, 10);
            for replies in before.split(" / ").filter(|replies| !replies.is_empty()) {
                round(&mut rules, replies);
                rules.end_round();
            }
            let bids = round(&mut rules, now);
            assert_eq!(rules.least_heard(&bids), speaks, "{before} | {now}");
        }
    }

    #[test]
    fn who_asked_before_and_was_not_chosen_is_unheard_until_it_speaks() {
        let mut rules = DebateRules::new(3, 10);
        for (replies, before) in [
            ("a+* b+ c-", vec![]),
            ("a+ b-* c+", vec![1]),
            ("a+* b- c+", vec![0, 2]),
            ("a- b- c!", vec![]),
            ("a- b- c-*", vec![2]),
            ("a- b- c-", vec![]),
        ] {
            assert!(rules.begin_round());
            let mut chosen = None;
            for word in replies.split_whitespace() {
                let index = usize::from(word.as_bytes()[0] - b'a');
                match word.as_bytes()[1] {
                    b'+' => rules.bid(index, Bid::Request),
                    b'-' => rules.bid(index, Bid::Pass),
                    _ => rules.fail(index),
                }
                chosen = chosen.or(word.ends_with('*').then_some(index));
            }
            assert_eq!(rules.unheard(), before, "{replies}");
            chosen.into_iter().for_each(|index| rules.speak(index));
            rules.end_round();
        }
    }

    #[test]
    fn three_failures_in_a_row_and_it_is_out() {
        for (rounds, out) in [
            ("a! b+ / a! b+ / a! b+", vec![0]),
            ("a! b+ / a! b+ / a- b+ / a! b+", vec![]),
            ("a! b! / a! b! / a- b!", vec![1]),
        ] {
            let mut rules = DebateRules::new(2, 10);
            let mut found = Vec::new();
            for replies in rounds.split(" / ") {
                round(&mut rules, replies);
                found.extend(rules.end_round());
            }
            assert_eq!(found, out, "{rounds}");
            assert!(out.iter().all(|index| !rules.present().contains(index)));
        }
    }

    #[test]
    fn it_ends_at_the_limit_or_with_nobody_left() {
        let mut rules = DebateRules::new(1, 2);
        assert!(rules.begin_round() && rules.begin_round() && !rules.begin_round());
        assert_eq!(rules.round, 2);
        let mut rules = DebateRules::new(1, 10);
        for _ in 0..FAILURES {
            round(&mut rules, "a!");
            rules.end_round();
        }
        assert!(!rules.begin_round());
        assert_eq!(rules.round, 3);
    }
}
