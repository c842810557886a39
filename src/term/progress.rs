//! Shows progress as a bar on a terminal, once the work has taken a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::terminal::{is_dumb, stderr_is_terminal};

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Redraws per second, at most.
const RATE: u8 = 20;

/// Removes the bar on drop.
pub struct ProgressMeter {
    begin: Instant,
    bytes: bool,
    /// `None` until `PATIENCE` is over.
    bar: Option<ProgressBar>,
}

impl ProgressMeter {
    /// Starts the timer; counts bytes if `bytes`, else files.
    pub fn new(bytes: bool) -> ProgressMeter {
        ProgressMeter { begin: Instant::now(), bytes, bar: None }
    }

    pub fn show(&mut self, what: &'static str, done: u64, total: u64) {
        if self.bar.is_none() && self.begin.elapsed() >= PATIENCE {
            self.bar = Some(ProgressBar::with_draw_target(None, target()).with_style(style(self.bytes)));
        }
        if let Some(bar) = &self.bar {
            if bar.message() != what {
                bar.set_message(what);
            }
            bar.set_length(total);
            bar.set_position(done);
        }
    }
}

impl Drop for ProgressMeter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// stderr if it is a terminal that can move its cursor.
fn target() -> ProgressDrawTarget {
    match stderr_is_terminal() && !is_dumb() {
        true => ProgressDrawTarget::stderr_with_hz(RATE),
        false => ProgressDrawTarget::hidden(),
    }
}

/// `███████░░░ 1.25 MiB of 5.00 MiB reading`; on a narrow terminal the message is cut first.
fn style(bytes: bool) -> ProgressStyle {
    let template = match bytes {
        true => "{bar:30} {binary_bytes} of {binary_total_bytes} {wide_msg}",
        false => "{bar:30} {pos} of {len} {wide_msg}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("█░")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal of a given width that records what is written.
    #[derive(Debug, Clone)]
    struct CapturedScreen(u16, Arc<Mutex<String>>);

    impl TermLike for CapturedScreen {
        fn width(&self) -> u16 {
            self.0
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.1.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn drawn(done: u64, total: u64, bytes: bool, columns: u16) -> String {
        let shown = CapturedScreen(columns, Arc::default());
        let target = ProgressDrawTarget::term_like(Box::new(shown.clone()));
        let bar = ProgressBar::with_draw_target(Some(total), target).with_style(style(bytes));
        bar.set_message("reading");
        bar.set_position(done);
        shown.1.lock().unwrap().clear();
        bar.force_draw();
        shown.1.lock().unwrap().clone()
    }

    #[test]
    fn a_bar_tells_how_much_is_done() {
        for (done, total, bytes, full, counts) in [
            (0, 10, false, 0, "0 of 10"),
            (5, 10, false, 15, "5 of 10"),
            (10, 10, false, 30, "10 of 10"),
            (512, 1 << 20, true, 0, "512 B of 1.00 MiB"),
            (3 << 29, 3 << 30, true, 15, "1.50 GiB of 3.00 GiB"),
        ] {
            let bar = "█".repeat(full) + &"░".repeat(30 - full);
            let line = drawn(done, total, bytes, 80);
            assert_eq!(line.trim_end(), format!("{bar} {counts} reading"));
        }
        assert_eq!(drawn(5, 10, false, 42).trim_end().chars().count(), 42);
    }

    #[test]
    fn short_work_shows_no_bar() {
        let mut progress = ProgressMeter::new(false);
        progress.show("reading", 1, 2);
        assert!(progress.bar.is_none());
        progress.begin -= PATIENCE;
        progress.show("reading", 1, 2);
        assert!(progress.bar.is_some());
    }
}
