//! Files and processes that a held command leaves for later: repositories, files that tools run, processes, a home.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use super::world::*;
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, run, until};

const SETTINGS: &str = "tool_call_mode = 'auto'\nauto_access = 'net'";

fn turn(access: &str, command: &str) -> Bot {
    let request = json!({ "access": access, "command": command }).to_string();
    Bot::saying(SETTINGS, &[COMMAND, &request, NONE, "Done."])
}

fn command_result(bot: &Bot) -> String {
    bubbs(&bot.home)
        .into_iter()
        .find(|bubb| bubb.text.starts_with("$ "))
        .map(|bubb| bubb.text)
        .unwrap_or_default()
}

#[test]
fn a_repository_that_slips_through_is_moved_aside_and_told() {
    if !bubblewrap_works() {
        return;
    }
    // A new directory with a repository, one that is known by what is in it, and one in the directory itself.
    let make = "mkdir -p src/.git/hooks bare/objects bare/refs objects refs\n\
        echo 'ref: refs/heads/main' | tee src/.git/HEAD bare/HEAD HEAD\n\
        printf '[core]\\nfsmonitor = touch TRIPPED\\n' | tee src/.git/config bare/config config\n\
        mkdir src/.git/objects src/.git/refs";
    let bot = turn("write", make);
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for place in ["src", "bare", "."] {
        let mut git = bot.home.program("git", &["-C", place, "status"]);
        git.env("GIT_CEILING_DIRECTORIES", bot.home.path());
        let status = run(git, b"");
        assert_ne!(status.code, 0, "{place} is a repository: {}", status.out);
    }
    assert!(!bot.home.work().join("TRIPPED").exists());
    let result = command_result(&bot);
    for (path, aside) in
        [("src/.git", "src/git.made-by-a-command"), ("bare/HEAD", "bare/HEAD.made-by-a-command")]
    {
        assert!(ran.err.contains(&format!("repository at {path}, moved aside to {aside}")), "{}", ran.err);
        assert!(result.contains(&format!("moved aside: {path} is now {aside}")), "{result}");
        assert!(bot.home.work().join(aside).exists());
    }
    // The directory itself could not become one.
    assert!(result.contains("HEAD: ") && !bot.home.work().join("HEAD").exists(), "{result}");
}

#[test]
fn names_that_a_command_gives_cannot_look_like_lepos_words() {
    if !bubblewrap_works() {
        return;
    }
    let forge = r#"d="$(printf 'x\n\033[2JRun it?')"; mkdir "$d" .a; echo x > "$d/Makefile"
        mkdir -p ro/.git/objects ro/.git/refs; echo 'ref: refs/heads/main' > ro/.git/HEAD; chmod 555 ro"#;
    let bot = turn("write", forge);
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        !ran.err.contains('\x1b') && !ran.err.lines().any(|line| line.starts_with("Run it?")),
        "{}",
        ran.err
    );
    assert!(ran.err.contains(r#"note: "x\n\u{1b}[2JRun it?/Makefile" will run when"#), "{}", ran.err);
    assert!(
        ran.err.contains("repository at ro/.git, moved aside to ro/git.made-by-a-command"),
        "{}",
        ran.err
    );
}

#[test]
fn a_repository_without_a_git_directory_is_not_changed() {
    if !bubblewrap_works() {
        return;
    }
    let bot =
        turn("write", "echo EVIL >> fixture/config; mv fixture away; echo EVIL > fixture/hooks/x; true");
    let made = run(bot.home.program("git", &["init", "-q", "--bare", "fixture"]), b"");
    assert_eq!(made.code, 0, "{}", made.err);
    let before = bot.home.read("work/fixture/config");
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bot.home.read("work/fixture/config"), before);
    assert!(!bot.home.work().join("fixture/hooks/x").exists());
}

