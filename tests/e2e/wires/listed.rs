//! Models that servers offer: `lepo model ls --remote`, and completing from it.

use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, home};
use crate::home::{Home, run};
use crate::scripted::{Asked, Reply, Server};

#[test]
fn a_server_is_asked_what_it_offers_once_an_hour() {
    let llama = json!({"data": [{"id": "smol", "meta": {"n_ctx": 8192, "size": 98_000_000}}]});
    let first = json!({"data": [{"id": "claude-a", "max_input_tokens": 1_000_000, "max_tokens": 64_000,
        "capabilities": {"pdf_input": {"supported": true}, "batch": {"supported": false}}}], "has_more": true, "last_id": "claude-a"});
    let second = json!({"data": [{"id": "claude-b"}], "has_more": false});
    let tags = json!({"models": [{"name": "qwen3:8b", "size": 5_200_000_000u64, "capabilities": ["tools", "thinking"]}]});
    for (model, answers, expected, requests) in [
        (CHAT, vec![llama], "smol 8192 tokens 0.1 GB\n", 3),
        (ANTHROPIC, vec![first, second], "claude-a 1000000 tokens pdf_input\nclaude-b\n", 2),
        (OLLAMA, vec![tags], "qwen3:8b 5.2 GB tools,thinking\n", 1),
    ] {
        let server = Server::judging(move |number, asked: &Asked| {
            assert_eq!(asked.method, "GET");
            match answers.get(number) {
                Some(answer) => Reply::new(200, answer.to_string()),
                // A local server is asked in two more places for the window that it runs with.
                None => Reply::new(404, "no"),
            }
        });
        let home = home(&server, "", model);
        assert_eq!(home.ok(&["model", "ls", "--remote"]), expected);
        let document: Value =
            serde_json::from_str(&home.ok(&["model", "ls", "--remote", "test", "--json"])).unwrap();
        assert!(document["models"][0]["id"].is_string());
        assert_eq!(server.asked().len(), requests, "the second time it is known");
        if model == ANTHROPIC {
            assert!(server.asked()[1].path.contains("after_id=claude-a"));
        }
    }
}

#[test]
fn the_window_that_a_local_server_runs_with_wins_over_the_one_it_was_trained_for() {
    let list =
        json!({"data": [{"id": "m", "max_context_length": 131_072, "meta": {"n_ctx_train": 131_072}}]});
    let studio = json!({"models": [{"key": "m", "loaded_instances": [{"id": "m", "config": {"context_length": 4096}}]}]});
    let props = json!({"default_generation_settings": {"n_ctx": 8192}});
    let zero = json!({"default_generation_settings": {"n_ctx": 0}});
    for (answers, expected) in [
        ([Some(studio.clone()), None], "m 4096 tokens\n"),
        ([None, Some(props)], "m 8192 tokens\n"),
        ([None, Some(zero)], "m 131072 tokens\n"),
        ([Some(json!(["odd"])), Some(json!({"models": 1}))], "m 131072 tokens\n"),
        ([None, None], "m 131072 tokens\n"),
    ] {
        let list = list.clone();
        let server = Server::judging(move |_, asked: &Asked| {
            let answer = match asked.path.as_str() {
                "/v1/models" => Some(list.clone()),
                "/api/v1/models" => answers[0].clone(),
                "/props" => answers[1].clone(),
                other => panic!("{other}"),
            };
            answer.map_or(Reply::new(404, "no"), |answer| Reply::new(200, answer.to_string()))
        });
        let home = home(&server, "", CHAT);
        assert_eq!(home.ok(&["model", "ls", "--remote"]), expected);
    }
}

