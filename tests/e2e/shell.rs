//! Running a command: its endings, its output, and that nothing of it stays.

use std::time::Duration;

use crate::bots::Bot;
use crate::disk::bubbs;

/// The result of the user's own command.
fn result_of(command: &str, settings: &str) -> String {
    let bot = Bot::saying(&format!("planner = 'off'\n{settings}"), &["Done."]);
    let ran = bot.home.alone(&["do", "--run", command, "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text;
    text.strip_prefix(&format!("$ {command}\n")).unwrap().to_string()
}

#[test]
fn every_ending_is_told() {
    for (command, settings, result) in [
        ("echo hi; echo no >&2; exit 3", "", "exit code: 3\nstdout:\nhi\nstderr:\nno"),
        ("kill -9 $$", "", "ended by signal 9"),
        ("nosuchprogram 2>/dev/null", "", "exit code: 127"),
        ("sleep 60", "command_timeout = 1", "ended after its time limit of 1 s"),
        // It has no terminal and nothing to read.
        ("cat", "", "exit code: 0"),
    ] {
        assert_eq!(result_of(command, settings), result, "{command}");
    }
}

#[test]
fn a_flood_is_ended() {
    let result = result_of("yes", "");
    assert!(result.starts_with("ended after it had printed 64 MiB\nstdout:\ny\n"), "{result:.200}");
}

#[test]
fn what_is_left_in_the_background_ends_too() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let file = pid_file.display();
    let line =
        format!("setsid sh -c 'echo $$ > {file}; exec sleep 60' & until [ -s {file} ]; do sleep 0.02; done");
    assert_eq!(result_of(&line, ""), "exit code: 0");
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "still there: {state}");
}

#[test]
fn what_forks_to_get_away_is_caught() {
    let dir = tempfile::tempdir().unwrap();
    let (script, pids) = (dir.path().join("chain.py"), dir.path().join("pids"));
    std::fs::write(&script, CHAIN).unwrap();
    let line = format!("python3 {} {}; exit 0", script.display(), pids.display());
    assert_eq!(result_of(&line, ""), "exit code: 0");
    // Longer than they fork on: what got away has written down its number by then.
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(std::fs::read_to_string(pids).unwrap(), "");
}

/// Three that are deaf, and a new process in a new session all the time, for three seconds.
const CHAIN: &str = "import os, signal, sys, time\n\
    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
    out, end = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND), time.time() + 3\n\
    if all(os.fork() for _ in range(3)): os._exit(0)\n\
    while time.time() < end:\n    if os.fork(): os._exit(0)\n    os.setsid()\n\
    os.write(out, b'%d ' % os.getpid())\ntime.sleep(60)\n";
