//! `lepo rebase -i`, `--print`, `--from`: a conversation as one text.

mod edits;
mod session;

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::Value;

use crate::common::vectors::each_vector;
use crate::disk::{bubbs, journal, put};
use crate::home::{Home, Ran, run};
use crate::pty::on_terminal;
use crate::secrets::github_token;

const REQUEST: &str = r#"{"access":"read","command":"ls","why":"to see"}"#;

/// A conversation whose messages are a minute apart; each is `u0 text`. Returns the ids.
fn conversation(home: &Home, messages: &[&str]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for (minute, message) in messages.iter().enumerate() {
        let (tag, text) = message.split_once(' ').unwrap();
        let prev = ids.last().cloned().unwrap_or_else(|| "head".into());
        let time = format!("2025-03-01T12:{minute:02}Z");
        let mut args = vec!["--kind", &tag[..1], "--prev", &prev, "--time", &time];
        args.extend(tag.ends_with('1').then_some("--hidden"));
        ids.push(home.add(&args, text));
    }
    ids
}

/// The messages of a conversation, each as `u0 text`.
fn messages(home: &Home, tail: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(&home.ok(&["show", "-a", "--json", tail])).unwrap();
    let one = |bubb: &Value| {
        let kind = bubb["kind"].as_str().unwrap();
        let hidden = u8::from(bubb["hidden"] == true);
        format!("{}{hidden} {}", &kind[..1], bubb["text"].as_str().unwrap())
    };
    document["bubbs"].as_array().unwrap().iter().map(one).collect()
}

/// `lepo rebase -i` with a shell script as editor, which finds the text's path in `$1`.
fn edit(home: &Home, script: &str, args: &[&str]) -> Ran {
    let editor = home.write_program("editor", format!("#!/bin/sh\n{script}\n"));
    let mut command = home.command(&[&["rebase", "-i"], args].concat());
    command.env("LEPO_EDITOR", editor).env("VISUAL", "false").env("EDITOR", "false");
    run(command, b"")
}

/// `--print` with these arguments, changed by `change`, and read with `--from -`.
fn changed(home: &Home, args: &[&str], change: impl Fn(String) -> String) -> Ran {
    let text = home.ok(&[&["rebase", "--print"], args].concat());
    home.lepo_with(&["rebase", "--from", "-"], change(text).as_bytes())
}

fn add_bytes(home: &Home, args: &[&str], bytes: &[u8]) -> String {
    let ran = home.lepo_with(&[&["add"], args].concat(), bytes);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.trim().to_string()
}

/// The path in the command that goes on with a kept text.
fn kept_path(ran: &Ran) -> String {
    let (_, rest) = ran.err.split_once("lepo rebase --from ").unwrap_or_else(|| panic!("{}", ran.err));
    rest.split_whitespace().next().unwrap().to_string()
}

#[test]
fn every_vector_is_read_as_it_was_printed() {
    let texts = AtomicUsize::new(0);
    each_vector(|vector| {
        let before = vector.home.bubbs();
        for (tail, _) in vector.by_id("conversations") {
            for args in [&[tail][..], &[tail, "-a"]] {
                let printed = vector.home.command(&[&["rebase", "--print"], args].concat()).output().unwrap();
                assert!(printed.status.success(), "{} {args:?}", vector.name);
                let ran = vector.home.lepo_with(&["rebase", "--from", "-"], &printed.stdout);
                assert_eq!((ran.code, ran.out.trim()), (0, tail), "{} {args:?}: {}", vector.name, ran.err);
                assert!(ran.err.contains("nothing changed"), "{} {args:?}: {}", vector.name, ran.err);
                texts.fetch_add(1, Relaxed);
            }
        }
        assert_eq!(vector.home.bubbs(), before, "{}", vector.name);
    });
    assert!(texts.load(Relaxed) > 100, "{texts:?}");
}

