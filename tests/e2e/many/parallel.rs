//! `lepo do --parallel`: one question, a branch an answer.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json as value;

use super::{Panel, json};
use crate::disk::{bubbs, forest, journal, spools};
use crate::home::{Home, finish, until};
use crate::pty::on_terminal;
use crate::scripted::{Piece, Reply, openai_event, openai_sse};

fn texts(home: &Home) -> Vec<String> {
    bubbs(home).into_iter().map(|bubb| bubb.text).collect()
}

/// lepo, started with its output in pipes.
fn spawned(home: &Home, args: &[&str]) -> std::process::Child {
    let mut command = home.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A reply that says `text` and then nothing more.
fn begun(text: &str) -> Reply {
    Reply::pieces([Piece::Bytes(openai_event(value!({"content": text}), None).into_bytes()), Piece::Wait])
}

#[test]
fn each_answer_is_a_branch_behind_its_name() {
    let panel = Panel::saying(&[("클로드", &["둘."]), ("b", &["two."])]);
    panel.server("b"); // both are there
    let ran = panel.lepo(&["do", "--parallel", "1+1?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## 클로드\n\n둘.\n\n## b\n\ntwo.\n"));
    let stored = bubbs(&panel.home);
    let mut shape: Vec<_> = stored.iter().map(|bubb| (bubb.tag.as_str(), bubb.text.as_str())).collect();
    shape.sort_unstable();
    assert_eq!(
        shape,
        [("a0", "two."), ("a0", "둘."), ("s1", "SELECT: b"), ("s1", "SELECT: 클로드"), ("u0", "1+1?")]
    );
    let find = |text: &str| stored.iter().find(|bubb| bubb.text == text).unwrap();
    for (select, answer) in [("SELECT: b", "two."), ("SELECT: 클로드", "둘.")] {
        assert_eq!((&find(select).prev, &find(answer).prev), (&find("1+1?").id, &find(select).id));
    }
    // Both ids, and which of them is @.
    let newest = panel.home.ok(&["resolve", "@"]);
    for (name, answer) in [("클로드", "둘."), ("b", "two.")] {
        let id = &find(answer).id;
        let at = if *id == newest.trim() { "  @" } else { "" };
        assert!(ran.err.contains(&format!("{id}  {name}{at}\n")), "{}", ran.err);
    }
    assert_eq!(ran.err.matches('@').count(), 1);
    // An ordinary forest: compared, and gone on with.
    let (a, b) = (&find("둘.").id, &find("two.").id);
    assert!(panel.lepo(&["diff", a, b]).out.contains("two."));
    assert_eq!(panel.home.ok(&["fsck"]), "");
    assert_eq!(journal(&panel.home).len(), 2);
}

#[test]
fn all_get_the_same_conv_and_each_can_be_gone_on_with() {
    let panel = Panel::saying(&[("a", &["one", "three"]), ("b", &["two"])]);
    panel.home.add(&["--prev", "head"], "before");
    assert_eq!(panel.lepo(&["do", "--parallel", "-t", "@", "q", "--run", "echo hi"]).code, 0);
    let [a, b] = ["a", "b"].map(|name| panel.server(name).asked()[0].json()["messages"].clone());
    assert_eq!(a, b);
    let [user, ran, question, _general] = a.as_array().unwrap().clone().try_into().unwrap();
    assert_eq!((&user["content"], &question["content"]), (&value!("before"), &value!("q")));
    assert!(ran["content"].as_str().unwrap().contains("hi\n"));
    let answer = bubbs(&panel.home).into_iter().find(|bubb| bubb.text == "two").unwrap();
    assert_eq!(panel.lepo(&["do", "-m", "a", "--tools", "off", "-t", &answer.id, "and?"]).out, "three\n");
    let asked = panel.server("a").asked()[1].json()["messages"].as_array().unwrap().clone();
    let found: Vec<_> = asked.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(found[2..6], ["q", "SELECT: b", "two", "and?"]);
}

#[test]
fn the_newest_is_the_answer_of_the_first_whichever_comes_last() {
    let held = |text: &str| openai_sse([text]).held();
    for first in ["a", "b", "c"] {
        // The others in both orders, and the first before, between and after them.
        let others: Vec<&str> = ["a", "b", "c"].into_iter().filter(|name| *name != first).collect();
        for order in
            [[first, others[0], others[1]], [others[1], first, others[0]], [others[1], others[0], first]]
        {
            let panel = Panel::new("", &["a", "b", "c"].map(|name| (name, vec![held(name)])));
            let args = ["do", "--parallel", "-m", first, "-m", others[0], "-m", others[1], "q"];
            let child = spawned(&panel.home, &args);
            for name in order {
                panel.server(name).await_asked(1);
                panel.server(name).release();
                until("the answer", || texts(&panel.home).contains(&name.to_string()));
            }
            let ran = finish(child);
            assert_eq!(ran.code, 0, "{}", ran.err);
            assert_eq!(panel.home.ok(&["show", "-1"]).trim_end(), first, "{order:?}");
            assert!(ran.err.contains(&format!("  {first}  @\n")), "{}", ran.err);
            assert_eq!(panel.home.ok(&["fsck"]), "");
        }
    }
}

#[test]
fn where_the_first_fails_the_next_in_order_counts() {
    for order in [["b", "c", "a"], ["c", "b", "a"], ["a", "c", "b"]] {
        let replies = |name: &str| match name {
            "a" => Reply::new(400, "no").held(),
            name => openai_sse([name]).held(),
        };
        let panel = Panel::new("", &["a", "b", "c"].map(|name| (name, vec![replies(name)])));
        let child = spawned(&panel.home, &["do", "--parallel", "q"]);
        for name in order {
            panel.server(name).await_asked(1);
            panel.server(name).release();
            until("the answer", || name == "a" || texts(&panel.home).contains(&name.to_string()));
        }
        assert_eq!(finish(child).code, 0);
        assert_eq!(panel.home.ok(&["show", "-1"]).trim_end(), "b", "{order:?}");
    }
}

#[test]
fn a_model_that_is_named_twice_answers_twice() {
    let panel = Panel::saying(&[("a", &["one", "two"]), ("b", &["three"])]);
    let ran = panel.lepo(&["do", "--parallel", "--json", "-m", "a", "-m", "b", "-m", "a", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let names: Vec<String> = json(&ran.out)
        .as_array()
        .unwrap()
        .iter()
        .map(|reply| reply["name"].as_str().unwrap().into())
        .collect();
    assert_eq!(names, ["a", "b", "a (2)"]);
    let mut selects: Vec<String> =
        texts(&panel.home).into_iter().filter(|text| text.starts_with("SELECT: ")).collect();
    selects.sort();
    assert_eq!(selects, ["SELECT: a", "SELECT: a (2)", "SELECT: b"]);
    let models: Vec<String> =
        journal(&panel.home).iter().map(|line| line["model"].as_str().unwrap().into()).collect();
    assert_eq!(models.iter().filter(|model| *model == "a").count(), 2, "{models:?}");
}

#[test]
fn those_who_are_asked_are_named_in_three_ways() {
    for args in [
        &["do", "--parallel", "-m", "b", "-m", "a", "q"][..],
        &["do", "--parallel", "--participants", "b,a", "q"],
        &["--parallel", "--participants", "b", "--participants", "a", "--file", "q.md"],
    ] {
        let panel = Panel::saying(&[("a", &["one"]), ("b", &["two"]), ("c", &["three"])]);
        panel.home.write("work/q.md", "q\n");
        assert_eq!(panel.lepo(args).out, "## b\n\ntwo\n\n## a\n\none\n", "{args:?}");
        assert_eq!(panel.server("c").asked().len(), 0);
    }
}

#[test]
fn what_cannot_be_asked_is_wrong_usage() {
    for (args, says) in [
        (&["do", "--parallel", "-m", "nobody", "q"][..], "unknown model \"nobody\""),
        (&["do", "--debate", "--orchestrator", "b", "--participants", "a,a", "q"], "named twice"),
        (&["do", "--parallel", "-m", "a", "--participants", "b", "q"], "cannot be used with"),
        (&["do", "-m", "a", "-m", "b", "q"], "more than once"),
        (&["do", "--participants", "a", "q"], "--parallel|--debate"),
        (&["do", "--parallel", "--debate", "q"], "cannot be used with"),
        (&["do", "--parallel", "--orchestrator", "a", "q"], "cannot be used with"),
        (&["do", "--debate", "-m", "a", "q"], "cannot be used with"),
        (&["do", "--debate", "--orchestrator", "nobody", "q"], "unknown model"),
        (&["do", "--parallel", " "], "blank"),
    ] {
        let panel = Panel::saying(&[("a", &["one"]), ("b", &["two"])]);
        let ran = panel.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
        assert!(!panel.home.work().join(".lepo").exists());
        assert_eq!(panel.server("a").asked().len(), 0);
    }
    for (args, says) in
        [(["do", "--parallel", "q"], "--participants A,B"), (["do", "--debate", "q"], "no participants")]
    {
        let ran = Home::with_config("").lepo(&args);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn the_hint_of_one_names_the_store() {
    let long = || Reply::new(400, "This model's maximum context length is 8192 tokens");
    for (option, told) in [
        (None, "hint: `lepo -s notes do --compact` continues"),
        (Some("--json"), "\"hint\":\"`lepo -s notes do --compact` continues"),
        (Some("--events"), "\"hint\":\"`lepo -s notes do --compact` continues"),
    ] {
        let panel = Panel::new("", &[("a", vec![openai_sse(["one"])]), ("b", vec![long()])]);
        let add = |args: &[&str]| {
            let ran = panel.home.lepo_with(&[&["-s", "notes", "add"], args].concat(), b"text");
            assert_eq!(ran.code, 0, "{}", ran.err);
        };
        panel.home.ok(&["-s", "notes", "init"]);
        for prev in ["head", "@"] {
            add(&["--kind", "u", "--prev", prev]);
            add(&["--kind", "a", "--prev", "@"]);
        }
        let args = ["-s", "notes", "do", "--parallel", "--tail", "@", "q"];
        let ran = panel.lepo(&args.into_iter().chain(option).collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(format!("{}{}", ran.out, ran.err).contains(told), "{option:?}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn the_failure_of_one_is_its_own() {
    let cut = Reply::pieces([
        Piece::Bytes(openai_event(value!({"content": "반쪽"}), None).into_bytes()),
        Piece::Close,
    ]);
    let panel = Panel::new(
        "",
        &[("a", vec![openai_sse(["one"])]), ("b", vec![Reply::new(401, "no")]), ("c", vec![cut])],
    );
    let ran = panel.lepo(&["do", "--parallel", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## a\n\none\n"));
    assert!(ran.err.contains("b failed: ") && ran.err.contains("c failed: "), "{}", ran.err);
    let mut shape: Vec<_> = bubbs(&panel.home).into_iter().map(|bubb| (bubb.tag, bubb.text)).collect();
    shape.sort();
    let told = |tag: &str, text: &str| (tag.to_string(), text.to_string());
    assert_eq!(shape, [told("a0", "one"), told("a1", "반쪽"), told("s1", "SELECT: a"), told("u0", "q")]);
    assert!(spools(&panel.home).is_empty());
    // The half answer hangs under the question, and is in nobody's way.
    let question = bubbs(&panel.home).into_iter().find(|bubb| bubb.tag == "u0").unwrap();
    assert!(bubbs(&panel.home).iter().any(|bubb| bubb.tag == "a1" && bubb.prev == question.id));
    assert!(!panel.home.ok(&["show"]).contains("반쪽"));
    assert_eq!(panel.home.ok(&["ls"]).lines().count(), 1);
    assert_eq!(panel.home.ok(&["fsck"]), "");
}

#[test]
fn nobody_answers() {
    let panel = Panel::new("", &[("a", vec![Reply::new(401, "no")]), ("b", vec![openai_sse([" "])])]);
    let ran = panel.lepo(&["do", "--parallel", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(
        ran.err.contains("error: none of 2 models answered\nhint: `lepo do --parallel --retry`"),
        "{}",
        ran.err
    );
    assert_eq!(texts(&panel.home), ["q"]);
    for (models, again) in
        [(&["-m", "a", "-m", "b"][..], "-m a -m b"), (&["--participants", "a, b"], "--participants 'a, b'")]
    {
        let panel = Panel::new("", &["a", "b"].map(|name| (name, vec![Reply::new(401, "no")])));
        let ran = panel.lepo(&[&["do", "--parallel", "q"], models].concat());
        let hint = format!("hint: `lepo do {again} --parallel --retry`");
        assert!(ran.err.contains(&hint), "{}", ran.err);
    }
}

#[test]
fn a_document_of_a_failure_is_an_array_too() {
    let panel = Panel::saying(&[("a", &["one"])]);
    for arguments in [&["-m", "a", "-m", "nosuch"][..], &["--participants", "a,,b"], &["--nosuch"]] {
        let ran = panel.lepo(&[&["do", "--parallel", "--json", "q"], arguments].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
        let document = json(&ran.out);
        assert_eq!(
            (document.as_array().unwrap().len(), &document[0]["name"]),
            (1, &value!(null)),
            "{document}"
        );
        assert_eq!(document[0]["error"]["kind"], "usage", "{document}");
    }
    let ran = panel.lepo(&["do", "--parallel", "--events", "-m", "nosuch", "q"]);
    let end = json(&ran.out);
    assert_eq!((&end["replies"], &end["error"]["kind"]), (&value!([]), &value!("usage")), "{end}");
}

#[test]
fn a_reply_has_its_time() {
    let never = || vec![begun("half")];
    let panel = Panel::new("timeout = 1", &[("a", vec![openai_sse(["one"])]), ("b", never())]);
    let ran = panel.lepo(&["do", "--parallel", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## a\n\none\n"));
    assert!(ran.err.contains("b failed: no complete reply within 1 s"), "{}", ran.err);
    assert!(texts(&panel.home).contains(&"half".to_string()));
}

#[test]
fn the_document_is_an_array_of_those_of_one() {
    let panel = Panel::new("", &[("a", vec![openai_sse(["one"])]), ("b", vec![Reply::new(401, "no")])]);
    let ran = panel.lepo(&["do", "--parallel", "--json", "-o", "out.json", "q"]);
    assert_eq!((ran.code, panel.home.read("work/out.json")), (0, ran.out.clone()));
    let document = json(&ran.out);
    let [a, b] = document.as_array().unwrap().clone().try_into().unwrap();
    let [question, select, answer] = bubbs(&panel.home).try_into().unwrap();
    assert_eq!((&a["name"], &b["name"]), (&value!("a"), &value!("b")));
    assert_eq!(a["conv"], value!([question.id, select.id, answer.id]));
    assert_eq!(a["answer"]["id"], answer.id);
    assert_eq!(a["answer"]["usage"], value!({"input": 12, "output": 34}));
    assert_eq!((&a["answer"]["model"], &a["error"]), (&value!("a"), &value!(null)));
    assert_eq!(
        (&b["conv"], &b["answer"], &b["user"]),
        (&value!([question.id]), &value!(null), &value!(question.id))
    );
    assert_eq!(b["error"]["kind"], "remote");
}

#[test]
fn events_bear_the_name_of_who_speaks() {
    let panel = Panel::new("", &[("a", vec![openai_sse(["on", "e"])]), ("b", vec![Reply::new(401, "no")])]);
    let ran = panel.lepo(&["do", "--parallel", "--events", "q"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let found: Vec<_> = ran.out.lines().map(json).collect();
    let text: String = found
        .iter()
        .filter(|event| event["event"] == "text" && event["name"] == "a")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(text, "one");
    let failed = found.iter().find(|event| event["event"] == "failed").unwrap();
    assert_eq!((&failed["name"], &failed["error"]["kind"]), (&value!("b"), &value!("remote")));
    let end = found.last().unwrap();
    assert_eq!((&end["event"], &end["error"]), (&value!("end"), &value!(null)));
    assert_eq!(end["replies"][0]["answer"]["text"], "one");
    assert_eq!(found.iter().filter(|event| event["event"] == "bubb").count(), 3);
}

#[test]
fn quiet_is_the_answers_and_the_file_has_them_too() {
    let panel = Panel::new(
        "",
        &[
            ("a", vec![openai_sse(["one\n"])]),
            ("b", vec![Reply::new(401, "no")]),
            ("c", vec![openai_sse(["three"])]),
        ],
    );
    let ran = panel.lepo(&["do", "--parallel", "-q", "-o", "out.md", "q"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "## a\n\none\n\n## c\n\nthree\n", ""));
    assert_eq!(panel.home.read("work/out.md"), ran.out);
}

#[test]
fn a_pipe_gets_each_answer_as_soon_as_its_turn_comes() {
    use std::io::Read;
    let slow = |text| {
        let end = crate::scripted::openai_stream([text]).into_bytes();
        vec![Reply::pieces([Piece::Wait, Piece::Bytes(end)])]
    };
    let panel = Panel::new("", &[("a", slow("one")), ("b", slow("two"))]);
    let mut command = panel.home.command(&["do", "--parallel", "--no-stdin", "q"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    panel.server("b").release();
    let two = || bubbs(&panel.home).iter().any(|bubb| bubb.text == "two");
    until("b's answer", || panel.home.work().join(".lepo").exists() && two());
    panel.server("a").release();
    let mut first = [0; "## a\n\none\n".len()];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(first, *b"## a\n\none\n");
    let ran = finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (0, "\n## b\n\ntwo\n"));
}

#[test]
fn all_are_asked_at_once_and_again() {
    let wait = || Reply::pieces([Piece::Wait]);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let models: Vec<_> = names.map(|name| (name, vec![wait(), openai_sse([name])])).into();
    let panel = Panel::new("", &models);
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let args = ["--default-signal", lepo, "do", "--parallel", "--no-stdin", "q"];
    let mut command: Command = panel.home.program("env", &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // None has replied, and yet each was asked.
    names.iter().for_each(|name| panel.server(name).await_asked(1));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (130, ""), "{}", ran.err);
    assert!(ran.err.ends_with("hint: `lepo do --parallel --retry` asks all again\n"), "{}", ran.err);
    assert_eq!(forest(&panel.home), "A u0 head");
    let again = panel.lepo(&["do", "--parallel", "--retry", "-q"]);
    assert_eq!(again.out, names.map(|name| format!("## {name}\n\n{name}\n")).join("\n"));
    assert_eq!(texts(&panel.home).iter().filter(|text| *text == "q").count(), 1);
}

#[test]
fn a_hint_to_ask_again_is_about_the_model_that_failed() {
    let cut = Reply::new(200, openai_event(value!({"content": "반쪽"}), None));
    let panel = Panel::new("", &[("a", vec![openai_sse(["one"])]), ("b", vec![cut, openai_sse(["two"])])]);
    let ran = panel.lepo(&["do", "--parallel", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("hint: ask again: `lepo do -m b --retry`"), "{}", ran.err);
    assert_eq!(panel.lepo(&["do", "-m", "b", "--retry", "-q"]).out, "two\n");
}

#[test]
fn a_note_names_its_model_once() {
    let refused = Reply::new(429, "slow").header("Retry-After", "0");
    let cut = Reply::new(200, openai_event(value!({"content": "one"}), Some("length")));
    let panel = Panel::new("", &[("a", vec![refused, cut])]);
    let ran = panel.lepo(&["do", "--parallel", "-m", "a", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut lines = ran.err.lines();
    assert!(lines.next().unwrap().starts_with("a answered 429: "), "{}", ran.err);
    assert!(lines.next().unwrap().starts_with("note: a: the answer was cut off"), "{}", ran.err);
}

#[test]
fn an_interruption_keeps_what_came() {
    let panel = Panel::new("", &[("a", vec![openai_sse(["one"])]), ("b", vec![begun("반쪽")])]);
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let args = ["--default-signal", lepo, "do", "--parallel", "--no-stdin", "--json", "q"];
    let mut command = panel.home.program("env", &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("both have said something", || {
        panel.home.work().join(".lepo").exists()
            && texts(&panel.home).contains(&"one".to_string())
            && spools(&panel.home).iter().any(|(_, text)| text == "반쪽")
    });
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, 143, "{}", ran.err);
    let document = json(&ran.out);
    assert_eq!(
        (&document[0]["answer"]["text"], &document[1]["error"]["kind"]),
        (&value!("one"), &value!("interrupted"))
    );
    let partial = bubbs(&panel.home).into_iter().find(|bubb| bubb.text == "반쪽").unwrap();
    assert_eq!(partial.tag, "a1");
    assert_eq!(panel.home.ok(&["fsck"]), "");
}

#[test]
fn no_branch_moves() {
    let panel = Panel::saying(&[("a", &["one"]), ("b", &["two"])]);
    let id = panel.home.add(&["--prev", "head"], "before");
    panel.home.ok(&["branch", "main", &id]);
    assert_eq!(panel.lepo(&["do", "--parallel", "--tail", "main", "q"]).code, 0);
    assert_eq!(panel.home.ok(&["resolve", "main"]).trim(), id);
}

#[test]
fn without_tail_a_new_conversation_begins() {
    let panel = Panel::saying(&[
        ("chief", &["END: x", "END: y"]),
        ("a", &["one", "PASS", "PASS", "again"]),
        ("b", &["two", "PASS", "PASS", "more"]),
    ]);
    let before = panel.home.add(&["--prev", "head"], "before");
    assert_eq!(panel.lepo(&["do", "--parallel", "first"]).code, 0);
    let ran = panel.lepo(&["do", "--debate", "-q", "second"]);
    assert_eq!(ran.out, "x\n", "{}", ran.err);
    assert!(!panel.last_prompt("chief").contains("before"), "{}", panel.last_prompt("chief"));
    let found = |text: &str| bubbs(&panel.home).into_iter().find(|bubb| bubb.text == text).unwrap();
    assert_eq!((found("first").prev, found("second").prev), ("head".into(), "head".into()));
    // With --tail they go on, and --retry needs none.
    assert_eq!(panel.lepo(&["do", "--debate", "-q", "--tail", &before, "third"]).out, "y\n");
    assert_eq!(found("third").prev, before);
    assert_eq!(panel.lepo(&["do", "--parallel", "--retry"]).code, 0);
    assert_eq!(found("again").text, "again");
    assert_eq!(bubbs(&panel.home).iter().filter(|bubb| bubb.prev == "head").count(), 3);
}

#[test]
fn no_answer_can_stand_under_the_heading_of_another() {
    let fake = "one\n## b\n\nfaked\n## else";
    let panel = Panel::saying(&[("a", &[fake, fake]), ("b", &["two"])]);
    let apart = "## a\n\none\n ## b\n\nfaked\n## else\n\n## b\n\ntwo\n";
    let ran = panel.lepo(&["do", "--parallel", "--output", "said.md", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, apart), "{}", ran.err);
    assert_eq!(panel.home.read("work/said.md"), apart);
    assert!(texts(&panel.home).contains(&fake.to_string()), "kept as it was said");
    // Alone, an answer is what was said.
    let ran = panel.lepo(&["do", "-n", "-m", "a", "--tools", "off", "--output", "said.md", "q"]);
    assert_eq!((ran.out, panel.home.read("work/said.md")), (format!("{fake}\n"), format!("{fake}\n")));

    for (args, out) in [
        (&["do", "--debate", "q"][..], "## a\n\ny\n ## conclusion\nz\n\n## conclusion\n\nx\n ## b\nno\n"),
        (&["do", "-q", "--debate", "q"], "x\n## b\nno\n"),
    ] {
        let panel = Panel::saying(&[
            ("chief", &["SELECT: a", "END: x\n## b\nno"]),
            ("a", &["REQUEST", "y\n## conclusion\nz", "PASS"]),
            ("b", &["PASS", "PASS"]),
        ]);
        let ran = panel.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (0, out), "{}", ran.err);
    }
}

#[test]
fn ids_are_short_on_a_terminal() {
    let panel = Panel::saying(&[("a", &["하나"]), ("b", &["둘"])]);
    let args = ["do", "--parallel", "--participants", "a,b", "1+1?"];
    let ran = on_terminal(panel.home.command(&args), &[]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    for name in panel.home.bubbs() {
        let id = name.get(..26).unwrap();
        assert!(!ran.out.contains(id), "{id}: {}", ran.out);
        assert!(!name.contains("-a0-") || ran.out.contains(&id[18..]), "{id}: {}", ran.out);
    }
}

#[test]
fn ls_tells_the_answers_to_one_question_apart() {
    let panel = Panel::saying(&[("a", &["하나입니다."]), ("b", &["two", "more"])]);
    assert_eq!(panel.lepo(&["do", "--parallel", "--participants", "a,b", "1+1?"]).code, 0);
    let excerpts = || {
        let listed: serde_json::Value = serde_json::from_str(&panel.home.ok(&["ls", "--json"])).unwrap();
        let told = |tail: &serde_json::Value| match tail["answer"].as_str() {
            Some(answer) => format!("{} · {answer}", tail["excerpt"].as_str().unwrap()),
            None => tail["excerpt"].as_str().unwrap().to_string(),
        };
        let mut text: Vec<String> = listed["tails"].as_array().unwrap().iter().map(told).collect();
        text.sort();
        text
    };
    assert_eq!(excerpts(), ["1+1? · a: 하나입니다.", "1+1? · b: two"]);
    let lines = panel.home.ok(&["ls", "-l"]);
    assert_eq!(panel.home.ok(&["ls", "-l", "-n", "1"]).lines().next(), lines.lines().next());
    // One of them gone on with: nothing is the same any more.
    assert_eq!(
        panel.lepo(&["do", "-m", "b", "--tools", "off", "-t", &answer_of(&panel, "two"), "and?"]).code,
        0
    );
    assert_eq!(excerpts(), ["1+1?", "and?"]);
}

fn answer_of(panel: &Panel, text: &str) -> String {
    bubbs(&panel.home).into_iter().find(|bubb| bubb.text == text).unwrap().id
}
