//! Requests that leave lepo: past a proxy or through it, and with whose key.

use crate::bots::Bot;
use crate::home::{Home, Ran, run};
use crate::scripted::{Reply, Server, ollama_ndjson, openai_sse};

const KEY: &str = "sk-canary-20c5";

/// A question of somebody who has a proxy, and a key.
fn ask(home: &Home, proxy: &Server, more: &[(&str, &str)]) -> Ran {
    let mut lepo = home.command(&["do", "q"]);
    lepo.env("http_proxy", proxy.url()).env("all_proxy", proxy.url()).env("OPENAI_API_KEY", KEY);
    lepo.envs(more.iter().copied());
    run(lepo, b"")
}

#[test]
fn no_proxy_stands_before_this_machine() {
    for host in ["127.0.0.1", "localhost"] {
        for bot in [Bot::saying("planner = 'off'", &["Hi."]), Bot::ollama("planner = 'off'", &["Hi."])] {
            let proxy = Server::start([]);
            let config = bot.home.read("config/config.toml").replace("127.0.0.1", host);
            bot.home.write("config/config.toml", config);
            let ran = ask(&bot.home, &proxy, &[]);
            assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{host} {}: {}", bot.provider, ran.err);
            assert_eq!((bot.times_asked(), proxy.connections()), (1, 0));
        }
    }
}

#[test]
fn another_machine_is_reached_through_the_proxy() {
    let proxy = Server::start([openai_sse(["Hi."])]);
    let home = Home::with_openai("http://models.test/v1");
    let ran = ask(&home, &proxy, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    assert_eq!(proxy.asked()[0].path, "http://models.test/v1/chat/completions");
}

#[test]
fn who_is_looked_for_and_who_needs_no_key_gets_none() {
    let tags = Reply::new(200, r#"{"models":[{"name":"m"}]}"#);
    let found = Server::start([tags, ollama_ndjson(["Hi."])]);
    let proxy = Server::start([]);
    let home = Home::with_config("planner = 'off'");
    // With `OPENAI_API_KEY` set it would not look around.
    let none = [("OPENAI_API_KEY", ""), ("OTHER_KEY", KEY)];
    let ran = ask(&home, &proxy, &[&none[..], &[("OLLAMA_HOST", &found.url())]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    let configured = Bot::ollama("planner = 'off'", &["Hi."]);
    assert_eq!(ask(&configured.home, &proxy, &[]).code, 0);
    // `OPENAI_API_KEY` is for OpenAI's address, or that of `OPENAI_BASE_URL`.
    let elsewhere = Bot::saying("planner = 'off'", &["Hi."]);
    assert_eq!(ask(&elsewhere.home, &proxy, &[]).code, 0);
    assert_eq!(proxy.connections(), 0);
    let asked = [found.asked(), configured.server().asked(), elsewhere.server().asked()].concat();
    assert_eq!(asked.len(), 4);
    for asked in asked {
        assert!(!format!("{asked:?}").contains(KEY) && asked.header("authorization").is_none(), "{asked:?}");
    }
}

#[test]
fn looking_around_follows_no_redirect() {
    let elsewhere = Server::start([]);
    let to = format!("{}/api/tags", elsewhere.url());
    let server = Server::start([Reply::new(307, "").header("location", &to)]);
    let home = Home::new();
    let mut lepo = home.command(&["do", "q"]);
    lepo.env("OLLAMA_HOST", server.url());
    let ran = run(lepo, b"");
    assert_eq!((ran.code, server.asked().len(), elsewhere.connections()), (2, 1, 0), "{}", ran.err);
}
