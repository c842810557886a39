//! Everything around a held command that it may not touch, and a look from outside at what it did.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::bots::Bot;
use crate::home::run;

pub const PROBE: &str = include_str!("../../data/probe.py");
pub const COMMAND: &str = r#"{"tool":"command"}"#;
pub const NONE: &str = r#"{"tool":"none"}"#;
pub const KEY: &str = "canary-77d1";
/// A user without rights, where the tests run as root.
pub const NOBODY: u32 = 65534;

/// Everything around a command that it may not touch.
pub struct World {
    pub bot: Bot,
    /// Outside of home, /tmp and /run: seen, and not to be changed.
    pub elsewhere: TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: Vec<UnixListener>,
    datagrams: Vec<UnixDatagram>,
    /// Of System V, by number.
    queue: i32,
    bystander: Child,
    marker: String,
    user: Option<u32>,
}

impl World {
    pub fn new(access: &str, user: Option<u32>, timeout: u32) -> World {
        let request = json!({ "access": access, "command": "python3 probe.py" }).to_string();
        let settings = format!("tool_call_mode = 'auto'\nauto_access = 'net'\ncommand_timeout = {timeout}");
        let bot = Bot::saying(&settings, &[COMMAND, &request, NONE, "Done."]);
        let elsewhere = tempfile::Builder::new().prefix("lepo-test-").tempdir_in("/var/tmp").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        tcp.set_nonblocking(true).unwrap();
        // A number of seconds that no other process sleeps.
        let marker = format!("3000.{}", elsewhere.path().metadata().unwrap().ino());
        let mut sleeper = Command::new("sleep");
        sleeper.arg("1000");
        if let Some(user) = user {
            sleeper = as_user(sleeper, user);
        }
        let bystander = sleeper.spawn().unwrap();
        let mut world = World {
            bot,
            elsewhere,
            tcp,
            udp,
            unix: Vec::new(),
            datagrams: Vec::new(),
            queue: ipc(MAKE_QUEUE, &[]),
            bystander,
            marker,
            user,
        };
        world.furnish(timeout);
        world
    }

    fn furnish(&mut self, timeout: u32) {
        let work = self.bot.home.work();
        self.bot.home.ok(&["init"]);
        for place in self.kept_at("read") {
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("_kept"), "as it was").unwrap();
            let _ = Command::new("setfattr")
                .args(["-n", "user.kept", "-v", "x"])
                .arg(place.join("_kept"))
                .status();
        }
        self.bot.home.write(".ssh/id", KEY);
        let abstract_name = format!("lepo-test-{}", self.marker);
        let sockets =
            [work.join("socket"), self.elsewhere.path().join("socket"), self.bot.home.path().join("socket")];
        for path in &sockets {
            self.unix.push(UnixListener::bind(path).unwrap());
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        self.unix.push(UnixListener::bind_addr(&address).unwrap());
        self.unix.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        for path in &sockets {
            let datagram = UnixDatagram::bind(path.with_extension("datagram")).unwrap();
            datagram.set_nonblocking(true).unwrap();
            self.datagrams.push(datagram);
        }
        for path in sockets.iter().map(|path| path.with_extension("datagram")) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        let mut names: Vec<String> = sockets.iter().map(|path| path.display().to_string()).collect();
        names.push(format!("@{abstract_name}"));
        names.extend(sockets.iter().map(|path| path.with_extension("datagram").display().to_string()));
        let mut add_key = Command::new("python3");
        add_key.args(["-c", ADD_KEY, &self.marker, KEY]);
        if let Some(user) = self.user {
            add_key = as_user(add_key, user);
        }
        assert!(run(add_key, b"").code == 0);
        let probe = json!({
            "places": self.kept_at("read"),
            "secrets": [self.bot.home.path().join(".ssh/id"), self.bot.home.path().join("config/config.toml")],
            "tcp": self.tcp.local_addr().unwrap().port(),
            "udp": self.udp.local_addr().unwrap().port(),
            "unix": names,
            "pid": self.bystander.id(),
            "queue": self.queue,
            "limit": (pipe_limit() + 1).to_string(),
            "marker": self.marker,
            "sleep": if timeout < 60 { 1000 } else { 0 },
        });
        self.bot.home.write("work/probe.json", probe.to_string());
        self.bot.home.write("work/probe.py", PROBE);
        if let Some(user) = self.user {
            for root in [self.bot.home.path(), self.elsewhere.path()] {
                let status =
                    Command::new("chown").args(["-R", &user.to_string()]).arg(root).status().unwrap();
                assert!(status.success());
            }
        }
    }

    /// The places that a command of this access must leave as they are.
    fn kept_at(&self, access: &str) -> Vec<PathBuf> {
        let work = self.bot.home.work();
        let mut places = vec![
            self.elsewhere.path().to_path_buf(),
            self.bot.home.path().join("outside"),
            work.join(".git"),
            work.join(".lepo"),
        ];
        if access == "read" {
            places.push(work.clone());
        }
        places
    }

