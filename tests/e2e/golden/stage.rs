//! A home with a scripted model, a front to it, and all that went over the stage.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::wire::{Say, Wire};
use crate::acp_client::Client;
use crate::home::{Home, Ran, run};
use crate::screen::Screen;
use crate::scripted::{Asked, Reply, Server};
use crate::secrets::github_token;

/// Way from a user to lepo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Front {
    Do,
    Session,
    Editor,
}

use Front::{Do, Editor, Session};

/// Every front.
pub const FRONTS: &[Front] = &[Do, Session, Editor];

impl Front {
    pub fn name(self) -> &'static str {
        match self {
            Do => "do",
            Session => "session",
            Editor => "editor",
        }
    }
}

/// Something that went over the stage.
pub enum Entry {
    /// A step, as the scene has it.
    Step(String),
    /// Text under a heading: `stdout`, `stderr`, `screen`.
    Text(&'static str, String),
    /// A request of lepo to a model.
    Request { line: String, headers: Vec<String>, body: String },
}

type Script = Arc<Mutex<HashMap<String, VecDeque<Say>>>>;

/// The answer of a chooser that wants no command, and that of one that wants one.
pub const NO_COMMAND: &str = r#"{"tool":"none"}"#;
pub const A_COMMAND: &str = r#"{"tool":"command"}"#;

/// The program that answers on its stdout; what it was asked stays beside it.
const PROGRAM: &str = r#"cd "$(dirname "$0")"
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $n > count
cat > asked.$n
cat answer.$n || exit 7
"#;

pub struct Stage {
    pub home: Home,
    pub front: Front,
    pub wire: Wire,
    pub entries: Vec<Entry>,
    server: Server,
    script: Script,
    /// Requests and lines of them that the entries have.
    seen: usize,
    answers: usize,
    screen: Option<Screen>,
    editor: Option<(Client, String)>,
    updates: usize,
    /// Ids of the editor's sessions.
    sessions: Vec<String>,
    /// Models answer side by side: what they leave has no order.
    pub is_side_by_side: bool,
    /// Texts of which either may come, each with the one that stands for both.
    pub either: Vec<(String, String)>,
}

impl Stage {
    /// A stage whose model `test` is active; `settings` are lines for the head of the configuration, `model` for its table.
    pub fn new(front: Front, wire: Wire, settings: &str, model: &str) -> Stage {
        Stage::with_models(front, wire, settings, &[("test", &format!("active = true\n{model}"))])
    }

    /// A stage with these models, each with the lines of its table.
    pub fn with_models(front: Front, wire: Wire, settings: &str, models: &[(&str, &str)]) -> Stage {
        let script = Script::default();
        let scripted = script.clone();
        let server = Server::judging(move |_, asked| answer(wire, &scripted, asked));
        let home = Home::new();
        let mut config = format!("{settings}\n");
        let mut tables = String::new();
        for (name, lines) in models {
            let choice = wire.settings().replace("URL", &server.url()).replace("HOME", &path(&home));
            let id = if matches!(wire, Wire::Program | Wire::Agent) {
                String::new()
            } else {
                format!("model = \"{name}\"\n")
            };
            let key =
                if wire == Wire::Program || wire == Wire::Agent { "" } else { "api_key = \"sk-canary\"\n" };
            tables += &format!("[[models]]\nname = \"{name}\"\n{id}{key}{choice}\n{lines}\n");
        }
        config += &tables;
        home.write("config/config.toml", config);
        home.write("config/system_prompt.txt", "PROMPT");
        home.write("bot/bot.sh", PROGRAM);
        home.trust_work();
        home.write_insts("general = 'GENERAL'");
        Stage {
            home,
            front,
            wire,
            entries: Vec::new(),
            server,
            script,
            seen: 0,
            answers: 0,
            screen: None,
            editor: None,
            updates: 0,
            sessions: Vec::new(),
            is_side_by_side: models.len() > 1,
            either: Vec::new(),
        }
    }

