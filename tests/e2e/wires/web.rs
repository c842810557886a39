//! The provider's own web search: offered, counted, cited.

use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, bodies, home, messages_api, responses_api};
use crate::home::Home;
use crate::pty::on_terminal;
use crate::scripted::{Asked, Reply, Server};

const QUIET: &str = "planner = 'off'";

/// A server of the Messages API whose answer searches, fetches and cites.
fn anthropic() -> Server {
    let cited =
        |url: &str, title: &str| json!({"type": "web_search_result_location", "url": url, "title": title});
    let blocks = [
        json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rain\u{1b}[31m"}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}),
        json!({"type": "server_tool_use", "id": "s2", "name": "web_fetch", "input": {"url": "https://b.test/"}}),
        json!({"type": "web_fetch_tool_result", "tool_use_id": "s2", "content":
            {"type": "web_fetch_result", "url": "https://b.test/", "content": {"type": "document", "title": "B page"}}}),
        json!({"type": "text", "text": "It rains", "citations": [cited("https://a.test/1", "A\u{1b}]0;x\u{7}"), cited("https://a.test/1", "A")]}),
        json!({"type": "text", "text": ", says B", "citations": [
            {"type": "char_location", "document_index": 0, "document_title": "B page"}]}),
        json!({"type": "text", "text": " and A.", "citations": [cited("https://a.test/1", "A")]}),
    ];
    answering(messages_api(&blocks, "end_turn"))
}

/// A server of the Responses API whose answer searches and cites.
fn responses() -> Server {
    let cited = |url: &str, title: &str| json!({"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 8});
    let items = [
        json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "rain"}}),
        json!({"type": "web_search_call", "id": "ws_2", "status": "completed", "action": {"type": "open_page", "url": "https://b.test/"}}),
        json!({"type": "message", "id": "m", "role": "assistant", "content": [
            {"type": "output_text", "text": "It rains", "annotations": [cited("https://a.test/1", "A")]},
            {"type": "output_text", "text": ", says B", "annotations": [cited("https://b.test/", "B page")]},
            {"type": "output_text", "text": " and A.", "annotations": [cited("https://a.test/1", "A")]}]}),
    ];
    answering(responses_api(&items))
}

/// The types of the tools of a request.
fn kinds(body: &Value) -> Value {
    body["tools"].as_array().unwrap().iter().map(|tool| tool["type"].clone()).collect()
}

fn answering(answer: Reply) -> Server {
    Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
        "GET" => Reply::new(404, "{}"),
        _ => answer.clone(),
    })
}

