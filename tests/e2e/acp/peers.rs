//! Clients of the protocol that nobody here wrote: `scripts/acp-peers` fetches them; skipped without.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::forest;
use crate::home::{Home, run};
use crate::scripted::{Piece, Reply, openai_calls, openai_sse, said};

const OFF: &str = "planner = \"off\"";
const NATIVE: &str = "planner = \"native\"";
const ECHO: &str = r#"{"access":"full","command":"echo 한글 | tee -a ran"}"#;

/// A file below the folder of the peers; none, and said, if it is not there.
pub fn peer(path: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let file = cache.unwrap_or_default().join("lepo-acp").join(path);
    let has_node = Command::new("node").arg("--version").output().is_ok();
    if !has_node || !file.exists() {
        crate::skip::skipped("acp-peers", format!("no {}: scripts/acp-peers fetches it", file.display()));
        return None;
    }
    Some(file)
}

/// The SDK's client with lepo behind it.
struct Sdk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    seen: Vec<Value>,
}

impl Sdk {
    fn start(home: &Home) -> Option<Sdk> {
        let sdk = peer("node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js")?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/acp/sdk_client.mjs");
        let mut command =
            home.program("node", &[script, sdk.to_str().unwrap(), env!("CARGO_BIN_EXE_lepo"), "do", "--acp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stdin = child.stdin.take();
        let mut sdk = Sdk { child, stdin, lines, seen: Vec::new() };
        sdk.begin("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        sdk.result("initialize");
        Some(sdk)
    }

    fn send(&mut self, line: Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn begin(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    /// The next line that fits; those before it are kept.
    fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        for line in self.lines.by_ref() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            self.seen.push(line.clone());
            if fits(&line) {
                return line;
            }
        }
        panic!("the client ended: {:?}", self.seen);
    }

    fn result(&mut self, method: &str) -> Value {
        let line = self.until(|line| line["method"] == method);
        assert!(line["error"].is_null(), "{line}");
        line["result"].clone()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.begin(method, params);
        self.result(method)
    }

    fn session(&mut self, home: &Home) -> String {
        let reply = self.call("session/new", json!({ "cwd": home.work(), "mcpServers": [] }));
        reply["sessionId"].as_str().unwrap().to_string()
    }

    fn ask(&mut self, session: &str, text: &str) {
        self.begin(
            "session/prompt",
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }),
        );
    }

    /// Texts of a session.
    fn said(&self, session: &str) -> String {
        let chunk = |line: &&Value| {
            line["session"] == session && line["update"]["sessionUpdate"] == "agent_message_chunk"
        };
        let chunks = self.seen.iter().filter(chunk);
        chunks.map(|line| line["update"]["content"]["text"].as_str().unwrap()).collect()
    }

    fn leave(mut self) {
        drop(self.stdin.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn the_protocols_own_client_has_its_way() {
    let echo = || openai_calls("", &[("run_command", ECHO)]);
    let part = Reply::pieces([said("A part"), Piece::Wait]).header("content-type", "text/event-stream");
    let answers =
        [openai_sse(["One."]), echo(), openai_sse(["Ran."]), echo(), openai_sse(["Not run."]), part];
    let bot =
        Bot::openai(NATIVE, answers.into_iter().chain([openai_sse(["A pixel."]), openai_sse(["Two."])]));
    let Some(mut sdk) = Sdk::start(&bot.home) else { return };
    let session = sdk.session(&bot.home);
    sdk.ask(&session, "one");
    assert_eq!(sdk.result("session/prompt")["stopReason"], "end_turn");
    assert_eq!(sdk.said(&session), "One.");
    // Permission both ways.
    sdk.ask(&session, "run it");
    assert_eq!(sdk.until(|line| !line["asked"].is_null())["options"], json!(["allow_once", "reject_once"]));
    sdk.result("session/prompt");
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    sdk.send(json!({ "answer": "reject_once" }));
    sdk.ask(&session, "again");
    sdk.result("session/prompt");
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    // Cancelled in the middle.
    sdk.ask(&session, "wait");
    sdk.until(|line| line["update"]["content"]["text"] == "A part");
    sdk.send(json!({ "notify": "session/cancel", "params": { "sessionId": session } }));
    assert_eq!(sdk.result("session/prompt")["stopReason"], "cancelled");
    // An image.
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let blocks = json!([{ "type": "text", "text": "and this?" },
        { "type": "image", "mimeType": "image/png", "data": pixel }]);
    sdk.call("session/prompt", json!({ "sessionId": session, "prompt": blocks }));
    assert!(sdk.said(&session).ends_with("A pixel."));
    let listed = sdk.call("session/list", json!({ "cwd": bot.home.work() }));
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    sdk.leave();
    // Loaded after a restart.
    let mut sdk = Sdk::start(&bot.home).unwrap();
    sdk.call("session/load", json!({ "sessionId": session, "cwd": bot.home.work(), "mcpServers": [] }));
    assert!(sdk.said(&session).starts_with("One.Ran."), "{}", sdk.said(&session));
    sdk.ask(&session, "two");
    assert_eq!(sdk.result("session/prompt")["stopReason"], "end_turn");
    sdk.leave();
}

#[test]
fn acpx_asks_lists_and_takes_up_a_session() {
    let Some(acpx) = peer("node_modules/.bin/acpx") else { return };
    let bot = Bot::saying(OFF, &["One.", "Two."]);
    let agent = format!("{} do --acp", env!("CARGO_BIN_EXE_lepo"));
    let ask = |words: &[&str]| {
        let args = [&["--agent", &agent, "--approve-all", "--ttl", "1"], words].concat();
        let ran = run(bot.home.program(acpx.to_str().unwrap(), &args), b"");
        assert_eq!(ran.code, 0, "{words:?}: {}{}", ran.out, ran.err);
        ran.out
    };
    assert!(ask(&["exec", "first"]).contains("One."));
    ask(&["sessions", "new"]);
    assert!(ask(&["prompt", "second"]).contains("Two."));
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E");
}
