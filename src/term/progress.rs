//! Progress of a long work: a bar on a terminal, and only once it has taken a second.

use std::time::{Duration, Instant};

use super::{Live, columns, width};

/// Work that is done in less needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The shortest time between two drawings of the bar.
const TICK: Duration = Duration::from_millis(50);

/// The columns of the bar, at most.
const COLUMNS: usize = 30;

/// The progress of one work. Dropped, its bar is gone.
pub struct Progress {
    next: Instant,
    bytes: bool,
    bar: Live,
}

impl Progress {
    /// Begins; counts in bytes, or in files.
    pub fn new(bytes: bool) -> Progress {
        Progress { next: Instant::now() + PATIENCE, bytes, bar: Live::new(true) }
    }

    /// Shows how far it is with `what`.
    pub fn show(&mut self, what: &str, done: u64, total: u64) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + TICK;
            self.bar.show(&[line(what, done, total, self.bytes, columns())]);
        }
    }
}

/// `reading ███████░░░ 1.25 MiB of 5.00 MiB`
fn line(what: &str, done: u64, total: u64, bytes: bool, columns: usize) -> String {
    let count = |n: u64| if bytes { size(n) } else { n.to_string() };
    let counts = format!("{} of {}", count(done), count(total));
    // The last column stays free, and the counts are seen first.
    let room = columns.saturating_sub(width(what) + width(&counts) + 3).min(COLUMNS) as u64;
    if room == 0 {
        return format!("{what} {counts}");
    }
    let full = room * done.min(total) / total.max(1);
    let bar: String = (0..room).map(|column| if column < full { '█' } else { '░' }).collect();
    format!("{what} {bar} {counts}")
}

/// A number of bytes in few characters.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64 / 1024.0;
    if size < 1.0 {
        return format!("{bytes} B");
    }
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while let Some(larger) = units.next().filter(|_| size >= 1024.0) {
        (size, unit) = (size / 1024.0, Some(larger));
    }
    format!("{size:.2} {}", unit.unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_how_much_is_done() {
        for (done, total, bytes, full, counts) in [
            (0, 10, false, 0, "0 of 10"),
            (5, 10, false, 15, "5 of 10"),
            (10, 10, false, 30, "10 of 10"),
            (11, 10, false, 30, "11 of 10"),
            (0, 0, false, 0, "0 of 0"),
            (512, 1 << 20, true, 0, "512 B of 1.00 MiB"),
            (3 << 29, 3 << 30, true, 15, "1.50 GiB of 3.00 GiB"),
            (1 << 10, 5 << 50, true, 0, "1.00 KiB of 5120.00 TiB"),
        ] {
            let bar = "█".repeat(full) + &"░".repeat(30 - full);
            assert_eq!(line("reading", done, total, bytes, 80), format!("reading {bar} {counts}"));
        }
        for (columns, shown) in [
            (30, "reading ██████░░░░░░░ 5 of 10"),
            (20, "reading █░░ 5 of 10"),
            (17, "reading 5 of 10"),
            (5, "reading 5 of 10"),
        ] {
            assert_eq!(line("reading", 5, 10, false, columns), shown);
        }
    }
}
