//! Ctrl+C at the prompt. Within a second after it stopped an answer it does not leave the session: the user pressed
//! it twice.

use std::time::{Duration, Instant};

/// The time after an interruption in which Ctrl+C is ignored at an empty prompt.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CtrlC {
    /// Ignored.
    Nothing,
    Clears,
    Leaves,
}

/// Whether `stopped` is less than [`GRACE`] ago.
pub fn is_just_stopped(stopped: Option<Instant>, now: Instant) -> bool {
    stopped.is_some_and(|at| now.saturating_duration_since(at) < GRACE)
}

/// Returns the effect of Ctrl+C on a line with this text.
pub fn ctrl_c(line: &str, stopped: Option<Instant>, now: Instant) -> CtrlC {
    match line {
        "" if is_just_stopped(stopped, now) => CtrlC::Nothing,
        "" => CtrlC::Leaves,
        _ => CtrlC::Clears,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_a_second_after_a_stop_an_empty_line_does_not_leave() {
        let stop = Instant::now();
        let after = |ms| stop + Duration::from_millis(ms);
        for (line, stopped, now, effect) in [
            ("", None, after(0), CtrlC::Leaves),
            ("", Some(stop), after(0), CtrlC::Nothing),
            ("", Some(stop), after(999), CtrlC::Nothing),
            ("", Some(stop), after(1000), CtrlC::Leaves),
            ("", Some(after(500)), after(0), CtrlC::Nothing),
            ("words", None, after(0), CtrlC::Clears),
            ("words", Some(stop), after(10), CtrlC::Clears),
            ("words", Some(stop), after(5000), CtrlC::Clears),
        ] {
            assert_eq!(ctrl_c(line, stopped, now), effect, "{line:?} {stopped:?} {now:?}");
        }
    }
}
