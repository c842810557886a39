//! Servers that nobody here wrote, over every transport. `scripts/mcp-servers` puts them into the
//! cache; what is not there is skipped, and says so.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{configure, within};
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, until};
use crate::scripted::{openai_calls, openai_sse};

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";

/// A program of the cache, if it is there.
pub fn program(path: &str) -> Option<String> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let found = cache.join("lepo-mcp").join(path);
    if !found.exists() {
        crate::skip::skipped("mcp-servers", format!("{path} is not there; scripts/mcp-servers fetches it"));
        return None;
    }
    Some(found.display().to_string())
}

/// One call, with what came of it.
fn called(servers: &[(&str, Value)], tool: &str, arguments: &Value) -> (Bot, String) {
    let call = openai_calls("", &[(tool, &arguments.to_string())]);
    let bot = Bot::openai(AUTO, [call, openai_sse(["Done."])]);
    configure(&bot.home, servers);
    let ran = within(90, tool, || bot.home.alone(&["do", "x"]));
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    let text = bubbs(&bot.home)[3].text.clone();
    (bot, text)
}

#[test]
fn time_tells_the_time() {
    let Some(time) = program("venv/bin/mcp-server-time") else { return };
    let server = json!({ "command": time, "args": ["--local-timezone", "UTC"] });
    let (_, text) =
        called(&[("time", server)], "time__get_current_time", &json!({ "timezone": "Asia/Seoul" }));
    assert!(text.contains("\"timezone\": \"Asia/Seoul\"") && text.contains("+09:00"), "{text}");
}

#[test]
fn git_tells_of_a_repository() {
    let Some(git) = program("venv/bin/mcp-server-git") else { return };
    let place = Home::new();
    let work = place.work().display().to_string();
    let made = place.shell("git init -q && echo 한글 > file.txt").status().unwrap();
    assert!(made.success());
    let server = json!({ "command": git, "args": ["--repository", work] });
    let (_, text) = called(&[("git", server)], "git__git_status", &json!({ "repo_path": work }));
    assert!(text.contains("file.txt"), "{text}");
}

#[test]
fn filesystem_reads_what_it_may_and_says_no_else() {
    let Some(filesystem) = program("node_modules/.bin/mcp-server-filesystem") else { return };
    let place = Home::new();
    place.write("work/note.txt", "안녕, file");
    let server = || json!({ "command": filesystem, "args": [place.work()] });
    let note = place.work().join("note.txt");
    let (_, text) = called(&[("fs", server())], "fs__read_text_file", &json!({ "path": note }));
    assert_eq!(text, "안녕, file");
    let (_, text) = called(&[("fs", server())], "fs__read_text_file", &json!({ "path": "/etc/passwd" }));
    assert!(text.starts_with("the tool reports an error:\n"), "{text}");
}

#[test]
fn everything_over_every_transport() {
    let Some(everything) = program("node_modules/.bin/mcp-server-everything") else { return };
    let over = |transport: &str| -> (Option<Listening>, Value) {
        match transport {
            "stdio" => (None, json!({ "command": everything, "args": ["stdio"] })),
            _ => {
                let listening = Listening::start(&everything, transport);
                let (path, name) = if transport == "sse" { ("sse", "sse") } else { ("mcp", "http") };
                let url = format!("http://127.0.0.1:{}/{path}", listening.port);
                (Some(listening), json!({ "url": url, "transport": name }))
            }
        }
    };
    for transport in ["stdio", "sse", "streamableHttp"] {
        let (_listening, server) = over(transport);
        let servers = [("e", server)];
        let (_, text) = called(&servers, "e__get-sum", &json!({ "a": 2, "b": 40 }));
        assert!(text.contains("42"), "{transport}: {text}");
        let (bot, text) = called(&servers, "e__get-tiny-image", &json!({}));
        assert!(text.contains("[image/png]") && text.contains("bytes: _blobs/"), "{transport}: {text}");
        assert_eq!(bot.home.ok(&["fsck"]), "");
        let (_, text) =
            called(&servers, "e__trigger-long-running-operation", &json!({ "duration": 2, "steps": 4 }));
        assert!(text.contains("completed"), "{transport}: {text}");
        let (_, text) = called(&servers, "e__get-structured-content", &json!({ "location": "Chicago" }));
        assert!(text.contains("temperature"), "{transport}: {text}");
    }
}

#[test]
fn resources_and_prompts_of_five_servers() {
    let bin = |name: &str| format!("node_modules/.bin/{name}");
    let everything = "--context=mcp:s/demo://resource/static/document/features.md";
    for (path, args, asked) in [
        (bin("mcp-server-everything"), vec!["stdio"], vec![everything]),
        (bin("mcp-server-everything"), vec!["stdio"], vec!["--prompt=s/args-prompt", "--arg=city=Seoul"]),
        (bin("git-mcp-server"), vec![], vec!["--context=mcp:s/git://working-directory"]),
        (bin("git-mcp-server"), vec![], vec!["--prompt=s/git_wrapup"]),
        (bin("mcp-server-commands"), vec![], vec!["--prompt=s/run_command", "--arg=command=echo hi"]),
        (bin("mcp-server-kubernetes"), vec![], vec!["--prompt=s/k8s-diagnose", "--arg=keyword=pod"]),
        (
            "venv/bin/mcp-server-fetch".to_string(),
            vec![],
            vec!["--prompt=s/fetch", "--arg=url=http://127.0.0.1:9/"],
        ),
    ] {
        let Some(program) = program(&path) else { continue };
        let bot = Bot::saying("planner = 'off'", &["Done."]);
        configure(&bot.home, &[("s", json!({ "command": program, "args": args }))]);
        let asked = [vec!["do"], asked, vec!["what is it?"]].concat();
        let ran = within(90, &path, || bot.home.alone(&asked));
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{asked:?}: {}", ran.err);
        let first = bubbs(&bot.home).into_iter().find(|bubb| bubb.tag.ends_with('0')).unwrap();
        let kind = if asked[1].starts_with("--context") { "s0" } else { "u0" };
        assert!(first.tag == kind && first.text.len() > 10, "{asked:?}: {}", first.text);
    }
}

/// A server on a port of the loopback address, which it would not keep to by itself.
struct Listening {
    child: Child,
    port: u16,
    _place: Home,
}

impl Listening {
    fn start(everything: &str, transport: &str) -> Listening {
        let place = Home::new();
        place.write(
            "loopback.js",
            "const net = require('net'), listen = net.Server.prototype.listen;\n\
             net.Server.prototype.listen = function (port, ...rest) {\n\
               return listen.call(this, port, '127.0.0.1', ...rest.filter((one) => typeof one === 'function'));\n};\n",
        );
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut child = Command::new("node")
            .arg("--require")
            .arg(place.path().join("loopback.js"))
            .args([everything, transport])
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).for_each(drop));
        until("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Listening { child, port, _place: place }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
