//! Handles a panic: restores the terminal and prints one line that asks for a report.

use std::panic::PanicHookInfo;
use std::path::Path;

use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::terminal::{is_dumb, show, stderr_is_terminal};
use super::{cut, one_line, print_status};

/// Exit code of a panic, as in the standard library.
const CODE: i32 = 101;

/// Longest printed message, in columns.
const MOST: usize = 200;

/// Installs a hook: a panic in any thread restores the terminal, prints one line and ends the process.
pub fn report_panics() {
    // Mostly all three are the same terminal. stdin is last: `relay` may have replaced it by a pseudo-terminal when the
    // panic happens.
    let streams = [stdout(), stderr(), stdin()];
    let before = streams.into_iter().find_map(|stream| Some((stream, tcgetattr(stream).ok()?)));
    std::panic::set_hook(Box::new(move |panic| {
        if let Some((stream, before)) = &before {
            // Changed only if necessary: in the background a change would stop the process.
            let is_changed = tcgetattr(stream).is_ok_and(|now| {
                (now.local_modes, now.input_modes, now.output_modes)
                    != (before.local_modes, before.input_modes, before.output_modes)
            });
            if is_changed {
                let _ = tcsetattr(stream, OptionalActions::Now, before);
            }
        }
        if stderr_is_terminal() && !is_dumb() {
            // Bracketed paste off, cursor on, erase from this line down.
            show("\u{1b}[?2004l\u{1b}[?25h\r\u{1b}[J");
        }
        print_status(&line(panic));
        std::process::exit(CODE);
    }));
}

/// Formats the message and the position. Only the file's base name is printed: its folder is on the machine
/// that built lepo.
fn line(panic: &PanicHookInfo<'_>) -> String {
    let message = cut(&one_line(panic.payload_as_str().unwrap_or("unknown")), MOST);
    let location = panic.location().map(|location| {
        let file = Path::new(location.file()).file_name().unwrap_or_default().to_string_lossy();
        format!(" at {file}:{}", location.line())
    });
    let location = location.unwrap_or_default();
    format!(
        "error: this is a bug in lepo ({message}{location}): please report it with the output of `lepo --version \
         --verbose`"
    )
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::termios::LocalModes;

    use super::*;

    #[test]
    #[ignore = "ends the process: others run it"]
    fn panics() {
        report_panics();
        if let Ok(mut modes) = tcgetattr(stdin()) {
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            tcsetattr(stdin(), OptionalActions::Now, &modes).unwrap();
        }
        // On a separate thread, because the test harness captures the output of its own threads.
        let _ = std::thread::spawn(|| panic!("two\nlines \u{1b}[31m")).join();
        unreachable!();
    }

    fn panicking() -> Vec<String> {
        let program = std::env::current_exe().unwrap().to_str().unwrap().to_string();
        [&program, "--ignored", "--exact", "--nocapture", "term::panics::tests::panics"]
            .map(str::to_string)
            .into()
    }

    #[test]
    fn a_panic_ends_with_one_line_that_names_no_folder() {
        let words = panicking();
        let ended = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(ended.status.code(), Some(CODE));
        let text = String::from_utf8(ended.stderr).unwrap();
        let (before, after) = text.split_once(" at panics.rs:").unwrap();
        assert_eq!(before, "error: this is a bug in lepo (two␊lines ␛[31m");
        assert!(
            after.ends_with(": please report it with the output of `lepo --version --verbose`\n"),
            "{text}"
        );
        assert!(text.lines().count() == 1 && !text.contains('/'), "{text}");
    }

    #[test]
    fn a_panic_leaves_the_terminal_as_it_was() {
        // A terminal for the commands alone, whose modes are printed before and after.
        let script = format!("stty -a; {}; echo \"code $?\"; stty -a", panicking().join(" "));
        let ran = Command::new("script").args(["-qec", &script, "/dev/null"]).stdin(Stdio::null()).output();
        let Ok(ran) = ran else {
            return println!("skipped: script is not installed");
        };
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let (before, after) = text.split_once("code 101\r\n").unwrap_or_else(|| panic!("{text}"));
        assert!(before.starts_with(after.trim_end()) && after.contains(" icanon "), "{text}");
    }
}
