//! Models that say what a test tells them to, one for each way there is to reach one.

use serde_json::Value;

use super::home::{Home, Ran};
use super::scripted::{Reply, Server, ollama_ndjson, openai_sse};

/// A home with one active model, `test`, that gives its answers in order.
pub struct Bot {
    pub home: Home,
    pub provider: &'static str,
    pub server: Option<Server>,
}

/// A program that takes down what it is asked and says the next of its answers.
const PROGRAM: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $n > count
cat > asked.$n
cat answer.$n || exit 7
"#;

impl Bot {
    /// Behind an OpenAI server. `settings` are lines for the head of config.toml.
    pub fn openai(settings: &str, replies: impl IntoIterator<Item = Reply>) -> Bot {
        let server = Server::start(replies);
        let model = format!("provider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}/v1\"", server.url());
        Bot { home: home(settings, &model), provider: "openai", server: Some(server) }
    }

    /// Behind an OpenAI server, with these answers.
    pub fn saying(settings: &str, answers: &[&str]) -> Bot {
        Bot::openai(settings, answers.iter().map(|answer| openai_sse([*answer])))
    }

    /// Behind an Ollama server, with these answers.
    pub fn ollama(settings: &str, answers: &[&str]) -> Bot {
        let server = Server::start(answers.iter().map(|answer| ollama_ndjson([*answer])));
        let model = format!("provider = \"ollama\"\nmodel = \"m\"\nbase_url = \"{}\"", server.url());
        Bot { home: home(settings, &model), provider: "ollama", server: Some(server) }
    }

    /// A program, with these answers.
    pub fn program(settings: &str, answers: &[&str]) -> Bot {
        let place = Home::new().trusting();
        let command = place.path().join("bot/bot.sh");
        let model = format!("provider = \"cli\"\ncommand = [\"sh\", {:?}]", command.display().to_string());
        place.write("config/config.toml", config(settings, &model));
        place.write("bot/bot.sh", PROGRAM);
        for (i, answer) in answers.iter().enumerate() {
            place.write(&format!("bot/answer.{}", i + 1), answer);
        }
        Bot { home: place, provider: "cli", server: None }
    }

    /// Runs a test with each provider.
    pub fn each(settings: &str, answers: &[&str], test: impl Fn(&Bot)) {
        test(&Bot::saying(settings, answers));
        test(&Bot::ollama(settings, answers));
        test(&Bot::program(settings, answers));
    }

    pub fn lepo(&self, args: &[&str]) -> Ran {
        self.home.lepo(args)
    }

    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// The bodies of the requests so far.
    pub fn bodies(&self) -> Vec<Value> {
        self.server().asked().iter().map(|asked| asked.json()).collect()
    }

    /// Number of requests to it.
    pub fn times_asked(&self) -> usize {
        match &self.server {
            Some(server) => server.asked().len(),
            None => self.home.read("bot/count").trim().parse().unwrap_or_default(),
        }
    }
}

/// The messages of a request's body: `(role, content)`.
pub fn messages(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let message = |message: &Value| (text(&message["role"]), text(&message["content"]));
    body["messages"].as_array().unwrap().iter().map(message).collect()
}

fn home(settings: &str, model: &str) -> Home {
    Home::with_config(&config(settings, model))
}

/// Where a test says nothing of planners it has the chooser, which every provider can have.
fn config(settings: &str, model: &str) -> String {
    let planner = if settings.contains("planner") { "" } else { "planner = \"chooser\"\n" };
    format!("{planner}{settings}\n[[models]]\nname = \"test\"\nactive = true\n{model}\n")
}
