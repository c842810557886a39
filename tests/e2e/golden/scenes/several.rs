//! Several models at once, and conversations that are asked again.

use serde_json::json;

use super::super::stage::Stage;
use super::super::wire::{SERVERS, Say, Wire};
use super::super::{Cast, only_do, record};
use super::{NATIVE, OFF};
use crate::disk::bubbs;

/// A stage with models that take part and one, `j`, that judges or leads.
fn stage((front, wire): Cast) -> Stage {
    let settings = format!("{OFF}\n[many]\norchestrator = \"j\"\nparticipants = [\"x\", \"y\"]");
    Stage::with_models(front, wire, &settings, &[("x", "active = true"), ("y", ""), ("j", "")])
}

fn id_of(stage: &Stage, text: &str) -> String {
    bubbs(&stage.home).into_iter().find(|bubb| bubb.text == text).unwrap().id
}

#[test]
fn golden_parallel() {
    record("parallel", &only_do(SERVERS), |cast| {
        let mut stage = stage(cast);
        stage.home.write("work/notes.txt", "Some notes.\n");
        for (model, count) in [("x", 3), ("y", 2)] {
            let answers =
                ["first", "second", "third"].map(|number| Say::Text(format!("The {number} of {model}.")));
            stage.says_as(model, answers.into_iter().take(count));
        }
        stage.ask_with(&["--parallel"], "a");
        let first = id_of(&stage, "The first of x.");
        stage.ask_with(&["--parallel", "--json", "--tail", &first], "b");
        let second = id_of(&stage, "The second of y.");
        stage.ask_with(&["-m", "x", "--tail", &second], "c");
        stage.says_as("x", [Say::text(r#"{"name":"Ada"}"#)]);
        stage.says_as("y", [Say::text("Ada."), Say::text(r#"{"name":"Eva"}"#)]);
        let schema = ["-n", "--parallel", "--json", "--schema", "name str", "--context", "notes.txt"];
        stage.ask_with(&schema, "who?");
        stage
    });
}

#[test]
fn golden_judge() {
    record("judge", &only_do(SERVERS), |cast| {
        let mut stage = stage(cast);
        // The letters are dealt by chance.
        let dealt = |first: &str, last: &str| format!(r"[A]\nOf {first}.\n\n[B]\nOf {last}.");
        stage.either.push((dealt("y", "x"), dealt("x", "y")));
        stage.says_as("x", [Say::text("Of x."), Say::text("Later.")]);
        stage.says_as("y", [Say::text("Of y.")]);
        stage.says_as("j", [Say::text("Both are **right**.")]);
        stage.ask_with(&["--parallel", "--judge", "j"], "which?");
        stage.ask_with(&["-m", "x"], "why?");
        stage.ask_with(&["--parallel", "--judge", "j", "--json", "--recorded=only", "-n"], "which?");
        stage
    });
}

#[test]
fn golden_debate() {
    record("debate", &only_do(SERVERS), |cast| {
        let mut stage = stage(cast);
        let decisions = ["First x.\n\nSELECT: x", "**SELECT: Y**", "All agree.\n\nEND: It is so.\n- small"];
        stage.says_as("j", decisions.map(Say::text));
        stage.says_as("x", ["REQUEST - yes", "I say so.", "PASS", "pass", "Later."].map(Say::text));
        stage.says_as("y", ["PASS", "REQUEST", "I agree.", "PASS"].map(Say::text));
        stage.ask_with(&["--debate"], "어떻게?");
        stage.ask_with(&["-m", "x"], "why?");
        stage.ask_with(&["--debate", "--json", "--recorded=only", "-n"], "어떻게?");
        stage
    });
}

#[test]
fn golden_replay() {
    let wires = [Wire::Chat, Wire::Responses, Wire::Anthropic];
    record("replay", &only_do(&wires), |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let echo = |text: &str| {
            Say::call("run_command", &json!({"access": "full", "command": format!("echo {text}")}))
        };
        stage.says([echo("x"), Say::text("One."), Say::text("Two.")]);
        stage.says([echo("x"), Say::text("Eins."), Say::text("Zwei."), echo("other")]);
        stage.ask_deciding("first", &[("Run it? [y]es ", "y")], &[]);
        stage.ask_with(&["--run", "echo out"], "second");
        stage.lepo(&["branch", "old"]);
        stage.lepo(&["do", "--no-stdin", "--replay", "old", "--tools", "manual"]);
        // Another request than the recorded one waits.
        stage.lepo(&["do", "--no-stdin", "--replay", "old", "--tools", "manual", "--json"]);
        stage
    });
}

#[test]
fn golden_replay_of_several() {
    record("replay_of_several", &only_do(SERVERS), |cast| {
        let mut stage = stage(cast);
        for model in ["x", "y", "j"] {
            let answers = ["first", "second"].map(|number| Say::Text(format!("The {number} of {model}.")));
            stage.says_as(model, answers);
        }
        stage.ask("a");
        stage.ask("b");
        stage.lepo(&["do", "--no-stdin", "--replay", "@", "-m", "y", "-m", "j", "--system", "Be brief."]);
        stage
    });
}
