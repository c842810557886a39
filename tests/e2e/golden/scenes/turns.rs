//! Turns without tools.

use serde_json::json;

use super::super::stage::{A_COMMAND, Front, Stage};
use super::super::wire::{SERVERS, Say, Wire};
use super::super::{fronts, only_do, record};
use super::{NATIVE, OFF};
use crate::disk::bubbs;

#[test]
fn golden_first_and_later() {
    let casts = fronts(&[SERVERS, &[Wire::Program, Wire::Agent]].concat());
    record("first_and_later", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        stage.says_no_command(["One.", "Two.", "Three.", "Four."].map(Say::text));
        stage.ask("first 질문");
        stage.ask("second");
        stage.ask_with(&["--json"], "third");
        stage.ask_with(&["--events"], "fourth");
        stage
    });
}

#[test]
fn golden_cut_answer() {
    record("cut_answer", &fronts(SERVERS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says([Say::Cut("Half of".into()), Say::Broken("A quar".into()), Say::text("Whole.")]);
        stage.ask("one");
        stage.ask("two");
        stage.command("/retry", &["--retry"]);
        stage
    });
}

#[test]
fn golden_unanswered() {
    record("unanswered", &fronts(&[Wire::Chat, Wire::Anthropic]), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says([Say::text("One."), Say::Overflow, Say::text("Three."), Say::text("Again.")]);
        stage.ask("one");
        stage.ask("two");
        stage.ask("three");
        stage.command("/retry", &["--retry"]);
        stage
    });
}

#[test]
fn golden_summary() {
    let mut casts = fronts(SERVERS);
    casts.extend(only_do(&[Wire::Program]));
    record("summary", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        stage.says_no_command(["One.", "Two.", "Three."].map(Say::text));
        stage.says([Say::text("What matters.")]);
        stage.says_no_command([Say::text("Four.")]);
        for question in ["a", "b", "c"] {
            stage.ask(question);
        }
        stage.command("/compact heed the figures", &["--compact", "heed the figures"]);
        stage.ask("d");
        stage
    });
}

#[test]
fn golden_summary_on_a_branch() {
    record("summary_on_a_branch", &fronts(&[Wire::Chat, Wire::Anthropic]), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says(["One.", "Two.", "Three.", "What matters.", "Four."].map(Say::text));
        let on = if front == Front::Do { &["--tail", "main"][..] } else { &[] };
        stage.ask("a");
        match front {
            Front::Do => drop(stage.lepo(&["branch", "main"])),
            _ => stage.command("/branch main", &[]),
        }
        stage.ask_with(on, "b");
        stage.ask_with(on, "c");
        stage.command("/compact", &[&["--compact", "--keep", "1"], on].concat());
        stage.ask_with(on, "d");
        stage.lepo(&["branch"]);
        stage
    });
}

#[test]
fn golden_full_window() {
    record("full_window", &fronts(SERVERS), |(front, wire)| {
        let settings = format!("{OFF}\ncompact = 'auto'");
        let mut stage = Stage::new(front, wire, &settings, "context = 4096");
        let said = |text: &str, tokens| Say::Counted(text.into(), tokens);
        stage.says([said("One.", 1000), said("Two.", 2000), said("Three.", 4000)]);
        stage.says([said("What matters.", 4000), said("Four.", 900), Say::Overflow]);
        for question in ["a", "b", "c", "d", "e"] {
            stage.ask(question);
        }
        stage
    });
}

#[test]
fn golden_retry_on_a_branch() {
    record("retry_on_a_branch", &fronts(&[Wire::Chat, Wire::Responses, Wire::Anthropic]), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says(["One.", "Two.", "Zwei.", "Three."].map(Say::text));
        let on = if front == Front::Do { &["--tail", "main"][..] } else { &[] };
        stage.ask("a");
        match front {
            Front::Do => drop(stage.lepo(&["branch", "main"])),
            _ => stage.command("/branch main", &[]),
        }
        stage.ask_with(on, "b");
        stage.command("/retry", &[&["--retry"], on].concat());
        stage.ask_with(on, "c");
        stage.lepo(&["branch"]);
        stage
    });
}

#[test]
fn golden_loaded() {
    record("loaded", &fronts(&[Wire::Chat, Wire::Agent]), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says(["One.", "Two.", "Three."].map(Say::text));
        stage.lepo(&["do", "--no-stdin", "a"]);
        stage.lepo(&["do", "--no-stdin", "--run", "echo out", "b"]);
        if front == Front::Editor {
            stage.load_newest();
        }
        stage.ask("c");
        stage
    });
}

#[test]
fn golden_undo() {
    record("undo", &[(Front::Session, Wire::Chat), (Front::Editor, Wire::Chat)], |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says(["One.", "Two.", "Three."].map(Say::text));
        stage.ask("a");
        stage.ask("b");
        stage.undo("b");
        stage.ask("c");
        stage
    });
}

