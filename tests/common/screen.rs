//! A real terminal to look at: tmux with a socket of its own, keys sent and the screen captured.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::home::{DEADLINE, Home};

/// Runs a program, and keeps what it showed to be looked at. Ctrl+C is the program's alone.
const KEEP: &str = r#"trap : INT; "$@"; echo "[ended with $?]"; exec sleep 1000"#;

/// The most time for a program to answer an Enter visibly.
const REACTION: Duration = Duration::from_secs(2);

/// A terminal with a program in it, until it is dropped.
pub struct Screen {
    tmux: String,
    socket_dir: std::path::PathBuf,
}

#[allow(dead_code)]
impl Screen {
    /// lepo with these arguments in a terminal of so many columns, 24 lines high. `None` without tmux.
    pub fn lepo(home: &Home, columns: usize, args: &[&str]) -> Option<Screen> {
        Screen::of(&home.command(args), home, columns)
    }

    /// A shell to start lepo from, as people do.
    pub fn shell(home: &Home, columns: usize) -> Option<Screen> {
        Screen::of(&home.shell("export PS1='sh$ '; exec bash --noprofile --norc -i"), home, columns)
    }

    /// A program in a terminal.
    pub fn of(command: &Command, home: &Home, columns: usize) -> Option<Screen> {
        Screen::sized(command, home, (columns, 24))
    }

    /// A program in a terminal of so many columns and lines. tmux tells a program of a second resize
    /// only after a while, so that a terminal is made in the size it is to begin with.
    pub fn sized(command: &Command, home: &Home, (columns, rows): (usize, usize)) -> Option<Screen> {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|dir| dir.join("tmux"))
            .find(|path| path.is_file());
        let Some(tmux) = found else {
            super::skip::skipped("tmux", "there is no tmux to look at");
            return None;
        };
        let screen = Screen { tmux: tmux.display().to_string(), socket_dir: home.path().to_path_buf() };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut start = screen.tmux();
        start.args(["new-session", "-d", "-x", &columns, "-y", &rows]);
        start.args(["sh", "-c", KEEP, "sh"]).arg(command.get_program()).args(command.get_args());
        start.args([";", "set-option", "-g", "escape-time", "0"]);
        start.current_dir(command.get_current_dir().unwrap());
        start.envs(command.get_envs().map(|(name, value)| (name, value.unwrap_or_default())));
        let done = start.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Some(screen)
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new(&self.tmux);
        command.args(["-L", "lepo", "-f", "/dev/null", "-u"]).env_clear();
        command.env("TMUX_TMPDIR", &self.socket_dir).env("LC_ALL", "C.UTF-8").env("SHELL", "/bin/sh");
        command
    }

    fn run_tmux(&self, args: &[&str]) -> String {
        let done = self.tmux().args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Presses keys, by tmux's names for them: `Enter`, `C-a`, `M-Enter`, `BSpace`.
    pub fn keys(&self, keys: &[&str]) -> &Screen {
        self.run_tmux(&[&["send-keys"], keys].concat());
        self
    }

    /// Types a text.
    pub fn types(&self, text: &str) -> &Screen {
        self.run_tmux(&["send-keys", "-l", "--", text]);
        self
    }

    /// Pastes a text, in brackets if the program asked for them.
    pub fn pastes(&self, text: &str) -> &Screen {
        self.run_tmux(&["set-buffer", "--", text]);
        self.run_tmux(&["paste-buffer", "-p"]);
        self
    }

    /// Types a text and presses Enter, as a person does: what comes next is typed when the program has answered it. An
    /// Enter with more behind it at once is a line break of a pasted text.
    pub fn enters(&self, text: &str) -> &Screen {
        self.types(text);
        let typed = self.when_still();
        self.keys(&["Enter"]);
        let start = Instant::now();
        while self.seen() == typed && start.elapsed() < REACTION {
            std::thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// The screen once it has shown the same twice, or after a while.
    fn when_still(&self) -> String {
        let start = Instant::now();
        let mut seen = self.seen();
        loop {
            std::thread::sleep(Duration::from_millis(5));
            let now = self.seen();
            if now == seen || start.elapsed() > REACTION {
                return now;
            }
            seen = now;
        }
    }

    /// The screen and the cursor on it.
    fn seen(&self) -> String {
        self.run_tmux(&["capture-pane", "-p", ";", "display-message", "-p", "#{cursor_x} #{cursor_y}"])
    }

    /// Makes the window another width.
    pub fn resizes(&self, columns: usize) -> &Screen {
        self.run_tmux(&["resize-window", "-x", &columns.to_string()]);
        self
    }

    /// Text of the screen, without the empty lines at its end.
    pub fn text(&self) -> String {
        self.run_tmux(&["capture-pane", "-p"]).trim_end().to_string()
    }

    /// The same with its paint.
    pub fn painted(&self) -> String {
        self.run_tmux(&["capture-pane", "-p", "-e", "-S", "-"]).trim_end().to_string()
    }

    /// All that a program that has ended showed, what was scrolled away too.
    pub fn whole(&self) -> String {
        let text = self.run_tmux(&["capture-pane", "-p", "-S", "-"]);
        text.split("[ended with ").next().unwrap().trim_end().to_string()
    }

    /// The cursor: column and line, from 0.
    pub fn cursor(&self) -> (usize, usize) {
        let position = self.run_tmux(&["display-message", "-p", "#{cursor_x} #{cursor_y}"]);
        let (x, y) = position.trim().split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    }

    /// The process that runs in the terminal: the program, or what a shell in it has started.
    pub fn process(&self) -> String {
        let mut last = self.run_tmux(&["display-message", "-p", "#{pane_pid}"]).trim().to_string();
        loop {
            let children = std::fs::read_to_string(format!("/proc/{last}/task/{last}/children")).unwrap();
            match children.split_whitespace().next() {
                Some(child) => last = child.to_string(),
                None => return last,
            }
        }
    }

    /// Waits until the program has ended, with this status.
    pub fn ends(&self, status: i32) {
        self.shows("[ended with ");
        assert!(self.text().contains(&format!("[ended with {status}]")), "{}", self.text());
    }

    /// Waits until the screen shows this.
    pub fn shows(&self, what: &str) -> &Screen {
        self.becomes(what, || self.text().contains(what));
        self
    }

    /// Waits until the last line of the screen is this, to the letter, and the cursor behind it.
    pub fn prompts(&self, line: &str) -> &Screen {
        self.becomes(&format!("the last line {line:?}"), || {
            let text = self.text();
            text.lines().last().unwrap_or_default() == line.trim_end()
                && self.cursor().1 + 1 == text.lines().count()
        });
        self
    }

    /// Waits until the cursor is there.
    pub fn points(&self, column: usize, line: usize) -> &Screen {
        self.becomes(&format!("the cursor at {column},{line}, not {:?}", self.cursor()), || {
            self.cursor() == (column, line)
        });
        self
    }

    /// Waits until this is so of the screen.
    pub fn becomes(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < DEADLINE, "{what}: did not come. On the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
        let _ = std::fs::remove_dir_all(Path::new(&self.socket_dir).join("tmux-0"));
    }
}