    /// Runs the turn, and demands that nothing got out.
    pub fn judge(self, access: &str, path: Option<&Path>) {
        let (mut escapes, report) = self.escapes(access, path, &["do", "go"]);
        if access == "net" {
            escapes.retain(|escape| !["TCP", "UDP"].contains(&escape.as_str()));
        }
        assert!(escapes.is_empty(), "{access}: {escapes:#?}\n{report}");
    }

    /// Runs lepo; what got out, seen from outside, and what the probe said.
    pub fn escapes(mut self, access: &str, path: Option<&Path>, args: &[&str]) -> (Vec<String>, String) {
        let places = self.kept_at(access);
        let before: Vec<Tree> = places.iter().map(|place| tree(place)).collect();
        let mut lepo = self.bot.home.detached(args);
        if let Some(user) = self.user {
            lepo = as_user(lepo, user);
        }
        lepo.env("OPENAI_API_KEY", KEY);
        if let Some(path) = path {
            lepo.env("PATH", path);
        }
        let lepo = inheriting(lepo, self.elsewhere.path());
        let limit = pipe_limit();
        let ran = run(lepo, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);

        let mut escapes = Vec::new();
        for (place, before) in places.iter().zip(before) {
            let now = tree(place);
            let changed = |path: &&PathBuf| before.get(*path) != now.get(*path) && !is_own(path);
            let all = before.keys().chain(now.keys());
            escapes.extend(all.filter(changed).map(|path| format!("changed: {}", path.display())));
        }
        // A fifo that the probe made would wait for ever.
        let text = |entry: std::fs::DirEntry| match entry.path().extension() {
            Some(end) if end == "md" => std::fs::read_to_string(entry.path()).ok(),
            _ => None,
        };
        let bubbs = std::fs::read_dir(self.bot.home.work().join(".lepo")).unwrap().flatten();
        let report = bubbs.filter_map(text).find(|text| text.starts_with("$ python3 probe.py")).unwrap();
        assert!(report.contains("own environment:"), "the probe did not come to its end: {report}");
        assert!(!report.contains("bytes left out"), "the report is not whole");
        let mut tell = |what: &str, got_out: bool| got_out.then(|| escapes.push(what.to_string()));
        // On disk a secret is a mask.
        tell("a secret was read", report.contains(KEY) || report.contains("[secret: "));
        // It was moved back: only the probe can tell.
        tell("a kept place was moved away", report.contains("done: rename itself"));
        tell("TCP", self.tcp.accept().is_ok());
        tell("UDP", self.udp.recv(&mut [0; 16]).is_ok());
        for (listener, name) in self.unix.iter().zip(["in work", "elsewhere", "at home", "abstract"]) {
            tell(&format!("unix socket {name}"), listener.accept().is_ok());
        }
        for (datagram, name) in self.datagrams.iter().zip(["in work", "elsewhere", "at home"]) {
            tell(&format!("unix datagram {name}"), datagram.recv(&mut [0; 16]).is_ok());
        }
        tell("a message queue", ipc(TAKE_QUEUE, &[self.queue]) > 0);
        tell("a setting of the kernel", pipe_limit() != limit);
        if pipe_limit() != limit {
            std::fs::write(PIPE_LIMIT, limit.to_string()).unwrap();
        }
        tell("the machine's part of /proc", report.contains("opened for writing: "));
        tell("a keyring", report.contains("done: add a key"));
        tell("a user namespace", report.contains("done: user namespace"));
        tell("a lease", report.contains("done: lease"));
        // Under bubblewrap this is a home of its own.
        tell("names in the home", path.is_some() && report.contains("done: watch"));
        tell("a bystander was ended", self.bystander.try_wait().unwrap().is_some());
        let status =
            std::fs::read_to_string(format!("/proc/{}/stat", self.bystander.id())).unwrap_or_default();
        let nice = status.rsplit(')').next().unwrap().split_whitespace().nth(16);
        // As it was started, whatever the tests themselves were.
        let own = std::fs::read_to_string("/proc/self/stat").unwrap();
        let own = own.rsplit(')').next().unwrap().split_whitespace().nth(16).map(str::to_string);
        tell("a bystander was slowed down", nice.map(str::to_string) != own);
        let limits =
            std::fs::read_to_string(format!("/proc/{}/limits", self.bystander.id())).unwrap_or_default();
        let files = limits.lines().find(|line| line.starts_with("Max open files"));
        tell("a bystander was limited", files.is_none_or(|line| line.contains(" 5 ")));
        tell("a survivor", !survivors(&self.marker).is_empty());
        (escapes, report)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

/// A number that root may set, and that only a crash into a pipe would notice.
pub const PIPE_LIMIT: &str = "/proc/sys/kernel/core_pipe_limit";

pub fn pipe_limit() -> u32 {
    std::fs::read_to_string(PIPE_LIMIT).unwrap().trim().parse().unwrap()
}

/// add_key("user", NAME, KEY, KEYCTL's user keyring)
pub const ADD_KEY: &str = "import ctypes, sys; name, key = (text.encode() for text in sys.argv[1:]); \
    sys.exit(ctypes.CDLL(None).syscall(248, b'user', name, key, len(key), -4) < 0)";
pub const MAKE_QUEUE: &str = "print(libc.msgget(0, 0o666))";
pub const TAKE_QUEUE: &str = "print(libc.msgrcv(queue, ctypes.create_string_buffer(64), 16, 0, 0o4000))\n\
    libc.msgctl(queue, 0, None)";

/// Output of a few lines about a message queue.
pub fn ipc(script: &str, queue: &[i32]) -> i32 {
    let queue = queue.first().copied().unwrap_or_default();
    let script = format!("import ctypes; libc = ctypes.CDLL(None); queue = {queue}\n{script}");
    let out = Command::new("python3").args(["-c", &script]).output().unwrap().stdout;
    String::from_utf8(out).unwrap().trim().parse().unwrap()
}

/// Started by somebody who has a directory open, and a file in it.
pub fn inheriting(command: Command, dir: &Path) -> Command {
    let mut careless = Command::new("/bin/bash");
    careless.args(["-c", "exec 8<\"$0\" 9>>\"$0/_kept\"; exec \"$@\""]).arg(dir);
    careless.arg(command.get_program()).args(command.get_args()).env_clear();
    command.get_current_dir().map(|dir| careless.current_dir(dir));
    careless.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    careless
}

/// Every file below, with all that could have been changed of it.
pub type Tree = BTreeMap<PathBuf, String>;

pub fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut places = vec![root.to_path_buf()];
    while let Some(place) = places.pop() {
        let meta = place.symlink_metadata().unwrap();
        let mut state = format!("{:o} {} {}", meta.mode(), meta.uid(), meta.gid());
        if meta.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            state += &format!(" {} {}.{}", meta.nlink(), meta.mtime(), meta.mtime_nsec());
        }
        if meta.is_file() {
            let mut bytes = Vec::new();
            std::fs::File::open(&place).unwrap().read_to_end(&mut bytes).unwrap();
            let more = |program: &str, option: &str| {
                let output = Command::new(program).arg(option).arg(&place).output();
                output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
            };
            state += &format!(" {bytes:?} {} {}", more("getfattr", "-d"), more("lsattr", "-vd"));
        }
        found.insert(place, state);
    }
    found
}

