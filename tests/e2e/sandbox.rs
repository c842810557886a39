//! The sandbox, judged from outside: a probe tries every way out, and nothing may have changed.

mod left;
pub mod world;

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{finish, run, until};
use crate::pty::on_terminal;
use crate::scripted::{Piece, Reply, end, said};
use world::*;

#[test]
fn nothing_gets_out_of_bubblewrap() {
    if !bubblewrap_works() {
        return;
    }
    for user in users() {
        for access in ["read", "write", "net"] {
            World::new(access, user, 120).judge(access, None);
        }
    }
}

#[test]
fn nothing_gets_out_of_landlock() {
    if !landlock_works() {
        return;
    }
    for user in users() {
        let world = World::new("read", user, 120);
        let path = without_bubblewrap(world.elsewhere.path());
        world.judge("read", Some(&path));
    }
}

#[test]
fn where_nothing_holds_it_the_probe_gets_out() {
    // Else the tests above would prove nothing. Never as root: it would take the machine apart.
    let Some(user) = users().last().copied().filter(|user| user.is_some() || !is_root()) else { return };
    let world = World::new("full", user, 120);
    let mut lepo = world.bot.home.detached(&["do", "go"]);
    if let Some(user) = user {
        lepo = as_user(lepo, user);
    }
    assert_eq!(run(lepo, b"").code, 4);
    let id = bubbs(&world.bot.home).pop().unwrap().id;
    let (escapes, report) = world.escapes("read", None, &["do", "--approve", &id]);
    for expected in [
        "changed",
        "a secret was read",
        "a kept place was moved away",
        "TCP",
        "UDP",
        "unix socket in work",
        "unix socket elsewhere",
        "unix socket at home",
        "unix socket abstract",
        "a bystander was ended",
        "a lease",
    ] {
        assert!(
            escapes.iter().any(|escape| escape.starts_with(expected)),
            "{expected}: {escapes:#?}\n{report}"
        );
    }
}

#[test]
fn nothing_survives_the_time_limit() {
    if bubblewrap_works() {
        World::new("write", None, 3).judge("write", None);
    }
    if landlock_works() {
        let world = World::new("read", None, 3);
        let path = without_bubblewrap(world.elsewhere.path());
        world.judge("read", Some(&path));
    }
}

#[test]
fn what_landlock_cannot_hold_is_asked_as_full_is() {
    for access in ["write", "net", "full"] {
        let place = tempfile::tempdir().unwrap();
        let path = without_bubblewrap(place.path());
        let request = json!({ "access": access, "command": "echo x > ran" }).to_string();
        let bot =
            Bot::saying("tool_call_mode = 'auto'\nauto_access = 'net'", &[COMMAND, &request, NONE, "Done."]);
        let mut lepo = bot.home.detached(&["do", "go"]);
        lepo.env("PATH", &path);
        let ran = run(lepo, b"");
        assert_eq!(ran.code, 4, "{access}: {}", ran.err);
        assert_eq!(bot.home.read("work/ran"), "");
        // Asked for with a sandbox, it does not run without one, unless that is what is said.
        let id = bubbs(&bot.home).pop().unwrap().id;
        let decide = |options: &[&str]| {
            let mut lepo = bot.home.detached(&[&["do", "--approve", &id], options].concat());
            lepo.env("PATH", &path);
            run(lepo, b"")
        };
        if access != "full" {
            let ran = decide(&[]);
            assert_eq!(ran.code, 2, "{access}: {}", ran.err);
            assert!(ran.err.contains("--unheld"), "{}", ran.err);
            assert_eq!(bot.home.read("work/ran"), "");
        }
        let ran = decide(if access == "full" { &[] } else { &["--unheld"] });
        assert_eq!(ran.code, 0, "{access}: {}", ran.err);
        assert!(ran.err.contains(&format!("access: {access} (no sandbox)")), "{}", ran.err);
        assert_eq!(bot.home.read("work/ran"), "x\n");
    }
}

/// Output of a command of this access, held by bubblewrap.
fn printed(access: &str, command: &str, settings: &str, prepare: impl Fn(&Bot)) -> String {
    let request = json!({ "access": access, "command": command }).to_string();
    let settings = format!("tool_call_mode = 'auto'\nauto_access = 'net'\n{settings}");
    let bot = Bot::saying(&settings, &[COMMAND, &request, NONE, "Done."]);
    prepare(&bot);
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("sandboxed by bubblewrap"), "{}", ran.err);
    bubbs(&bot.home).into_iter().rev().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text
}

