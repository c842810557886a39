//! The examples of `contrib/`, each run in the program it is for; skipped where that is not installed.

use std::path::PathBuf;
use std::process::Command;

use crate::home::{Home, run};
use crate::pty::on_terminal;

fn contrib(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contrib").join(file)
}

pub fn is_missing(program: &str) -> bool {
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

/// A conversation, and what an editor's command makes of it: the first question reworded and another one at the end,
/// then nothing.
fn check_rebase_in_editor(run_editor: impl Fn(&Home, &str, &str) -> crate::home::Ran) {
    let home = Home::new();
    let first = home.add(&["--prev", "head", "--time", "2025-03-01T12:00Z"], "첫 질문");
    let last = home.add(&["--kind", "a", "--prev", &first, "--time", "2025-03-01T12:01Z"], "so\n");
    let count = home.bubbs().len();
    let ran = run_editor(&home, &last, "unchanged");
    assert_eq!(home.bubbs().len(), count, "{}{}", ran.out, ran.err);
    assert!(format!("{}{}", ran.out, ran.err).contains("nothing changed"), "{}{}", ran.out, ran.err);
    let ran = run_editor(&home, &last, "changed");
    let tail = home.ok(&["resolve", "@"]);
    let shown: serde_json::Value = serde_json::from_str(&home.ok(&["show", "--json", tail.trim()])).unwrap();
    let texts: Vec<&str> =
        shown["bubbs"].as_array().unwrap().iter().map(|bubb| bubb["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["둘째 질문", "so\n", "마지막"], "{}{}", ran.out, ran.err);
}

#[test]
fn neovim_edits_a_conversation_in_a_buffer() {
    if is_missing("nvim") {
        return;
    }
    check_rebase_in_editor(|home, address, edit| {
        let script = contrib("editors/rebase.lua").display().to_string();
        let open = format!("LepoRebase {address}");
        let change = if edit == "changed" {
            "%s/첫/둘째/ | call append('$', ['%% user', '마지막'])"
        } else {
            "set ff?"
        };
        let commands = ["-S", &script, "-c", &open, "-c", change, "-c", "w", "-c", "qa!"];
        run(
            home.program(
                "nvim",
                &[&["--headless", "-u", "NONE", "-i", "NONE", "-n"], &commands[..]].concat(),
            ),
            b"",
        )
    });
}

#[test]
fn emacs_edits_a_conversation_in_a_buffer() {
    if is_missing("emacs") {
        return;
    }
    check_rebase_in_editor(|home, address, edit| {
        let script = contrib("editors/lepo-rebase.el").display().to_string();
        let change = if edit == "changed" {
            "(while (search-forward \"첫\" nil t) (replace-match \"둘째\")) (goto-char (point-max)) \
             (insert \"%% user\n마지막\n\")"
        } else {
            ""
        };
        let code = format!(
            ";; -*- coding: utf-8 -*-\n(lepo-rebase \"{address}\") {change} (lepo-rebase-send)\n\
             (princ (with-current-buffer \"*lepo rebase*\" (buffer-string)))\n"
        );
        home.write("work/edit.el", code);
        run(home.program("emacs", &["--batch", "-Q", "-l", &script, "-l", "./edit.el"]), b"")
    });
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

#[test]
fn one_store_answers_programs_in_three_languages() {
    let home = Home::new();
    let copied = Command::new("cp").arg("-r").arg(contrib("recorded")).arg(home.work()).status();
    assert!(copied.unwrap().success());
    for program in ["node", "curl"] {
        if run(home.program(program, &["--version"]), b"").code != 0 {
            return crate::skip::skipped(program, format!("there is no {program}"));
        }
    }
    let test = "recorded/clients/test.sh";
    let alone = ["-rn", "sh", "-c", "ip link set lo up && exec recorded/clients/test.sh"];
    let has_namespaces =
        run(home.program("unshare", &["-rn", "ip", "link", "set", "lo", "up"]), b"").code == 0;
    let ran = match has_namespaces {
        true => run(home.program("unshare", &alone), b""),
        false => run(home.program(test, &[]), b""),
    };
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("ok: ")).count(), 6, "{}", ran.out);
    // A word more in a note is a request that is not recorded.
    home.write("work/recorded/clients/notes/leap.txt", "Another year.\n");
    let ran = run(home.program(test, &[]), b"");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("FAILED: ").count(), 3, "{}", ran.out);
}

/// Every file of ours that a shell runs, with its first line.
fn scripts() -> Vec<(PathBuf, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> =
        ["contrib", "scripts", "packaging", "examples", "benches", ".ci"].map(|name| root.join(name)).into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let first = text.lines().next().unwrap_or_default().to_string();
            let is_sourced =
                path.extension().is_some_and(|end| ["bash", "zsh", "fish"].iter().any(|shell| end == *shell));
            if is_sourced || first.starts_with("#!") && first.contains("sh") {
                found.push((path, first));
            }
        }
    }
    found
}

#[test]
fn no_script_prints_words_of_others_with_echo() {
    let found = scripts();
    assert!(found.len() > 20, "{found:?}");
    for (path, first) in found {
        // `echo` of `/bin/sh` may read backslashes, and of any shell a leading `-n`.
        let is_posix = first.starts_with("#!/bin/sh");
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let of_others = ["echo \"$", "echo $", "echo -e"].iter().any(|echo| line.contains(echo));
            let may_escape = is_posix && line.contains("echo \"") && line.contains('$');
            assert!(!of_others && !may_escape, "{}: {line}", path.display());
        }
    }
}

#[test]
fn the_hook_prints_a_hostile_name_as_it_is_cleaned() {
    let home = Home::with_config("secrets = \"off\"\n");
    home.add(&["--prev", "head"], "a question");
    let name = "a\u{1b}[2J\\x\nb";
    home.write(&format!("work/.lepo/{name}"), crate::secrets::github_token(1));
    let path =
        format!("PATH='{}':$PATH", PathBuf::from(env!("CARGO_BIN_EXE_lepo")).parent().unwrap().display());
    let hook = contrib("hooks/pre-commit").display().to_string();
    let script = format!("{path}; git init -q . && git add -f .lepo && sh '{hook}'");
    let ran = run(home.shell(&script), b"");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("a␛[2J\\x␊b github-token line 1\n"), "{:?}", ran.err);
}