#[test]
fn what_tools_run_by_themselves_is_listed_after_the_command() {
    if !bubblewrap_works() {
        return;
    }
    let bot = turn(
        "write",
        "mkdir -p .vscode; echo x | tee .envrc .vscode/tasks.json Makefile; cp -p old/Makefile x",
    );
    bot.home.write("work/Makefile", "all:\n");
    bot.home.write("work/old/Makefile", "all:\n");
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in [
        "note: .envrc will run when you enter the directory (direnv)",
        "note: .vscode/tasks.json will run when you open the folder in VS Code",
        "note: Makefile will run when you run make",
    ] {
        assert!(ran.err.contains(line), "{}", ran.err);
    }
    assert!(!ran.err.contains("note: old/Makefile"), "{}", ran.err);
}

#[test]
fn what_a_session_of_the_user_runs_is_listed_by_its_link_too() {
    if !bubblewrap_works() {
        return;
    }
    let make = "mkdir -p fish autostart systemd/user; echo x | tee rc fish/config.fish autostart/a.desktop \
                systemd/user/a.service settings/b.fish other.fish";
    let bot = turn("write", make);
    let home = bot.home.path();
    bot.home.write("work/rc", "");
    bot.home.write("work/other.fish", "");
    bot.home.write("work/settings/a.fish", "");
    std::fs::create_dir_all(home.join(".config/fish")).unwrap();
    std::os::unix::fs::symlink("work/rc", home.join(".bashrc")).unwrap();
    std::os::unix::fs::symlink(bot.home.work().join("settings"), home.join(".config/fish/conf.d")).unwrap();
    std::os::unix::fs::symlink(bot.home.work().join("other.fish"), home.join(".config/fish/config.fish"))
        .unwrap();
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in [
        "note: rc will run when you start a shell",
        "note: autostart/a.desktop will run when you log in",
        "note: systemd/user/a.service will run when you log in (systemd)",
        "note: 3 files will run when you start fish: fish/config.fish, other.fish, settings/b.fish",
    ] {
        assert!(ran.err.contains(line), "{line}: {}", ran.err);
    }
}

#[test]
fn twenty_makefiles_do_not_hide_what_runs_when_a_directory_is_entered() {
    if !bubblewrap_works() {
        return;
    }
    let bot = turn(
        "write",
        "for i in $(seq -w 25); do mkdir d$i; echo x > d$i/Makefile; done; echo x > z.envrc; mv z.envrc d25/.envrc",
    );
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let notes: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(
        notes,
        [
            "note: d25/.envrc will run when you enter the directory (direnv)",
            "note: 25 files will run when you run make: d01/Makefile, d02/Makefile, d03/Makefile and 22 more",
        ],
        "{}",
        ran.err
    );
}

/// Every call that gives a file a mode, with the bits that make a program run as its owner or group.
const SET_IDS: &str = r#"
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
os.umask(0)
X = platform.machine() == "x86_64"
def raw(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def made(name):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755))
    return name
def how(*words):
    return (ctypes.c_ulonglong * 3)(*words)
def temporary(mode):
    file = os.open(".", 0o20200000 | os.O_WRONLY, mode)
    os.link("/proc/self/fd/%d" % file, "linked%o" % mode, follow_symlinks=True)
for bit in (0o4755, 0o2755, 0o6755):
    name = lambda what: "%s-%o" % (what, bit)
    of = lambda what: name(what).encode()
    attempts = {
        "chmod": lambda: os.chmod(made(name("chmod")), bit),
        "fchmod": lambda: os.fchmod(os.open(made(name("fchmod")), os.O_RDONLY), bit),
        "fchmodat": lambda: libc.fchmodat(-100, made(name("fchmodat")).encode(), bit, 0),
        "fchmodat2": lambda: raw(452, -100, made(name("fchmodat2")).encode(), bit, 0),
        "open": lambda: os.open(name("open"), os.O_CREAT | os.O_WRONLY, bit),
        "tmpfile": lambda: temporary(bit),
        "openat2": lambda: raw(437, -100, of("openat2"), how(os.O_CREAT | os.O_WRONLY, bit, 0), 24),
        "mknod": lambda: os.mknod(name("mknod"), 0o100000 | bit),
    }
    if X:
        attempts.update({
            "open by number": lambda: raw(2, of("two"), os.O_CREAT | os.O_WRONLY, bit),
            "creat": lambda: raw(85, of("creat"), bit),
            "chmod by number": lambda: raw(90, made(name("ninety")).encode(), bit),
            "mknod by number": lambda: raw(133, of("node"), 0o100000 | bit, 0),
            "chmod of x32": lambda: raw(0x40000000 | 90, made(name("x32")).encode(), bit),
            "high bits": lambda: raw(90, made(name("high")).encode(), ctypes.c_ulonglong(0xffffffff0000 << 16 | bit)),
        })
    for what, deed in attempts.items():
        try:
            deed()
        except OSError:
            pass
