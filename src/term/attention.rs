//! Calls the user by a bell or a notification: after a long answer, and at a question without a reply.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::terminal::{is_dumb, stderr_is_terminal};
use lepo_turn::config::AttentionSignal;

/// An answer that took longer is reported.
const LONG_ANSWER: Duration = Duration::from_secs(20);

/// A question without a reply for so long is reported.
const LONG_QUESTION: Duration = Duration::from_secs(10);

/// The index of the signal in [`AttentionSignal::ALL`]: one process has one terminal.
static SIGNAL: AtomicU8 = AtomicU8::new(u8::MAX);

/// Whether the user was called since the last entry.
static HAS_CALLED: AtomicBool = AtomicBool::new(false);

/// Chooses the signal; without it no one is called.
pub fn set_attention_signal(signal: AttentionSignal) {
    let index = AttentionSignal::ALL.iter().position(|other| *other == signal).unwrap_or(usize::MAX);
    SIGNAL.store(u8::try_from(index).unwrap_or(u8::MAX), Ordering::Relaxed);
}

/// Returns the bytes of a signal.
fn signal_bytes(signal: AttentionSignal, is_dumb: bool, text: &str) -> String {
    match signal {
        AttentionSignal::Off => String::new(),
        // The form of iTerm2, ConEmu, kitty, foot, Ghostty and WezTerm.
        AttentionSignal::Osc9 if !is_dumb => format!("\x1b]9;lepo: {text}\x07"),
        AttentionSignal::Bell | AttentionSignal::Osc9 => "\x07".to_string(),
    }
}

fn call(to: &mut impl Write, text: &str) {
    HAS_CALLED.store(true, Ordering::Relaxed);
    let index = usize::from(SIGNAL.load(Ordering::Relaxed));
    if let Some(signal) = AttentionSignal::ALL.get(index) {
        let bytes = signal_bytes(*signal, is_dumb(), text);
        // A terminal that cannot be written to has nobody to call.
        let _ = to.write_all(bytes.as_bytes()).and_then(|()| to.flush());
    }
}

/// The wait for an answer, from the entry of its question.
pub struct AnswerWait(Instant);

impl AnswerWait {
    pub fn start() -> AnswerWait {
        HAS_CALLED.store(false, Ordering::Relaxed);
        AnswerWait(Instant::now())
    }

    /// Calls after a long wait, unless a question of this wait called before. Never into a pipe.
    pub fn finish(self) {
        let is_due = self.0.elapsed() > LONG_ANSWER && !HAS_CALLED.load(Ordering::Relaxed);
        if is_due && stderr_is_terminal() {
            call(&mut io::stderr().lock(), "answer");
        }
    }
}

/// The wait for the reply to a question.
pub struct QuestionWait {
    since: Instant,
    has_called: bool,
}

impl QuestionWait {
    pub fn start() -> QuestionWait {
        QuestionWait { since: Instant::now(), has_called: false }
    }

    /// Notifies the user, once, after a long wait.
    pub fn check(&mut self, to: &mut impl Write) {
        if !self.has_called && self.since.elapsed() > LONG_QUESTION {
            self.has_called = true;
            call(to, "question");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_no_words_but_lepos_own() {
        for (signal, is_dumb, bytes) in [
            (AttentionSignal::Bell, false, "\x07"),
            (AttentionSignal::Bell, true, "\x07"),
            (AttentionSignal::Osc9, false, "\x1b]9;lepo: answer\x07"),
            (AttentionSignal::Osc9, true, "\x07"),
            (AttentionSignal::Off, false, ""),
        ] {
            assert_eq!(signal_bytes(signal, is_dumb, "answer"), bytes, "{signal:?}");
        }
    }

    #[test]
    fn a_short_question_calls_nobody() {
        let mut written = Vec::new();
        let mut wait = QuestionWait::start();
        wait.check(&mut written);
        assert!(written.is_empty() && !wait.has_called);
    }
}
