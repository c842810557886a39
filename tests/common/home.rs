//! A temporary home with a cleared environment, and the real binary run in it.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag::register_conditional_default;
use tempfile::TempDir;

use super::schemas::check_output;
use lepo_turn::config::{FolderTrust, work_folder};

/// Time limit for what must come, on a machine with much else to do; a failure, not a pause.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Variables by which faketime(1) gives programs its clock.
const CLOCK: [&str; 4] = ["LD_PRELOAD", "FAKETIME", "FAKETIME_SHARED", "NO_FAKE_STAT"];

/// A home, and in it a working directory `work` where commands run.
pub struct Home {
    dir: TempDir,
}

/// The result of a run.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
    /// The line about a store that was made, which stands in `err` otherwise.
    #[allow(dead_code)]
    pub made: String,
}

impl Home {
    pub fn new() -> Home {
        Home::within(&std::env::temp_dir())
    }

    /// A home on the filesystem of this folder.
    pub fn within(folder: &Path) -> Home {
        let dir = tempfile::tempdir_in(folder).unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        Home { dir }
    }

    /// A home whose configuration is this text.
    pub fn with_config(config: &str) -> Home {
        let home = Home::new();
        home.write("config/config.toml", config);
        home
    }

    /// A home with one model, `test`, at an OpenAI address, and no planner.
    #[allow(dead_code)]
    pub fn with_openai(base_url: &str) -> Home {
        Home::with_config(&format!(
            "planner = \"off\"\n[[models]]\nname = \"test\"\nprovider = \"openai\"\nmodel = \"m\"\n\
             base_url = \"{base_url}\"\nactive = true\n"
        ))
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Writes a file below the home, with the directories it needs.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes the instructions of the user's own store, which is made first: those of another's need trust.
    #[allow(dead_code)]
    pub fn write_insts(&self, text: &str) {
        self.ok(&["init"]);
        self.write("work/.lepo/_insts.toml", text);
    }

    /// Writes a program below the home, as [`Home::write`] does; its path.
    pub fn write_program(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        self.write(path, text);
        let path = self.dir.path().join(path);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Copies a directory of the repository to a place in `work`.
    pub fn copy(&self, from: &str, to: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
        assert!(Command::new("cp").arg("-r").arg(from).arg(self.work().join(to)).status().unwrap().success());
    }

    /// A file below the home as text; nothing if it is not there.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(path)).unwrap_or_default()
    }

    /// lepo, ready to be started in `work`: nothing of the caller's environment but PATH.
    pub fn command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_lepo"), args)
    }

    /// Lines for a shell, in which `lepo` is lepo.
    pub fn shell(&self, script: &str) -> Command {
        self.program("bash", &["-c", script])
    }

    /// The same on a terminal of its own, which is given what comes on stdin.
    pub fn terminal(&self, script: &str) -> Command {
        let mut command = self.program("script", &["-qec", script, "/dev/null"]);
        command.env("SHELL", "/bin/bash").env("TERM", "xterm");
        command
    }

    /// Keeps the user's yes to programs that start in `work`, as `lepo trust` does.
    pub fn trust_work(&self) {
        self.trust_folder(&self.work());
    }

    /// The same for another folder.
    pub fn trust_folder(&self, folder: &Path) {
        let state = self.dir.path().join("state/lepo");
        FolderTrust::in_state(&state).record_answer(&work_folder(folder).unwrap(), true).unwrap();
    }

    /// The same for a home that is made.
    pub fn trusting(self) -> Home {
        self.trust_work();
        self
    }

    /// Without any terminal to ask on.
    pub fn detached(&self, args: &[&str]) -> Command {
        self.program("setsid", &[&["-w", env!("CARGO_BIN_EXE_lepo")], args].concat())
    }

