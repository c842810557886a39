//! `ls` and `log`: the forest at a glance, and what waits.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::addresses::shell;
use crate::home::Home;

const REQUEST: &str = r#"{"access":"read","command":"git log --oneline | head -40 # 왜 그럴까"}"#;

/// prompt → question → answer, the question answered again, and gone on from there.
fn forest(home: &Home) -> Vec<String> {
    let prompt = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "prompt");
    let question = home.add(&[], "이 아키텍처 어떻게 구성할까? 유저는 천 명이야.");
    let first = home.add(&["--kind", "a"], "하나의 서버");
    let again = home.add(&["--kind", "a", "--prev", &question], "two servers");
    let more = home.add(&[], "why two?");
    vec![prompt, question, first, again, more]
}

#[test]
fn ls_gives_the_tails_that_lead_through_a_bubb() {
    let home = Home::new();
    let ids = forest(&home);
    let other = home.add(&["--prev", "head"], "panic elsewhere");
    let (first, more) = (&ids[2], &ids[4]);
    let excerpt = "이 아키텍처 어떻게 구 ... ? 유저는 천 명이야.";
    assert_eq!(home.ok(&["ls", "-n", "1"]), format!("{other} (1): panic elsewhere\n"));
    let ran = shell(&home, "grep -l 유저 .lepo/*.md | lepo ls -");
    assert_eq!(ran.out, format!("{more} (4): why two?\n{first} (3): {excerpt}\n"), "{}", ran.err);
    let ran = shell(&home, "grep -l 하나 .lepo/*.md | lepo ls -");
    assert_eq!(ran.out, format!("{first} (3): {excerpt}\n"), "{}", ran.err);
    assert_eq!(home.ok(&["ls", &format!("{first}..{more}")]), format!("{more} (4): why two?\n"));
    assert_eq!(home.lepo(&["ls", "nobody"]).code, 2);
    assert_eq!(home.lepo_with(&["ls", "-"], b"").out, "");
}

#[test]
fn ls_pending_lists_what_waits_for_consent() {
    let home = Home::new();
    let ids = forest(&home);
    assert_eq!(home.ok(&["ls", "--pending"]), "");
    let request = home.add(&["--kind", "s", "--hidden"], REQUEST);
    home.add(&["--kind", "s", "--hidden", "--prev", &ids[4]], "not a request");
    // The sandbox that would hold it depends on the machine, and without a path only on the kernel.
    let line = home.ok(&["ls", "--pending"]);
    assert!(line.starts_with(&format!("{request} (5): read (")), "{line}");
    assert!(line.ends_with(") git log --oneline | head -40 # 왜 그럴까\n"), "{line}");
    let json: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--pending", "--json"])).unwrap();
    assert_eq!(json["pending"][0]["request"]["command"], "git log --oneline | head -40 # 왜 그럴까");
    assert_eq!(json["pending"][0]["id"], request.as_str());
    let sandbox = json["pending"][0]["sandbox"].as_str().unwrap();
    assert!(["bubblewrap", "landlock", "none"].contains(&sandbox), "{sandbox}");
    assert!(home.ok(&["ls", "--pending", "--paths"]).contains(&request));
    // The question was gone on from: nobody waits for that request any more.
    home.add(&["--kind", "a", "--prev", &ids[4]], "because");
    assert_eq!(home.ok(&["ls", "--pending"]), "");
}

#[test]
fn log_is_a_line_a_bubb_newest_first() {
    let home = Home::new();
    let ids = forest(&home);
    let (question, first, again, more) = (&ids[1], &ids[2], &ids[3], &ids[4]);
    let excerpt = "이 아키텍처 어떻게 구 ... ? 유저는 천 명이야.";
    let conv = format!("{more} u0 why two?\n{again} a0 two servers\n{question} u0 {excerpt}\n");
    assert_eq!(home.ok(&["log"]), conv);
    assert_eq!(home.ok(&["log", "-a"]), format!("{conv}{} s1 prompt\n", ids[0]));
    assert_eq!(home.ok(&["log", "-n", "1"]), format!("{more} u0 why two?\n"));
    assert_eq!(home.ok(&["log", &format!("{first}..@^")]), format!("{again} a0 two servers\n"));
    assert_eq!(home.ok(&["log", "--all"]).lines().count(), 4);
    let ran = shell(&home, "lepo log --all | grep two | cut -d' ' -f1 | lepo log -");
    assert_eq!(ran.out, conv, "{}", ran.err);
    let json = home.ok(&["log", "--json", first]);
    let kinds: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (kinds.len(), &kinds[0]["kind"], &kinds[0]["excerpt"]),
        (2, &"assistant".into(), &"하나의 서버".into())
    );
    let failed = home.lepo(&["log", "--json", "nobody"]);
    let error: serde_json::Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!((failed.code, &error["error"]["kind"]), (2, &"usage".into()));
}

