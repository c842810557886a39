//! Look-ups of turns and group turns, each in a store with some of the answers.

use std::path::Path;

use super::*;
use crate::Configuration;
use crate::config::{Flags, Paths};
use crate::group::GroupOutcome;
use lepo_base::env::Env;
use lepo_base::role::Role;
use lepo_store::store::{JournalRecord, Store};
use lepo_tool::ToolMode;

/// Writes conversations, a line each, of messages as `a0 text @model`; `$1` is the id of the first answer.
fn write(store: &Store, conversations: &[&str]) {
    let mut answers = Vec::new();
    for conversation in conversations {
        let mut end = None;
        for message in conversation.split(" / ") {
            let (tag, text) = message.split_once(' ').unwrap();
            let (text, model) =
                text.split_once(" @").map_or((text, None), |(text, model)| (text, Some(model)));
            let with_id =
                |text: String, (index, id): (usize, &String)| text.replace(&format!("${}", index + 1), id);
            let text = answers.iter().enumerate().fold(text.to_string(), with_id);
            let role = Role::from_letter(tag.as_bytes()[0]).unwrap();
            let name = store.create_bubb(role, tag.ends_with('1'), end, 0, text.as_bytes()).unwrap();
            end = Some(name.id);
            if let Some(model) = model {
                answers.push(name.id.to_string());
                let (bubb, model) = (Some(name.id), Some(model.to_string()));
                store.journal().add(JournalRecord {
                    bubb,
                    what: "answer".into(),
                    model,
                    ..JournalRecord::default()
                });
            }
        }
    }
}

/// The result of a look-up in a line: the models whose answers were found, in order, and what is missing.
fn line(found: Lookup<'_>) -> String {
    let names = |names: Vec<String>| names.join(" ");
    let lacks = |missing: MissingAnswer<'_>| match missing {
        MissingAnswer::Answer(query) => format!("lacks {}", query.model.unwrap_or_default()),
        MissingAnswer::Verdict(judge) => format!("lacks the verdict of {judge}"),
    };
    match found {
        Lookup::Whole(RecordedOutcome::Turn(hit)) => format!("turn of {}", hit.model.unwrap_or_default()),
        Lookup::Whole(RecordedOutcome::Group(outcome)) => match *outcome {
            GroupOutcome::Polled(polled) => {
                let judge = polled.judge.map(|(name, _)| format!("judged by {name}"));
                names(polled.replies.into_iter().map(|(name, _)| name).chain(judge).collect())
            }
            GroupOutcome::Debated(debated) => {
                let speeches = debated.speeches.into_iter().map(|speech| speech.name);
                names(speeches.chain(debated.outcome.model.map(|name| format!("led by {name}"))).collect())
            }
        },
        Lookup::Part(hits, missing) => {
            names(hits.into_iter().map(|(name, _)| name).chain([lacks(missing)]).collect())
        }
        Lookup::Nothing(missing) => lacks(missing),
        Lookup::Unnamed => "no models".to_string(),
    }
}

#[test]
fn a_look_up_finds_all_answers_some_of_them_or_none() {
    const TURN: &str = "u0 q / a0 yes @a";
    const A: &str = "u0 q / s1 SELECT: a / a0 yes @a";
    const B: &str = "u0 q / s1 SELECT: b / a0 no @b";
    const VERDICT: &str = "u0 q / s1 JUDGE: j\nA: $1\nB: $2 / a0 yes @j";
    const DEBATE: &str = "u0 q / s1 a: REQUEST\nb: PASS / s1 SELECT: a / a0 yes @a / s1 END / a0 so @o";
    let one = Voices::One { has_servers: false };
    let (parallel, judged) = (Voices::Parallel { judge: None }, Voices::Parallel { judge: Some("j") });
    let (both, nobody) = (&["a", "b"][..], &[][..]);
    for (record, voices, participants, expected) in [
        (&[][..], one, both, "lacks a"),
        (&[TURN], one, both, "turn of a"),
        (&["u0 q / a0 yes @b"], one, both, "lacks a"),
        (&["u0 r / a0 yes @a"], one, both, "lacks a"),
        (&["u0 q / u1 more / a0 yes @a"], one, both, "lacks a"),
        (&[], parallel, both, "lacks a"),
        (&[A], parallel, both, "a lacks b"),
        (&[B], parallel, both, "b lacks a"),
        (&[A, B], parallel, both, "a b"),
        (&[A, B], parallel, &["b", "a"], "b a"),
        (&[A, B], parallel, nobody, "no models"),
        (&[A, B], judged, both, "a b lacks the verdict of j"),
        (&[A, B, VERDICT], judged, both, "a b judged by j"),
        (&[A, B, VERDICT], judged, &["a"], "a lacks the verdict of j"),
        // Without an answer, its verdict is not looked up.
        (&[A], judged, both, "a lacks b"),
        (&[], Voices::Debate, both, "lacks o"),
        (&[DEBATE], Voices::Debate, both, "a led by o"),
        (&[DEBATE], Voices::Debate, &["a"], "lacks o"),
        (&[A, B], Voices::Debate, both, "lacks o"),
        (&[DEBATE], Voices::Debate, nobody, "no models"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let variables = Env::from_pairs(&[("HOME", home.path().to_str().unwrap())]);
        let paths = Paths::from_env(&variables).unwrap();
        std::fs::create_dir_all(&paths.config).unwrap();
        let model = |name: &str| {
            let active = name == "a";
            format!(
                "[[models]]\nname = \"{name}\"\nprovider = \"openai\"\nmodel = \"m\"\nactive = {active}\n"
            )
        };
        std::fs::write(paths.config_file(), ["a", "b", "j", "o"].map(model).concat()).unwrap();
        let flags = Flags {
            tools: Some(ToolMode::Off),
            orchestrator: Some("o".into()),
            participants: Some(participants.iter().map(|name| name.to_string()).collect()),
            ..Flags::default()
        };
        let configured = Configuration::load(paths, &variables, None, flags).unwrap();
        let store = Store::make(home.path(), Path::new(".lepo"), "").unwrap().0;
        write(&store, record);
        let forest = store.forest().unwrap();
        let history = [PastMessage::new(Role::User, false, "q")];
        let request = LookupRequest { history: &history, schema: None, configured: &configured };
        let found = look_up(&RecordStore::new(&store, &forest), &request, voices).unwrap();
        assert_eq!(line(found), expected, "{record:?} {voices:?} {participants:?}");
    }
}