#[test]
fn the_list_as_json_has_options_and_the_window_that_is_configured_or_was_told_last_and_asks_nobody() {
    let told = |window: u64| json!({"data": [{"id": "m", "meta": {"n_ctx": window}}]});
    let server = Server::judging(move |number, asked: &Asked| match asked.path.as_str() {
        "/v1/models" => Reply::new(200, told(if number == 0 { 8192 } else { 4096 }).to_string()),
        _ => Reply::new(404, "no"),
    });
    let model = format!(
        "{CHAT}\noptions = {{ temperature = 0.5, max_tokens = 100 }}\nextra = {{ token = 'sk-more' }}"
    );
    let home = home(&server, "", &model);
    let listed = || {
        let out = home.ok(&["model", "ls", "--json"]);
        assert!(!out.contains("sk-"), "{out}");
        let document: Value = serde_json::from_str(&out).unwrap();
        document["models"][0].clone()
    };
    let fresh = listed();
    assert_eq!(
        (&fresh["name"], &fresh["provider"], &fresh["model"], &fresh["window"], &fresh["active"]),
        (&json!("test"), &json!("openai"), &json!("m"), &json!(null), &json!(true))
    );
    assert_eq!(fresh["options"], json!({"temperature": 0.5, "max_tokens": 100}));
    assert!(server.asked().is_empty());
    home.ok(&["model", "ls", "--remote"]);
    let asked = server.asked().len();
    assert_eq!(listed()["window"], 8192);
    // Of several tellings the last counts, in whichever file it is; one without a window hides none.
    let folder = home.path().join("state/lepo/catalogue");
    for list in std::fs::read_dir(&folder).unwrap() {
        std::fs::remove_file(list.unwrap().path()).unwrap();
    }
    home.ok(&["model", "ls", "--remote"]);
    assert_eq!(listed()["window"], 4096);
    assert!(server.asked().len() > asked);
    let asked = server.asked().len();
    let config = home.read("config/config.toml").replace("model = \"m\"", "model = \"m\"\ncontext = 1000");
    home.write("config/config.toml", config);
    assert_eq!(listed()["window"], 1000);
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn a_model_of_a_provider_completes_from_what_its_server_offered() {
    let tags = json!({"models": [{"name": "qwen3:8b", "size": 5_200_000_000u64}, {"name": "small"}]});
    let server = Server::judging(move |_, _: &Asked| Reply::new(200, tags.to_string()));
    let home = Home::new();
    let lepo = |args: &[&str], shell: &str| {
        let mut command = home.command(args);
        command.env("OLLAMA_HOST", server.url()).env("LEPO_COMPLETE", shell);
        let ran = run(command, b"");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
        ran.out
    };
    let told = |begun: &str| lepo(&["--", "lepo", "do", "-m", begun], "fish");
    // Nothing is asked while a line is completed.
    assert_eq!((told("ollama:").as_str(), server.asked().len()), ("", 0));
    assert_eq!(lepo(&["model", "ls", "--remote", "ollama:"], ""), "qwen3:8b 5.2 GB\nsmall\n");
    assert_eq!(told("ollama:"), "ollama:qwen3:8b\tqwen3:8b 5.2 GB\nollama:small\tsmall\n");
    assert_eq!(told("ollama:q"), "ollama:qwen3:8b\tqwen3:8b 5.2 GB\n");
    // lepo cannot remove a model that only the server lists.
    assert_eq!(lepo(&["--", "lepo", "model", "rm", "ollama:"], "fish"), "");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_server_that_does_not_tell_is_exit_3() {
    let server = Server::start([Reply::new(404, "{\"error\":\"no such page\"}")]);
    let home = home(&server, "", CHAT);
    let ran = home.lepo(&["model", "ls", "--remote"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("does not list its models"), "{}", ran.err);
}

#[test]
fn a_program_offers_no_list() {
    let server = Server::start([]);
    let home = home(&server, "", "provider = \"cli\"\ncommand = [\"cat\"]");
    let config = home.read("config/config.toml").replace("model = \"m\"\napi_key = \"sk-canary\"\n", "");
    home.write("config/config.toml", config);
    let ran = home.lepo(&["model", "ls", "--remote"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("note: test is a program, which offers no list"), "{}", ran.err);
}
