//! Files that others may have put into a store in the place of lepo's own: nothing is read or written
//! through a link, and no fifo is waited for.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::bots::Bot;
use crate::home::{Home, Ran, run};
use crate::mcp::{configure, hostile, texts_below};
use crate::pty::on_terminal;
use crate::scripted::{Reply, openai_calls, openai_sse};

const OFF: &str = "planner = 'off'\noutput_limit = 1000\n";
const CANARY: &str = "canary-91be";

/// Everything that writes into a store or reads from it, as far as it comes.
fn use_all(bot: &Bot) -> String {
    let mut text = String::new();
    for args in [
        &["do", "q", "--run", "seq 1 999"][..],
        &["branch", "-f", "main", "@"],
        &["branch"],
        &["ls", "--pending"],
        &["show", "--json", "-a"],
        &["log"],
        &["fsck", "--recover"],
        &["rm", "-y", "@"],
        &["trust"],
    ] {
        let lepo = env!("CARGO_BIN_EXE_lepo");
        let Ran { code, out, err, .. } =
            run(bot.home.program("timeout", &[&["-s", "KILL", "60", lepo], args].concat()), b"");
        assert!(code < 6, "{args:?} {code}: {err}");
        text += &(out + &err);
    }
    text
}

#[test]
fn nothing_is_read_or_written_through_a_link() {
    for (name, to) in [
        ("_journal.ndjson", "file"),
        ("_journal.ndjson", "missing"),
        ("_insts.toml", "file"),
        ("_insts.toml", "missing"),
        ("_config.toml", "file"),
        ("_mcp.json", "file"),
        (".gitignore", "file"),
        ("_tmp", "dir"),
        ("_blobs", "dir"),
        ("_branches", "dir"),
        ("_branches/main", "file"),
    ] {
        let bot = Bot::saying(OFF, &["Hi.", "Hi."]);
        let outside = bot.home.path().join("outside");
        bot.home.write("outside/file", format!("general = '{CANARY}'\n"));
        bot.home.write("outside/dir/main", CANARY);
        bot.home.add(&["--prev", "head"], "before");
        let place = bot.home.work().join(".lepo").join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&place);
        let _ = std::fs::remove_dir(&place);
        symlink(outside.join(to), &place).unwrap();
        let before = texts_below(&outside);
        let printed = use_all(&bot);
        let mut now = texts_below(&outside);
        now.sort();
        let mut before = before;
        before.sort();
        assert_eq!(now, before, "{name} {to}: {printed}");
        assert!(!printed.contains(CANARY), "{name}: {printed}");
        let asked = bot.server().asked();
        assert!(
            !format!("{:?}", asked.iter().map(|asked| asked.json()).collect::<Vec<_>>()).contains(CANARY)
        );
    }
}

#[test]
fn no_fifo_is_waited_for() {
    for name in [
        "_journal.ndjson",
        "_insts.toml",
        "_config.toml",
        "_mcp.json",
        ".gitignore",
        "_tmp",
        "_branches/main",
    ] {
        let bot = Bot::saying(OFF, &["Hi.", "Hi."]);
        bot.home.add(&["--prev", "head"], "before");
        let place = bot.home.work().join(".lepo").join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&place);
        let _ = std::fs::remove_dir(&place);
        assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
        use_all(&bot);
    }
}

#[test]
fn a_store_is_no_link() {
    let home = Home::new();
    home.add(&[], "elsewhere");
    std::fs::rename(home.work().join(".lepo"), home.path().join("theirs")).unwrap();
    symlink("../theirs", home.work().join(".lepo")).unwrap();
    for args in [&["ls"][..], &["init"], &["add"], &["do", "q"], &["fsck"], &["-s", ".lepo", "ls"]] {
        let ran = home.lepo_with(args, b"x");
        assert!(ran.code == 5 || ran.code == 2, "{args:?} {}: {}", ran.code, ran.err);
        assert!(ran.err.contains("link"), "{args:?} {}", ran.err);
    }
    assert_eq!(home.bubbs().len(), 1);
}

#[test]
fn what_lepo_writes_is_for_its_user_alone() {
    let picky = Reply::new(400, r#"{"error":{"message":"temperature is not supported"}}"#);
    let replies =
        [picky, openai_calls("", &[("s__echo", "{}")]), openai_sse(["Hi."]), openai_sse(["Hi again."])];
    let bot = Bot::openai(&format!("{OFF}tool_call_mode = 'auto'\nlog_level = 'debug'\n"), replies);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "plain"))]);
    let script =
        "umask 0; lepo do --run 'seq 1 999' q && lepo branch main && lepo edit @ && lepo do </dev/tty";
    let mut shell = bot.home.shell(script);
    shell.env("EDITOR", "echo more >>");
    let ran = on_terminal(shell, &[("> ", "once more\n"), ("Hi again.", ""), ("> ", "\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let mut seen = Vec::new();
    for place in ["state", "work/.lepo", "config/system_prompt.txt"] {
        modes(&bot.home.path().join(place), &mut seen);
    }
    for (path, mode) in &seen {
        assert_eq!(mode & 0o077, 0, "{path} {mode:o}");
    }
    for name in [
        "logs",
        "application-lepo-",
        "pins",
        "_journal.ndjson",
        "_blobs/",
        "_branches/main",
        "_insts",
        "_tmp",
    ] {
        assert!(seen.iter().any(|(path, _)| path.contains(name)), "{name}: {seen:#?}");
    }
}

fn modes(path: &Path, seen: &mut Vec<(String, u32)>) {
    let meta = std::fs::symlink_metadata(path).unwrap();
    seen.push((path.display().to_string(), meta.permissions().mode()));
    if meta.is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| modes(&entry.unwrap().path(), seen));
    }
}

#[test]
fn a_folder_that_no_clone_can_have_made_is_nobodys_store() {
    let home = Home::new();
    home.add(&["--prev", "head"], "mine");
    let other = Home::new();
    let theirs = other.add(&["--prev", "head"], "theirs");
    let bad =
        ["x\u{1b}]0;owned\u{7}", "x\u{1b}[31m", "x\ny", "X", "x y", "x\u{202e}y", "-x", "한글", "_x", ".x"];
    for name in [&bad[..], &["alice"]].concat() {
        home.copy(&other.work().join(".lepo").to_string_lossy(), &format!(".lepo/_from-{}", name.len()));
        let made = home.work().join(format!(".lepo/_from-{}", name.len()));
        std::fs::create_dir_all(home.work().join(".lepo/_from")).unwrap();
        std::fs::rename(made, home.work().join(".lepo/_from").join(name)).unwrap();
    }
    let shown = on_terminal(home.command(&["ls"]), &[]).out;
    assert!(shown.contains(&format!("alice/{theirs}")), "{shown}");
    assert_eq!(shown.matches("theirs").count(), 1, "{shown}");
    assert!(!shown.contains("owned"), "{shown}");
    let listed: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let from: Vec<_> =
        listed["tails"].as_array().unwrap().iter().filter_map(|tail| tail["from"].as_str()).collect();
    assert_eq!(from, ["alice"]);
    assert_eq!(home.lepo(&["show", "alice/@"]).code, 0);
    for name in bad {
        assert_ne!(home.lepo(&["show", &format!("{name}/@")]).code, 0, "{name:?}");
    }
}
