//! Many models: asked at once, or led through a debate. Each is a server of its own with its own script.

mod debate;
mod parallel;
mod programs;
mod real;
mod views;

use serde_json::Value;

use crate::home::{Home, Ran};
use crate::scripted::{Reply, Server, openai_sse};

/// A home with scripted models; `chief` leads debates, all others take part.
pub struct Panel {
    pub home: Home,
    servers: Vec<(String, Server)>,
}

impl Panel {
    /// Models with what each replies, in order. `many` are further lines of `[many]`.
    pub fn new(many: &str, models: &[(&str, Vec<Reply>)]) -> Panel {
        let mut servers = Vec::new();
        let mut config = String::new();
        for (name, replies) in models {
            let server = Server::start(replies.clone());
            config += &format!(
                "[[models]]\nname = \"{name}\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}/v1\"\n",
                server.url()
            );
            servers.push((name.to_string(), server));
        }
        let names: Vec<_> = models.iter().map(|(name, _)| *name).filter(|name| *name != "chief").collect();
        config += &format!("[many]\norchestrator = \"chief\"\nparticipants = {names:?}\n{many}\n");
        let home = Home::with_config(&config);
        home.write("config/system_prompt.txt", "");
        Panel { home, servers }
    }

    /// Models that say these texts.
    pub fn saying(models: &[(&str, &[&str])]) -> Panel {
        let replies = |texts: &[&str]| texts.iter().map(|text| openai_sse([*text])).collect();
        let models: Vec<_> = models.iter().map(|(name, texts)| (*name, replies(texts))).collect();
        Panel::new("", &models)
    }

    pub fn server(&self, name: &str) -> &Server {
        &self.servers.iter().find(|(other, _)| other == name).unwrap().1
    }

    pub fn lepo(&self, args: &[&str]) -> Ran {
        self.home.lepo(args)
    }

    /// The last request to one of them, as one text.
    pub fn last_prompt(&self, name: &str) -> String {
        let asked = self.server(name).asked();
        let body = asked.last().unwrap().json();
        body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_string()
    }
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
