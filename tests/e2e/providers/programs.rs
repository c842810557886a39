//! Models that are programs: `cli`, and the embedded one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Heard, TIMEOUTS, ask, ask_request, config, hear, opened, run};
use lepo_base::role::Role;
use lepo_model::{AnswerFormat, ModelConfig, Provider};
use lepo_model::{
    ChatEvent, ChatMessage, ChatRequest, EmbeddedInstall, FinishReason, Model, ModelNotice, Timeouts, Usage,
};

/// Writes an executable script. By a child: a file that this process itself had open for writing could
/// be handed on to a program that another test starts just then, and would be too busy to run.
pub fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    let write = r#"printf %s "$2" > "$1" && chmod 755 "$1""#;
    let written = Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(text).status().unwrap();
    assert!(written.success());
    path
}

fn shell(command: &str) -> ModelConfig {
    let mut config = config(Provider::Cli, "");
    config.command = ["sh", "-c", command, "ai", "{prompt}"].map(str::to_owned).into();
    config
}

#[test]
fn a_question_comes_as_an_argument_or_on_stdin() {
    assert_eq!(ask(&shell("printf 'you said %s' \"$1\"")).text(), "you said why?");
    let mut config = shell("printf 'you said '; cat");
    config.command.truncate(3);
    assert_eq!(ask(&config).text(), "you said why?");
    config.command = vec!["true".into()];
    let messages = [ChatMessage::new(Role::User, "x".repeat(1 << 20))];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    let events = ask_request(&config, TIMEOUTS, request).whole();
    assert_eq!(events, [ChatEvent::Done(FinishReason::Stop)], "it need not read the question");
    config.command = vec!["cat".into()];
    assert_eq!(ask_request(&config, TIMEOUTS, request).text().len(), 1 << 20);
}

#[test]
fn a_flood_of_complaints_holds_nothing_up() {
    let mut config = shell("yes >&2 & cat");
    config.command.truncate(3);
    let messages = [ChatMessage::new(Role::User, "x".repeat(1 << 20))];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    assert_eq!(ask_request(&config, TIMEOUTS, request).text().len(), 1 << 20);
}