    /// Any program, with lepo on its PATH and lepo's environment.
    pub fn program(&self, program: &str, args: &[&str]) -> Command {
        catch_signals();
        let lepo = Path::new(env!("CARGO_BIN_EXE_lepo")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", lepo.display());
        // To start a program by its name with a PATH of its own, std copies the whole process of the tests; by its
        // path, it uses posix_spawn.
        let mut command = Command::new(find_program(program, &path));
        command
            .arg0(program)
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.dir.path())
            // Wherever the tests run.
            .env("TZ", "UTC")
            .env("LEPO_CONFIG_HOME", self.dir.path().join("config"))
            .env("XDG_STATE_HOME", self.dir.path().join("state"))
            .env("XDG_DATA_HOME", self.dir.path().join("data"))
            // No Ollama of the machine is ever asked.
            .env("OLLAMA_HOST", "http://127.0.0.1:9");
        // The clock of a test that is run by faketime(1), and with `LEPO_TEST_TZ` another zone.
        if std::env::var_os("FAKETIME").is_some() {
            let clock = std::env::vars_os().filter(|(name, _)| CLOCK.iter().any(|known| name == known));
            command.envs(clock);
            command.env("TZ", std::env::var_os("LEPO_TEST_TZ").unwrap_or("UTC".into()));
        }
        command
    }

    /// Runs it in a session without a terminal: there is nobody to ask.
    pub fn alone(&self, args: &[&str]) -> Ran {
        run(self.detached(args), b"")
    }

    /// Runs it to its end, with nothing on stdin.
    pub fn lepo(&self, args: &[&str]) -> Ran {
        self.lepo_with(args, b"")
    }

    /// Runs it to its end, with these bytes on stdin.
    pub fn lepo_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        run(self.command(args), stdin)
    }

    /// Runs it and gives its stdout; anything but exit 0 fails the test.
    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.lepo(args);
        assert_eq!(ran.code, 0, "lepo {args:?}: {}", ran.err);
        ran.out
    }

    /// `lepo add` of a text; its id.
    pub fn add(&self, args: &[&str], text: &str) -> String {
        let ran = self.lepo_with(&[&["add"], args].concat(), text.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().to_string()
    }

    /// The names of all bubbs, in order.
    pub fn bubbs(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.work().join(".lepo"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with(['_', '.']))
            .collect();
        names.sort();
        names
    }
}

/// Returns the first file of this name in PATH, or the name itself without one.
pub fn find_program(program: &str, path: &str) -> PathBuf {
    let is_name = !program.contains('/');
    let mut paths = std::env::split_paths(path).map(|folder| folder.join(program));
    paths.find(|path| is_name && path.is_file()).unwrap_or_else(|| program.into())
}

/// Waits for what must become true; a failure, not a pause.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "{what}: not in time");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until midnight is not near: for a test of what counts as today. (Both lepo's folders of days and, in the
/// homes of tests, the local day are those of UTC.)
pub fn away_from_midnight() {
    const DAY: u64 = 24 * 60 * 60;
    while SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() % DAY > DAY - 60 {
        thread::sleep(Duration::from_secs(1));
    }
}

/// Runs a command to its end.
pub fn run(mut command: Command, stdin: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program may leave its stdin unread.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let ran = finish(child);
    if is_lepo(&command) {
        check_output(command.get_args(), ran.code, (&ran.out, &ran.err));
    }
    ran
}

/// True for lepo itself, also behind the program that takes the terminal away.
fn is_lepo(command: &Command) -> bool {
    let lepo = OsStr::new(env!("CARGO_BIN_EXE_lepo"));
    command.get_program() == lepo || command.get_args().nth(1) == Some(lepo)
}

/// Waits for a child that was started with pipes.
pub fn finish(child: Child) -> Ran {
    use std::os::unix::process::ExitStatusExt;
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let (made, err) = text.split_inclusive('\n').partition(|line| line.starts_with("made .lepo in "));
    Ran {
        code: output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or_default()),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err,
        made,
    }
}

/// Whoever runs the tests in the background may have signals ignored, and then all that is started here has, lepo
/// among it, which respects that. Caught, they are at their default in every new program.
fn catch_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            register_conditional_default(signal, Arc::new(AtomicBool::new(true))).unwrap();
        }
    });
}

/// A program of the workspace that is built beside lepo: `cargo build --workspace` makes it.
pub fn beside(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_lepo")).with_file_name(name);
    assert!(program.is_file(), "{} is not built: cargo build --workspace", program.display());
    program
}
