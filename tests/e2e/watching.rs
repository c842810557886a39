//! `watch`: every bubb once, at once, whoever wrote it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::home::{DEADLINE, Home, until};

/// A running `lepo watch`, and its lines as they come.
pub struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    pub fn begin(home: &Home, args: &[&str]) -> Watching {
        let (mut child, stdout) = spawn(home, args);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        await_watch(&mut child);
        Watching { child, lines }
    }

    pub fn line(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line comes")
    }

    fn signal(&self, signal: &str) {
        let status = std::process::Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(home: &Home, args: &[&str]) -> (Child, ChildStdout) {
    let mut command = home.command(&[&["watch"], args].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    (child, stdout)
}

/// The kernel shows in `/proc` that a directory is watched.
fn await_watch(child: &mut Child) {
    let fds = format!("/proc/{}/fdinfo", child.id());
    until("the watch", || {
        let Ok(entries) = std::fs::read_dir(&fds) else { return false };
        entries.flatten().any(|fd| std::fs::read_to_string(fd.path()).is_ok_and(|t| t.contains("inotify wd")))
    });
}

#[test]
fn each_bubb_is_a_line_as_it_is_written() {
    let home = Home::new();
    home.add(&[], "before");
    let watching = Watching::begin(&home, &[]);
    let id = home.add(&[], "What is the capital of France, please?");
    assert_eq!(watching.line(), format!("{id} u0 What is the  ... nce, please?"));
    home.add(&["--kind", "a", "--hidden"], "hidden");
    home.write("work/.lepo/notes.txt", "foreign");
    home.write("work/.lepo/_tmp/a0-head-1-1", "a spool");
    let by_hand = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
    home.write(&format!("work/.lepo/{by_hand}-a0-{id}.md"), "손으로 쓴 글");
    assert_eq!(watching.line(), format!("{by_hand} a0 손으로 쓴 글"));
    watching.signal("-INT");
}

#[test]
fn hidden_ones_and_json_on_wish() {
    let home = Home::new();
    home.ok(&["init"]);
    let watching = Watching::begin(&home, &["-a", "--json"]);
    let id = home.add(&["--kind", "t", "--hidden"], "result");
    let line: serde_json::Value = serde_json::from_str(&watching.line()).unwrap();
    assert_eq!(line["id"], id);
    assert_eq!(
        (&line["kind"], &line["hidden"], &line["excerpt"]),
        (&"tool".into(), &true.into(), &"result".into())
    );
}

#[test]
fn days_that_move_are_no_news() {
    let home = Home::with_config("tidy = false\n");
    home.ok(&["init"]);
    let watching = Watching::begin(&home, &[]);
    for i in 0..20 {
        home.write(&format!("work/.lepo/01JB3Z0Q4N8V2K5T7W9X{i:06}-u0-head.md"), format!("number {i}"));
    }
    (0..20).for_each(|_| drop(watching.line()));
    home.ok(&["tidy", "--keep", "0"]);
    assert_eq!(home.bubbs().len(), 0, "all have moved");
    let next = home.add(&[], "the next");
    assert_eq!(watching.line(), format!("{next} u0 the next"));
}

#[test]
fn a_queue_that_overflows_loses_nothing() {
    let home = Home::new();
    home.ok(&["init"]);
    let watching = Watching::begin(&home, &[]);
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    // Each file is at least three events: made, written, closed. While it is stopped they all wait.
    let count = limit.trim().parse::<usize>().unwrap() / 3 + 100;
    watching.signal("-STOP");
    for i in 0..count {
        home.write(&format!("work/.lepo/01JB3Z0Q4N8V2K5T7W9X{i:06}-u0-head.md"), format!("number {i}"));
    }
    watching.signal("-CONT");
    let mut lines: Vec<String> = (0..count).map(|_| watching.line()).collect();
    lines.sort();
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(line, &format!("01JB3Z0Q4N8V2K5T7W9X{i:06} u0 number {i}"));
    }
    // And nothing twice.
    let last = home.add(&[], "the last");
    assert_eq!(watching.line(), format!("{last} u0 the last"));
}

#[test]
fn a_store_that_vanishes_is_an_error() {
    for remove in [true, false] {
        let home = Home::new();
        home.add(&[], "one");
        let mut watching = Watching::begin(&home, &[]);
        let store = home.work().join(".lepo");
        match remove {
            true => std::fs::remove_dir_all(&store).unwrap(),
            false => std::fs::rename(&store, home.work().join("elsewhere")).unwrap(),
        }
        assert_eq!(watching.child.wait().unwrap().code(), Some(5));
        let err = std::io::read_to_string(watching.child.stderr.take().unwrap()).unwrap();
        assert!(err.contains(".lepo is gone"), "{err}");
    }
}

#[test]
fn it_ends_quietly_when_nobody_reads() {
    let home = Home::new();
    home.ok(&["init"]);
    let (mut child, stdout) = spawn(&home, &[]);
    await_watch(&mut child);
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(std::io::read_to_string(child.stderr.take().unwrap()).unwrap(), "");
}