os.chmod(made("plain"), 0o751)
os.mkdir("dir", 0o1777)
print("came to the end")
"#;

#[test]
fn a_held_command_leaves_no_file_that_runs_as_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let without = without_bubblewrap(place.path());
    for user in users() {
        for (access, path) in [("write", None), ("net", None), ("read", Some(&without))] {
            if !(if path.is_some() { landlock_works() } else { bubblewrap_works() }) {
                continue;
            }
            let bot = turn(access, "python3 set_ids.py");
            bot.home.write("work/set_ids.py", SET_IDS);
            let mut lepo = bot.home.detached(&["do", "go"]);
            if let Some(path) = path {
                lepo.env("PATH", path);
            }
            if let Some(user) = user {
                let mut chown = std::process::Command::new("chown");
                assert!(
                    chown.args(["-R", &user.to_string()]).arg(bot.home.path()).status().unwrap().success()
                );
                lepo = as_user(lepo, user);
            }
            let ran = run(lepo, b"");
            assert_eq!(ran.code, 0, "{}", ran.err);
            let modes: std::collections::BTreeMap<String, u32> = std::fs::read_dir(bot.home.work())
                .unwrap()
                .flatten()
                .map(|entry| {
                    (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().permissions().mode())
                })
                .collect();
            let set: Vec<_> = modes.iter().filter(|(_, mode)| **mode & 0o6000 != 0).collect();
            assert!(set.is_empty(), "{access} {user:?}: {set:?} {}", command_result(&bot));
            if access != "read" {
                assert!(command_result(&bot).contains("came to the end"), "{}", command_result(&bot));
                assert_eq!((modes["plain"] & 0o7777, modes["dir"] & 0o7777), (0o751, 0o1777));
                assert!(!ran.err.contains("set-user-id"), "none came about: {}", ran.err);
            }
        }
    }
}

