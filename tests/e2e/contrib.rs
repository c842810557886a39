//! The examples of `contrib/`, each run in the program it is for; skipped where that is not installed.

use std::path::PathBuf;
use std::process::Command;

use crate::home::{Home, run};
use crate::pty::on_terminal;

fn contrib(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contrib").join(file)
}

fn is_missing(program: &str) -> bool {
    let missing = Command::new(program).arg("--version").output().is_err();
    if missing {
        crate::skip::skipped(program, format!("no {program} here"));
    }
    missing
}

#[test]
fn the_settings_of_editors_start_the_agent() {
    for file in ["zed.json", "jetbrains.json"] {
        let text = std::fs::read_to_string(contrib("editors").join(file)).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
        let agent = &settings["agent_servers"]["lepo"];
        assert_eq!(
            (&agent["command"], &agent["args"]),
            (&"lepo".into(), &serde_json::json!(["do", "--acp"])),
            "{file}"
        );
    }
    if !is_missing("nvim") {
        let file = contrib("editors/codecompanion.lua").display().to_string();
        let compile = format!("lua assert(loadfile({file:?}))");
        let ran = Command::new("nvim")
            .args(["--headless", "-u", "NONE", "-c", &compile, "-c", "qa!"])
            .output()
            .unwrap();
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn fzf_chooses_a_conversation_beside_its_text() {
    if is_missing("fzf") {
        return;
    }
    let home = Home::new();
    let first = home.add(&[], "what of time zones?");
    let answer = home.add(&["--kind", "a"], "UTC within, local outside. 한글도.");
    let second = home.add(&["--prev", "head"], "another matter");
    let source = contrib("fzf/lepo.bash");
    for shell in ["bash --norc", "zsh -f"] {
        if is_missing(shell.split(' ').next().unwrap()) {
            continue;
        }
        // The list shows both, the preview the text of the chosen one; Ctrl+Y prints its id.
        let lf = |words: &str, keys: &[(&str, &str)]| {
            let script = format!(
                "stty cols 120 rows 30; {shell} -c '. {}; chosen=$(lf {words}); echo chosen:$chosen:'",
                source.display()
            );
            on_terminal(home.terminal(&script), keys).out
        };
        let shown = lf("", &[("another matter", ""), ("another matter", "zones"), ("UTC within", "\x19")]);
        assert!(shown.contains(&format!("chosen:{answer}:")), "{shell}: {shown}");
        let shown = lf("another", &[("another matter", "\x19")]);
        assert!(shown.contains(&format!("chosen:{second}:")), "{shell}: {shown}");
        // Left without a choice, nothing is done; Ctrl+B makes a branch.
        assert!(lf("", &[("another matter", "\x1b")]).contains("chosen::"), "{shell}");
        let branch = format!("by-{}", shell.split(' ').next().unwrap());
        lf("zones", &[("time zones?", "\x02"), ("name of the branch: ", &format!("{branch}\n"))]);
        assert_eq!(home.ok(&["resolve", &branch]).trim(), answer, "{shell}");
    }
    assert_ne!(first, answer);
}

#[test]
fn the_recorded_tests_pass_with_the_network_taken_away() {
    let home = Home::new();
    let copied = Command::new("cp").arg("-r").arg(contrib("recorded")).arg(home.work()).status();
    assert!(copied.unwrap().success());
    let unshared = run(home.program("unshare", &["-rn", "true"]), b"");
    let ran = if unshared.code == 0 {
        run(home.program("unshare", &["-rn", "recorded/test.sh"]), b"")
    } else {
        crate::skip::skipped(
            "unshare",
            "no network namespace can be made here: the tests run with the network",
        );
        run(home.program("recorded/test.sh", &[]), b"")
    };
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("ok: ")).count(), 4, "{}", ran.out);
    // Nothing was written.
    let listed = |folder: PathBuf| {
        let files = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(listed(home.work().join("recorded/.lepo")), listed(contrib("recorded/.lepo")));
}