#[test]
fn golden_budget() {
    record("budget", &fronts(SERVERS), |(front, wire)| {
        let settings = format!(
            "{OFF}\nbudget = {{ turn = 40 }}\n[[prices]]\nmodel = 'te*'\ninput = 0\noutput = 1000000"
        );
        let mut stage = Stage::new(front, wire, &settings, "options = { max_tokens = 40 }");
        stage.says(["One.", "Two."].map(Say::text));
        stage.ask("a");
        let config = stage.home.read("config/config.toml").replace("turn = 40", "turn = 39");
        stage.leave();
        stage.home.write("config/config.toml", config);
        stage.ask("b");
        stage.ask_with(&["--json"], "c");
        stage
    });
}

#[test]
fn golden_files() {
    record("files", &fronts(SERVERS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.home.write("work/a.png", crate::attached::PNG);
        stage.home.write("work/notes.txt", "Some notes.\n");
        stage.says(["A pixel.", "Still."].map(Say::text));
        match front {
            Front::Do => {
                stage.ask_with(&["--attach", "a.png", "--context", "notes.txt"], "what is this?");
            }
            Front::Session => {
                stage.command("/attach a.png", &[]);
                stage.ask("what is this? @notes.txt");
            }
            Front::Editor => {
                let uri = format!("file://{}/notes.txt", stage.home.work().display());
                let image = crate::attached::PNG;
                let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, image);
                let prompt = json!([
                    {"type": "text", "text": "what is this?"},
                    {"type": "image", "mimeType": "image/png", "data": data},
                    {"type": "resource_link", "uri": uri, "name": "notes.txt"},
                ]);
                stage.prompt(prompt, &[]);
            }
        }
        stage.ask("and now?");
        stage
    });
}

#[test]
fn golden_schema() {
    let casts = only_do(&[SERVERS, &[Wire::Program]].concat());
    record("schema", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        stage.says_no_command([Say::text(r#"{"name":1}"#)]);
        stage.says([Say::text(r#"{"name":"Ada"}"#)]);
        stage.says_no_command([Say::text("It is Ada.")]);
        stage.says([Say::text("Ada, as I said.")]);
        stage.ask_with(&["--schema", "name str"], "who?");
        stage.ask_with(&["--json", "--schema", "name str"], "who again?");
        stage
    });
}

#[test]
fn golden_code() {
    let casts = only_do(&[SERVERS, &[Wire::Program]].concat());
    record("code", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        stage.says_no_command(["Here:\n```sh\nls -l\n```\n", "None."].map(Say::text));
        stage.ask_with(&["-x"], "list files");
        stage.ask_with(&["-x"], "again");
        stage
    });
}

#[test]
fn golden_no_keep() {
    let casts = only_do(&[SERVERS, &[Wire::Program]].concat());
    record("no_keep", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let echo = json!({"access": "full", "command": "echo ran >> ran"});
        let (call, echo) = (Say::call("run_command", &echo), echo.to_string());
        stage.says_no_command([Say::text("One.")]);
        match stage.has_tools() {
            true => stage.says([call, Say::text("Two.")]),
            false => stage.says([Say::text(A_COMMAND), Say::text(&echo), Say::text("Two.")]),
        }
        stage.ask_with(&["--no-keep"], "a");
        stage.ask_with(&["--no-keep", "--json"], "b");
        stage
    });
}

#[test]
fn golden_recorded() {
    record("recorded", &only_do(SERVERS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says(["One.", "Two.", "Three."].map(Say::text));
        stage.ask("a");
        stage.ask_with(&["--run", "echo out"], "b");
        stage.ask_with(&["--recorded=only", "-n"], "a");
        stage.ask_with(&["--recorded", "-n", "--json"], "a");
        stage.ask_with(&["--recorded=only", "-n"], "b");
        let first = bubbs(&stage.home).into_iter().find(|bubb| bubb.text == "One.").unwrap().id;
        stage.ask_with(&["--recorded=only", "--tail", &first, "--run", "echo out"], "b");
        stage.ask_with(&["--recorded", "-n", "--events"], "c");
        stage
    });
}

#[test]
fn golden_dry_run() {
    let casts = only_do(&[SERVERS, &[Wire::Program, Wire::Agent]].concat());
    record("dry_run", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, "", "");
        stage.says([Say::text("One.")]);
        stage.ask_with(&["--tools", "off"], "a");
        for planner in ["off", "native", "chooser"] {
            let config = stage.home.read("config/config.toml");
            let config: Vec<&str> = config.lines().filter(|line| !line.starts_with("planner")).collect();
            stage.home.write("config/config.toml", format!("planner = {planner:?}\n{}", config.join("\n")));
            stage.ask_with(&["--dry-run"], "b");
        }
        stage.ask_with(&["--dry-run", "--schema", "name str"], "who?");
        stage
    });
}