    /// Names and texts that stand for what differs between two runs.
    pub fn fixed(&self) -> Vec<(String, String)> {
        let canonical = self.home.path().canonicalize().unwrap().display().to_string();
        let address = self.server.url().trim_start_matches("http://").to_string();
        let repository = env!("CARGO_MANIFEST_DIR").to_string();
        let mut fixed: Vec<_> = [
            (path(&self.home), "HOME"),
            (canonical, "HOME"),
            (address, "SERVER"),
            (repository, "REPOSITORY"),
        ]
        .map(|(text, name)| (text, name.to_string()))
        .into();
        let sessions = self.sessions.iter().enumerate();
        fixed.extend(sessions.map(|(at, id)| (id.clone(), format!("SESSION-{}", at + 1))));
        // No secret stands in a recording, not even one of nobody.
        fixed.extend((1..=3).map(|mark| (github_token(mark), format!("TOKEN-{mark}"))));
        fixed.extend(self.either.iter().cloned());
        fixed
    }

    /// The next answers of the model `test`.
    pub fn says(&mut self, answers: impl IntoIterator<Item = Say>) {
        self.says_as("test", answers);
    }

    /// The next answers of the model `test`, each to a turn of its own, where the planner is the model's own tools: a model
    /// without them is asked first whether a command is needed.
    pub fn says_no_command(&mut self, answers: impl IntoIterator<Item = Say>) {
        for answer in answers {
            if !self.has_tools() {
                self.says([Say::text(NO_COMMAND)]);
            }
            self.says([answer]);
        }
    }

    /// True if a model of this wire has tools of its own.
    pub fn has_tools(&self) -> bool {
        matches!(self.wire, Wire::Chat | Wire::Responses | Wire::Anthropic)
    }

    /// The next answers of a model.
    pub fn says_as(&mut self, model: &str, answers: impl IntoIterator<Item = Say>) {
        for answer in answers {
            if self.wire == Wire::Program {
                self.answers += 1;
                self.home.write(&format!("bot/answer.{}", self.answers), answer.as_text());
            }
            self.script.lock().unwrap().entry(model.into()).or_default().push_back(answer);
        }
    }

    /// Runs lepo, whatever the front is, with nobody to ask.
    pub fn lepo(&mut self, args: &[&str]) -> Ran {
        let ran = self.home.alone(args);
        self.ran(&format!("lepo {}", quoted(args)), &ran);
        ran
    }

    /// A line for a shell.
    pub fn shell(&mut self, line: &str) {
        let ran = run(self.home.shell(line), b"");
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }

    fn ran(&mut self, step: &str, ran: &Ran) {
        self.entries.push(Entry::Step(format!("{step}  # {}", ran.code)));
        self.entries.push(Entry::Text("stdout", ran.out.clone()));
        self.entries.push(Entry::Text("stderr", ran.made.clone() + &ran.err));
        self.requests();
    }

    /// Asks a question.
    pub fn ask(&mut self, text: &str) {
        self.ask_with(&[], text);
    }

    /// Asks a question, in `do` with these options.
    pub fn ask_with(&mut self, options: &[&str], text: &str) {
        match self.front {
            Do => {
                self.lepo(&[&["do", "--no-stdin"], options, &[text]].concat());
            }
            Session => self.enter(text, &[]),
            Editor => self.prompt(json!([{ "type": "text", "text": text }]), &[]),
        }
    }

    /// Asks a question, and answers what lepo asks then: what the terminal shows and what is typed, or an option of the
    /// editor's question.
    pub fn ask_deciding(&mut self, text: &str, typed: &[(&str, &str)], chosen: &[&str]) {
        match self.front {
            Do => self.on_a_terminal(&["do", text], typed),
            Session => self.enter(text, typed),
            Editor => self.prompt(json!([{ "type": "text", "text": text }]), chosen),
        }
    }

    /// A slash command of the session and the editor, for `do` its options.
    pub fn command(&mut self, slash: &str, options: &[&str]) {
        match self.front {
            Do => {
                self.lepo(&[&["do", "--no-stdin"], options].concat());
            }
            Session => self.enter(slash, &[]),
            Editor => self.prompt(json!([{ "type": "text", "text": slash }]), &[]),
        }
    }

