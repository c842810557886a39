//! `lepo do --debate`: the floor, the decision, the speech, again; and all that can go wrong on the way.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json as value;

use super::{Panel, json};
use crate::disk::{bubbs, forest, journal, spools};
use crate::home::{Home, finish, until};
use crate::scripted::{Piece, Reply, openai_event, openai_sse};

pub const Q: &str = "이 서비스 아키텍처 어떻게 구성할까?";

/// The debate of the seed, in short.
pub fn seed() -> Panel {
    Panel::saying(&[
        (
            "chief",
            &[
                "아키텍처 주제이므로 먼저 제미니의 의견을 들어보겠습니다.\n\nSELECT: 제미니",
                "**SELECT: Claude**",
                "모든 참여자가 동의했습니다.\n\nEND: 모듈러 모놀리스 채택\n- 규모에 적합",
            ],
        ),
        ("claude", &["REQUEST", "REQUEST", "동의합니다.", "PASS"]),
        ("제미니", &["REQUEST - 있음", "모놀리식으로.", "PASS", "pass"]),
        ("codex", &["PASS", "PASS", "PASS"]),
    ])
}

/// `s1 text / a0 text`, oldest first.
fn stored_texts(home: &Home) -> String {
    let line = |bubb: crate::disk::Bubb| format!("{} {}", bubb.tag, bubb.text.replace('\n', "|"));
    bubbs(home).into_iter().map(line).collect::<Vec<_>>().join(" / ")
}

#[test]
fn the_whole_loop_is_one_conv() {
    let panel = seed();
    let ran = panel.lepo(&["do", "--debate", Q]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.out,
        "## 제미니\n\n모놀리식으로.\n\n## claude\n\n동의합니다.\n\n## conclusion\n\n모듈러 모놀리스 채택\n- 규모에 적합\n"
    );
    assert_eq!(
        stored_texts(&panel.home),
        format!(
            "u0 {Q} / s1 claude: REQUEST|제미니: REQUEST|codex: PASS \
             / s1 아키텍처 주제이므로 먼저 제미니의 의견을 들어보겠습니다.||SELECT: 제미니 / s1 SELECT: 제미니 / a0 모놀리식으로. \
             / s1 claude: REQUEST|제미니: PASS|codex: PASS / s1 **SELECT: Claude** / s1 SELECT: claude / a0 동의합니다. \
             / s1 claude: PASS|제미니: PASS|codex: PASS \
             / s1 모든 참여자가 동의했습니다.||END: 모듈러 모놀리스 채택|- 규모에 적합 / a0 모듈러 모놀리스 채택|- 규모에 적합"
        )
    );
    let chain: Vec<_> = forest(&panel.home).split(" / ").map(|bubb| bubb.split_at(5).1.to_string()).collect();
    assert_eq!(chain.join(""), "head ABCDEFGHIJK".replace(' ', ""));
    assert_eq!(panel.home.ok(&["fsck"]), "");
    // Notes for the reader come in plain lines, without a cursor that moves.
    for line in [
        "lepo do --debate - orchestrator: chief\n",
        &format!("[user] {Q}\n"),
        "claude: REQUEST   제미니: REQUEST   codex: PASS\n",
        "[orchestrator] 아키텍처 주제이므로 먼저 제미니의 의견을 들어보겠습니다.\n",
        "-> 제미니\n",
    ] {
        assert!(ran.err.contains(line), "{line}: {}", ran.err);
    }
    assert!(!ran.err.contains('\u{1b}') && !ran.err.contains('\r'), "{:?}", ran.err);
    // Every call is in the journal: 9 wishes, 3 decisions, 2 speeches, the conclusion.
    let count = |what: &str| journal(&panel.home).iter().filter(|entry| entry["what"] == what).count();
    assert_eq!((count("floor"), count("orchestrator"), count("answer")), (9, 3, 3));
}