#[test]
fn the_text_has_a_mark_above_each_message() {
    let home = Home::new();
    let ids = conversation(&home, &["s1 Be brief.", "u0 첫 질문", "a0 so\n", "u0 %% user\nand"]);
    let text = home.ok(&["rebase", "--print"]);
    let short = |at: usize| &ids[at][18..];
    let (comments, marked) = text.split_at(text.find("%%% hidden").unwrap());
    assert!(comments.starts_with(&format!("%%%# lepo rebase {}\n", ids[3])), "{comments}");
    assert!(comments.lines().all(|line| line.starts_with("%%%# ")), "{comments}");
    assert_eq!(
        marked,
        format!(
            "%%% hidden system {} (9 bytes)\n%%% user {}\n첫 질문\n%%% assistant {}\nso\n\n%%% user {}\n%% user\nand\n",
            short(0),
            short(1),
            short(2),
            short(3)
        )
    );
    let whole = home.ok(&["rebase", "--print", "-a"]);
    assert!(!whole.contains("(9 bytes)") && whole.contains("\nBe brief.\n"), "{whole}");
    // A range stands on what its first message follows.
    let range = format!("{}..{}", ids[1], ids[3]);
    assert!(home.ok(&["rebase", "--print", &range]).starts_with(&format!("%%%# lepo rebase {range}\n")));
    let other = home.add(&["--prev", &ids[1]], "another branch");
    let printed = home.ok(&["rebase", "--print", &ids[3], "--onto", &other]);
    assert!(printed.starts_with(&format!("%%%# lepo rebase {range} --onto {other}\n")), "{printed}");
}

#[test]
fn hidden_messages_are_named_and_a_stopped_part_has_its_text() {
    let home = Home::new();
    let instructions = "[instructions of this repository] The people who work in it wrote them for every task. Of two that differ the later one, which is of a deeper folder, wins for what lies there; the user's own words win over both.\n\n== AGENTS.md, 10 bytes ==\nUse tabs.\n";
    let ids = conversation(&home, &[&format!("s1 {instructions}"), "u0 one", "a1 half an ans", "a0 whole"]);
    let line = format!("{{\"bubb\":\"{}\",\"what\":\"partial\",\"model\":\"m\",\"ms\":5}}\n", ids[2]);
    home.write("work/.lepo/_journal.ndjson", line);
    let text = home.ok(&["rebase", "--print"]);
    let short = |at: usize| &ids[at][18..];
    let size = instructions.len();
    assert!(text.contains(&format!("%% hidden system {} (AGENTS.md, {size} bytes)\n", short(0))), "{text}");
    assert!(text.contains(&format!("%% hidden assistant {} (stopped)\nhalf an ans\n", short(2))), "{text}");
    assert_eq!(home.lepo_with(&["rebase", "--from", "-"], text.as_bytes()).out.trim(), ids[3]);
    let ran = changed(&home, &[], |text| text.replace("an ans", "an answer"));
    assert_eq!(messages(&home, ran.out.trim())[2], "a1 half an answer", "{}", ran.err);
}

#[test]
fn on_a_terminal_the_text_is_harmless() {
    let home = Home::new();
    conversation(&home, &["u0 red \u{1b}[31m and \u{1b}]0;title\u{7}", "a0 한글"]);
    let shown = on_terminal(home.terminal("PAGER=cat lepo rebase --print"), &[]).out;
    assert!(shown.contains("한글") && shown.contains("%% assistant"), "{shown}");
    assert!(!shown.contains("\u{1b}[31m") && !shown.contains("\u{1b}]0"), "{shown:?}");
    assert!(home.ok(&["rebase", "--print"]).contains("red \u{1b}[31m"));
}