    /// Runs `lepo do` on a terminal, up to its end; what is typed answers what it shows.
    pub fn on_a_terminal(&mut self, args: &[&str], typed: &[(&str, &str)]) {
        let Some(screen) = self.open(args) else { return };
        self.entries.push(Entry::Step(format!("on a terminal: lepo {}", quoted(args))));
        answer_in_turn(&screen, typed, "");
        screen.shows("[ended with ");
        self.entries.push(Entry::Text("screen", screen.whole()));
        self.requests();
    }

    /// lepo in a terminal; with the program `ed` of the home, if there is one, for the user's editor.
    fn open(&self, args: &[&str]) -> Option<Screen> {
        let mut command = self.home.command(args);
        command.env("EDITOR", format!("sh {}/ed", path(&self.home)));
        Screen::of(&command, &self.home, 100)
    }

    /// Takes the last question back, which a session offers at its prompt.
    pub fn undo(&mut self, question: &str) {
        if self.front == Editor {
            return self.command("/undo", &[]);
        }
        let screen = self.screen.as_ref().unwrap();
        self.entries.push(Entry::Step("> /undo".into()));
        screen.enters("/undo").prompts(&format!("> {question}")).keys(&["C-u"]).prompts("> ");
    }

    fn enter(&mut self, text: &str, typed: &[(&str, &str)]) {
        if self.screen.is_none() {
            let Some(screen) = self.open(&[]) else { return };
            screen.prompts("> ");
            self.screen = Some(screen);
        }
        self.entries.push(Entry::Step(format!("> {text}")));
        let screen = self.screen.as_ref().unwrap();
        let before = screen.text();
        screen.enters(text);
        answer_in_turn(screen, typed, &before);
        screen.prompts("> ");
        self.requests();
    }

    /// Sends a prompt of the editor, with these options chosen where it is asked.
    pub fn prompt(&mut self, prompt: Value, chosen: &[&str]) {
        if self.editor.is_none() {
            let mut client = Client::start(&self.home, &[]);
            let session = client.session(&self.home);
            self.sessions.push(session.clone());
            self.editor = Some((client, session));
        }
        self.entries.push(Entry::Step(format!("prompt {prompt}")));
        let (mut client, session) = self.editor.take().unwrap();
        let id = client.begin("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
        let mut asked = Vec::new();
        for option in chosen {
            let question = client.question();
            asked.push(format!("{}\n-> {option}\n", question["params"]));
            client.choose(&question, option);
        }
        let end = match client.end(id) {
            Ok(result) => format!("{result}\n"),
            Err(error) => format!("error {error}\n"),
        };
        let updates = merged(&client.updates[self.updates..]);
        self.updates = client.updates.len();
        self.editor = Some((client, session));
        self.entries.push(Entry::Text("updates", updates));
        self.entries.push(Entry::Text("asked", asked.concat()));
        self.entries.push(Entry::Text("end", end));
        self.requests();
    }

    /// What the store has of the wires of answers that wait.
    pub fn wire_files(&mut self) {
        let ran = run(self.home.shell("cat .lepo/_wire/*"), b"");
        self.entries.push(Entry::Text("_wire", ran.out));
    }

    /// Opens the newest conversation in the editor, which is sent what was said in it.
    pub fn load_newest(&mut self) {
        let mut client = Client::start(&self.home, &[]);
        let listed = client.call("session/list", json!({ "cwd": self.home.work() }));
        let session = listed["sessions"][0]["sessionId"].as_str().unwrap().to_string();
        let params = json!({ "sessionId": session, "cwd": self.home.work(), "mcpServers": [] });
        let loaded = client.call("session/load", params);
        self.entries.push(Entry::Step("the editor opens the newest conversation".into()));
        self.entries.push(Entry::Text("listed", format!("{listed}\n")));
        self.entries.push(Entry::Text("loaded", format!("{loaded}\n")));
        self.entries.push(Entry::Text("updates", merged(&client.updates)));
        self.updates = client.updates.len();
        self.editor = Some((client, session));
        self.requests();
    }

    /// Leaves the session or the editor.
    pub fn leave(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.enters("/exit").shows("[ended with ");
            self.entries.push(Entry::Text("screen", screen.whole()));
        }
        if let Some((client, _)) = self.editor.take() {
            let code = client.leave();
            self.updates = 0;
            self.entries.push(Entry::Step(format!("the editor leaves  # {code}")));
        }
        self.requests();
    }