/// Files that lepo itself writes while it works: bubbs, the journal, drafts.
pub fn is_own(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let in_store = path.parent().unwrap().ends_with(".lepo");
    // The output of the probe, whole: a hash of its own bytes is its name.
    if path.parent().unwrap().ends_with(".lepo/_blobs") {
        let hash: String = Sha256::digest(std::fs::read(path).unwrap_or_default())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        return name == hash;
    }
    in_store && (name.ends_with(".md") || ["_journal.ndjson", "_tmp", "_blobs"].contains(&name))
}

/// Processes that bear this mark, anywhere.
pub fn survivors(marker: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(marker)).collect()
}

pub fn as_user(command: Command, user: u32) -> Command {
    let mut held = Command::new("setpriv");
    let user = user.to_string();
    held.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
    held.arg(command.get_program()).args(command.get_args()).env_clear();
    command.get_current_dir().map(|dir| held.current_dir(dir));
    held.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    held.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    held
}

pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

/// Root and an ordinary user, where the tests run as root; else whoever they run as.
pub fn users() -> Vec<Option<u32>> {
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let reached = |user| {
        as_user(Command::new(lepo), user).arg("--version").output().is_ok_and(|out| out.status.success())
    };
    match is_root() {
        true if reached(NOBODY) => vec![None, Some(NOBODY)],
        true => {
            crate::skip::skipped(
                "setpriv",
                format!("an ordinary user: {lepo} cannot be reached by one, or there is no setpriv"),
            );
            vec![None]
        }
        false => vec![None],
    }
}

pub fn bubblewrap_works() -> bool {
    let tried = Command::new("bwrap").args(["--ro-bind", "/", "/", "--unshare-all", "true"]).status();
    let works = tried.is_ok_and(|status| status.success());
    if !works {
        crate::skip::skipped("bwrap", "bubblewrap is not installed, or not allowed to work here");
    }
    works
}

pub fn landlock_works() -> bool {
    // landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)
    let ask = "import ctypes,sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 3)";
    let works =
        Command::new("/usr/bin/python3").args(["-c", ask]).status().is_ok_and(|status| status.success());
    if !works {
        crate::skip::skipped("landlock", "this kernel has no Landlock");
    }
    works
}

/// Programs a command needs, without bubblewrap.
pub fn without_bubblewrap(place: &Path) -> PathBuf {
    let dir = place.join("bin");
    std::fs::create_dir(&dir).unwrap();
    for program in ["sh", "python3", "setsid", "sleep", "unshare", "mount", "umount", "setpriv", "cat", "git"]
    {
        let found = ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(program));
        if let Some(found) = found.iter().find(|path| path.exists()) {
            std::os::unix::fs::symlink(found, dir.join(program)).unwrap();
        }
    }
    dir
}
