//! `lepo rebase`: copies of a line under another base, offline.

use serde_json::Value;

use crate::disk::{bubbs, forest, journal, put};
use crate::home::Home;

const REQUEST: &str = r#"{"access":"read","command":"ls","why":"to see"}"#;

/// A conversation of two questions under a system prompt, with a tool call beside the first answer, and a second
/// conversation. The ids: root, question, answer, question, answer; the root of the other and its answer.
fn two_lines(home: &Home) -> Vec<String> {
    let root =
        home.add(&["--kind", "s", "--hidden", "--prev", "head", "--time", "2025-03-01T12:00Z"], "Be brief.");
    let mut ids = vec![root];
    for (kind, text) in
        [("u", "첫 질문"), ("a", "first answer"), ("u", "second question"), ("a", "second answer")]
    {
        let prev = ids.last().unwrap().clone();
        ids.push(home.add(&["--kind", kind, "--prev", &prev, "--time", "2025-03-01T12:01Z"], text));
    }
    let call =
        home.add(&["--kind", "a", "--hidden", "--prev", &ids[1], "--time", "2025-03-01T12:01Z"], REQUEST);
    home.add(&["--kind", "t", "--hidden", "--prev", &call, "--time", "2025-03-01T12:01Z"], "a result");
    let other = home.add(&["--prev", "head", "--time", "2025-04-01T12:00Z"], "another root");
    ids.push(other.clone());
    ids.push(home.add(&["--kind", "a", "--prev", &other, "--time", "2025-04-01T12:01Z"], "another answer"));
    ids
}

fn tail(home: &Home, args: &[&str]) -> String {
    home.ok(&[&["rebase"], args].concat()).trim().to_string()
}

/// The messages that `show` tells of.
fn shown(home: &Home, args: &[&str]) -> Vec<Value> {
    let document: Value = serde_json::from_str(&home.ok(&[&["show", "--json"], args].concat())).unwrap();
    document["bubbs"].as_array().unwrap().clone()
}