#[test]
fn random_texts_change_no_message_and_make_the_same_line_twice() {
    let mut seed = 0x1234_5678_9ABC_DEF1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let home = Home::new();
    let mut tail = conversation(
        &home,
        &[
            "s1 Be brief.",
            "u0 첫 질문",
            &format!("s1 {REQUEST}"),
            "s1 a result",
            "a0 so\n",
            "u0 and\n\nnow?",
            "a0 then",
        ],
    )
    .pop()
    .unwrap();
    let mut made = 0;
    for round in 0..40 {
        let args = if random(3) == 0 {
            vec!["rebase", "--print", &tail, "-a"]
        } else {
            vec!["rebase", "--print", &tail]
        };
        let text = home.ok(&args);
        let (comments, blocks) = text.split_at(text.find("\n%% ").unwrap() + 1);
        let mut blocks: Vec<String> = blocks.split_inclusive('\n').fold(Vec::new(), |mut blocks, line| {
            match blocks.last_mut() {
                Some(block) if !line.starts_with("%% ") => block.push_str(line),
                _ => blocks.push(line.to_string()),
            }
            blocks
        });
        for _ in 0..1 + random(2) {
            let (at, to) = (random(blocks.len()), random(blocks.len()));
            match random(5) {
                0 => blocks.swap(at, to),
                1 if blocks.len() > 3 => drop(blocks.remove(at)),
                2 => blocks.insert(to, blocks[at].clone()),
                3 => blocks.insert(to, format!("%% assistant\nnew {round}\n")),
                _ => blocks[at].push_str("more\n"),
            }
        }
        let text = comments.to_string() + &blocks.concat();
        let before: Vec<(String, String)> =
            bubbs(&home).into_iter().map(|bubb| (bubb.id, bubb.text)).collect();
        let ran = home.lepo_with(&["rebase", "--from", "-"], text.as_bytes());
        assert!(matches!(ran.code, 0..=2), "{round}: {}\n{text}", ran.err);
        let after: HashMap<String, String> =
            bubbs(&home).into_iter().map(|bubb| (bubb.id, bubb.text)).collect();
        assert!(before.iter().all(|(id, text)| after.get(id) == Some(text)), "{round}");
        if ran.code == 0 {
            let again = home.lepo_with(&["rebase", "--from", "-"], text.as_bytes());
            assert_eq!((again.code, &again.out), (0, &ran.out), "{round}: {}", again.err);
            assert_eq!(bubbs(&home).len(), after.len(), "{round}");
            tail = ran.out.trim().to_string();
            made += usize::from(after.len() > before.len());
        } else {
            assert_eq!(after.len(), before.len(), "{round}");
        }
        assert_eq!(home.ok(&["ls", "--pending"]), "", "{round}");
    }
    assert!(made > 15, "{made}");
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn what_is_no_text_stands_as_a_line() {
    let home = Home::new();
    let first = home.add(&["--prev", "head"], "a question");
    let binary = add_bytes(&home, &["--kind", "a", "--prev", &first], b"\xff\xfe not UTF-8");
    let zero = add_bytes(&home, &["--prev", &binary], b"a\0b");
    let long = add_bytes(&home, &["--kind", "a", "--prev", &zero], "긴 ".repeat(400_000).as_bytes());
    let text = home.ok(&["rebase", "--print"]);
    let marks: Vec<&str> = text.lines().filter(|line| !line.starts_with("%%#")).collect();
    let short = |id: &str| id[18..].to_string();
    assert_eq!(
        marks,
        [
            format!("%% user {}", short(&first)),
            "a question".into(),
            format!("%% assistant {} (not text, 12 bytes)", short(&binary)),
            format!("%% user {} (not text, 3 bytes)", short(&zero)),
            format!("%% assistant {} (1,600,000 bytes)", short(&long)),
        ]
    );
    // They are moved as they are.
    let ran = changed(&home, &[], |text| text.replace("a question\n", "another\n"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = home.command(&["show", "--one", &format!("{}~2", ran.out.trim())]).output().unwrap();
    assert_eq!(shown.stdout, b"\xff\xfe not UTF-8");
}

#[test]
fn the_text_names_its_range_and_later_turns_do_not_matter() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 one", "a0 two"]);
    let text = home.ok(&["rebase", "--print"]);
    let later = home.add(&["--prev", &ids[1], "--time", "2025-03-01T13:00Z"], "a later turn");
    home.write("work/text.md", text.replace("one", "eins"));
    let ran = home.lepo(&["rebase", "--from", "text.md"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let new = ran.out.trim().to_string();
    assert_eq!(messages(&home, &new), ["u0 eins", "a0 two"]);
    assert!(ran.err.contains("@ is still"), "{}", ran.err);
    // The ids of a line depend on its text alone, so the newer message changes none.
    let again = home.lepo(&["rebase", "--from", "text.md"]);
    assert_eq!((again.code, again.out.trim()), (0, new.as_str()), "{}", again.err);
    assert!(again.err.contains("already here"), "{}", again.err);
    // With ADDR it is about that.
    let other = home.lepo(&["rebase", "--from", "text.md", &later]);
    assert_eq!(messages(&home, other.out.trim()), ["u0 eins", "a0 two"]);
    assert!(other.out.trim() > later.as_str(), "dated after the range of ADDR");
    // A first line about messages of another store.
    home.write("work/text.md", text.replace(&ids[1], "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A"));
    let ran = home.lepo(&["rebase", "--from", "text.md"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not in this store"), "{}", ran.err);
}

#[test]
fn the_new_line_is_the_newest_where_the_old_one_was() {
    let old = ["u0 one", "a0 two", "u0 three", "a0 four"];
    let rows: [(&str, &[&str]); 5] = [
        ("/four/s/four/vier/", &["u0 one", "a0 two", "u0 three", "a0 vier"]),
        ("/three/s/three/drei/", &["u0 one", "a0 two", "u0 drei", "a0 four"]),
        // Only the end is cut: its last message is made again.
        ("9,$d", &["u0 one", "a0 two"]),
        ("$s/$/\\n%% user\\nand then/", &["u0 one", "a0 two", "u0 three", "a0 four", "u0 and then"]),
        ("5,6{H;d};$G", &["a0 two", "u0 three", "a0 four", "u0 one"]),
    ];
    for (script, expected) in rows {
        let home = Home::new();
        conversation(&home, &old);
        let ran = edit(&home, &format!("sed -i '{script}' \"$1\""), &[]);
        assert_eq!(ran.code, 0, "{script}: {}", ran.err);
        assert_eq!(messages(&home, ran.out.trim()), expected, "{script}");
        assert!(ran.err.contains("@ is now the copy"), "{script}: {}", ran.err);
        assert_eq!(home.ok(&["resolve", "@"]), ran.out, "{script}");
    }
    let home = Home::new();
    let ids = conversation(&home, &old);
    // A new message has a time of its neighbours, never of now: the original's plus one.
    let ran = edit(&home, "sed -i '6s/$/\\n%% user\\nnew/' \"$1\"", &[&ids[3]]);
    let document: Value = serde_json::from_str(&home.ok(&["show", "--json", ran.out.trim()])).unwrap();
    let new = document["bubbs"][1]["id"].as_str().unwrap();
    assert!(new[..10] > ids[0][..10] && new[..10] < ids[1][..10], "{new}");
}

#[test]
fn unchanged_text_makes_nothing_but_what_the_options_ask_for() {
    let home = Home::new();
    let ids = conversation(&home, &["s1 Be brief.", "u0 one", "a0 two"]);
    let before = home.bubbs();
    for args in [&[][..], &["-a"], &[&format!("{}..{}", ids[0], ids[2])]] {
        let ran = edit(&home, "touch \"$1\"", args);
        assert_eq!((ran.code, ran.out.trim()), (0, ids[2].as_str()), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("nothing changed"), "{args:?}: {}", ran.err);
        assert_eq!(home.bubbs(), before, "{args:?}");
    }
    edit(&home, "touch \"$1\"", &["--branch", "here"]);
    assert_eq!(home.ok(&["resolve", "here"]).trim(), ids[2]);
    let document: Value = serde_json::from_str(&edit(&home, "touch \"$1\"", &["--json"]).out).unwrap();
    assert_eq!(document, serde_json::json!({ "tail": ids[2], "made": [], "already_here": true }));
    // With another base it is plain rebase.
    let other = home.add(&["--prev", "head"], "elsewhere");
    for base in [&["--root"][..], &["--onto", &other]] {
        let plain = home.ok(&[&["rebase", &ids[2]], base].concat());
        let ran = edit(&home, "touch \"$1\"", &[&[ids[2].as_str()], base].concat());
        assert_eq!((ran.code, &ran.out), (0, &plain), "{base:?}: {}", ran.err);
        assert!(ran.err.contains("already here"), "{base:?}: {}", ran.err);
        let from = changed(&home, &[&[ids[2].as_str()], base].concat(), |text| text);
        assert_eq!((from.code, &from.out), (0, &plain), "{base:?}: {}", from.err);
    }
    // An option of the command line counts for the text, too.
    let text = home.ok(&["rebase", "--print", &ids[2]]);
    let ran = home.lepo_with(&["rebase", "--from", "-", "--onto", &other], text.as_bytes());
    assert_eq!(ran.out, home.ok(&["rebase", &ids[2], "--onto", &other]));
}

#[test]
fn a_dry_run_lists_and_json_names_new_messages() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 one", "a0 two"]);
    let before = home.bubbs();
    let script = "sed -i '5s/$/ (a note)/;$s/$/\\n%% user\\n새 질문/' \"$1\"";
    let listed = edit(&home, script, &["-n"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(listed.out.ends_with(" u0 새 질문\n") && listed.out.lines().count() == 1, "{}", listed.out);
    assert_eq!(home.bubbs(), before);
    let document: Value = serde_json::from_str(&edit(&home, script, &["--json"]).out).unwrap();
    let new = listed.out.split(' ').next().unwrap();
    assert_eq!(document["tail"], new);
    assert_eq!(document["made"], serde_json::json!([{ "id": new, "copy_of": null }]));
    // A new message is no copy; a changed one is, without the model's facts.
    assert!(!journal(&home).iter().any(|line| line["bubb"] == new));
    let parsed: Value =
        serde_json::from_str(&edit(&home, "sed -i s/two/zwei/ \"$1\"", &["--json", &ids[1]]).out).unwrap();
    assert_eq!(parsed["made"][0]["copy_of"], ids[1].as_str());
}

#[test]
fn a_text_that_cannot_be_used_is_kept() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 one", "a0 two"]);
    let before = home.bubbs();
    let ran = edit(&home, "sed -i 's/user/robot/;s/one/eins/' \"$1\"", &["--branch", "new"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("line 3: unknown speaker") || ran.err.contains("unknown speaker robot"),
        "{}",
        ran.err
    );
    let path = kept_path(&ran);
    assert!(ran.err.contains(&format!("lepo rebase --from {path} --branch new")), "{}", ran.err);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("robot") && text.contains("eins"), "{text}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // The first line of the text names the range, so the hint needs none.
    std::fs::write(&path, text.replace("robot", "user")).unwrap();
    let ran = home.lepo(&["rebase", "--from", &path, "--branch", "new"]);
    assert_eq!(messages(&home, ran.out.trim()), ["u0 eins", "a0 two"], "{}", ran.err);
    // Without its first line, the command names the range.
    let range = format!("{}..{}", ids[0], ids[1]);
    let ran = edit(&home, "printf 'no mark' > \"$1\"", &[&range, "--root"]);
    let path = kept_path(&ran);
    assert!(ran.err.contains(&format!("lepo rebase --from {path} {range} --root")), "{}", ran.err);
    // An editor that fails leaves its text, too.
    let ran = edit(&home, "echo more >> \"$1\"; exit 7", &[]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(std::fs::read_to_string(kept_path(&ran)).unwrap().ends_with("more\n"));
    // The last ten are kept.
    for _ in 0..11 {
        edit(&home, "exit 1", &[]);
    }
    let folder = std::path::Path::new(&path).parent().unwrap().to_path_buf();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 10);
    assert!(!std::path::Path::new(&path).exists());
    // Nothing of it came into the store but the corrected line.
    assert_eq!(home.bubbs().len(), before.len() + 2);
    // A file stays where it is, so no copy is stored.
    home.write("work/text.md", "%% robot\nx\n");
    let ran = home.lepo(&["rebase", "--from", "text.md"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("text.md, line 1: unknown speaker robot"), "{}", ran.err);
    let ran = home.lepo_with(&["rebase", "--from", "-"], b"%% robot\nx\n");
    assert!(ran.err.contains("stdin, line 1: "), "{}", ran.err);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 10);
}

#[test]
fn nothing_left_makes_nothing() {
    let home = Home::new();
    conversation(&home, &["u0 one", "a0 two"]);
    let before = home.bubbs();
    for script in [": > \"$1\"", "echo > \"$1\"", "sed -i /^%%#/!d \"$1\"", "sed -i 5,\\$d \"$1\""] {
        let ran = edit(&home, script, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{script}: {}", ran.err);
        assert!(ran.err.contains("nothing was made"), "{script}: {}", ran.err);
        assert_eq!(home.bubbs(), before, "{script}");
    }
    let state = home.path().join("state");
    assert!(!state.join("lepo/texts").exists(), "what is empty on purpose is not kept");
    let ran = home.lepo(&["rebase", "--print", "@^", "--onto", "@"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
}

#[test]
fn options_that_name_changes_do_not_go_with_a_text() {
    let home = Home::new();
    conversation(&home, &["u0 one", "a0 two"]);
    for text in [&["-i"][..], &["--print"], &["--from", "x"]] {
        for other in [&["--drop", "@"][..], &["--replace", "@=x"], &["--system", "x"], &["--redate"]] {
            let ran = home.lepo(&[&["rebase"], text, other].concat());
            assert_eq!(ran.code, 2, "{text:?} {other:?}: {}", ran.err);
        }
    }
    for both in
        [&["-i", "--print"][..], &["-i", "--from", "x"], &["--print", "--from", "x"], &["--print", "-n"]]
    {
        assert_eq!(home.lepo(&[&["rebase"], both].concat()).code, 2, "{both:?}");
    }
    assert_eq!(home.lepo_with(&["rebase", "--from", "-", "-"], b"").code, 2);
    let without =
        home.detached(&["rebase", "-i"]).env_remove("VISUAL").env_remove("EDITOR").output().unwrap();
    assert_eq!(without.status.code(), Some(2), "there is no editor and no terminal");
}

#[test]
fn a_request_and_its_result_stay_together() {
    let home = Home::new();
    let messages_of = ["u0 list the files", &format!("s1 {REQUEST}"), "s1 a result", "a0 these"];
    let ids = conversation(&home, &messages_of);
    let text = home.ok(&["rebase", "--print"]);
    let lines: Vec<&str> = text.lines().collect();
    let (comments, [question, q, request, result, answer, a]) = lines.split_at(4) else { panic!("{text}") };
    let text_of = |lines: &[&&str]| {
        let lines: Vec<&str> = comments.iter().copied().chain(lines.iter().map(|line| **line)).collect();
        lines.join("\n") + "\n"
    };
    for (lines, line, said) in [
        (vec![question, q, result, request, answer, a], 7, "directly follow"),
        (vec![question, q, request, answer, a, result], 10, "directly follow"),
        (vec![request, question, q, result, answer, a], 8, "directly follow"),
        (vec![question, q, request, result, request, result, answer, a], 9, "cannot appear twice"),
        (vec![question, q, request, result, result, answer, a], 9, "cannot appear twice"),
    ] {
        let ran = home.lepo_with(&["rebase", "--from", "-"], text_of(&lines).as_bytes());
        assert_eq!(ran.code, 2, "{said}: {}", ran.err);
        assert!(ran.err.contains(&format!("line {line}: ")) && ran.err.contains(said), "{}", ran.err);
    }
    for (lines, gone) in
        [(vec![question, q, result, answer, a], &ids[2]), (vec![question, q, request, answer, a], &ids[1])]
    {
        let ran = home.lepo_with(&["rebase", "--from", "-"], text_of(&lines).as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains(&format!("dropped {gone} too")), "{}", ran.err);
        assert_eq!(messages(&home, ran.out.trim()), ["u0 list the files", "a0 these"]);
    }
    // Together they can be moved.
    let moved = text_of(&[request, result, question, q, answer, a]);
    let ran = home.lepo_with(&["rebase", "--from", "-"], moved.as_bytes());
    assert_eq!(messages(&home, ran.out.trim()).last().unwrap(), "a0 these", "{}", ran.err);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
}

#[test]
fn no_message_of_a_text_waits_for_consent() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 list the files", "s1 no request"]);
    let request = home.add(&["--kind", "s", "--hidden", "--prev", &ids[0]], REQUEST);
    let pending = home.ok(&["ls", "--pending"]);
    assert_eq!(pending.lines().count(), 1);
    // New ones, at the end and in the middle; words that become one; and the one that waits.
    let new = format!("%% hidden system\n{REQUEST}\n");
    let at_end = |text: String| text + &new;
    let in_middle = |text: String| text.replacen("\n%% user", &format!("\n{new}%% user"), 1);
    for change in [&at_end as &dyn Fn(String) -> String, &in_middle] {
        let ran = changed(&home, &[&ids[1], "-a"], change);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("left out the message of line"), "{}", ran.err);
        assert!(!messages(&home, ran.out.trim()).iter().any(|text| text.contains("to see")));
    }
    let ran = changed(&home, &[&ids[1], "-a"], |text| text.replace("no request", REQUEST));
    assert!(ran.err.contains(&format!("left out {}", ids[1])), "{}", ran.err);
    let ran = changed(&home, &[&request], |text| text.replace("list", "show"));
    assert!(ran.err.contains(&format!("left out {request}")), "{}", ran.err);
    assert_eq!(messages(&home, ran.out.trim()), ["u0 show the files"]);
    // The one that waited waits, or was overtaken; none came.
    assert!(home.ok(&["ls", "--pending"]).lines().count() <= 1);
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn side_branches_go_with_their_message() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 one", "a0 two", "u0 three", "a0 four"]);
    let time = ["--time", "2025-03-01T12:00:30Z"];
    let call = home.add(&[&["--kind", "a", "--hidden", "--prev", &ids[0]], &time[..]].concat(), REQUEST);
    home.add(&[&["--kind", "t", "--hidden", "--prev", &call], &time[..]].concat(), "a result");
    let count = home.bubbs().len();
    let text = home.ok(&["rebase", "--print", &ids[3], "-a"]);
    assert!(text.lines().next().unwrap().ends_with(" -a") && !text.contains("a result"), "{text}");
    // The held option counts: the two beside the first question come along, once for each copy.
    let ran = home.lepo_with(&["rebase", "--from", "-"], text.replace("one", "eins").as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.bubbs().len(), count + 4 + 2);
    let ran = changed(&home, &[&ids[3]], |text| text.replace("one", "uno"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.bubbs().len(), count + 4 + 2 + 4);
    let block = format!("%% user {}\none\n", &ids[0][18..]);
    let ran = changed(&home, &[&ids[3], "-a"], |text| text.replace(&block, &block.repeat(2)));
    assert_eq!(messages(&home, ran.out.trim())[..2], ["u0 one", "u0 one"]);
    // The first copy is the original itself.
    assert_eq!(home.bubbs().len(), count + 10 + 4 + 2);
    assert_eq!(home.lepo(&["fsck"]).code, 0);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
}

#[test]
fn an_incomplete_conversation_needs_its_first_message() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 one", "a0 two", "u0 three"]);
    let gone = home.bubbs().into_iter().find(|name| name.starts_with(&ids[0])).unwrap();
    std::fs::remove_file(home.work().join(".lepo").join(gone)).unwrap();
    let ran = changed(&home, &[&ids[2]], |text| text.replace("three", "drei"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(messages(&home, ran.out.trim()), ["a0 two", "u0 drei"]);
    let ran = changed(&home, &[&ids[2]], |text| text.replace("two", "zwei"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("incomplete") && ran.err.contains("--root"), "{}", ran.err);
    let ran = changed(&home, &[&ids[2], "--root"], |text| text.replace("two", "zwei"));
    assert_eq!(messages(&home, ran.out.trim()), ["a0 zwei", "u0 three"], "{}", ran.err);
}

#[test]
fn answers_to_other_words_are_pointed_out_once() {
    let home = Home::new();
    let ids = conversation(&home, &["s1 Be brief.", "u0 one", "a0 two", "u0 three", "a0 four"]);
    let rows = [
        ("one", "eins", Some(format!(" --onto {}", ids[0]))),
        ("three", "drei", Some(format!(" --onto {}", ids[2]))),
        ("four", "vier", None),
        ("two", "zwei", Some(format!(" --onto {}", ids[1]))),
    ];
    for (old, new, onto) in rows {
        let ran = changed(&home, &[&ids[4]], |text| text.replace(old, new));
        let command = format!("lepo do --replay {}", ran.out.trim());
        let line = ran.err.lines().find(|line| line.contains("--replay"));
        assert_eq!(line.is_some(), onto.is_some(), "{old}: {}", ran.err);
        assert!(
            line.is_none_or(|line| line.ends_with(&format!("{command}{}", onto.unwrap()))),
            "{old}: {}",
            ran.err
        );
    }
    let ran = changed(&home, &[&ids[4], "-a"], |text| text.replace("Be brief.", "Be long."));
    let line = ran.err.lines().find(|line| line.contains("--replay")).unwrap();
    assert!(line.ends_with(ran.out.trim()), "it follows head: {line}");
}

#[test]
fn words_of_an_editor_stay_and_those_of_a_file_are_masked() {
    let secret = github_token(1);
    let home = Home::new();
    home.ok(&["init"]);
    let mut ids: Vec<String> = Vec::new();
    for (tag, text) in [("u0", "one"), ("a0", &format!("two {secret}")), ("u0", "three")] {
        let prev = ids.last().cloned().unwrap_or_else(|| "head".into());
        ids.push(put(&home, 1_760_599_230_000 + ids.len() as u64, tag, &prev, text));
    }
    let ran = edit(&home, &format!("sed -i 's/one/with {secret}/' \"$1\""), &[&ids[2]]);
    assert_eq!(messages(&home, ran.out.trim())[0], format!("u0 with {secret}"));
    assert!(ran.err.contains("looks like a secret"), "{}", ran.err);
    let ran = changed(&home, &[&ids[2]], |text| text.replace("one", &format!("file {secret}")));
    let texts = messages(&home, ran.out.trim());
    assert!(!texts[0].contains(&secret) && texts[0].starts_with("u0 file "), "{texts:?}");
    // A block that did not change is never masked.
    assert_eq!(texts[1], format!("a0 two {secret}"));
    // A kept text is named by whoever takes the secret out.
    let ran = edit(&home, "sed -i s/user/robot/ \"$1\"", &[&ids[2]]);
    let path = kept_path(&ran);
    let ran = home.lepo(&["rm", "--redact", "-y", &ids[1]]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(&format!("an edited text of lepo rebase, {path}")), "{}", ran.err);
}

#[test]
fn an_edited_line_can_be_taken_back() {
    let home = Home::new();
    let ids = conversation(&home, &["u0 one", "a0 two"]);
    let before = home.bubbs();
    let ran = edit(&home, "sed -i 's/one/eins/;$s/$/\\n%% user\\nnew/' \"$1\"", &["--branch", "new"]);
    assert_eq!(home.ok(&["resolve", "new"]), ran.out);
    home.ok(&["undo"]);
    assert_eq!((home.bubbs(), home.ok(&["branch"])), (before.clone(), String::new()));
    home.ok(&["undo", "--redo"]);
    assert_eq!(messages(&home, "new"), ["u0 eins", "a0 two", "u0 new"]);
    home.ok(&["undo"]);
    // So can a branch at an unchanged line; a dry run leaves nothing to take back.
    edit(&home, "touch \"$1\"", &["--branch", "same"]);
    assert_eq!(home.ok(&["resolve", "same"]).trim(), ids[1]);
    home.ok(&["undo"]);
    assert_eq!((home.bubbs(), home.ok(&["branch"])), (before, String::new()));
    let listed = home.ok(&["undo", "--list"]);
    edit(&home, "sed -i s/one/eins/ \"$1\"", &["-n"]);
    assert_eq!(home.ok(&["undo", "--list"]), listed);
}

#[test]
fn attachments_stay_attachments() {
    let home = Home::new();
    home.ok(&["init"]);
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    home.write(&format!("work/.lepo/_blobs/{hash}"), "");
    let question = format!("see this\n\n[image/png 0 bytes a.png: _blobs/{hash}]");
    let first = home.add(&["--prev", "head"], &question);
    home.add(&["--kind", "a", "--prev", &first], "an image");
    let attached = |tail: &str| {
        let document: Value = serde_json::from_str(&home.ok(&["show", "--json", tail])).unwrap();
        document["bubbs"][0]["attachments"].clone()
    };
    let before = attached("@");
    // Another wording above, and a newline that an editor added below.
    let ran = edit(&home, "sed -i 's/^see this/look at this/;s/^.image.*/&\\n/' \"$1\"", &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(attached(ran.out.trim()), before, "{:?}", messages(&home, ran.out.trim()));
    assert!(before.as_array().is_some_and(|files| files.len() == 1), "{before}");
}

#[test]
fn an_editor_that_returns_at_once_is_pointed_out() {
    let home = Home::new();
    conversation(&home, &["u0 one"]);
    home.write_program("bin/code", "#!/bin/sh\nexit 0\n");
    let code = home.path().join("bin/code").display().to_string();
    for (editor, said) in [(code.clone(), true), (format!("{code} --wait"), false)] {
        let mut command = home.command(&["rebase", "-i"]);
        command.env("LEPO_EDITOR", &editor);
        let ran = run(command, b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(ran.err.contains("waits with --wait"), said, "{editor}: {}", ran.err);
    }
}