#[test]
fn debaters_hear_speeches_and_not_what_the_orchestrator_says() {
    let panel = seed();
    assert_eq!(panel.lepo(&["do", "--debate", Q]).code, 0);
    let prompts = |name: &str| -> Vec<String> {
        let messages = |body: serde_json::Value| body["messages"].as_array().unwrap().clone();
        let asked = panel.server(name).asked().into_iter().map(|asked| messages(asked.json()));
        asked.map(|messages| messages[0]["content"].as_str().unwrap().to_string()).collect()
    };
    let claude = prompts("claude");
    assert!(
        claude[0].contains(&format!("Topic: {Q}\n\nThe debate so far:\n(nothing yet)\n")),
        "{}",
        claude[0]
    );
    assert!(claude[0].contains("between claude, 제미니, codex") && claude[0].contains("REQUEST"));
    assert!(claude[1].contains("The debate so far:\n[제미니] 모놀리식으로.\n"), "{}", claude[1]);
    assert!(claude[2].contains("You have the floor"), "{}", claude[2]);
    assert!(claude[3].contains("[제미니] 모놀리식으로.\n[claude] 동의합니다.\n"), "{}", claude[3]);
    assert!(claude.iter().all(|prompt| !prompt.contains("들어보겠습니다")));
    let chief = prompts("chief");
    assert!(chief[0].ends_with("\n\nclaude: REQUEST\n제미니: REQUEST\ncodex: PASS"), "{}", chief[0]);
    assert!(chief[2].ends_with("\n\nclaude: PASS\n제미니: PASS\ncodex: PASS"), "{}", chief[2]);
    assert!(chief[2].contains("[claude] 동의합니다."));
}