fn texts(home: &Home, tail: &str) -> Vec<String> {
    shown(home, &[tail]).iter().map(|bubb| bubb["text"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_line_is_copied_onto_another_base_once() {
    let home = Home::new();
    let ids = two_lines(&home);
    let before = home.bubbs();
    let made = home.lepo(&["rebase", &ids[4], "--onto", &ids[6]]);
    assert_eq!(made.code, 0, "{}", made.err);
    let new = made.out.trim().to_string();
    assert_eq!(
        texts(&home, &new),
        ["another root", "another answer", "첫 질문", "first answer", "second question", "second answer"]
    );
    // The originals are there, and the root came along: the other line does not have it.
    let after = home.bubbs();
    assert_eq!(after.len(), before.len() + 5);
    assert!(before.iter().all(|name| after.contains(name)));
    assert!(
        made.err.contains(&format!("@ is still {new}")) || made.err.contains("@ is now the copy"),
        "{}",
        made.err
    );
    // A second time there is nothing to make.
    let again = home.lepo(&["rebase", &ids[4], "--onto", &ids[6]]);
    assert_eq!((again.code, again.out.trim()), (0, new.as_str()));
    assert!(again.err.contains("already here"), "{}", again.err);
    assert_eq!(home.bubbs(), after);
    assert_eq!(home.lepo(&["fsck"]).code, 0);
    bubbs(&home); // each id proves its bytes
}

#[test]
fn onto_its_own_base_a_line_is_itself() {
    let home = Home::new();
    let ids = two_lines(&home);
    let before = home.bubbs();
    for args in [
        &[ids[4].as_str(), "--onto", &ids[0]][..],
        &[&format!("{}..{}", ids[0], ids[4]), "--onto", &ids[0]],
        &[&ids[4], "--root"],
        &[&ids[4], "-a", "--root"],
        &[&ids[4], "--system", "Be brief."],
    ] {
        assert_eq!(tail(&home, args), ids[4], "{args:?}");
        assert_eq!(home.bubbs(), before, "{args:?}");
    }
    // The base has all of it: the base is the end.
    assert_eq!(tail(&home, &[&ids[2], "--onto", &ids[4]]), ids[4]);
    assert_eq!(home.bubbs(), before);
}

#[test]
fn without_an_option_there_is_nothing_to_do() {
    let home = Home::new();
    two_lines(&home);
    let ran = home.lepo(&["rebase"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nothing to do") && ran.err.contains("--onto"), "{}", ran.err);
}

#[test]
fn a_message_is_dropped_or_gets_other_words() {
    let home = Home::new();
    let ids = two_lines(&home);
    let range = format!("{}..{}", ids[0], ids[2]);
    let short = tail(&home, &[&ids[4], "--drop", &range]);
    assert_eq!(texts(&home, &short), ["second question", "second answer"]);
    assert_eq!(tail(&home, &[&short, "--root", "--drop", &ids[0]]).len(), 26);
    home.write("work/better.md", "a better answer");
    let better = tail(&home, &[&ids[4], "--replace", &format!("{}=better.md", ids[2])]);
    assert_eq!(texts(&home, &better), ["첫 질문", "a better answer", "second question", "second answer"]);
    let ran = home.lepo_with(&["rebase", &ids[4], "--replace", &format!("{}=-", ids[3])], "셋째".as_bytes());
    assert_eq!(texts(&home, ran.out.trim()), ["첫 질문", "first answer", "셋째", "second answer"]);
    // To drop twice is to drop once.
    let twice = tail(&home, &[&ids[4], "--drop", &ids[3], "--drop", &ids[3]]);
    assert_eq!(twice, tail(&home, &[&ids[4], "--drop", &ids[3]]));
    for (args, said) in [
        (&[ids[4].as_str(), "--drop", &ids[6]][..], "is not among the messages to copy"),
        (&[&ids[4], "--onto", &ids[0], "--drop", &ids[0]], "is not among the messages to copy"),
        (&[&ids[6], "--drop", &ids[5], "--drop", &ids[6]], "nothing is left to copy"),
        (&[&ids[4], "--replace", &ids[3]], "has no file"),
        (&[&ids[4], "--replace", &format!("{}=none.md", ids[3])], "cannot read none.md"),
    ] {
        let ran = home.lepo(&[&["rebase"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn a_new_system_prompt_stands_in_the_place_of_the_old_one() {
    let home = Home::new();
    let ids = two_lines(&home);
    let new = tail(&home, &[&ids[4], "--system", "Antworte kurz."]);
    let all = home.ok(&["show", "--json", "-a", &new]);
    let root = &shown(&home, &["-a", &new])[0];
    assert_eq!((root["text"].as_str(), root["kind"].as_str()), (Some("Antworte kurz."), Some("system")));
    assert_eq!(root["id"].as_str().unwrap()[..10], ids[0][..10], "it is as old as the one it stands for");
    assert!(!all.contains("Be brief."), "{all}");
    // A root that is a question stays, under the new one.
    let new = tail(&home, &[&ids[6], "--system", "Answer in verse."]);
    assert_eq!(texts(&home, &new), ["another root", "another answer"]);
    assert_eq!(shown(&home, &["-a", &new]).len(), 3);
    assert_eq!(home.lepo(&["rebase", &ids[4], "--system", "x", "--root"]).code, 2);
}

#[test]
fn side_branches_come_along_when_asked_for() {
    let home = Home::new();
    let ids = two_lines(&home);
    let plain = tail(&home, &[&ids[4], "--onto", &ids[6]]);
    let count = home.bubbs().len();
    assert_eq!(tail(&home, &[&ids[4], "--onto", &ids[6], "-a"]), plain);
    assert_eq!(home.bubbs().len(), count + 2, "{}", forest(&home));
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn a_copy_never_waits_for_consent() {
    let home = Home::new();
    let question = home.add(&["--prev", "head"], "list the files");
    let request = home.add(&["--kind", "s", "--hidden", "--prev", &question], REQUEST);
    assert_eq!(home.ok(&["ls", "--pending"]).lines().count(), 1);
    let other = home.add(&["--prev", "head"], "elsewhere");
    let ran = home.lepo(&["rebase", &request, "--onto", &other]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(&format!("left out {request}")), "{}", ran.err);
    assert_eq!(texts(&home, ran.out.trim()), ["elsewhere", "list the files"]);
    // Nor can other words make one, and a request goes with its result.
    home.write("work/request", REQUEST);
    let hidden = home.add(&["--kind", "s", "--hidden", "--prev", &question], "no request");
    let ran = home.lepo(&["rebase", &hidden, "--onto", &other, "--replace", &format!("{hidden}=request")]);
    assert!(ran.err.contains(&format!("left out {hidden}")), "{}", ran.err);
    let result = home.add(&["--kind", "s", "--hidden", "--prev", &request], "files");
    let answer = home.add(&["--kind", "a", "--prev", &result], "these");
    for dropped in [&request, &result] {
        let new = tail(&home, &[&answer, "--onto", &other, "--drop", dropped]);
        let all = home.ok(&["show", "--json", "-a", &new]);
        assert!(!all.contains("to see") && !all.contains("\"files\""), "{dropped}: {all}");
    }
    assert_eq!(home.ok(&["ls", "--pending"]), "");
}

#[test]
fn a_dry_run_writes_nothing_and_json_tells_all() {
    let home = Home::new();
    let ids = two_lines(&home);
    let before = home.bubbs();
    let listed = home.ok(&["rebase", &ids[4], "--onto", &ids[6], "-n"]);
    assert_eq!(listed.lines().count(), 5, "{listed}");
    assert!(listed.contains(" u0 첫 질문"), "{listed}");
    assert_eq!(home.bubbs(), before);
    let document: Value =
        serde_json::from_str(&home.ok(&["rebase", &ids[4], "--onto", &ids[6], "--json"])).unwrap();
    assert_eq!(document["made"].as_array().unwrap().len(), 5);
    assert_eq!(document["made"][4]["copy_of"], ids[4].as_str());
    assert_eq!(document["made"][4]["id"], document["tail"]);
    assert_eq!(document["already_here"], false);
    let again: Value =
        serde_json::from_str(&home.ok(&["rebase", &ids[4], "--onto", &ids[6], "--json"])).unwrap();
    assert_eq!((&again["made"], &again["already_here"]), (&serde_json::json!([]), &true.into()));
    // Ids of the dry run are those that were made.
    let name = listed.lines().last().unwrap().split(' ').next().unwrap();
    assert_eq!(document["tail"], name);
}

#[test]
fn a_branch_is_made_at_the_new_end_and_none_moves() {
    let home = Home::new();
    let ids = two_lines(&home);
    home.ok(&["branch", "old", &ids[4]]);
    let new = tail(&home, &[&ids[4], "--onto", &ids[6], "--branch", "new"]);
    assert_eq!(home.ok(&["resolve", "new", "old"]), format!("{new}\n{}\n", ids[4]));
    let count = home.bubbs().len();
    assert_eq!(home.lepo(&["rebase", &ids[6], "--onto", &ids[0], "--branch", "old"]).code, 1);
    assert_eq!(home.bubbs().len(), count, "nothing was written");
}

#[test]
fn the_journal_knows_a_copy_and_counts_no_token_twice() {
    let home = Home::new();
    let ids = two_lines(&home);
    let line = format!(
        "{{\"time\":1740830460000,\"bubb\":\"{}\",\"what\":\"answer\",\"model\":\"m\",\"input\":7,\"output\":5,\"ms\":9}}\n",
        ids[4]
    );
    home.write("work/.lepo/_journal.ndjson", &line);
    let before: Value = serde_json::from_str(&home.ok(&["stats", "--json", "--by", "model"])).unwrap();
    let new = tail(&home, &[&ids[4], "--onto", &ids[6]]);
    let copied = journal(&home).into_iter().find(|line| line["bubb"] == new.as_str()).unwrap();
    assert_eq!(
        (&copied["copy_of"], &copied["model"], &copied["output"]),
        (&ids[4].as_str().into(), &"m".into(), &5.into())
    );
    tail(&home, &[&ids[4], "--onto", &ids[6]]);
    assert_eq!(journal(&home).len(), 6, "a second time adds no line");
    let after: Value = serde_json::from_str(&home.ok(&["stats", "--json", "--by", "model"])).unwrap();
    assert_eq!(before, after);
}

#[test]
fn random_rebases_change_no_file_and_leave_a_clean_store() {
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let home = Home::new();
    home.ok(&["init"]);
    let mut ids: Vec<String> = Vec::new();
    for at in 0..24 {
        let prev = if ids.is_empty() || random(6) == 0 {
            "head".to_string()
        } else {
            ids[random(ids.len())].clone()
        };
        let (role, hidden) = ([("u"), ("a"), ("s"), ("t")][random(4)], random(3) == 0);
        let text = if random(5) == 0 { REQUEST.to_string() } else { format!("text {at}") };
        let tag = format!("{role}{}", u8::from(hidden));
        ids.push(put(&home, 1_760_599_230_000 + at, &tag, &prev, &text));
    }
    let pending = home.ok(&["ls", "--pending"]);
    for round in 0..30 {
        let before: Vec<(String, String)> =
            bubbs(&home).into_iter().map(|bubb| (bubb.id, bubb.text)).collect();
        let (tail, onto, drop) = (&ids[random(ids.len())], &ids[random(ids.len())], &ids[random(ids.len())]);
        let args: Vec<&str> = match random(4) {
            0 => vec!["rebase", tail, "--onto", onto],
            1 => vec!["rebase", tail, "--onto", onto, "-a"],
            2 => vec!["rebase", tail, "--drop", drop],
            _ => vec!["rebase", tail, "--system", "another"],
        };
        let ran = home.lepo(&args);
        assert!(matches!(ran.code, 0 | 2), "{round} {args:?}: {}", ran.err);
        let after: std::collections::HashMap<String, String> =
            bubbs(&home).into_iter().map(|bubb| (bubb.id, bubb.text)).collect();
        assert!(before.iter().all(|(id, text)| after.get(id) == Some(text)), "{round} {args:?}");
        assert_eq!(home.lepo(&["fsck"]).code, 0, "{round} {args:?}");
        // A second time makes nothing.
        if ran.code == 0 {
            assert_eq!(home.lepo(&args).out, ran.out, "{round} {args:?}");
            assert_eq!(bubbs(&home).len(), after.len(), "{round} {args:?}");
        }
    }
    // No copy waits: what waits now waited before.
    for line in home.ok(&["ls", "--pending"]).lines() {
        assert!(pending.contains(line.split(' ').next().unwrap()), "{line}");
    }
}

#[test]
fn a_copy_that_lost_its_result_waits_for_nothing() {
    let home = Home::with_openai("http://127.0.0.1:9/v1");
    let root = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "Be brief.");
    let question = home.add(&["--prev", &root], "list the files");
    let request = home.add(&["--kind", "s", "--hidden", "--prev", &question], REQUEST);
    let result = home.add(&["--kind", "s", "--hidden", "--prev", &request], "refused");
    let answer = home.add(&["--kind", "a", "--prev", &result], "then not");
    let new = tail(&home, &[&answer, "--system", "Antworte kurz."]);
    // As a kill between two renames leaves it: the copy of the request is there, and nothing that follows it.
    let copies = shown(&home, &["-a", &new]);
    let [.., copied, result, answer] = copies.as_slice() else { panic!("{copies:?}") };
    assert_eq!(copied["text"], REQUEST);
    for gone in [result, answer] {
        std::fs::remove_file(home.work().join(gone["path"].as_str().unwrap())).unwrap();
    }
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    let ran = home.lepo(&["do", "--approve", copied["id"].as_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("it is a copy"), "{}", ran.err);
    // The same command completes it.
    assert_eq!(tail(&home, &[&answer_of(&copies, &home), "--system", "Antworte kurz."]), new);
}

/// The id of the original of the last of these, by the journal.
fn answer_of(copies: &[Value], home: &Home) -> String {
    let last = copies.last().unwrap()["id"].as_str().unwrap();
    let line = journal(home).into_iter().find(|line| line["bubb"] == last).unwrap();
    line["copy_of"].as_str().unwrap().to_string()
}

#[test]
fn with_a_the_side_branches_of_what_is_copied_come_along_and_no_others() {
    let home = Home::new();
    let at = |minute: u32, tag: &str, prev: &str, text: &str| {
        let (role, hidden) = tag.split_at(1);
        let time = format!("2025-03-01T12:{minute:02}Z");
        let mut args = vec!["--kind", role, "--prev", prev, "--time", &time];
        args.extend((hidden == "1").then_some("--hidden"));
        home.add(&args, text)
    };
    let question = at(1, "u0", "head", "a question");
    let call = |minute: u32| {
        let call = at(minute, "a1", &question, REQUEST);
        let result = at(minute + 1, "t1", &call, &format!("a result of {minute}"));
        [call, result]
    };
    let (first_call, first) = (call(2), at(4, "a0", &question, "first answer"));
    let (second_call, second) = (call(5), at(7, "a0", &question, "second answer"));
    let next = at(8, "u0", &second, "and then?");
    let thought = at(9, "a1", &next, "what came of it was cut");
    let copied = |args: &[&str]| -> Vec<String> {
        let output =
            home.ok(&[&["rebase", "-a", "-n", "--json", "--onto", &elsewhere(&home)], args].concat());
        let document: Value = serde_json::from_str(&output).unwrap();
        let mut ids: Vec<String> = document["made"]
            .as_array()
            .unwrap()
            .iter()
            .map(|made| made["copy_of"].as_str().unwrap().to_string())
            .collect();
        ids.sort();
        ids
    };
    let sorted = |ids: &[&[String]]| {
        let mut ids = ids.concat();
        ids.sort();
        ids
    };
    let line = |ids: &[&String]| ids.iter().map(|id| id.to_string()).collect::<Vec<_>>();
    assert_eq!(copied(&[&first]), sorted(&[&line(&[&question, &first]), &first_call]));
    assert_eq!(copied(&[&second]), sorted(&[&line(&[&question, &second]), &second_call]));
    // What hangs on the end is of what follows it, if something does.
    assert_eq!(copied(&[&question]), line(&[&question]));
    let whole = sorted(&[&line(&[&question, &second, &next, &thought]), &second_call]);
    assert_eq!(copied(&[&next]), whole);
}

/// Another conversation, to copy onto.
fn elsewhere(home: &Home) -> String {
    home.add(&["--prev", "head", "--time", "2025-04-01T12:00Z"], "elsewhere")
}

#[test]
fn a_branch_is_moved_with_f_and_checked_with_n() {
    let home = Home::new();
    let ids = two_lines(&home);
    home.ok(&["branch", "main", &ids[6]]);
    let base = ["rebase", ids[4].as_str(), "--root"];
    for (args, code, moves) in [
        (&["--branch", "main"][..], 1, false),
        (&["-n", "--branch", "main"], 1, false),
        (&["-n", "--branch", "new"], 0, false),
        (&["-n", "-f", "--branch", "main"], 0, false),
        (&["-f", "--branch", "main"], 0, true),
        (&["-f", "--branch", "new"], 0, true),
    ] {
        let before = home.ok(&["branch"]);
        let ran = home.lepo(&[&base[..], args].concat());
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert_eq!(home.ok(&["branch"]) != before, moves, "{args:?}");
    }
    assert!(home.lepo(&[&base[..], &["--branch", "main"]].concat()).err.contains("-f moves the branch"));
    assert_eq!(home.ok(&["resolve", "main"]), home.ok(&["resolve", "new"]));
    assert_eq!(home.lepo(&[&base[..], &["-f"]].concat()).code, 2, "-f needs --branch");
}