#[test]
fn a_level_allows_what_it_says() {
    if !bubblewrap_works() {
        return;
    }
    let write = printed("write", "echo 한글 > new && cat new && mkdir d && mv new d/ && ls d", "", |_| {});
    assert!(write.contains("exit code: 0\nstdout:\n한글\nnew"), "{write}");
    let net = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = net.local_addr().unwrap().port();
    let connect = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port})).send(b\"hi\")'"
    );
    assert!(printed("net", &connect, "", |_| {}).contains("exit code: 0"));
    let mut actual = [0; 2];
    net.accept().unwrap().0.read_exact(&mut actual).unwrap();
    assert_eq!(&actual, b"hi");
    assert!(printed("write", &connect, "", |_| {}).contains("exit code: 1"));
}

#[test]
fn tmp_and_run_are_empty_and_private() {
    let outside = tempfile::Builder::new().prefix("lepo-test-").tempdir_in("/tmp").unwrap();
    std::fs::write(outside.path().join("kept"), KEY).unwrap();
    let made = outside.path().with_extension("made");
    let look = format!(
        "cat {0}/kept; ls -A /run {0}; echo x > {1} && cat {1}; echo end",
        outside.path().display(),
        made.display()
    );
    if bubblewrap_works() {
        let seen = printed("read", &look, "", |_| {});
        assert!(seen.contains("stdout:\n/run:\nx\nend"), "{seen}");
        assert!(!seen.contains(KEY) && !made.exists(), "{seen}");
    }
    if landlock_works() {
        let request = json!({ "command": look }).to_string();
        let bot = Bot::saying("tool_call_mode = 'auto'", &[COMMAND, &request, NONE, "Done."]);
        let mut lepo = bot.home.detached(&["do", "go"]);
        lepo.env("PATH", without_bubblewrap(outside.path()));
        let ran = run(lepo, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        let seen = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text;
        assert!(seen.contains("stdout:\nend"), "{seen}");
        assert!(!seen.contains(KEY) && !made.exists(), "{seen}");
    }
}

#[test]
fn git_works_under_landlock_where_the_users_settings_are_denied() {
    if !landlock_works() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let request = json!({ "command": "git status --short" }).to_string();
    let bot = Bot::saying("tool_call_mode = 'auto'", &[COMMAND, &request, NONE, "Done."]);
    bot.home.write(".gitconfig", "[user]\n\tname = n\n");
    assert_eq!(run(bot.home.program("git", &["init", "-q"]), b"").code, 0);
    bot.home.write("work/file", "");
    let mut lepo = bot.home.detached(&["do", "go"]);
    lepo.env("PATH", without_bubblewrap(place.path()));
    let ran = run(lepo, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let stored = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text;
    assert!(stored.contains("exit code: 0") && stored.contains("?? file"), "{stored}");
}

#[test]
fn a_held_command_has_no_terminal() {
    // With Landlock none is opened either, which is where the path has no bubblewrap.
    let place = tempfile::tempdir().unwrap();
    let without = std::env::join_paths([without_bubblewrap(place.path())]).unwrap();
    for (access, path, sees) in
        [("read", None, false), ("net", None, false), ("read", Some(without), false), ("full", None, true)]
    {
        let works = if path.is_some() { landlock_works() } else { sees || bubblewrap_works() };
        if !works {
            continue;
        }
        let request = json!({ "access": access, "command": "printf TRIP%s PED > /dev/tty" }).to_string();
        let settings = "tool_call_mode = 'auto'\nauto_access = 'net'";
        let bot = Bot::saying(settings, &[COMMAND, &request, NONE, "Done."]);
        let mut lepo = bot.home.command(&["do", "go"]);
        if let Some(path) = &path {
            lepo.env("PATH", path);
        }
        let steps = if sees { &[("Run it? [y]es ", "y\n")][..] } else { &[] };
        let ran = on_terminal(lepo, steps);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(ran.out.contains("TRIPPED"), sees, "{access}: {}", ran.out);
        assert!(sees || ran.out.contains("sandboxed by"), "{}", ran.out);
    }
}

#[test]
fn a_held_command_goes_with_a_lepo_that_is_killed() {
    if !bubblewrap_works() {
        return;
    }
    // A number of seconds that no other process sleeps.
    let marker = format!("2999.{}", std::process::id());
    let command = format!("touch begun; setsid sleep {marker} & exec sleep {marker}");
    let request = json!({ "access": "write", "command": command }).to_string();
    let settings = "tool_call_mode = 'auto'\nauto_access = 'net'";
    let bot = Bot::saying(settings, &[COMMAND, &request]);
    let mut lepo =
        bot.home.command(&["do", "go"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the command runs", || bot.home.work().join("begun").exists());
    let mounted = [".git", "HEAD"].map(|name| bot.home.work().join(name));
    assert!(mounted.iter().all(|place| place.is_dir()));
    lepo.kill().unwrap();
    lepo.wait().unwrap();
    until("the command ends", || survivors(&marker).is_empty());
    // The directory that was mounted on goes too.
    until("nothing is left", || mounted.iter().all(|place| !place.exists()));
}

#[test]
fn lepos_environment_is_nobody_elses_while_it_works() {
    // Root reads everything.
    let Some(user) = users().last().copied().filter(|user| user.is_some() || !is_root()) else { return };
    let own = |command: std::process::Command| match user {
        Some(user) => as_user(command, user),
        None => command,
    };
    let reads = |pid: u32| {
        let mut cat = std::process::Command::new("cat");
        cat.arg(format!("/proc/{pid}/environ")).current_dir("/");
        run(own(cat), b"").code == 0
    };
    let bot = Bot::openai("planner = 'off'", [Reply::pieces([said("a"), Piece::Wait, end()])]);
    let chowned = std::process::Command::new("chown")
        .args(["-R", &user.unwrap_or_default().to_string()])
        .arg(bot.home.path())
        .status();
    assert!(user.is_none() || chowned.unwrap().success());
    let mut lepo = own(bot.home.command(&["do", "q"]));
    let mut lepo = lepo.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    until("it is asked", || !bot.server().asked().is_empty());
    let mut sleep = std::process::Command::new("sleep");
    let mut other = own({
        sleep.arg("1000").current_dir("/");
        sleep
    })
    .spawn()
    .unwrap();
    until("one that does nothing for it can be read", || reads(other.id()));
    let read = reads(lepo.id());
    bot.server().release();
    assert!(lepo.wait().unwrap().success());
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(!read);
}

#[test]
fn a_repository_that_is_not_there_is_not_made() {
    if !bubblewrap_works() {
        return;
    }
    let make = "mkdir .git; echo x > .git/config; mv .git away; rmdir .git; ln -s away .git; git init";
    let request = json!({ "access": "write", "command": make }).to_string();
    let settings = "tool_call_mode = 'auto'\nauto_access = 'net'";
    let bot = Bot::saying(settings, &[COMMAND, &request, NONE, "Done."]);
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let left: Vec<_> =
        std::fs::read_dir(bot.home.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".lepo"], "{ran_text}", ran_text = bubbs(&bot.home)[4].text);
}

#[test]
fn no_repository_and_no_store_below_is_changed() {
    if !bubblewrap_works() {
        return;
    }
    let git = |bot: &Bot, args: &[&str]| {
        let always = ["-c", "protocol.file.allow=always", "-c", "user.name=n", "-c", "user.email=e"];
        let ran = run(bot.home.program("git", &[&always, args].concat()), b"");
        assert_eq!(ran.code, 0, "git {args:?}: {}", ran.err);
    };
    let evil = "for place in lib nested deep/er worktree; do\n\
        mv $place/.git $place/.away; rm -rf $place/.git; mkdir $place/.git; echo EVIL > $place/.git/config\n\
        echo EVIL > $place/.git; mv $place $place.away; mkdir -p $place/.git; done\n\
        echo EVIL >> own/config; echo EVIL >> repository/config; echo EVIL > nested/.lepo/_insts.toml\n\
        mkdir empty/.git; echo EVIL > empty/.git/config; mv repository moved; mv own moved";
    let kept = [
        "lib/.git",
        "nested/.git/config",
        "deep/er/.git/config",
        "own/config",
        "work/.git",
        "repository/config",
        "tree/.git",
        "nested/.lepo/_insts.toml",
    ];
    let seen = std::cell::RefCell::new(Vec::new());
    let request = json!({ "access": "write", "command": evil }).to_string();
    let settings = "tool_call_mode = 'auto'\nauto_access = 'net'";
    let bot = Bot::saying(settings, &[COMMAND, &request, NONE, "Done."]);
    git(&bot, &["init", "-q", "../other"]);
    git(&bot, &["-C", "../other", "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&bot, &["init", "-q"]);
    git(&bot, &["submodule", "--quiet", "add", "../other", "lib"]);
    git(&bot, &["init", "-q", "nested"]);
    git(&bot, &["init", "-q", "deep/er"]);
    git(&bot, &["init", "-q", "--separate-git-dir", "own", "work"]);
    git(&bot, &["clone", "-q", "--bare", "../other", "repository"]);
    git(&bot, &["-C", "repository", "worktree", "add", "-q", "../tree"]);
    bot.home.write("work/nested/.lepo/_insts.toml", "general = 'mine'");
    bot.home.write("work/empty/x", "");
    let gitmodules = bot.home.read("work/.gitmodules");
    bot.home.write("work/.gitmodules", gitmodules + "[submodule \"empty\"]\n\tpath = empty\n");
    let look = || kept.map(|path| bot.home.read(&format!("work/{path}")));
    seen.borrow_mut().extend(look());
    assert!(seen.borrow().iter().all(|text| !text.is_empty()), "{seen:?}");
    let ran = bot.home.alone(&["do", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let stored = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text;
    assert_eq!(look().as_slice(), seen.borrow().as_slice(), "{stored}");
    assert!(!bot.home.work().join("empty/.git").exists(), "{stored}");
}

#[test]
fn of_two_commands_that_write_the_second_waits_for_the_first() {
    if !bubblewrap_works() {
        return;
    }
    let turn = |command: &str| {
        let request = json!({ "access": "write", "command": command }).to_string();
        let settings = "tool_call_mode = 'auto'\nauto_access = 'net'";
        Bot::saying(settings, &[COMMAND, &request, NONE, "Done."])
    };
    // In the directory of the other, or in one below, which the other could swap for a link.
    for place in ["", "below/"] {
        let first = turn(&format!(
            "touch first; until [ -e go ]; do sleep 0.02; done; [ -e {place}second ] || touch alone"
        ));
        let second = turn("touch second");
        first.home.write(&format!("work/{place}.lepo/_insts.toml"), "");
        let dir = first.home.work().join(place);
        let start = |bot: &Bot, dir: &Path| {
            // Each in a conversation of its own: they are two users, and would be asked about what the other wrote.
            let mut lepo = bot.home.detached(&["do", "-n", "go"]);
            lepo.current_dir(dir).stdin(Stdio::null());
            lepo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let one = start(&first, &first.home.work());
        until("the first runs", || first.home.work().join("first").exists());
        let two = start(&second, &dir);
        until("the second is asked for", || second.times_asked() == 2);
        std::thread::sleep(std::time::Duration::from_millis(300));
        first.home.write("work/go", "");
        let (one, two) = (finish(one), finish(two));
        assert_eq!((one.code, two.code), (0, 0), "{}\n{}", one.err, two.err);
        assert!(first.home.work().join("alone").exists(), "{place}: the second ran beside the first");
        assert!(dir.join("second").exists(), "{place}");
        assert!(!first.home.work().join(".git").exists());
    }
}

#[test]
fn what_a_killed_lepo_left_behind_goes_with_the_next_command() {
    if !bubblewrap_works() {
        return;
    }
    let request =
        json!({ "access": "write", "command": "echo x > .git/config; echo x > HEAD; touch ran" }).to_string();
    let settings = "tool_call_mode = 'auto'\nauto_access = 'net'";
    let bot = Bot::saying(settings, &[COMMAND, &request, NONE, "Done."]);
    for left in [".git", "HEAD"] {
        std::fs::create_dir(bot.home.work().join(left)).unwrap();
    }
    assert_eq!(bot.home.alone(&["do", "go"]).code, 0);
    assert!(bot.home.work().join("ran").exists());
    assert!(!bot.home.work().join(".git").exists() && !bot.home.work().join("HEAD").exists());
}

#[test]
fn bubblewrap_is_no_program_that_a_command_could_have_put_there() {
    if !bubblewrap_works() {
        return;
    }
    let planted = "#!/bin/sh\ntouch \"$HOME/planted\"\nexec /usr/bin/bwrap \"$@\"\n";
    let bot = Bot::saying("tool_call_mode = 'auto'", &[COMMAND, r#"{"command":"echo hi"}"#, NONE, "Done."]);
    for path in ["work/venv/bin/bwrap", "work/sh", "work/bwrap"] {
        bot.home.write_program(path, planted);
    }
    // One that cannot be run, and one that does not work, hide no other.
    bot.home.write("plain/bwrap", "");
    bot.home.write_program("broken/bwrap", "#!/bin/sh\nexit 1\n");
    std::os::unix::fs::symlink("work/venv", bot.home.path().join("link")).unwrap();
    let (home, work) = (bot.home.path().display(), bot.home.work());
    let mut lepo = bot.home.detached(&["do", "go"]);
    lepo.env(
        "PATH",
        format!(
            ".:{}/venv/bin:{home}/link/bin:{home}/plain:{home}/broken:/usr/local/bin:/usr/bin:/bin",
            work.display()
        ),
    );
    let ran = run(lepo, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("sandboxed by bubblewrap"), "{}", ran.err);
    assert!(!bot.home.path().join("planted").exists());
}

#[test]
fn a_configuration_that_is_named_is_hidden_with_its_key() {
    if !bubblewrap_works() {
        return;
    }
    let request = json!({ "access": "write", "command": "cat named/c.toml; echo done" }).to_string();
    let bot =
        Bot::saying("tool_call_mode = 'auto'\nauto_access = 'net'", &[COMMAND, &request, NONE, "Done."]);
    let config = bot.home.read("config/config.toml") + &format!("api_key = '{KEY}'\n");
    bot.home.write("work/named/c.toml", config);
    let ran = bot.home.alone(&["do", "--config", "named/c.toml", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let stored = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text;
    assert!(stored.contains("stdout:\ndone") && !stored.contains(KEY), "{stored}");
}

#[test]
fn a_command_goes_with_a_lepo_that_is_killed() {
    let bot = Bot::saying("", &[COMMAND, NONE]);
    let mut lepo = bot.home.command(&["do", "--run", "echo $$ > pid; exec sleep 60", "go"]);
    let mut lepo = lepo.stdin(Stdio::null()).spawn().unwrap();
    until("the command runs", || !bot.home.read("work/pid").is_empty());
    lepo.kill().unwrap();
    lepo.wait().unwrap();
    let stat = format!("/proc/{}/stat", bot.home.read("work/pid").trim());
    until("the command ends", || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
}

#[test]
fn the_users_own_home_is_hidden_whatever_home_is_set_to() {
    let own = std::fs::read_to_string("/etc/passwd").unwrap();
    let own =
        own.lines().find(|line| line.contains(":0:0:")).and_then(|line| line.split(':').nth(5)).unwrap();
    if !bubblewrap_works() || !is_root() || !Path::new(own).is_dir() {
        return;
    }
    let seen = printed("read", &format!("ls -A {own}"), "", |_| {});
    assert!(seen.ends_with("exit code: 0"), "{seen}");
}

#[test]
fn toolchains_in_the_home_directory_are_seen_and_their_tokens_are_not() {
    if !bubblewrap_works() {
        return;
    }
    let look = "cat ../.cargo/bin/tool; cat ../mine/tool; cat ../.cargo/credentials.toml; echo x > ../.cargo/bin/tool";
    let seen = printed("write", look, "[sandbox]\nread_only = ['~/mine']", |bot| {
        bot.home.write(".cargo/bin/tool", "a tool\n");
        bot.home.write(".cargo/credentials.toml", "canary\n");
        bot.home.write("mine/tool", "my tool\n");
    });
    assert!(seen.contains("stdout:\na tool\nmy tool\nstderr:"), "{seen}");
    assert!(!seen.contains("canary") && seen.contains("Read-only"), "{seen}");
}