    /// Takes up the requests since the last step: those to each model in their order.
    fn requests(&mut self) {
        match self.wire {
            Wire::Program => {
                let count = self.home.read("bot/count").trim().parse().unwrap_or_default();
                for number in self.seen + 1..=count {
                    let body = self.home.read(&format!("bot/asked.{number}"));
                    self.entries.push(Entry::Request { line: "stdin".into(), headers: Vec::new(), body });
                }
                self.seen = count;
            }
            Wire::Agent => {
                let log = self.home.read("agent.log");
                for line in log.lines().skip(self.seen).filter(|line| *line != "EOF") {
                    let body = line.to_string();
                    self.entries.push(Entry::Request { line: "line".into(), headers: Vec::new(), body });
                }
                self.seen = log.lines().count();
            }
            _ => {
                let asked = self.server.asked();
                let mut by_model: BTreeMap<String, Vec<&Asked>> = BTreeMap::new();
                for asked in &asked[self.seen..] {
                    by_model.entry(model_of(asked).unwrap_or_default()).or_default().push(asked);
                }
                // Questions about models have no order.
                by_model.entry(String::new()).or_default().sort_by_key(|asked| &asked.path);
                for asked in by_model.into_values().flatten() {
                    let headers = asked.headers.iter().filter(|(name, _)| !UNTOLD.contains(&name.as_str()));
                    self.entries.push(Entry::Request {
                        line: format!("{} {}", asked.method, asked.path),
                        headers: headers.map(|(name, value)| format!("{name}: {value}")).collect(),
                        body: String::from_utf8_lossy(&asked.body).into_owned(),
                    });
                }
                self.seen = asked.len();
            }
        }
    }
}

/// Types each answer once the screen shows its question, once more than `before` and the answers so far.
fn answer_in_turn(screen: &Screen, typed: &[(&str, &str)], before: &str) {
    for (at, (shown, keys)) in typed.iter().enumerate() {
        let earlier = typed[..at].iter().filter(|(other, _)| other == shown).count();
        let count = before.matches(shown).count() + earlier + 1;
        screen.becomes(&format!("{shown:?} {count} times"), || screen.text().matches(shown).count() >= count);
        screen.enters(keys);
    }
}

/// Headers of the connection, and of the program's version.
const UNTOLD: &[&str] = &["host", "content-length", "user-agent"];

/// The answer to a request: the next of the script to a question, 404 to all else.
fn answer(wire: Wire, script: &Script, asked: &Asked) -> Reply {
    let is_question = ["/chat/completions", "/responses", "/messages", "/api/chat"];
    if !is_question.iter().any(|end| asked.path.ends_with(end)) {
        return Reply::new(404, "{}");
    }
    let next = model_of(asked).and_then(|model| script.lock().unwrap().get_mut(&model)?.pop_front());
    next.map_or_else(|| Reply::new(410, "the script is over"), |say| say.reply(wire))
}

fn model_of(asked: &Asked) -> Option<String> {
    let body: Value = serde_json::from_slice(&asked.body).ok()?;
    Some(body["model"].as_str()?.to_string())
}

fn path(home: &Home) -> String {
    home.path().display().to_string()
}

fn quoted(args: &[&str]) -> String {
    let quote = |arg: &&str| match arg.chars().all(|c| c.is_ascii_alphanumeric() || "-_=.,:/@^~".contains(c))
    {
        true if !arg.is_empty() => arg.to_string(),
        _ => format!("'{arg}'"),
    };
    args.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Updates, a line each; chunks of one kind that follow each other are one, however they were cut.
fn merged(updates: &[(String, Value)]) -> String {
    let mut lines: Vec<Value> = Vec::new();
    for (_, update) in updates {
        let text = update["content"]["text"].as_str();
        if let (Some(last), Some(text)) = (lines.last_mut(), text)
            && update["sessionUpdate"].as_str().is_some_and(|kind| kind.ends_with("_chunk"))
            && last["sessionUpdate"] == update["sessionUpdate"]
        {
            let whole = format!("{}{text}", last["content"]["text"].as_str().unwrap_or_default());
            last["content"]["text"] = whole.into();
            continue;
        }
        lines.push(update.clone());
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