#[test]
fn keys_in_a_store_are_not_read_by_a_held_command() {
    let place = tempfile::tempdir().unwrap();
    let without = without_bubblewrap(place.path());
    let look = "cat .lepo/_config.toml .lepo/_mcp.json .lepo/_wire/* sub/.lepo/_config.toml sub/.lepo/_wire/x; \
        python3 look.py; for name in *; do echo $name; done; \
        cat .lepo/_insts.toml sub/.lepo/_insts.toml sub/beside; git status --short; echo end";
    // Whatever can be read, by any name that it has.
    let script = "import os\nfor top, _, names in os.walk('.'):\n  for name in names:\n    \
        try: print('KEY' if 'can' 'ary-77d1' in open(top + '/' + name).read() else 'none', name)\n    \
        except OSError: pass\n";
    for (access, path) in [("read", None), ("write", None), ("net", None), ("read", Some(&without))] {
        if !(if path.is_some() { landlock_works() } else { bubblewrap_works() }) {
            continue;
        }
        let bot = turn(access, look);
        bot.home.ok(&["init"]);
        assert_eq!(run(bot.home.program("git", &["init", "-q"]), b"").code, 0);
        for file in [".lepo/_mcp.json", ".lepo/_wire/x.json", "sub/.lepo/_config.toml", "sub/.lepo/_wire/x"] {
            bot.home.write(&format!("work/{file}"), KEY);
        }
        bot.home.write("work/elsewhere", format!("# {KEY}\n"));
        std::os::unix::fs::symlink("../elsewhere", bot.home.work().join(".lepo/_config.toml")).unwrap();
        bot.home.write("work/sub/.lepo/_insts.toml", "# instructions of sub\n");
        bot.home.write("work/sub/beside", "beside\n");
        bot.home.write("work/look.py", script);
        let mut lepo = bot.home.detached(&["do", "go"]);
        if let Some(path) = path {
            lepo.env("PATH", path);
        }
        let ran = run(lepo, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let result = command_result(&bot);
        assert!(
            !result.contains(KEY) && !result.contains("[secret: ") && !result.contains("\nKEY"),
            "{access} {path:?}: {result}"
        );
        for seen in
            ["general", "# instructions of sub", "beside", "none beside", "\nsub\n", "?? sub/", "\nend"]
        {
            assert!(result.contains(seen), "{access} {path:?} {seen}: {result}");
        }
        assert_eq!(bot.home.read("work/.lepo/_mcp.json"), KEY);
    }
}

#[test]
fn what_settings_of_git_name_is_not_changed_or_is_listed() {
    if !bubblewrap_works() {
        return;
    }
    let evil = "echo EVIL >> .gitconfig; echo EVIL > .hooks/pre-commit; mv .hooks away; mkdir other; \
        echo EVIL > other/settings; echo EVIL > tools/watch; touch ran";
    let bot = turn("write", evil);
    let made = run(bot.home.program("git", &["init", "-q"]), b"");
    assert_eq!(made.code, 0, "{}", made.err);
    let settings = bot.home.read("work/.git/config")
        + "[include]\n\tpath = ../.gitconfig\n\tpath = ../other/settings\n[core]\n\tfsmonitor = tools/watch\n";
    bot.home.write("work/.git/config", settings);
    bot.home.write(".gitconfig", "[core]\n\thooksPath = .hooks\n");
    let kept = ["work/.gitconfig", "work/.hooks/pre-commit"];
    kept.iter().for_each(|path| bot.home.write(path, "# mine\n"));
    bot.home.write("work/tools/watch", "");
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(bot.home.work().join("ran").exists());
    for path in kept {
        assert_eq!(bot.home.read(path), "# mine\n", "{}", command_result(&bot));
    }
    let listed =
        "note: 2 files will run when you use git, whose settings name it: other/settings, tools/watch\n";
    assert!(ran.err.contains(listed), "{}", ran.err);
}

#[test]
fn processes_and_threads_of_a_held_command_are_limited() {
    if !bubblewrap_works() {
        return;
    }
    let grow = "import os, threading\nthreading.stack_size(65536)\nend, n = threading.Event(), 0\n\
        try:\n while n < 6000:\n  threading.Thread(target=end.wait, daemon=True).start(); n += 1\n\
        except RuntimeError: pass\nprint('threads:', n, flush=True)\nos._exit(0)\n";
    for user in users() {
        // Root is held by a control group alone.
        if user.is_none() && is_root() && !Path::new("/sys/fs/cgroup/pids").is_dir() {
            continue;
        }
        let bot = turn("read", "python3 grow.py");
        bot.home.write("work/grow.py", grow);
        let mut lepo = bot.home.detached(&["do", "go"]);
        if let Some(user) = user {
            let mut chown = std::process::Command::new("chown");
            assert!(chown.args(["-R", &user.to_string()]).arg(bot.home.path()).status().unwrap().success());
            lepo = as_user(lepo, user);
        }
        let ran = run(lepo, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let result = command_result(&bot);
        let threads = result.lines().find_map(|line| line.strip_prefix("threads: ")?.parse::<u32>().ok());
        assert!(threads.is_some_and(|n| (100..6000).contains(&n)), "{user:?}: {result}");
    }
}

#[test]
fn more_entries_than_are_looked_at_are_no_reason_to_protect_none() {
    if !bubblewrap_works() {
        return;
    }
    // The limit before was 20,000; a repository behind more entries than that is protected as any other.
    let bot = turn("write", "echo EVIL > z/deep/.git/config; true");
    bot.home.write("work/z/deep/.git/config", "mine");
    std::fs::create_dir(bot.home.work().join("many")).unwrap();
    for i in 0..21_000 {
        std::fs::File::create(bot.home.work().join(format!("many/{i}"))).unwrap();
    }
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bot.home.read("work/z/deep/.git/config"), "mine", "{}", command_result(&bot));
}

/// As stow and other managers of dotfiles make them: files of the configuration, or its folder, are links into a
/// repository.
#[test]
fn the_configuration_is_not_changed_where_links_lead_to_it() {
    if !bubblewrap_works() {
        return;
    }
    let files = "cat dots/deep/config.toml; echo EVIL > dots/deep/config.toml; rm dots/deep/config.toml; \
        mv dots d2; mkdir -p dots/deep; echo EVIL > dots/deep/config.toml; echo EVIL > new.json; touch ran";
    let folder = "mv lepo l2; mkdir -p lepo/deep/config; echo EVIL > lepo/deep/config/config.toml; \
        ls lepo/deep/config; touch ran";
    for (command, config) in [(files, "dots/deep/config.toml"), (folder, "lepo/deep/config/config.toml")] {
        let bot = turn("write", command);
        let (own, work) = (bot.home.path().join("config"), bot.home.work());
        let settings = bot.home.read("config/config.toml");
        let target = work.join(config);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        if command == files {
            std::fs::rename(own.join("config.toml"), &target).unwrap();
            std::os::unix::fs::symlink(&target, own.join("config.toml")).unwrap();
            std::os::unix::fs::symlink(work.join("new.json"), own.join("mcp.json")).unwrap();
        } else {
            std::fs::remove_dir(target.parent().unwrap()).unwrap();
            std::fs::rename(&own, target.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target.parent().unwrap(), &own).unwrap();
        }
        let ran = bot.home.alone(&["do", "go"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let result = command_result(&bot);
        assert!(work.join("ran").exists(), "{result}");
        assert_eq!(bot.home.read(&format!("work/{config}")), settings, "{result}");
        assert!(!result.contains("provider"), "{result}");
        for made in ["d2", "l2", "new.json"] {
            assert!(!work.join(made).exists(), "{made}: {result}");
        }
    }
    // A link in the working directory itself could be replaced.
    let bot = turn("write", "touch ran");
    let (own, work) = (bot.home.path().join("config"), bot.home.work());
    std::fs::rename(&own, bot.home.path().join("real")).unwrap();
    std::os::unix::fs::symlink("../real", work.join("link")).unwrap();
    std::os::unix::fs::symlink("work/link", &own).unwrap();
    bot.home.alone(&["do", "go"]);
    let output = command_result(&bot);
    assert!(
        !work.join("ran").exists() && output.contains("work/link is a link, which a sandbox cannot"),
        "{output}"
    );
}

#[test]
fn in_a_home_directory_nothing_runs_unasked_and_what_begins_with_a_dot_is_hidden() {
    if !bubblewrap_works() {
        return;
    }
    let command = "cat .ssh/id .netrc dots/profile; echo EVIL >> .bashrc; echo EVIL > .new; mkdir .git; \
        echo EVIL > dots/profile; echo mine > plain/file && cat plain/file; ls .lepo | wc -l";
    let bot = turn("write", command);
    for (path, text) in
        [(".ssh/id", KEY), (".netrc", KEY), (".bashrc", "mine"), ("dots/profile", KEY), ("plain/x", "")]
    {
        bot.home.write(path, text);
    }
    std::os::unix::fs::symlink("dots/profile", bot.home.path().join(".profile")).unwrap();
    let ran = bot.home.alone(&["-c", "..", "do", "--dry-run", "go"]);
    let no_store = "this directory is or holds your home directory: commands cannot see";
    assert!(ran.err.contains(no_store) && !ran.err.contains("the store"), "{}", ran.err);
    let made = bot.home.lepo(&["-c", "..", "init"]);
    assert!(made.code == 0 && made.err.contains("this is your home directory"), "{}", made.err);
    // From a project below, which has no store of its own.
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("in your home directory"), "{}", ran.err);
    let pending = bot.home.ok(&["ls", "--pending"]);
    let ran = bot.home.alone(&["do", "--approve", &pending[..26]]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text: String = std::fs::read_dir(bot.home.path().join(".lepo"))
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .collect();
    assert!(!text.contains(KEY) && !text.contains("[secret: "), "{text}");
    assert!(text.contains("stdout:\nmine"), "{text}");
    assert_eq!(bot.home.read(".bashrc"), "mine");
    assert_eq!(bot.home.read("dots/profile"), KEY);
    assert_eq!(bot.home.read("plain/file"), "mine\n");
    for made in [".new", ".git"] {
        assert!(!bot.home.path().join(made).exists(), "{made}");
    }
}

#[test]
fn secret_variables_are_not_passed_unless_the_configuration_names_them() {
    if !bubblewrap_works() {
        return;
    }
    let request = json!({ "command": "env" }).to_string();
    let settings = format!("{SETTINGS}\n[sandbox]\nenv = ['NPM_TOKEN']");
    let bot = Bot::saying(&settings, &[COMMAND, &request, NONE, "Done."]);
    let mut lepo = bot.home.detached(&["do", "go"]);
    for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "PLAIN"] {
        lepo.env(name, format!("value-of-{name}"));
    }
    lepo.env("DATABASE_URL", "postgres://me:value-of-DATABASE_URL@host/db");
    let ran = run(lepo, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let actual = command_result(&bot);
    for (name, passed) in
        [("AWS_SECRET_ACCESS_KEY", false), ("GITHUB_TOKEN", false), ("DATABASE_URL", false), ("PLAIN", true)]
    {
        assert_eq!(actual.contains(&format!("value-of-{name}")), passed, "{name}: {actual}");
    }
    // The value of the variable that was passed by name is masked on disk.
    assert!(actual.contains("NPM_TOKEN=[secret: env-value "), "{actual}");
}

#[test]
fn a_process_that_says_it_is_a_servers_does_not_stay() {
    // The mark that servers bore before, and none of the environment at all.
    let place = tempfile::tempdir().unwrap();
    let path = without_bubblewrap(place.path());
    for access in ["read", "full"] {
        if access == "read" && !landlock_works() {
            continue;
        }
        let marker = format!("2998.{}{}", std::process::id(), access.len());
        let command = format!(
            "LEPO_SERVER_OF=$PPID setsid sleep {marker} & env -i /usr/bin/setsid /bin/sleep {marker} & \
             (setsid sh -c 'sleep {marker} & sleep {marker}' &) ; sleep 0.2"
        );
        let request = json!({ "access": access, "command": command }).to_string();
        let bot = Bot::saying(SETTINGS, &[COMMAND, &request, NONE, "Done."]);
        let approve = |id: &str| {
            let mut lepo = bot.home.detached(&["do", "--approve", id]);
            lepo.env("PATH", &path);
            run(lepo, b"")
        };
        let mut lepo = bot.home.detached(&["do", "go"]);
        lepo.env("PATH", &path);
        let ran = run(lepo, b"");
        if access == "full" {
            assert_eq!(ran.code, 4, "{}", ran.err);
            let id = bubbs(&bot.home).pop().unwrap().id;
            assert_eq!(approve(&id).code, 0);
        } else {
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        assert!(command_result(&bot).contains("exit code: 0"), "{}", command_result(&bot));
        assert_eq!(survivors(&marker), Vec::<String>::new(), "{access}");
    }
}

#[test]
fn a_lepo_that_is_killed_at_any_moment_leaves_no_process() {
    if !bubblewrap_works() {
        return;
    }
    let marker = format!("2997.{}", std::process::id());
    let home = Home::new();
    for delay in 0..30 {
        let bot = turn("read", &format!("setsid sleep {marker} & exec sleep {marker}"));
        let mut lepo = bot.home.command(&["do", "go"]);
        let mut lepo = lepo.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it is asked for a command", || bot.times_asked() >= 1);
        std::thread::sleep(Duration::from_millis(2 * delay));
        lepo.kill().unwrap();
        lepo.wait().unwrap();
        let left = || -> Vec<String> {
            let mut left = survivors(&marker);
            left.extend(survivors(&bot.home.path().display().to_string()));
            left
        };
        until("nothing of it runs", || left().is_empty());
    }
    drop(home);
}