#[test]
fn a_search_is_offered_counted_and_leaves_the_text_in_a_pipe_as_it_was_said() {
    for (server, model, tools) in [
        (anthropic(), ANTHROPIC, json!(["web_search_20260318", "web_fetch_20260318"])),
        (responses(), RESPONSES, json!(["web_search"])),
    ] {
        let home = home(&server, QUIET, model);
        let ran = home.lepo(&["do", "--web", "--json", "weather?"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(document["answer"]["text"], "It rains, says B and A.");
        assert_eq!(document["answer"]["usage"]["web"], 2);
        assert_eq!(kinds(&bodies(&server)[0]), tools);
        // Nothing runs in a container of the provider's.
        let callers = bodies(&server)[0]["tools"][0]["allowed_callers"].clone();
        assert_eq!(callers, if model == ANTHROPIC { json!(["direct"]) } else { json!(null) });
        assert!(home.read("work/.lepo/_journal.ndjson").contains("\"web\":2"));

        let events = home.ok(&["do", "--web", "--events", "again"]);
        assert!(events.contains(r#""event":"web","tool":"web_search","about":"rain"#), "{events}");
        assert_eq!(events.matches("\"event\":\"citation\"").count(), 3, "{events}");
        // Without it, nothing is offered.
        home.ok(&["do", "once more"]);
        assert!(bodies(&server)[2]["tools"].is_null());
    }
}

#[test]
fn a_terminal_shows_a_number_behind_the_words_and_each_page_once_below() {
    for (server, model) in [(anthropic(), ANTHROPIC), (responses(), RESPONSES)] {
        // The setting of the model does what --web does.
        let home = home(&server, QUIET, &format!("{model}\nweb = true"));
        let mut command = home.command(&["do", "--no-stdin", "weather?"]);
        command.env("TERM", "xterm");
        let shown = on_terminal(command, &[]).out;
        assert!(shown.contains("It rains [1], says B [2] and A. [1]"), "{shown}");
        assert!(shown.contains("[1] A") && shown.contains("[2] B page https://b.test/"), "{shown}");
        assert_eq!(shown.matches("https://a.test/1").count(), 1, "{shown}");
        assert!(shown.contains("web_search rain") && shown.contains("2 web"), "{shown}");
        assert!(!shown.contains("\u{1b}[31m") && !shown.contains("\u{1b}]0;x"), "{shown:?}");
    }
}

/// A server of the Messages API that has these tools only, and says so as the API does.
fn having(known: &'static [&'static str]) -> Server {
    let answer = messages_api(&[json!({"type": "text", "text": "Rain."})], "end_turn");
    Server::judging(move |_, asked: &Asked| {
        if asked.method == "GET" {
            return Reply::new(404, "{}");
        }
        let tools = kinds(&asked.json());
        let mut tools = tools.as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).enumerate();
        let Some((at, kind)) = tools.find(|(_, kind)| !known.contains(kind)) else { return answer.clone() };
        let known = known.join("', '");
        super::refused(&format!(
            "tools.{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags: 'custom', '{known}'"
        ))
    })
}

#[test]
fn a_server_with_older_web_tools_or_the_search_alone_is_asked_in_its_form_from_then_on() {
    const OLDER: [&str; 2] = ["web_search_20250305", "web_fetch_20250910"];
    for (known, notes, forms) in
        [(&OLDER[..], &["those of 2025"][..], 2), (&OLDER[..1], &["those of 2025", "search alone"], 3)]
    {
        let server = having(known);
        let home = home(&server, QUIET, ANTHROPIC);
        let ran = home.lepo(&["do", "--web", "weather?"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Rain.\n"), "{}", ran.err);
        for note in notes {
            assert_eq!(ran.err.matches(note).count(), 1, "{}", ran.err);
        }
        assert_eq!(bodies(&server).len(), forms);
        assert_eq!(kinds(bodies(&server).last().unwrap()), json!(known));
        let again = home.lepo(&["do", "--web", "and now?"]);
        assert_eq!((again.code, bodies(&server).len()), (0, forms + 1), "{}", again.err);
        assert!(!again.err.contains("web"), "{}", again.err);
    }
}

fn refused(home: &Home, args: &[&str], expected: &str) {
    let ran = home.lepo(&[&["do", "--web"], args, &["weather?"]].concat());
    assert!(ran.code == 2 && ran.err.contains(expected), "{args:?}: {} {}", ran.code, ran.err);
    assert!(!home.read("work/.lepo/_journal.ndjson").contains("failed"));
}

#[test]
fn a_model_that_has_no_search_and_tools_that_are_off_are_refused_by_name() {
    for model in [CHAT, OLLAMA] {
        let server = Server::start([]);
        refused(&home(&server, QUIET, model), &[], "model \"test\" cannot search the web");
        assert!(server.asked().is_empty());
    }
    let server = anthropic();
    let home = home(&server, QUIET, ANTHROPIC);
    refused(&home, &["--tools", "off"], "--web cannot be used with --tools off");
    // With the setting, it is only left out.
    let web = self::home(&server, QUIET, &format!("{ANTHROPIC}\nweb = true"));
    web.ok(&["do", "--tools", "off", "weather?"]);
    assert!(bodies(&server)[0]["tools"].is_null());
}