#[test]
fn an_answer_has_the_form_that_is_configured() {
    let mut config = shell(r#"echo '{"result":"yes","cost":1}'"#);
    config.answer = AnswerFormat::Json("/result".into());
    assert_eq!(ask(&config).text(), "yes");
    config =
        shell(r#"echo starting; echo '{"msg":{"text":"a"}}'; echo '{"msg":{"text":"b"}}'; echo '{"end":1}'"#);
    config.answer = AnswerFormat::Jsonl("/msg/text".into());
    assert_eq!(ask(&config).text(), "b");
    assert_eq!(ask(&shell("printf 'a\\n\\nb\\n'")).text(), "a\n\nb");
}

#[test]
fn a_program_that_fails_is_quoted() {
    let heard =
        ask(&shell("echo half; head -c 9000 /dev/zero | tr '\\0' x >&2; echo ' out of credit' >&2; exit 3"));
    assert_eq!(heard.text(), "half");
    let failure = heard.failure();
    assert!(failure.contains("sh failed with exit code 3: xxx"), "{failure}");
    assert!(failure.contains("out of credit"), "{failure}");
    assert!(failure.len() < 2200, "only the end of it: {}", failure.len());
    assert!(ask(&shell("kill -9 $$")).failure().contains("sh was terminated by signal 9"));

    let mut config = shell("");
    config.command = vec!["lepo-no-such-ai".into()];
    let failure = ask(&config).failure();
    assert!(failure.contains("program lepo-no-such-ai is not installed or not in PATH"), "{failure}");
}

#[test]
fn what_a_program_leaves_behind_does_not_hold_its_answer() {
    let started = Instant::now();
    assert_eq!(ask(&shell("sleep 60 & echo done")).text(), "done");
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// Whether a process lives; a zombie does not.
fn lives(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits until none of these processes lives.
fn await_end(pids: &str) {
    let started = Instant::now();
    while pids.split_whitespace().any(lives) {
        assert!(started.elapsed() < Duration::from_secs(30), "{pids} live on");
        std::thread::yield_now();
    }
}

#[test]
fn a_dropped_or_silent_program_ends_with_all_it_started() {
    let stubborn = "trap '' TERM; sh -c \"trap '' TERM; sleep 60\" & echo $$ $!; wait; wait";
    let timeouts = Timeouts { idle: Duration::from_secs(1), ..TIMEOUTS };
    let messages = [ChatMessage::new(Role::User, "why?")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };

    let heard = ask_request(&shell(stubborn), timeouts, request);
    assert!(heard.failure().contains("no output from sh for 1 s"), "{}", heard.failure());
    await_end(&heard.text());

    let state = tempfile::tempdir().unwrap();
    let pids = run(async {
        let mut model = Model::new(&shell(stubborn), TIMEOUTS, state.path(), opened(), None).unwrap();
        let mut answer = model.ask(request, &mut |_| ()).await.unwrap();
        match answer.next().await.unwrap() {
            Some(ChatEvent::Text(pids)) => pids,
            other => panic!("{other:?}"),
        }
    });
    await_end(&pids);
}

/// A model whose program is this script, in a loop over the questions it reads.
fn embedded(folder: &Path, answer: &str) -> Model {
    let text =
        format!("#!/bin/sh\n[ \"$1\" = --weights ] || exit 9\nwhile read -r line; do\n{answer}\ndone\n");
    let program = script(folder, "lepo-embedded", &text);
    let installed = EmbeddedInstall { program, weights: folder.join("weights"), named: None };
    Model::new(&config(Provider::Embedded, ""), TIMEOUTS, folder, opened(), Some(installed)).unwrap()
}

async fn asked(model: &mut Model) -> Heard {
    let messages = [ChatMessage::new(Role::User, "why?")];
    hear(model, ChatRequest { messages: &messages, ..ChatRequest::default() }).await
}

#[test]
fn the_embedded_model_is_one_process_for_all_questions() {
    let folder = tempfile::tempdir().unwrap();
    let answer = r#"echo '{"event":"notice","text":"small"}'
        printf '{"event":"text","text":"%s"}\n' "$$" "${#line}"
        echo '{"event":"usage","input":3,"output":2}'; echo '{"event":"done","reason":"length"}'"#;
    run(async {
        let mut model = embedded(folder.path(), answer);
        let (first, second) = (asked(&mut model).await, asked(&mut model).await);
        assert_eq!(first.text(), second.text());
        let line = r#"{"messages":[{"role":"user","content":"why?"}],"temperature":0.1}"#;
        assert!(first.text().ends_with(&line.len().to_string()));
        let events = first.whole();
        assert_eq!(events[0], ChatEvent::Notice(ModelNotice::Program("small".into())));
        let usage = Usage { input: Some(3), output: Some(2), ..Usage::default() };
        assert_eq!(events[3..], [ChatEvent::Usage(usage), ChatEvent::Done(FinishReason::Length)]);
    });
}

#[test]
fn the_embedded_model_fails_with_its_own_words() {
    for (answer, words) in [
        (r#"echo '{"event":"error","message":"no memory"}'"#, "the embedded model failed: no memory"),
        ("echo 'bad weights' >&2; exit 1", "failed with exit code 1: bad weights"),
        ("echo what", "unexpected output of the embedded model: what"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let failure = run(async { asked(&mut embedded(folder.path(), answer)).await }).failure();
        assert!(failure.contains(words), "{failure}");
    }
}

#[test]
fn a_dropped_answer_ends_the_embedded_model_and_the_next_starts_it_anew() {
    let folder = tempfile::tempdir().unwrap();
    let answer = r#"printf '{"event":"text","text":"%s"}\n' "$$"
        [ -e "$0.slow" ] && sleep 60; echo '{"event":"done","reason":"stop"}'"#;
    let slow = folder.path().join("lepo-embedded.slow");
    std::fs::write(&slow, "").unwrap();
    let messages = [ChatMessage::new(Role::User, "why?")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    run(async {
        let mut model = embedded(folder.path(), answer);
        let mut stopped = model.ask(request, &mut |_| ()).await.unwrap();
        let Some(ChatEvent::Text(pid)) = stopped.next().await.unwrap() else { panic!("no text") };
        drop(stopped);
        await_end(&pid);
        std::fs::remove_file(&slow).unwrap();
        let again = asked(&mut model).await;
        assert_ne!(again.text(), pid);
        again.whole();
    });
}
