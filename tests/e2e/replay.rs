//! `lepo do --replay`: the questions of a conversation asked again.

use std::process::Stdio;

use serde_json::Value;

use crate::bots::Bot;
use crate::disk::journal;
use crate::home::{Home, Ran, finish};
use crate::scripted::{Asked, Reply, Server, openai_calls, openai_sse};
use crate::secrets::github_token;

/// Answers each question with its own words, behind the name of the model.
fn echo(_: usize, asked: &Asked) -> Reply {
    let body = asked.json();
    let last =
        body["messages"].as_array().unwrap().iter().rfind(|message| message["role"] == "user").unwrap();
    let answer = format!("{}: {}", body["model"].as_str().unwrap(), last["content"].as_str().unwrap());
    openai_sse([answer.as_str()])
}

/// A home with the models `a`, which is active, `b` and `c` behind one server.
fn models(server: &Server) -> Home {
    let model = |name: &str| {
        let url = server.url();
        let active = if name == "a" { "active = true\nprice = { in = 1, out = 2 }\n" } else { "" };
        format!(
            "[[models]]\nname = \"{name}\"\nprovider = \"openai\"\nmodel = \"{name}\"\nbase_url = \"{url}/v1\"\n{active}"
        )
    };
    let home = Home::with_config(&format!("planner = \"off\"\n{}", ["a", "b", "c"].map(model).concat()));
    home.write("config/system_prompt.txt", "Be brief.");
    home
}

fn ids(ran: &Ran) -> Vec<String> {
    ran.out.lines().map(str::to_string).collect()
}

