//! `sandbox` of a model with `provider = "acp"`: the whole agent is held, and where nothing can hold it, it is not started.

use std::net::TcpListener;
use std::process::Stdio;

use crate::home::{Home, until};
use crate::pty::on_terminal;
use crate::sandbox::world::{bubblewrap_works, without_bubblewrap};

/// A home whose model is the scripted agent, started with these keys.
fn home(keys: &str) -> Home {
    let agent = include_str!("../../data/acp/agent.py");
    let home = Home::with_config(&format!(
        "[[models]]\nname = \"robot\"\nprovider = \"acp\"\ncommand = [\"python3\", \"agent.py\"]\nactive = true\n{keys}\n"
    ));
    home.write("work/agent.py", agent);
    home.trust_work();
    home
}

#[test]
fn a_held_agent_does_what_its_access_allows_and_nothing_else() {
    if !bubblewrap_works() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let done = |yes: bool, error: &str| if yes { "done".to_string() } else { error.to_string() };
    for (access, writes, network) in [("read", false, false), ("write", true, false), ("net", true, true)] {
        let home = home(&format!("sandbox = \"{access}\"\nsandbox_home = [\"~/.robot\"]"));
        home.write(".robot/known", "");
        home.write(".ssh/key", "canary");
        home.write("config/own", "canary");
        let tries = format!(
            "try write=made write=~/.robot/made write=/usr/made write=~/made mkdir=.lepo/made read=~/.ssh/key \
             read={} dial={port} env=ROBOT_TOKEN",
            home.path().join("config/own").display()
        );
        let mut command = home.command(&["do", &tries]);
        command.env("ROBOT_TOKEN", "its own");
        let ran = crate::home::run(command, b"");
        assert_eq!(ran.code, 0, "{access}: {}", ran.err);
        let expected = [
            format!("write: {}", done(writes, "OSError")),
            "write: done".to_string(),
            "write: OSError".to_string(),
            // In a home of the sandbox's own.
            "write: done".to_string(),
            "mkdir: OSError".to_string(),
            "read: FileNotFoundError".to_string(),
            "read: FileNotFoundError".to_string(),
            format!("dial: {}", done(network, "ConnectionRefusedError")),
            "env ROBOT_TOKEN: its own".to_string(),
        ];
        assert_eq!(ran.out.lines().collect::<Vec<_>>(), expected, "{access}: {}", ran.err);
        assert_eq!(home.work().join("made").exists(), writes, "{access}");
        assert_eq!(home.read(".robot/made"), "by the agent\n");
        assert!(!home.path().join("made").exists());
        let note =
            format!("note: robot is sandboxed by bubblewrap with access `{access}`: it has no network");
        assert_eq!(ran.err.contains(&note), !network, "{}", ran.err);
    }
}

#[test]
fn the_question_says_what_holds_the_agent_and_its_session_is_taken_up_again() {
    if !bubblewrap_works() {
        return;
    }
    let home = home("sandbox = \"write\"\nsandbox_home = [\"~/.robot\"]");
    home.write(".robot/known", "");
    let keys = [
        ("> ", "ask make\r"),
        ("Allow it? [y]es", "y\n"),
        ("Allowed.", ""),
        ("> ", "two\r"),
        ("Heard: two", ""),
        ("> ", "\x04"),
    ];
    let ran = on_terminal(home.command(&["do"]), &keys);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let shown = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "its own tools, sandboxed by bubblewrap with access `write`, without a network; it may also write in ~/.robot.";
    assert!(shown.contains(words), "{}", ran.out);
    assert_eq!(ran.out.matches("it has no network").count(), 1, "{}", ran.out);
    // It ends with its answer: the next question starts it anew.
    let log = home.read(".robot/agent.log");
    assert_eq!(log.matches("\"initialize\"").count(), 2, "{log}");
    assert_eq!((log.matches("session/new").count(), log.matches("session/load").count()), (1, 1), "{log}");
}

#[test]
fn what_a_held_agent_leaves_is_looked_through() {
    if !bubblewrap_works() {
        return;
    }
    let home = home("sandbox = \"write\"");
    let ran = home.lepo(&["do", "try mkdir=sub/.git write=sub/.git/config write=sub/Makefile"]);
    assert_eq!(ran.out, "mkdir: done\nwrite: done\nwrite: done\n", "{}", ran.err);
    assert!(ran.err.contains("warning: robot made a git repository at sub/.git, moved aside"), "{}", ran.err);
    assert!(ran.err.contains("sub/Makefile will run when"), "{}", ran.err);
    assert!(!home.work().join("sub/.git").exists());
}

#[test]
fn a_held_agent_ends_with_lepo_however_that_ends() {
    if !bubblewrap_works() {
        return;
    }
    let home = home("sandbox = \"write\"");
    for signal in [rustix::process::Signal::KILL, rustix::process::Signal::TERM] {
        let mut command = home.command(&["do", "-n", "lock locked"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut seen = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut seen).unwrap();
        let file = std::fs::File::open(home.work().join("locked")).unwrap();
        let is_free = || {
            rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
                && rustix::fs::flock(&file, rustix::fs::FlockOperation::Unlock).is_ok()
        };
        assert!(!is_free());
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        until("the agent's end", is_free);
    }
}

#[test]
fn where_nothing_can_hold_it_an_agent_is_not_started() {
    let home = home("sandbox = \"write\"");
    let place = tempfile::tempdir().unwrap();
    let mut command = home.command(&["do", "try write=made"]);
    command.env("PATH", without_bubblewrap(place.path()));
    let ran = crate::home::run(command, b"");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(
        ran.err.contains("robot is not started: nothing here can enforce its sandbox `write`"),
        "{}",
        ran.err
    );
    assert!(!home.work().join("made").exists() && !home.path().join("agent.log").exists());
}

#[test]
fn a_folder_that_would_open_too_much_is_refused() {
    for (folder, words) in [
        ("~/", "is the whole home directory"),
        ("/", "is the whole home directory"),
        ("~/none", "is not a folder"),
        ("~/config", "belongs to lepo"),
    ] {
        let home = home(&format!("sandbox = \"read\"\nsandbox_home = [{folder:?}]"));
        let ran = home.lepo(&["do", "hi"]);
        assert_eq!(ran.code, 2, "{folder}: {}", ran.err);
        assert!(ran.err.contains(words), "{folder}: {}", ran.err);
        assert!(!home.path().join("agent.log").exists());
    }
}

#[test]
fn the_models_of_a_held_agent_are_listed_from_within_its_sandbox() {
    if !bubblewrap_works() {
        return;
    }
    let home = home("sandbox = \"read\"");
    assert_eq!(home.ok(&["model", "ls", "--remote", "robot"]), "small\nlarge\n");
    assert!(!home.path().join("agent-sessions").exists());
}