#[test]
fn the_graph_draws_every_fork() {
    let home = Home::new();
    let ids = forest(&home);
    let other = home.add(&["--prev", "head"], "elsewhere");
    let (question, first, again, more) = (&ids[1], &ids[2], &ids[3], &ids[4]);
    let tree = format!(
        "* {more} u0 why two?\n* {again} a0 two servers\n| * {first} a0 하나의 서버\n|/\n\
         * {question} u0 이 아키텍처 어떻게 구 ... ? 유저는 천 명이야.\n"
    );
    assert_eq!(home.ok(&["log", "--graph", "--all"]), format!("* {other} u0 elsewhere\n\n{tree}"));
    assert_eq!(home.ok(&["log", "--graph"]), format!("* {other} u0 elsewhere\n"));
    assert_eq!(home.ok(&["log", "--graph", first]), tree);
    assert_eq!(home.ok(&["log", "--graph", "--all", "-n", "1"]), format!("* {other} u0 elsewhere\n"));
    assert!(home.ok(&["log", "--graph", "-a", first]).ends_with(&format!("* {} s1 prompt\n", ids[0])));
}

#[test]
fn the_graph_joins_what_hangs_under_one_hidden_root() {
    let home = Home::new();
    let root = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "prompt");
    let one = home.add(&["--prev", &root], "one");
    let other = home.add(&["--prev", &root], "another wording of one");
    let apart = home.add(&["--prev", "head"], "apart");
    let drawn = home.ok(&["log", "--graph", "--all"]);
    assert_eq!(
        drawn,
        format!(
            "* {apart} u0 apart\n\n* {other} u0 another wording of one\n| * {one} u0 one\n|/\n* {root} s1 prompt\n"
        )
    );
}

/// A pipe holds 64 kB; these lines are four times that, so `ls` stands still with most of them before it.
#[test]
fn ls_prints_before_it_has_read_the_last() {
    let home = Home::new();
    home.ok(&["init"]);
    let name = |i: usize| format!("work/.lepo/01JB3Z{i:020}-u0-head.md");
    for i in 0..4000 {
        home.write(&name(i), format!("a question of so many words that its line is long: {i:05}"));
    }
    let mut child = home.command(&["ls"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("01JB3Z00000000000000003999 (1): "), "{first}");
    for i in 0..10 {
        std::fs::remove_file(home.path().join(name(i))).unwrap();
    }
    assert_eq!(lines.count(), 3999, "one that cannot be read still has its line");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().filter(|line| line.starts_with("warning: cannot read")).count(), 10, "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn answers_to_one_question_are_told_apart_and_no_other_line_changes() {
    let home = Home::new();
    let question = home.add(&["--prev", "head"], "why?");
    let one = home.add(&["--kind", "a"], "because it is so");
    let other = home.add(&["--prev", "head"], "elsewhere");
    let two = home.add(&["--kind", "a", "--prev", &question], "ask another");
    // In a pipe a line is what scripts know.
    let lines = format!("{two} (2): why?\n{other} (1): elsewhere\n{one} (2): why?\n");
    assert_eq!(home.ok(&["ls"]), lines);
    assert_eq!(home.ok(&["ls", "-n", "1"]), format!("{two} (2): why?\n"));
    let long: Vec<String> = home.ok(&["ls", "-l"]).lines().map(str::to_string).collect();
    assert!(long[0].ends_with(" why? · ask another") && long[1].ends_with(" elsewhere"), "{long:?}");
    assert!(long[2].ends_with(" why? · because it is so"), "{long:?}");
    let json: serde_json::Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let answers: Vec<_> = (0..3).map(|i| json["tails"][i]["answer"].clone()).collect();
    assert_eq!(answers, ["ask another".into(), serde_json::Value::Null, "because it is so".into()]);
    let ran = shell(&home, "lepo ls | cut -d' ' -f1 | lepo resolve -");
    assert_eq!(ran.out, format!("{two}\n{other}\n{one}\n"));
}

#[test]
fn a_caret_steps_over_hidden_bubbs_and_show_json_has_every_prev() {
    let home = Home::new();
    let root = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "prompt");
    let question = home.add(&[], "question");
    let call = home.add(&["--kind", "a", "--hidden"], "call");
    let result = home.add(&["--kind", "t", "--hidden"], "result");
    let answer = home.add(&["--kind", "a"], "answer");
    for address in ["@^", "@~1", &format!("{answer}^")] {
        assert_eq!(home.ok(&["resolve", address]).trim(), question, "{address}");
    }
    for (options, ids) in [
        (&["--json"][..], vec![&question, &answer]),
        (&["--json", "-a"], vec![&root, &question, &call, &result, &answer]),
    ] {
        let document: serde_json::Value =
            serde_json::from_str(&home.ok(&[&["show"], options].concat())).unwrap();
        let found: Vec<_> =
            document["bubbs"].as_array().unwrap().iter().map(|bubb| (&bubb["id"], &bubb["prev"])).collect();
        let prev =
            |id: &String| match [&root, &question, &call, &result, &answer].iter().position(|one| *one == id)
            {
                Some(0) | None => serde_json::Value::Null,
                Some(at) => [&root, &question, &call, &result][at - 1].clone().into(),
            };
        let expected: Vec<_> =
            ids.into_iter().map(|id| (serde_json::Value::from(id.clone()), prev(id))).collect();
        assert_eq!(found, expected.iter().map(|(id, prev)| (id, prev)).collect::<Vec<_>>(), "{options:?}");
    }
}
