//! Nothing of a question leaves before its gate is open, though the way there is made ready.

use std::time::Duration;

use super::super::scripted::{Reply, Server, openai_sse};
use super::{TIMEOUTS, config, hear, openai, opened, run};
use lepo_base::role::Role;
use lepo_model::Provider;
use lepo_model::{ChatMessage, ChatRequest, EmbeddedInstall, Gate, Model};

#[test]
fn the_connection_opens_and_the_request_waits() {
    let server = Server::start([openai_sse(["a"]), openai_sse(["b"])]);
    let state = tempfile::tempdir().unwrap();
    let messages = [ChatMessage::new(Role::User, "why?")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    run(async {
        let gate = Gate::new();
        let mut model = Model::new(&openai(&server), TIMEOUTS, state.path(), gate.clone(), None).unwrap();
        let opening = async {
            while server.connections() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
            assert_eq!(server.begun(), 0, "not one byte before the gate is open");
            gate.open();
        };
        let (heard, ()) = tokio::join!(hear(&mut model, request), opening);
        assert_eq!(heard.text(), "a");

        gate.close();
        let opening = async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            assert_eq!(server.begun(), 1, "nor on the connection that is open already");
            gate.open();
        };
        let (heard, ()) = tokio::join!(hear(&mut model, request), opening);
        assert_eq!(heard.text(), "b");
    });
    assert_eq!(server.connections(), 1, "a finished answer leaves its connection for the next");
}

#[test]
fn a_kept_connection_that_ends_under_a_request_is_made_anew_once() {
    let (a, b) = (openai_sse(["a"]), openai_sse(["b"]));
    let lost = "connection closed before message completed";
    for (replies, expected, times) in [
        (vec![a.clone(), Reply::none(), b], [Ok("a"), Ok("b")], 3),
        (vec![a.clone(), Reply::none(), Reply::none()], [Ok("a"), Err(lost)], 3),
        // On a connection of its own it is the server's answer.
        (vec![Reply::none(), a], [Err(lost), Ok("a")], 2),
    ] {
        let server = Server::start(replies);
        let state = tempfile::tempdir().unwrap();
        let messages = [ChatMessage::new(Role::User, "why?")];
        let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
        run(async {
            let mut model = Model::new(&openai(&server), TIMEOUTS, state.path(), opened(), None).unwrap();
            for expected in expected {
                let heard = hear(&mut model, request).await;
                match expected {
                    Ok(text) => assert_eq!(heard.text(), text),
                    Err(why) => assert!(heard.failure().contains(why), "{}", heard.failure()),
                }
            }
        });
        assert_eq!(server.asked().len(), times);
    }
}

#[test]
fn a_program_does_not_start_before_but_the_embedded_model_does() {
    let place = tempfile::tempdir().unwrap();
    let mark = place.path().join("started");
    let messages = [ChatMessage::new(Role::User, "why?")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    let script = format!(
        "#!/bin/sh\ntouch '{}'\nread line\necho '{{\"event\":\"done\",\"reason\":\"stop\"}}'\n",
        mark.display()
    );
    let program = super::programs::script(place.path(), "ai", &script);
    for (provider, early) in [(Provider::Cli, false), (Provider::Embedded, true)] {
        let mut config = config(provider, "");
        config.command = vec![program.display().to_string()];
        let installed =
            EmbeddedInstall { program: program.clone(), weights: place.path().join("weights"), named: None };
        let _ = std::fs::remove_file(&mark);
        run(async {
            let gate = Gate::new();
            let mut model =
                Model::new(&config, TIMEOUTS, place.path(), gate.clone(), Some(installed)).unwrap();
            let opening = async {
                while early && !mark.exists() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                tokio::time::sleep(Duration::from_millis(30)).await;
                assert_eq!(mark.exists(), early, "{provider:?}");
                gate.open();
            };
            let (heard, ()) = tokio::join!(hear(&mut model, request), opening);
            heard.whole();
            assert!(mark.exists());
        });
    }
}
