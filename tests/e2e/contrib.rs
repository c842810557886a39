//! The examples of `contrib/`, each run in the program it is for; skipped where that is not installed.

use std::path::PathBuf;
use std::process::Command;

use crate::bots::Bot;
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

/// What Neovim's buffer of answers holds after a command on a buffer of two lines.
fn asked_in_neovim(bot: &Bot, command: &str, awaited: &str) -> String {
    bot.home.write("work/code.txt", "let a = 1;\nlet b = 2;\n");
    let wait = format!(
        "lua vim.wait(15000, function() return table.concat(vim.api.nvim_buf_get_lines(\
         vim.fn.bufnr('lepo://answer'), 0, -1, false), '\\n'):find({awaited:?}, 1, true) end, 20)"
    );
    let write = "lua vim.fn.writefile(vim.api.nvim_buf_get_lines(vim.fn.bufnr('lepo://answer'), 0, -1, false), 'out.md')";
    let source = format!("luafile {}", contrib("nvim/lepo.lua").display());
    let mut args = vec!["--headless", "-u", "NONE", "-i", "NONE", "code.txt"];
    for line in [&source, command, &wait, write, "qa!"] {
        args.extend(["-c", line]);
    }
    let ran = run(bot.home.program("nvim", &args), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    bot.home.read("work/out.md")
}

#[test]
fn neovim_shows_the_answer_and_sends_the_selected_lines() {
    if is_missing("nvim") {
        return;
    }
    let bot = Bot::saying("planner = \"off\"", &["One line,\nand 둘째.", "Fine."]);
    let shown = asked_in_neovim(&bot, "Lepo What is \"this\"?", "둘째");
    assert!(shown.starts_with("# What is \"this\"?\n\nOne line,\nand 둘째."), "{shown}");
    let shown = asked_in_neovim(&bot, "2,2Lepo! Review it.", "Fine.");
    assert!(shown.starts_with("# Review it.\n\nFine."), "{shown}");
    let last = bot.bodies()[1]["messages"].to_string();
    assert!(last.contains("let b = 2;") && !last.contains("let a = 1;") && !last.contains("둘째"), "{last}");
}

#[test]
fn neovim_tells_of_what_waits_and_what_fails() {
    if is_missing("nvim") {
        return;
    }
    let call = r#"{"tool":"command"}"#;
    let bot = Bot::saying("planner = \"chooser\"", &[call, r#"{"access":"read","command":"ls"}"#]);
    let shown = asked_in_neovim(&bot, "Lepo What is here?", "--deny");
    let waiting = bot.home.ok(&["ls", "--pending"]);
    let id = waiting.split(' ').next().unwrap();
    assert!(shown.contains(&format!("> lepo do --approve {id}\n> lepo do --deny {id}")), "{shown}");
    let broken = Bot::openai("planner = \"off\"", [crate::scripted::Reply::new(404, "{}")]);
    let shown = asked_in_neovim(&broken, "Lepo Hello?", "404");
    assert!(shown.contains("> no model \"m\" at"), "{shown}");
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
