//! Faults around lepo: limits, full devices, closed streams, and death at any system call.
//!
//! The slow sweeps are in `scripts/faults` and `scripts/powercut`; the one of `add` is run from here.

use std::path::Path;
use std::process::Command;

use crate::bots::Bot;
use crate::disk;
use crate::home::{Home, Ran, run};
use crate::sandbox::world::{as_user, is_root};

fn bash(home: &Home, line: &str, stdin: &[u8]) -> Ran {
    run(home.shell(line), stdin)
}

#[test]
fn a_file_size_limit_is_an_error_and_not_a_silent_end() {
    let home = Home::new();
    let first = home.add(&[], "first");
    let ran = bash(&home, "ulimit -f 1; exec lepo add", &[b'x'; 100_000]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("cannot write .lepo/_tmp/") && ran.err.contains("ulimit -f"), "{}", ran.err);
    let left: Vec<_> = std::fs::read_dir(home.work().join(".lepo/_tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(home.ok(&["ls"]), format!("{first} (1): first\n"));
    let ran = bash(&home, "ulimit -f 0; exec lepo ls >out", b"");
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("cannot write the output"), "{}", ran.err);
}

#[test]
fn without_descriptors_nothing_is_written_and_it_is_said() {
    let home = Home::new();
    home.add(&[], "first");
    let ran = bash(&home, "ulimit -n 4; exec lepo add", b"x");
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    assert_eq!(home.bubbs().len(), 1);
}

/// From none to enough of them: an answer, or an error with its exit code; never a panic.
#[test]
fn with_few_descriptors_do_answers_or_says_why_not() {
    let mut codes = Vec::new();
    for limit in 4..24 {
        let bot = Bot::saying("planner = \"off\"", &["Paris."]);
        let ran = bash(&bot.home, &format!("ulimit -n {limit}; exec lepo do --no-stdin q"), b"");
        assert!(
            !ran.err.contains("panicked") && [0, 2, 3, 5].contains(&ran.code),
            "{limit}: {} {}",
            ran.code,
            ran.err
        );
        assert_eq!(ran.code == 0, ran.out == "Paris.\n", "{limit}: {}", ran.err);
        codes.push(ran.code);
    }
    assert!(codes.first() != Some(&0) && codes.last() == Some(&0), "{codes:?}");
}

#[test]
fn with_few_descriptors_a_download_or_a_list_of_models_fails_without_a_panic() {
    let home = Home::new();
    let model = r#"[[models]]
name = "far"
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:9/v1"
"#;
    home.write("config/config.toml", model);
    for limit in 4..16 {
        for line in ["do --no-stdin --attach http://127.0.0.1:9/a.png q", "model ls --remote far"] {
            let ran = bash(&home, &format!("ulimit -n {limit}; exec lepo {line}"), b"");
            assert!(
                !ran.err.contains("panicked") && [2, 3, 5].contains(&ran.code),
                "{limit} {line}: {} {}",
                ran.code,
                ran.err
            );
        }
    }
}

/// From one to enough of them, also for the programs that lepo starts: a thread that cannot be had is done without.
#[test]
fn with_few_threads_lepo_answers_and_says_what_could_not_start() {
    // A limit is on all that a user runs: one that runs nothing else is needed.
    if !is_root() {
        return;
    }
    for limit in 1..10 {
        for (settings, args) in [
            ("planner = \"off\"", &["do", "--no-stdin", "q"][..]),
            ("planner = \"off\"", &["do", "--no-stdin", "--run", "echo hi", "q"]),
            ("", &["grep", "x"]),
            ("", &["ls"]),
        ] {
            let bot = Bot::saying(settings, &["Paris."]);
            bot.home.add(&[], "x");
            let user = 64_000 + limit;
            let chown = Command::new("chown").args(["-R", &user.to_string()]).arg(bot.home.path()).status();
            assert!(chown.unwrap().success());
            let mut limited = Command::new("prlimit");
            let lepo = bot.home.detached(args);
            limited.arg(format!("--nproc={limit}")).arg(lepo.get_program()).args(lepo.get_args());
            lepo.get_current_dir().map(|dir| limited.current_dir(dir));
            limited.envs(lepo.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let ran = run(as_user(limited, user), b"");
            assert_eq!(ran.code, 0, "{limit} {args:?}: {}", ran.err);
            assert!(!ran.err.contains("panicked"), "{limit} {args:?}: {}", ran.err);
            if args.contains(&"--run") {
                let result = &disk::bubbs(&bot.home)[1].text;
                let started = result.contains("stdout:\nhi");
                assert!(started || result.contains("could not be started: "), "{limit}: {result}");
                assert!(limit != 1 && limit != 9 || started == (limit == 9), "{limit}: {result}");
            }
        }
    }
}

#[test]
fn closed_and_full_streams_are_no_panic() {
    let home = Home::new();
    home.add(&[], "hello");
    for (line, codes) in [
        ("exec lepo ls >&-", &[0, 5][..]),
        ("exec lepo ls >&- 2>&-", &[0, 5]),
        ("exec lepo ls <&- >/dev/null", &[0]),
        ("exec lepo show NOBODY 2>&-", &[2]),
        ("exec lepo show NOBODY 2>/dev/full", &[2]),
        ("exec lepo show >/dev/full 2>/dev/full", &[5]),
        ("echo x | lepo add >/dev/full", &[5]),
        ("exec lepo --help >/dev/full", &[5]),
        ("exec lepo -h >/dev/full", &[5]),
        ("exec lepo help ls >/dev/full", &[5]),
        ("exec lepo -v >/dev/full", &[5]),
        ("exec lepo add <&-", &[2, 5]),
        ("exec lepo add <.", &[5]),
    ] {
        let ran = bash(&home, line, b"");
        assert!(codes.contains(&ran.code), "{line}: {} {}", ran.code, ran.err);
    }
    // The message is there, also if its id could not be told.
    assert_eq!(home.bubbs().len(), 2);
}

#[test]
fn a_store_whose_making_was_interrupted_is_completed_by_the_next_writer() {
    let home = Home::new();
    std::fs::create_dir(home.work().join(".lepo")).unwrap();
    home.add(&[], "hello");
    let read = |file: &str| std::fs::read_to_string(home.work().join(".lepo").join(file));
    let ignores = "*\n/_tmp/\n/_cache/\n/_wire/\n/_from/\n/_journal.ndjson\n/_removed/\n/_undo.ndjson\n";
    assert_eq!(read(".gitignore").unwrap(), ignores);
    assert!(read("_insts.toml").unwrap().contains("general"));
    // Taken away later, it stays away: it is the user who wants the store in version control.
    std::fs::remove_file(home.work().join(".lepo/.gitignore")).unwrap();
    home.add(&[], "more");
    assert!(read(".gitignore").is_err());
}

#[test]
fn killed_at_any_system_call_a_rebase_is_completed_by_the_next() {
    killed_at_any_system_call("kill-rebase", &["--every", "2"]);
}

#[test]
fn killed_at_any_system_call_an_edited_text_is_completed_by_the_same() {
    killed_at_any_system_call("kill-text", &["--every", "2"]);
}

#[test]
fn killed_at_any_system_call_add_loses_nothing() {
    killed_at_any_system_call("kill-add", &[]);
}

/// Runs one part of `scripts/faults`: of the calls that change something, before which it makes no difference at which
/// of the others it ends.
fn killed_at_any_system_call(part: &str, more: &[&str]) {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("strace") || !has("python3") {
        crate::skip::skipped("strace", "scripts/faults needs strace and python3");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/faults");
    let mut command = Command::new(script);
    command.args(["--changes", "--only", part, "--lepo", env!("CARGO_BIN_EXE_lepo")]).args(more);
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("points"), "{}", ran.out);
}

#[test]
fn a_program_started_by_lepo_has_every_stream_and_ends_at_a_closed_pipe() {
    let home = Home::new();
    home.write_program(
        "bin/lepo-probe",
        "#!/bin/sh\nread line; echo out && echo err >&2 && kill -PIPE $$\nexit 3\n",
    );
    for streams in ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let ran = bash(&home, &format!("PATH=$HOME/bin:$PATH; lepo probe {streams}; echo $?"), b"line\n");
        assert!(ran.out.ends_with("141\n"), "{streams}: {} {}", ran.out, ran.err);
    }
}
