//! Orders the answers to a question: regardless of which is complete last, the newest on disk is the answer
//! of the first-named model.

use tokio::sync::{Mutex, MutexGuard};

/// Times of the answers written so far, by the order in which their models were named.
#[derive(Default)]
pub struct AnswerOrder {
    times: Mutex<Vec<(usize, u64)>>,
}

#[derive(Clone, Copy)]
pub struct OrderedAnswer<'o> {
    pub order: &'o AnswerOrder,
    /// Index of the model among the named ones.
    pub index: usize,
}

/// The right to write an answer. No other answer is written in the meantime, so the order cannot change.
pub struct WritingTurn<'o> {
    times: MutexGuard<'o, Vec<(usize, u64)>>,
    index: usize,
}

impl<'o> OrderedAnswer<'o> {
    /// Waits until no other answer is being written.
    pub async fn writing_turn(self) -> WritingTurn<'o> {
        WritingTurn { times: self.order.times.lock().await, index: self.index }
    }
}

impl WritingTurn<'_> {
    /// Returns the time of the answer, in milliseconds since 1970: just before the answers of models named
    /// earlier. `None` means the current time, if no such answer exists.
    pub fn time(&self) -> Option<u64> {
        let earlier = self.times.iter().filter(|(index, _)| *index < self.index);
        earlier.map(|(_, time)| time.saturating_sub(1)).min()
    }

    pub fn note(&mut self, time: u64) {
        self.times.push((self.index, time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes answers in this order, at 100, 200, …; returns the index of the newest.
    fn newest(order: &[usize]) -> usize {
        let times = AnswerOrder::default();
        for (at, &index) in order.iter().enumerate() {
            let answer = OrderedAnswer { order: &times, index };
            let mut turn = futures_util::FutureExt::now_or_never(answer.writing_turn()).unwrap();
            let now = (at as u64 + 1) * 100;
            let time = turn.time().unwrap_or(now);
            turn.note(time);
        }
        let times = times.times.into_inner();
        times.into_iter().max_by_key(|(_, time)| *time).unwrap().0
    }

    #[test]
    fn the_newest_is_of_the_model_that_was_named_first() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(newest(&order), 0, "{order:?}");
        }
        // The first model failed.
        for order in [[1, 2], [2, 1]] {
            assert_eq!(newest(&order), 1, "{order:?}");
        }
    }
}