fn texts(home: &Home, tail: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(&home.ok(&["show", "--json", tail])).unwrap();
    document["bubbs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bubb| bubb["text"].as_str().unwrap().to_string())
        .collect()
}

fn tip(home: &Home) -> String {
    home.ok(&["resolve", "@"]).trim().to_string()
}

/// A conversation of two questions with model `a`, an output of a command between; its end.
fn two_questions(home: &Home) -> String {
    home.ok(&["do", "-n", "--tools", "off", "--no-stdin", "첫 질문"]);
    home.ok(&["do", "--tools", "off", "--no-stdin", "--run", "echo out", "second"]);
    tip(home)
}

#[test]
fn the_requests_are_those_of_a_person_who_types_the_questions() {
    let server = Server::judging(echo);
    let home = models(&server);
    let old = two_questions(&home);
    home.ok(&["do", "-n", "-m", "b", "--tools", "off", "--no-stdin", "첫 질문"]);
    home.ok(&["do", "-m", "b", "--tools", "off", "--no-stdin", "--run", "echo out", "second"]);
    let typed = texts(&home, "@");
    let ran = home.lepo(&["do", "--replay", &old, "-m", "b"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let asked = server.asked();
    let bodies: Vec<&[u8]> = asked.iter().map(|asked| asked.body.as_slice()).collect();
    assert_eq!(bodies.len(), 6);
    assert_eq!(bodies[2..4], bodies[4..6]);
    assert_eq!(texts(&home, &ids(&ran)[0]), typed);
    // The line shares the root, and its questions are copies by the journal.
    let path = |tail: &str| home.ok(&["show", "--json", "-a", tail]);
    let path: Value = serde_json::from_str(&path(&ids(&ran)[0])).unwrap();
    let old: Value = serde_json::from_str(&home.ok(&["show", "--json", "-a", &old])).unwrap();
    assert_eq!(path["bubbs"][0]["id"], old["bubbs"][0]["id"]);
    let copied = |at: usize| {
        journal(&home)
            .iter()
            .any(|line| line["bubb"] == path["bubbs"][at]["id"] && line["copy_of"] == old["bubbs"][at]["id"])
    };
    assert!(copied(1) && copied(3) && copied(4), "{path}");
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn several_models_get_a_line_each_and_the_old_one_stays() {
    let server = Server::judging(echo);
    let home = models(&server);
    let old = two_questions(&home);
    home.ok(&["branch", "main", &old]);
    let before = home.bubbs();
    let ran = home.lepo(&["do", "--replay", "main", "-m", "b", "-m", "c", "-m", "a"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let tails = ids(&ran);
    for (tail, name) in tails.iter().zip(["b", "c", "a"]) {
        let stored = texts(&home, tail);
        assert!(
            stored[1] == format!("{name}: 첫 질문") && stored[4] == format!("{name}: second"),
            "{stored:?}"
        );
    }
    assert_eq!(tails.len(), 3);
    let after = home.bubbs();
    assert!(before.iter().all(|name| after.contains(name)));
    assert_eq!(home.ok(&["resolve", "main"]).trim(), old);
    assert!(ran.err.contains(&format!("@ is now {}", tip(&home))), "{}", ran.err);
    assert!(
        ran.err.contains("b  ") && ran.err.contains("tokens") && ran.err.contains("total"),
        "{}",
        ran.err
    );
    let document: Value =
        serde_json::from_str(&home.ok(&["do", "--replay", "main", "--json", "-m", "b", "-m", "c"])).unwrap();
    assert_eq!((document[0]["name"].as_str(), document[1]["name"].as_str()), (Some("b"), Some("c")));
    assert_eq!(document[1]["turns"].as_array().unwrap().len(), 2);
    assert_eq!(document[1]["turns"][1]["answer"]["id"], document[1]["tail"]);
    // Compared question by question, each has its counterpart.
    let diff = home.lepo(&["diff", "--turns", &old, &tails[0]]);
    assert!(diff.out.ends_with("2 questions: 0 the same, 2 different, 0 in one only\n"), "{}", diff.out);
}

#[test]
fn a_line_begins_where_it_is_told_to() {
    let server = Server::judging(echo);
    let home = models(&server);
    let old = two_questions(&home);
    let one = |args: &[&str]| {
        let ran = home.lepo(&[&["do", "-m", "b", "--replay", &old], args].concat());
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        texts(&home, &ids(&ran)[0])
    };
    let out = "$ echo out\nexit code: 0\nstdout:\nout\n";
    // From the second question, and from the answer to it.
    let shared = one(&["--from", &format!("{old}^")]);
    assert_eq!(shared[..2], ["첫 질문", "a: 첫 질문"]);
    assert_eq!(shared.last().unwrap(), "b: second");
    assert_eq!(one(&["--from", &old]), shared);
    let (asked, tail) = (server.asked().len(), tip(&home));
    // Under another prompt, and below another line.
    let new = one(&["--system", "Antworte kurz."]);
    assert_eq!(new[0], "첫 질문");
    let root: Value = serde_json::from_str(&home.ok(&["show", "--json", "-a"])).unwrap();
    assert_eq!(root["bubbs"][0]["text"], "Antworte kurz.");
    assert_eq!(server.asked().len(), asked + 2);
    let other = home.add(&["--prev", "head"], "other");
    let below = one(&["--onto", &other]);
    assert_eq!((below[0].as_str(), below[1].as_str(), below.len()), ("other", "첫 질문", 6));
    assert!(below[3].starts_with(out.lines().next().unwrap()), "{below:?}");
    assert_ne!(tail, old);
}

#[test]
fn a_teacher_asks_on_the_recorded_past() {
    let server = Server::judging(echo);
    let home = models(&server);
    let old = two_questions(&home);
    let ran = home.lepo(&["do", "--replay", &old, "--teacher", "-m", "b"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let actual = texts(&home, &ids(&ran)[0]);
    assert_eq!((actual[1].as_str(), actual.last().unwrap().as_str()), ("a: 첫 질문", "b: second"));
    let bodies = server.asked();
    assert!(bodies[3].json().to_string().contains("a: 첫 질문"));
    // Beside the recorded answers: no question was copied.
    assert_eq!(home.bubbs().iter().filter(|name| name.contains("-u0-")).count(), 2);
    assert_eq!(home.bubbs().iter().filter(|name| name.contains("-a0-")).count(), 4);
}

#[test]
fn what_was_stopped_goes_on_below_its_end() {
    let server = Server::judging(|number, asked| match number {
        3 => Reply::new(404, "{}"),
        _ => echo(number, asked),
    });
    let home = models(&server);
    let old = two_questions(&home);
    let ran = home.lepo(&["do", "--replay", &old, "-m", "b"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let tail = ids(&ran)[0].clone();
    let hint = format!("lepo do --replay {old} -m b --onto {tail}");
    assert!(ran.err.contains(&hint), "{}", ran.err);
    // The question that failed already exists; what was answered is not asked again.
    let ran = home.lepo(&["do", "--replay", &old, "-m", "b", "--onto", &tail]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let actual = texts(&home, &ids(&ran)[0]);
    assert_eq!((actual.len(), actual[4].as_str()), (5, "b: second"));
    assert_eq!(server.asked().len(), 5);
    // Once it has all, there is nothing left to ask.
    let done = ids(&ran)[0].clone();
    let ran = home.lepo(&["do", "--replay", &old, "-m", "b", "--onto", &done]);
    assert_eq!((ran.code, ran.out.trim()), (0, done.as_str()), "{}", ran.err);
    assert_eq!(server.asked().len(), 5);
}

#[test]
fn an_interrupt_keeps_the_finished_part() {
    let server = Server::judging(|number, asked| match number {
        3 => openai_sse(["never"]).held(),
        _ => echo(number, asked),
    });
    let home = models(&server);
    let old = two_questions(&home);
    let mut command = home.command(&["do", "--replay", &old, "-m", "b"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.await_asked(4);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, 130, "{}", ran.err);
    let tail = ids(&ran)[0].clone();
    assert_eq!(texts(&home, &tail)[1], "b: 첫 질문");
    let note = format!(
        "@ is now {}, which the replay left unfinished; the conversation before it: lepo do --tail {old}\n",
        tip(&home)
    );
    assert!(ran.err.contains(&note), "{}", ran.err);
    let ran = home.lepo(&["do", "--replay", &old, "-m", "b", "--onto", &tail]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(texts(&home, &ids(&ran)[0]).last().unwrap(), "b: second");
    assert_eq!(texts(&home, &ids(&ran)[0]).len(), 5);
}

#[test]
fn a_recorded_result_is_given_and_another_request_waits() {
    let call = |command: &str| {
        openai_calls("", &[("run_command", &format!(r#"{{"command":"{command}","access":"read"}}"#))])
    };
    let bot = Bot::openai(
        "planner = \"native\"",
        [
            call("cat code.txt"),
            openai_sse(["It says old."]),
            call("cat code.txt"),
            openai_sse(["It says it again."]),
            call("cat other.txt"),
        ],
    );
    bot.home.write("work/code.txt", "old");
    bot.home.ok(&["do", "-n", "--tools", "auto", "--no-stdin", "What does it say?"]);
    bot.home.write("work/code.txt", "new");
    bot.home.write("work/other.txt", "other");
    let old = tip(&bot.home);
    let ran = bot.home.alone(&["do", "--replay", &old, "--tools", "auto"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("recorded: "), "{}", ran.err);
    let body = bot.bodies()[3].to_string();
    assert!(body.contains("old") && !body.contains("new"), "{body}");
    // Another is asked about, with auto too; without a terminal it waits.
    let ran = bot.home.alone(&["do", "--replay", &old, "--tools", "auto"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("--approve"), "{}", ran.err);
    assert_eq!(bot.home.ok(&["ls", "--pending"]).lines().count(), 1);
    // By itself there are no tools.
    assert!(bot.bodies()[2].get("tools").is_some());
}

#[test]
fn with_tools_a_replay_sends_the_instructions_of_today_and_without_them_none() {
    let bot = Bot::saying("planner = \"native\"\n", &["1", "2", "3", "4", "5", "6"]);
    assert!(bot.home.program("git", &["init", "--quiet"]).status().unwrap().success());
    bot.home.trust_work();
    bot.home.write("work/AGENTS.md", "Use tabs.\n");
    assert_eq!(bot.lepo(&["do", "first"]).code, 0);
    let old = tip(&bot.home);
    bot.home.write("work/AGENTS.md", "Use spaces.\n");
    for (tools, sent) in [(&[][..], ""), (&["--tools", "auto"], "Use spaces."), (&["--tools", "off"], "")] {
        let ran = bot.home.lepo(&[&["do", "--replay", &old], tools].concat());
        assert_eq!(ran.code, 0, "{tools:?} {}", ran.err);
        let body = bot.bodies().pop().unwrap().to_string();
        let texts = ["Use tabs.", "Use spaces."].map(|text| body.contains(text));
        assert_eq!(texts, [false, sent == "Use spaces."], "{tools:?} {body}");
    }
    assert!(bot.bodies()[0].to_string().contains("Use tabs."), "{}", bot.bodies()[0]);
}

#[test]
fn options_that_cannot_be_are_refused() {
    let server = Server::judging(echo);
    let home = models(&server);
    let old = two_questions(&home);
    for (args, code) in [
        (&["do", "--from", "@", "q"][..], 2),
        (&["do", "--teacher", "q"], 2),
        (&["do", "--replay", "@", "--onto", "@", "--onto", "@"], 2),
        (&["do", "--replay", "@", "-m", "a", "-m", "a"], 2),
        (&["do", "--replay", "@", "-m", "nobody"], 2),
        (&["do", "--replay", "@", "--onto", "@", "--system", "x"], 2),
        (&["do", "--replay", "@", "q"], 2),
        (&["do", "--replay", "@^..@"], 2),
        (&["do", "--replay", "NOBODY"], 2),
    ] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
    }
    let alone = home.add(&["--kind", "a", "--prev", "head"], "no question");
    assert_eq!(home.lepo(&["do", "--replay", &alone]).code, 2);
    let elsewhere = home.lepo(&["do", "--replay", &old, "--from", &alone]);
    assert!(elsewhere.code == 2 && elsewhere.err.contains("is not in the conversation"), "{}", elsewhere.err);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_replay_sends_attachments_as_they_were() {
    // Words that look like an attachment, without a file, stay words.
    let words = format!("[image/png 12 bytes x.png: _blobs/{}]", "0".repeat(64));
    let bot = Bot::saying("planner = \"off\"\n", &["a pixel", "still", "words", "a pixel", "still", "words"]);
    bot.home.write("work/a b.png", crate::attached::PNG);
    for args in [&["--attach", "a b.png", "what is this?"][..], &["and now?"], &[&words]] {
        let ran = bot.lepo(&[&["do"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let old = tip(&bot.home);
    let ran = bot.lepo(&["do", "--replay", &old]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let bodies = bot.bodies();
    assert_eq!(bodies.len(), 6);
    assert!(bodies[0].to_string().contains("data:image/png;base64,"), "{}", bodies[0]);
    assert_eq!(bodies[..3], bodies[3..]);
    assert_eq!(texts(&bot.home, &ids(&ran)[0]), texts(&bot.home, &old));
    // A file that is gone is named, and nothing is asked.
    let blob = bot.home.work().join(".lepo/_blobs").join(crate::attached::sha256(crate::attached::PNG));
    std::fs::remove_file(blob).unwrap();
    let ran = bot.lepo(&["do", "--replay", &old]);
    assert_ne!(ran.code, 0);
    assert!(
        ran.err.contains("the file a b.png of question") && ran.err.contains("is missing"),
        "{}",
        ran.err
    );
    assert_eq!(bot.bodies().len(), 6);
}

#[test]
fn a_recorded_result_of_a_request_with_a_secret_is_given_on_another_machine_too() {
    let token = github_token(3);
    let call =
        || openai_calls("", &[("run_command", &format!(r#"{{"command":"echo {token}","access":"read"}}"#))]);
    let told = || openai_sse(["It is said."]);
    let bot = Bot::openai("planner = \"native\"", [call(), told(), call(), told(), call(), told()]);
    bot.home.write("config/system_prompt.txt", "");
    bot.home.ok(&["do", "-n", "--tools", "auto", "--no-stdin", "Say the token."]);
    let old = tip(&bot.home);
    let recorded: String =
        bot.home.bubbs().iter().map(|name| bot.home.read(&format!("work/.lepo/{name}"))).collect();
    assert!(recorded.contains("[secret: github-token") && !recorded.contains(&token), "{recorded}");
    for _ in ["here", "there"] {
        let ran = bot.home.alone(&["do", "--replay", &old, "--tools", "auto"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("recorded: "), "{}", ran.err);
        // Another machine has another key, and so other digits in its masks.
        std::fs::remove_file(bot.home.path().join("state/lepo/secrets-key")).unwrap();
    }
}
