//! Tidies a little after a command that writes; a failure here never fails the command.

use super::changes::empty_old;
use super::user_env::own_paths;
use crate::term::{Out, StatusLine, print_status};
use lepo_base::time;
use lepo_store::store::{OLD, Store, now};
use lepo_tool::mcp::forget_tool_lists;

/// Maximum age of a log, in milliseconds.
const MONTH: u64 = 30 * 24 * 60 * 60 * 1000;

/// Moves some bubbs of past days into their folders if the store has more than `limit`, after flushing the
/// output. Also deletes old files in lepo's state folder.
pub fn tidy_after(store: &Store, limit: Option<u32>, quiet: bool, out: &mut Out) {
    sweep_state();
    // If it fails, the next command that writes does it.
    let _ = empty_old(store);
    let Some(limit) = limit.map(|limit| limit as usize).filter(|&limit| store.is_untidy(limit)) else {
        return;
    };
    out.flush();
    let is_first = !store.has_day_folders();
    match store.tidy_some(limit) {
        Ok(tidied) if is_first && tidied.moved > 0 && !quiet => print_status(&StatusLine::note(format!(
            "messages of past days move into {0}/{OLD}; `grep -r PATTERN {0}` finds them",
            store.display_path().display()
        ))),
        Err(error) if !quiet => print_status(&StatusLine::warning(format!("not tidied: {}", error.chain()))),
        _ => {}
    }
}

/// Deletes logs older than a month, and tool lists that no configuration uses any more. A missing folder and a file
/// that cannot be deleted are ignored.
fn sweep_state() {
    let Ok(paths) = own_paths() else { return };
    let oldest = time::day(now().saturating_sub(MONTH));
    for entry in std::fs::read_dir(paths.logs()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(day_of_log).is_some_and(|day| day < oldest.as_str()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    forget_tool_lists(&paths.tool_lists());
}

/// Parses the day from the name of a log: `application-lepo-2026-03-04.log`.
fn day_of_log(name: &str) -> Option<&str> {
    let day = name.strip_prefix("application-lepo-")?.strip_suffix(".log")?;
    let is_date =
        |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    (day.len() == 10 && day.bytes().enumerate().all(is_date)).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_known_by_its_whole_name() {
        for (name, day) in [
            ("application-lepo-2026-03-04.log", Some("2026-03-04")),
            ("application-lepo-2026-03-04.log.gz", None),
            ("application-lepo-2026-3-4.log", None),
            ("application-lepo-0000000000.log", None),
            ("application-lepo-.log", None),
            ("mine-2026-03-04.log", None),
        ] {
            assert_eq!(day_of_log(name), day, "{name}");
        }
    }
}