#[test]
fn the_document_has_speeches_and_rounds() {
    let panel = seed();
    let ran = panel.lepo(&["do", "-d", "--json", "-o", "out.json", Q]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(panel.home.read("work/out.json"), ran.out);
    let document = json(&ran.out);
    let all = bubbs(&panel.home);
    assert_eq!(document["conv"], all.iter().map(|bubb| bubb.id.clone()).collect::<serde_json::Value>());
    assert_eq!((&document["user"], &document["rounds"]), (&value!(all[0].id), &value!(3)));
    assert_eq!(
        document["speeches"],
        value!([
            {"name": "제미니", "id": all[4].id, "text": "모놀리식으로."},
            {"name": "claude", "id": all[8].id, "text": "동의합니다."},
        ])
    );
    assert_eq!(document["answer"]["text"], "모듈러 모놀리스 채택\n- 규모에 적합");
    assert_eq!((&document["answer"]["model"], &document["error"]), (&value!("chief"), &value!(null)));
}

#[test]
fn quiet_is_the_conclusion_and_a_file_has_what_a_pipe_has() {
    let ran = seed().lepo(&["do", "--debate", "-q", Q]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("모듈러 모놀리스 채택\n- 규모에 적합\n", ""));
    let panel = seed();
    let ran = panel.lepo(&["do", "--debate", "-o", "out.md", Q]);
    assert_eq!(panel.home.read("work/out.md"), ran.out);
}

#[test]
fn watch_and_export_name_the_speakers() {
    let panel = seed();
    panel.home.ok(&["init"]);
    let watching = crate::watching::Watching::begin(&panel.home, &[]);
    assert_eq!(panel.lepo(&["do", "--debate", Q]).code, 0);
    let lines: Vec<String> = (0..4).map(|_| watching.line()).collect();
    for (line, speaker) in lines[1..].iter().zip([" a0 제미니: ", " a0 claude: ", " a0 모듈러"]) {
        assert!(line.contains(speaker), "{lines:#?}");
    }
    let document = panel.home.ok(&["export"]);
    for heading in ["\n## Assistant 제미니\n", "\n## Assistant claude\n"] {
        assert!(document.contains(heading), "{document}");
    }
    let exported = json(&panel.home.ok(&["export", "--format", "json"]));
    assert_eq!(exported["bubbs"][1]["speaker"], "제미니");
}

#[test]
fn events_tell_the_course() {
    let ran = seed().lepo(&["do", "--debate", "--events", Q]);
    let found: Vec<_> = ran.out.lines().map(json).collect();
    let named = |name: &str| found.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    assert_eq!((named("floor").len(), named("bid").len(), named("chosen").len()), (3, 9, 2));
    assert_eq!(named("floor")[1]["round"], 2);
    assert_eq!(named("chosen")[0]["name"], "제미니");
    assert_eq!((named("text")[0]["name"].clone(), named("bubb").len()), (value!("제미니"), 12));
    let end = found.last().unwrap();
    assert_eq!(
        (&end["event"], &end["rounds"], end["speeches"].as_array().unwrap().len()),
        (&value!("end"), &value!(3), 2)
    );
}

#[test]
fn a_decision_that_cannot_be_read_is_asked_for_once_more_and_then_made() {
    // a has spoken, so b, who has not, is next.
    let panel = Panel::saying(&[
        ("chief", &["SELECT: a", "SELECT: bard", "I cannot say.", "END: x"]),
        ("a", &["REQUEST", "one", "REQUEST", "PASS"]),
        ("b", &["REQUEST", "REQUEST", "two", "PASS"]),
    ]);
    let ran = panel.lepo(&["do", "--debate", "q"]);
    assert_eq!(ran.out, "## a\n\none\n\n## b\n\ntwo\n\n## conclusion\n\nx\n", "{}", ran.err);
    let again = panel.server("chief").asked()[2].json()["messages"][0]["content"].clone();
    assert!(
        again.as_str().unwrap().ends_with("SELECT: and one of a, b, or END: and the summary."),
        "{again}"
    );
    assert!(
        stored_texts(&panel.home).contains("/ s1 SELECT: bard / s1 I cannot say. / s1 SELECT: b / a0 two /")
    );
}

#[test]
fn all_pass_and_one_who_asked_before_may_be_picked() {
    let panel = Panel::saying(&[
        ("chief", &["SELECT: a", "SELECT: b", "END: x"]),
        ("a", &["REQUEST", "one", "PASS", "PASS"]),
        ("b", &["REQUEST", "PASS", "two", "PASS"]),
        ("c", &["PASS", "PASS", "PASS"]),
    ]);
    let document = json(&panel.lepo(&["do", "--debate", "--json", "q"]).out);
    let speakers: Vec<_> =
        document["speeches"].as_array().unwrap().iter().map(|speech| &speech["name"]).collect();
    assert_eq!(speakers, ["a", "b"], "{document}");
    assert_eq!(document["rounds"], 3, "{document}");
}

#[test]
fn all_pass_and_nothing_is_decided_and_it_is_summed_up() {
    for (chief, out) in [
        (&["SELECT: a", "what?", "what?", "END: enough"][..], "enough\n"),
        // An end without a word is one: its conclusion is asked for.
        (&["SELECT: a", "END:", "END: enough"], "enough\n"),
        (&["SELECT: a", "END:", "END:", "Enough said.\nEND:"], "Enough said.\n"),
        (&["SELECT: a", "END:", "END:", "**END:**"], ""),
    ] {
        let panel = Panel::saying(&[
            ("chief", chief),
            ("a", &["REQUEST", "one", "PASS"]),
            ("b", &["REQUEST", "PASS", "PASS"]),
        ]);
        let ran = panel.lepo(&["do", "--debate", "-q", "q"]);
        assert_eq!((ran.out.as_str(), ran.code), (out, if out.is_empty() { 3 } else { 0 }), "{}", ran.err);
        assert_eq!(panel.server("chief").asked().len(), chief.len());
        assert!(!stored_texts(&panel.home).contains("a0 PASS"), "{}", stored_texts(&panel.home));
        if out.is_empty() {
            assert!(ran.err.contains("chief gave no conclusion after being asked twice"), "{}", ran.err);
        }
    }
}

#[test]
fn a_conclusion_without_an_end_has_its_author_too() {
    let panel = Panel::saying(&[
        ("chief", &["hm", "hm", "Well.", "All agree.", "END: so"]),
        ("a", &["PASS", "PASS"]),
        ("b", &["PASS", "PASS"]),
    ]);
    assert_eq!(panel.lepo(&["do", "--debate", "q"]).code, 0);
    assert!(
        stored_texts(&panel.home)
            .ends_with("s1 Well. / s1 All agree. / s1 SELECT: orchestrator / a0 All agree.")
    );
    assert!(panel.home.ok(&["log"]).contains("a0 orchestrator: All agree."));
    assert!(panel.home.ok(&["export"]).contains("\n## Assistant orchestrator ("));
    assert_eq!(panel.lepo(&["do", "--debate", "--tail", "@"]).code, 0);
    assert!(panel.last_prompt("a").contains("[orchestrator] All agree.\n"), "{}", panel.last_prompt("a"));
    // All that was asked counts to the one conversation.
    let document = json(&panel.home.ok(&["stats", "--by", "conv", "--json"]));
    assert_eq!(document["rows"].as_array().unwrap().len(), 1, "{document}");
}

#[test]
fn nobody_ever_asks_and_it_is_summed_up() {
    let panel =
        Panel::saying(&[("chief", &["hm", "hm", "END: nothing to say"]), ("a", &["PASS"]), ("b", &["No."])]);
    let ran = panel.lepo(&["do", "--debate", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## conclusion\n\nnothing to say\n"), "{}", ran.err);
    assert!(stored_texts(&panel.home).contains("s1 a: PASS|b: PASS"), "what cannot be read is no request");
}

#[test]
fn who_asked_and_was_not_chosen_is_told_and_a_name_is_no_conclusion() {
    let sse = |texts: &[&str]| texts.iter().map(|text| openai_sse([*text])).collect::<Vec<_>>();
    for (last, code, out) in [
        (vec!["SELECT: b", "SELECT: b\nEnough said."], 0, "## conclusion\n\nEnough said.\n"),
        (vec!["SELECT: b", "**SELECT:** b"], 3, "two\n"),
    ] {
        let chief = [&["SELECT: a", "SELECT: a"][..], &last].concat();
        let (a, b) = (["REQUEST", "one", "REQUEST", "two"], ["REQUEST", "PASS"]);
        let panel = Panel::new("max_rounds = 2", &[("chief", sse(&chief)), ("a", sse(&a)), ("b", sse(&b))]);
        let ran = panel.lepo(&["do", "--debate", "q"]);
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.out.ends_with(out), "{}", ran.out);
        let prompts = [0, 1].map(|at| panel.server("chief").asked()[at].json()["messages"][0].to_string());
        assert!(!prompts[0].contains("Asked before"), "{}", prompts[0]);
        assert!(prompts[1].contains("Asked before and were not chosen: b"), "{}", prompts[1]);
    }
}

#[test]
fn the_rounds_are_limited_and_that_is_said() {
    let speak: &[&str] = &["REQUEST", "again", "REQUEST", "and again"];
    for (replies, conclusion) in [
        (vec!["SELECT: a", "SELECT: a", "So.\nEND: enough"], "enough"),
        (vec!["SELECT: a", "SELECT: a", "SELECT: a", "All in all, enough."], "All in all, enough."),
    ] {
        let sse = |texts: &[&str]| texts.iter().map(|text| openai_sse([*text])).collect::<Vec<_>>();
        let panel = Panel::new("max_rounds = 2", &[("chief", sse(&replies)), ("a", sse(speak))]);
        let ran = panel.lepo(&["do", "--debate", "q"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.ends_with(&format!("## conclusion\n\n{conclusion}\n")), "{}", ran.out);
        assert!(ran.err.contains("note: the limit of 2 rounds is reached: chief sums up\n"), "{}", ran.err);
        assert!(panel.last_prompt("chief").contains("No round is left"), "{}", panel.last_prompt("chief"));
    }
}

#[test]
fn one_that_fails_is_skipped_and_at_last_out() {
    let fail = || Reply::new(401, "no");
    let sse = |text: &str| openai_sse([text]);
    let panel = Panel::new(
        "",
        &[
            (
                "chief",
                ["SELECT: a", "SELECT: b", "SELECT: a", "SELECT: a", "SELECT: a", "END: x"].map(sse).into(),
            ),
            ("a", ["REQUEST", "1", "REQUEST", "2", "REQUEST", "3", "REQUEST", "4", "PASS"].map(sse).into()),
            ("b", vec![fail(), fail(), fail(), sse("never asked")]),
        ],
    );
    let ran = panel.lepo(&["do", "--debate", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.matches("b failed: ").count(), 3, "{}", ran.err);
    assert!(ran.err.contains("note: b is out, after 3 consecutive failures\n"), "{}", ran.err);
    assert_eq!(panel.server("b").asked().len(), 3);
    // In the round in which it failed it cannot be given the floor.
    assert!(stored_texts(&panel.home).starts_with("u0 q / s1 a: REQUEST / s1 SELECT: a / s1 SELECT: a / a0 1 / s1 a: REQUEST / s1 SELECT: b / s1 SELECT: a / s1 SELECT: a / a0 2"), "{}", stored_texts(&panel.home));
    assert!(!panel.last_prompt("a").contains("a, b"), "it is told of no more");
}

#[test]
fn one_that_cannot_be_asked_is_out_at_once() {
    let sse = |text: &str| openai_sse([text]);
    let panel = Panel::new(
        "",
        &[
            ("chief", ["SELECT: a", "END: x"].map(sse).into()),
            ("a", ["REQUEST", "1", "PASS"].map(sse).into()),
            ("closed", Vec::new()),
            ("keyless", Vec::new()),
        ],
    );
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut models: Vec<String> =
        panel.home.read("config/config.toml").split("[[models]]").map(str::to_string).collect();
    for model in &mut models {
        if model.contains("name = \"closed\"") {
            *model = format!(
                "\nname = \"closed\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://{closed}/v1\"\n"
            );
        } else if model.contains("name = \"keyless\"") {
            *model = model.replace("base_url", "api_key_env = \"NO_SUCH_KEY\"\nbase_url");
        }
    }
    panel.home.write("config/config.toml", models.join("[[models]]"));
    let ran = panel.lepo(&["do", "--debate", "--participants", "a,closed,keyless", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for name in ["closed", "keyless"] {
        assert!(ran.err.contains(&format!("note: {name} is out: it cannot be asked\n")), "{}", ran.err);
        assert_eq!(ran.err.matches(&format!("{name} failed: ")).count(), 1, "{}", ran.err);
    }
}

#[test]
fn a_debate_goes_on_with_its_own_models_where_none_are_named() {
    let panel = Panel::saying(&[
        (
            "chief",
            &[
                "SELECT: a",
                "END: First.",
                "SELECT: b",
                "END: Second.",
                "hm",
                "hm",
                "Well.",
                "All agree.",
                "END: Third.",
            ],
        ),
        ("a", &["REQUEST", "1", "PASS", "PASS", "PASS", "PASS", "PASS"]),
        ("b", &["PASS", "PASS", "REQUEST", "2", "PASS", "PASS", "PASS"]),
    ]);
    assert_eq!(panel.lepo(&["do", "--debate", "q"]).code, 0);
    let config = panel.home.read("config/config.toml");
    panel.home.write("config/config.toml", config.split("[many]").next().unwrap());
    assert_eq!(panel.lepo(&["do", "--debate", "another"]).code, 2, "none is named");
    let ran = panel.lepo(&["do", "--debate", "--tail", "@", "and now?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "## b\n\n2\n\n## conclusion\n\nSecond.\n");
    let ran = panel.lepo(&["do", "--debate", "--tail", "@", "and then?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## conclusion\n\nAll agree.\n"), "{}", ran.err);
    let ran = panel.lepo(&["do", "--debate", "--tail", "@", "after that?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## conclusion\n\nThird.\n"), "{}", ran.err);
    let args = ["do", "--debate", "--tail", "@", "--orchestrator", "nobody"];
    assert!(panel.lepo(&args).err.contains("unknown model \"nobody\"\n"), "options win");
    // A name that no model has says where it stands.
    let models = config.split("[many]").next().unwrap();
    for (rest, names) in [
        (models.replace("\"b\"", "\"c\""), "unknown model \"b\", which the debate that is continued names\n"),
        (
            models.replace("\"chief\"", "\"c\""),
            "unknown model \"chief\", which the debate that is continued names\n",
        ),
        (
            format!("{models}[many]\nparticipants = [\"gone\"]\n"),
            "unknown model \"gone\", which many.participants of the configuration names\n",
        ),
        (
            format!("{models}[many]\norchestrator = \"gone\"\n"),
            "unknown model \"gone\", which many.orchestrator of the configuration names\n",
        ),
    ] {
        panel.home.write("config/config.toml", rest);
        let ran = panel.lepo(&["do", "--debate", "--tail", "@", "and?"]);
        assert!(ran.code == 2 && ran.err.contains(names), "{names}: {}", ran.err);
    }
}

#[test]
fn a_speech_that_fails_is_kept_hidden_and_the_debate_goes_on() {
    let half = Reply::pieces([
        Piece::Bytes(openai_event(value!({"content": "반쪽"}), None).into_bytes()),
        Piece::Close,
    ]);
    let sse = |text: &str| openai_sse([text]);
    let panel = Panel::new(
        "",
        &[
            ("chief", ["SELECT: a", "SELECT: b", "END: x"].map(sse).into()),
            ("a", vec![sse("REQUEST"), half, sse("PASS"), sse("PASS")]),
            ("b", ["PASS", "REQUEST", "two", "PASS"].map(sse).into()),
        ],
    );
    let ran = panel.lepo(&["do", "--debate", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## b\n\ntwo\n\n## conclusion\n\nx\n"), "{}", ran.err);
    assert!(ran.err.contains("a failed: the answer was cut off") && !ran.err.contains("hint"), "{}", ran.err);
    assert_eq!(
        forest(&panel.home),
        "A u0 head / B s1 A / C s1 B / D a1 C / E s1 C / F s1 E / G s1 F / H a0 G / I s1 H / J s1 I / K a0 J"
    );
    assert!(
        panel.server("b").asked().iter().all(|asked| !String::from_utf8_lossy(&asked.body).contains("반쪽"))
    );
}

#[test]
fn the_orchestrator_fails_three_times_and_it_ends() {
    let panel = Panel::new(
        "",
        &[
            (
                "chief",
                [openai_sse(["SELECT: a"])]
                    .into_iter()
                    .chain((0..3).map(|_| Reply::new(401, "no")))
                    .collect(),
            ),
            ("a", ["REQUEST", "one", "PASS", "PASS"].map(|text| openai_sse([text])).into()),
        ],
    );
    let ran = panel.lepo(&["do", "--debate", "--json", "q"]);
    assert_eq!(ran.code, 3);
    assert_eq!(panel.server("chief").asked().len(), 4);
    let document = json(&ran.out);
    assert_eq!((&document["answer"], &document["speeches"][0]["text"]), (&value!(null), &value!("one")));
    assert!(
        ran.err.contains("error: the orchestrator chief failed 3 times\nhint: what was said is kept"),
        "{}",
        ran.err
    );
    assert_eq!(panel.home.ok(&["fsck"]), "");
}

#[test]
fn nobody_is_left() {
    let fails = || (0..3).map(|_| Reply::new(401, "no")).collect();
    let panel = Panel::new("", &[("chief", Vec::new()), ("a", fails()), ("b", fails())]);
    let ran = panel.lepo(&["do", "--debate", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("no participants are left"), "{}", ran.err);
    assert_eq!(stored_texts(&panel.home), "u0 q");
    assert_eq!(panel.server("chief").asked().len(), 0);
}

#[test]
fn an_interruption_keeps_what_was_said_and_it_goes_on() {
    let half = openai_event(value!({"content": "반쪽"}), None).into_bytes();
    let half = Reply::pieces([Piece::Bytes(half), Piece::Wait]);
    let sse = |text: &str| openai_sse([text]);
    let panel = Panel::new(
        "",
        &[
            ("chief", ["SELECT: a", "SELECT: b", "SELECT: b", "END: x"].map(sse).into()),
            ("a", ["PASS", "하나", "PASS", "PASS", "PASS"].map(sse).into()),
            ("b", vec![sse("REQUEST"), sse("REQUEST"), half, sse("REQUEST"), sse("둘"), sse("PASS")]),
        ],
    );
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let args = ["--default-signal", lepo, "do", "--debate", "--no-stdin", "q"];
    let mut command = panel.home.program("env", &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the speech began", || {
        panel.home.work().join(".lepo").exists() && spools(&panel.home).iter().any(|(_, text)| text == "반쪽")
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = finish(child);
    assert_eq!((ran.code, ran.out.as_str()), (130, "## a\n\n하나\n"), "{}", ran.err);
    assert!(stored_texts(&panel.home).ends_with("s1 SELECT: b / a1 반쪽"), "{}", stored_texts(&panel.home));
    assert!(ran.err.contains("`lepo do --debate --tail "), "{}", ran.err);

    // stdin is left alone: it would never end here.
    let mut command = panel.home.command(&["do", "--debate", "--tail", "@"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ran = finish_with_open_stdin(child);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## b\n\n둘\n\n## conclusion\n\nx\n"), "{}", ran.err);
    let b = panel.server("b").asked();
    assert!(b.iter().all(|asked| !String::from_utf8_lossy(&asked.body).contains("반쪽")));
    assert!(String::from_utf8_lossy(&b[4].body).contains("[a] 하나"), "it knows what was said");
    assert_eq!(panel.home.ok(&["ls"]).lines().count(), 1);
    assert_eq!(panel.home.ok(&["fsck"]), "");
}

/// Waits for the end of a child whose stdin stays open.
fn finish_with_open_stdin(mut child: std::process::Child) -> crate::home::Ran {
    let stdin = child.stdin.take();
    let ran = finish(child);
    drop(stdin);
    ran
}

#[test]
fn a_debate_goes_on_with_a_question_or_without_and_needs_one() {
    let panel = Panel::saying(&[
        ("chief", &["SELECT: a", "END: x", "END: y", "END: z"]),
        ("a", &["REQUEST", "one", "PASS", "PASS", "PASS"]),
    ]);
    assert_eq!(panel.lepo(&["do", "--debate", "first"]).code, 0);
    let ran = panel.lepo(&["do", "--debate", "--tail", "@", "--quiet"]);
    assert_eq!(ran.out, "y\n", "{}", ran.err);
    assert!(panel.last_prompt("a").contains("Topic: first\n"), "{}", panel.last_prompt("a"));
    assert!(panel.last_prompt("a").contains("[a] one\n[orchestrator] x\n"), "{}", panel.last_prompt("a"));
    let ran = panel.lepo(&["do", "--debate", "--tail", "@", "-q", "second"]);
    assert_eq!(ran.out, "z\n", "{}", ran.err);
    assert!(panel.last_prompt("a").contains("Topic: second\n"));
    assert!(panel.last_prompt("a").contains("[user] first\n[a] one\n"), "{}", panel.last_prompt("a"));

    let silent = panel.home.add(&["--kind", "s", "--prev", "head"], "nobody asked");
    for args in [
        &["do", "--debate", "--tail", &silent][..],
        &["do", "--debate", "--tail", "@", "--context", "x"],
        &["do", "--debate", "--tail", "zzzz"],
        &["do", "--debate"],
    ] {
        assert_eq!(panel.lepo(args).code, 2, "{args:?}");
    }
}

#[test]
fn insts_are_the_prompts() {
    let panel = Panel::saying(&[("chief", &["END: x"]), ("a", &["PASS"])]);
    let insts = "floor = 'F {participants} {topic} {conversation_history}'\norchestrator = ''\n";
    panel.home.write_insts(insts);
    assert_eq!(panel.lepo(&["do", "--debate", "q {topic}"]).code, 0);
    assert_eq!(panel.last_prompt("a"), "F a q {topic} (nothing yet)");
    assert_eq!(panel.last_prompt("chief"), "q {topic}\n\n(nothing yet)\n\na: PASS");
}

#[test]
fn all_parts_of_a_question_are_the_topic() {
    let panel = Panel::saying(&[("chief", &["END: x"]), ("a", &["PASS"])]);
    panel.home.write("work/q.md", "from a file\n");
    panel.home.write("work/c.rs", "fn c() {}\n");
    let args = ["do", "--debate", "words", "--file", "q.md", "--context", "c.rs", "--context", "q.md"];
    assert_eq!(panel.home.lepo_with(&args, b"from stdin\n").code, 0);
    let topic = "Topic: words\n\nfrom a file\n\nfrom stdin\n\nc.rs:\n```\nfn c() {}\n```\n\nq.md:\n```\nfrom a file\n```\n";
    assert!(panel.last_prompt("a").contains(topic), "{}", panel.last_prompt("a"));
}
