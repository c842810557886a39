//! Runs the user's editor on a copy of a text; inside a pipe it gets the terminal device.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGQUIT};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::low_level::unregister;

use lepo_base::error::{Error, Result};
use lepo_base::search_path;

/// The variables that name the editor; the first that has a value counts.
pub const EDITORS: [&str; 3] = ["LEPO_EDITOR", "VISUAL", "EDITOR"];

/// Editors with a window of their own, which return at once unless an option makes them wait.
const WAITING: [(&str, &str); 12] = [
    ("atom", "--wait"),
    ("code", "--wait"),
    ("codium", "--wait"),
    ("cursor", "--wait"),
    ("gedit", "--wait"),
    ("gvim", "-f"),
    ("kate", "--block"),
    ("mate", "-w"),
    ("mvim", "-f"),
    ("subl", "--wait"),
    ("windsurf", "--wait"),
    ("zed", "--wait"),
];

/// The result of an editor.
pub struct EditorRun {
    pub text: Vec<u8>,
    /// The editor exited unsuccessfully, which is how a user cancels.
    pub failure: Option<Error>,
}

/// Opens the editor on a private copy whose name ends with `suffix`, and returns the edited bytes. A final newline that
/// `text` did not have is removed: nearly every editor adds one, and the user cannot see it.
///
/// Fails with exit 1 if the editor cannot be started, or exits unsuccessfully, which is how a user cancels; with exit 2
/// if no editor is named and there is no terminal for vi, which would wait for keys that nobody can type.
pub fn edit(text: &[u8], suffix: &str) -> Result<Vec<u8>> {
    let run = run_editor(text, suffix)?;
    match run.failure {
        Some(failure) => Err(failure),
        None => Ok(without_added_newline(text, run.text)),
    }
}

/// Like [`edit`], but returns the bytes as saved, also if the editor exits unsuccessfully.
pub fn run_editor(text: &[u8], suffix: &str) -> Result<EditorRun> {
    let editor = match named_editor() {
        Some(editor) => editor,
        None if io::stdin().is_terminal() || open_terminal().is_ok() => "vi".into(),
        None => {
            return Err(Error::usage("there is no terminal for an editor")
                .hint("set LEPO_EDITOR, VISUAL or EDITOR to a program that needs none"));
        }
    };
    let failed = |error: io::Error| Error::nothing(format!("cannot use the editor {editor}")).because(error);

    // Created with access for the owner only.
    let mut file = tempfile::Builder::new().prefix("lepo-").suffix(suffix).tempfile().map_err(failed)?;
    file.write_all(text).map_err(failed)?;
    let ignored = SignalGuard::install().map_err(failed)?;
    let status = search_path::command("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .args(["sh".as_ref(), file.path().as_os_str()])
        .stdin(terminal(io::stdin().is_terminal(), Stdio::null))
        // If stdout is not a terminal it is data for another program: never given to the editor.
        .stdout(terminal(io::stdout().is_terminal(), || io::stderr().into()))
        .status();
    drop(ignored);
    let status = status.map_err(failed)?;
    let failure = (!status.success()).then(|| {
        Error::nothing(format!("the editor {editor} exited with {status}"))
            .hint("set LEPO_EDITOR, VISUAL or EDITOR to the one to use")
    });
    // Reopened by name: editors save by renaming a new file over the old.
    let text = std::fs::read(file.path()).map_err(failed)?;
    Ok(EditorRun { text, failure })
}

/// Returns the editor that [`EDITORS`] name.
pub fn named_editor() -> Option<String> {
    let named = |name| lepo_base::env::text(name).filter(|value| !value.trim().is_empty());
    EDITORS.into_iter().find_map(named)
}

/// Returns the option that makes this editor wait, if its command line lacks it.
pub fn missing_wait(editor: &str) -> Option<&'static str> {
    let mut fields = editor.split_whitespace();
    let program = fields.next()?.rsplit('/').next()?;
    let (_, option) = WAITING.iter().find(|(name, _)| *name == program)?;
    let short = option.strip_prefix("--").and_then(|long| long.get(..1)).map(|letter| format!("-{letter}"));
    let waits = |field: &str| {
        field == *option || short.as_deref() == Some(field) || field == "--nofork" || field == "-w"
    };
    (!fields.any(waits)).then_some(option)
}

/// Removes the final newline that programs add to a text if `text` has none.
pub fn without_added_newline(text: &[u8], mut edited: Vec<u8>) -> Vec<u8> {
    if !text.ends_with(b"\n") && edited.ends_with(b"\n") {
        edited.pop();
    }
    edited
}

fn open_terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// Inherits the descriptor if it is a terminal; else opens the terminal device, else uses `otherwise`.
fn terminal(is_one: bool, otherwise: impl FnOnce() -> Stdio) -> Stdio {
    if is_one {
        return Stdio::inherit();
    }
    match open_terminal() {
        Ok(tty) => tty.into(),
        Err(_) => otherwise(),
    }
}

/// While it lives, Ctrl+C and Ctrl+\ only reach the editor: in vi they end a mode, not lepo.
struct SignalGuard {
    interrupt: SigId,
    over: Arc<AtomicBool>,
}

impl SignalGuard {
    fn install() -> io::Result<SignalGuard> {
        let over = Arc::new(AtomicBool::new(false));
        register_conditional_default(SIGQUIT, over.clone())?;
        Ok(SignalGuard { interrupt: register(SIGINT, Arc::default())?, over })
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        // Not reset to the default action, which would end lepo although a turn or a prompt handles the
        // signal.
        unregister(self.interrupt);
        self.over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_that_return_at_once_need_an_option() {
        for (editor, option) in [
            // https://github.com/desktop/desktop/issues/20810, https://github.com/progit/progit2/issues/1893
            ("kate", Some("--block")),
            // https://github.com/coderefinery/git-intro/issues/219
            ("atom", Some("--wait")),
            ("code -w", None),
            // https://github.com/jesseduffield/lazygit/issues/139
            ("mvim", Some("-f")),
            ("code", Some("--wait")),
            ("/usr/bin/code -n", Some("--wait")),
            ("code --wait", None),
            ("subl -w", None),
            ("gvim", Some("-f")),
            ("gvim --nofork", None),
            ("gvim -f", None),
            ("vim", None),
            ("vi", None),
            ("nvim", None),
            ("nano", None),
            ("emacsclient -t", None),
            ("kate --block", None),
            ("", None),
        ] {
            assert_eq!(missing_wait(editor), option, "{editor}");
        }
    }
}
