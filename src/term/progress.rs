//! How far a long work is: a bar on a terminal, and only once it has taken a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::stderr_is_terminal;

/// Work that is done in less needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of one work. Dropped, its bar is gone.
pub struct Progress {
    start: Instant,
    bytes: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins; counts in bytes, or in files.
    pub fn new(bytes: bool) -> Progress {
        Progress { start: Instant::now(), bytes, bar: None }
    }

    /// Shows how far it is with `what`.
    pub fn show(&mut self, what: &str, done: u64, total: u64) {
        if self.start.elapsed() < PATIENCE || !stderr_is_terminal() {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let counts = if self.bytes { "{bytes} of {total_bytes}" } else { "{pos} of {len}" };
            let form = format!("{{msg}} {{bar:30}} {counts}");
            let style = ProgressStyle::with_template(&form).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(total).with_style(style)
        });
        bar.set_message(what.to_string());
        bar.set_length(total);
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
