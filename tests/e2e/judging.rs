//! `lepo do --parallel --judge`: one model shown the answers of the others, without their names.

use serde_json::Value;

use crate::disk::bubbs;
use crate::home::Home;
use crate::scripted::{Asked, Reply, Server, openai_sse};

/// Each model says its own name; the judge `j` says that it judged.
fn answers(_: usize, asked: &Asked) -> Reply {
    let body = asked.json();
    match body["model"].as_str().unwrap() {
        "j" => openai_sse(["Both are **right**."]),
        "bad" => Reply::new(404, "{}"),
        name => {
            let answer = format!("answer of {name}");
            openai_sse([answer.as_str()])
        }
    }
}

fn home(server: &Server) -> Home {
    let model = |name: &str| {
        let url = server.url();
        format!(
            "[[models]]\nname = \"{name}\"\nprovider = \"openai\"\nmodel = \"{name}\"\nbase_url = \"{url}/v1\"\n"
        )
    };
    Home::with_config(&["x", "y", "j", "bad"].map(model).concat())
}

#[test]
fn the_answers_are_judged_without_their_names() {
    let server = Server::judging(answers);
    let home = home(&server);
    let args = ["do", "--parallel", "-m", "x", "-m", "y", "--judge", "j", "--no-stdin", "어느 것이 옳은가?"];
    let ran = home.lepo(&args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.ends_with("## judge (j)\n\nBoth are **right**.\n"), "{}", ran.out);
    assert!(ran.out.starts_with("## x\n\nanswer of x\n\n## y\n\n"), "{}", ran.out);
    // It is sent its own prompt alone: the question, and the answers under letters.
    let body = server.asked()[2].json();
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1);
    let prompt = messages[0]["content"].as_str().unwrap();
    assert!(prompt.contains("어느 것이 옳은가?") && prompt.contains("[A]\nanswer of "), "{prompt}");
    assert!(prompt.contains("[B]\nanswer of ") && !prompt.contains("SELECT"), "{prompt}");
    // On disk it is another branch beside the answers, and the newest one.
    let all = bubbs(&home);
    let verdict = all.iter().find(|bubb| bubb.text == "Both are **right**.").unwrap();
    let before = all.iter().find(|bubb| bubb.id == verdict.prev).unwrap();
    let question = all.iter().find(|bubb| bubb.text == "어느 것이 옳은가?").unwrap();
    assert_eq!(before.prev, question.id);
    let lines: Vec<&str> = before.text.lines().collect();
    assert_eq!(lines[0], "JUDGE: j");
    let named = |line: &str| all.iter().find(|bubb| line.ends_with(&bubb.id)).unwrap().text.clone();
    let mut actual = vec![named(lines[1]), named(lines[2])];
    actual.sort();
    assert_eq!(actual, ["answer of x", "answer of y"]);
    assert_eq!(home.ok(&["resolve", "@"]).trim(), verdict.id);
    // A question that follows has the verdict on its path, and not the answers.
    home.ok(&["do", "-m", "x", "--tools", "off", "--no-stdin", "why?"]);
    let body = server.asked()[3].json().to_string();
    assert!(body.contains("Both are") && !body.contains("answer of"), "{body}");
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn the_document_of_json_ends_with_the_verdict_and_it_can_be_recorded() {
    let server = Server::judging(answers);
    let home = home(&server);
    let args = ["do", "--parallel", "-m", "x", "-m", "y", "--judge", "j", "--no-stdin", "which?"];
    let told = |more: &[&str]| -> Value {
        serde_json::from_str(&home.ok(&[&args[..], &["--json"], more].concat())).unwrap()
    };
    let first = told(&[]);
    assert_eq!(first.as_array().unwrap().len(), 3);
    assert_eq!(first[2]["judge"]["answer"]["text"], "Both are **right**.");
    assert_eq!(first[2]["judge"]["answer"]["model"], "j");
    let before = home.bubbs();
    let again = told(&["--recorded=only"]);
    assert_eq!(again[2]["judge"]["answer"], first[2]["judge"]["answer"]);
    assert_eq!((home.bubbs(), server.asked().len()), (before, 3));
    let other = ["do", "--parallel", "-m", "x", "-m", "y", "--judge", "x", "--no-stdin", "which?"];
    let missed = home.lepo(&[&other[..], &["--recorded=only"]].concat());
    assert!(missed.code == 3 && missed.err.contains("x has not judged"), "{}", missed.err);
    let alone =
        home.lepo(&["do", "-n", "-m", "j", "--tools", "off", "--recorded=only", "--no-stdin", "which?"]);
    assert_eq!(alone.code, 3, "{}", alone.out);
}

#[test]
fn a_judge_that_fails_leaves_the_answers_and_one_answer_needs_none() {
    let server = Server::judging(answers);
    let home = home(&server);
    let ran =
        home.lepo(&["do", "--parallel", "-m", "x", "-m", "y", "--judge", "bad", "--no-stdin", "which?"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("the judge bad failed"), "{}", ran.err);
    assert!(ran.out.contains("answer of x") && ran.out.contains("answer of y"), "{}", ran.out);
    let ran =
        home.lepo(&["do", "--parallel", "-m", "x", "-m", "bad", "--judge", "j", "--no-stdin", "which?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("j is not asked to judge"), "{}", ran.err);
    assert_eq!(home.lepo(&["do", "--judge", "j", "--no-stdin", "q"]).code, 2);
    assert_eq!(home.lepo(&["do", "--parallel", "-m", "x", "--judge", "nobody", "--no-stdin", "q"]).code, 2);
}
