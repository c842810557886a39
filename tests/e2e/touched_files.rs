//! Files that a sandboxed command changed: no program that lepo starts outside of a sandbox runs one unasked, whatever the
//! program is, however it comes to the file, and from wherever it is started.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Ran, run, until};
use crate::mcp::configure;
use crate::pty::on_terminal;
use crate::sandbox::world::{as_user, bubblewrap_works};
use crate::scripted::{Reply, openai_calls, openai_sse};

const AUTO: &str = "planner = 'native'\ntool_call_mode = 'auto'\nauto_access = 'net'";
pub const START: &str = "Start it? [y]es [n]o ";

/// An MCP server with one tool, `hello`, whose modules are loaded at its start and at a call.
pub const SERVER: &str = r#"import json, os, sys
try:
    import helper
except ImportError:
    pass
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "tools/call":
        open(os.environ["HOME"] + "/called", "a").write("called\n")
        try:
            import late
        except ImportError:
            pass
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "hello there"}]},
    }.get(message["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// What a changed file does.
pub const TRIP: &str = "import os; open(os.environ['HOME'] + '/RAN', 'w')\n";

pub fn call() -> Reply {
    openai_calls("", &[("s__hello", "{}")])
}

/// Another call than that.
fn call_again() -> Reply {
    openai_calls("", &[("s__hello", r#"{"again": true}"#)])
}

/// A call of a command that may write, and of the words behind it as its input.
pub fn command(access: &str, line: &str) -> Reply {
    let line = line.replace("TRIP", &format!("<<'E'\n{TRIP}E\n"));
    openai_calls("", &[("run_command", &json!({ "access": access, "command": line }).to_string())])
}

pub fn done() -> Reply {
    openai_sse(["Done."])
}

/// A model and what it is about to ask for, in a folder with these files.
pub struct Scene {
    pub bot: Bot,
    pub user: Option<u32>,
}

impl Scene {
    pub fn new(files: &[(&str, &str)], replies: impl IntoIterator<Item = Reply>) -> Scene {
        let bot = Bot::openai(AUTO, replies);
        bot.home.trust_work();
        for (path, text) in files {
            bot.home.write(&format!("work/{path}"), text);
        }
        Scene { bot, user: None }
    }

    pub fn serve(self, words: &[&str]) -> Scene {
        let words: Vec<String> = words.iter().map(|word| self.named(word)).collect();
        configure(&self.bot.home, &[("s", json!({ "command": words[0], "args": words[1..] }))]);
        self
    }

    pub fn named(&self, word: &str) -> String {
        word.replace("HOME", self.bot.home.path().to_str().unwrap())
    }

    /// With nobody to ask; what came of the newest call.
    pub fn alone(&self, args: &[&str]) -> (Ran, String) {
        self.alone_in(&self.bot.home.work(), args)
    }

    fn alone_in(&self, dir: &Path, args: &[&str]) -> (Ran, String) {
        let ran = run(self.as_user(self.bot.home.detached(args), dir), b"");
        let has_store = self.bot.home.work().join(".lepo").exists();
        let all = if has_store { bubbs(&self.bot.home) } else { Vec::new() };
        let result = all.into_iter().rev().find(|bubb| bubb.tag == "t1");
        (ran, result.map(|bubb| bubb.text).unwrap_or_default())
    }

    fn as_user(&self, mut command: Command, dir: &Path) -> Command {
        command.current_dir(dir);
        let Some(user) = self.user else { return command };
        let home = self.bot.home.path();
        assert!(Command::new("chown").args(["-R", &user.to_string()]).arg(home).status().unwrap().success());
        as_user(command, user)
    }

    pub fn is_tripped(&self) -> bool {
        self.bot.home.path().join("RAN").exists()
    }

    pub fn calls(&self) -> usize {
        self.bot.home.read("called").lines().count()
    }

    /// Nothing of the changed file ran, and the person was told of this file.
    pub fn refused(&self, (ran, result): (Ran, String), file: &str, what: &str) {
        assert!(!self.is_tripped(), "{what}: {result} {}", ran.err);
        assert!(result.contains(file) || ran.err.contains(file), "{what}: {file}: {result} {}", ran.err);
        let words = format!("{result} {}", ran.err);
        assert!(words.contains("`lepo trust`"), "{what}: {words}");
    }
}

pub const PLAIN: &[(&str, &str)] = &[("tools/server.py", SERVER), ("tools/helper.py", "")];
pub const PYTHON: &[&str] = &["python3", "tools/server.py"];

#[test]
fn a_repositorys_server_runs_none_either_and_trust_shows_it() {
    if !bubblewrap_works() {
        return;
    }
    let replies = [command("write", "cat > tools/json.py TRIP"), done(), call(), done()];
    let scene = Scene::new(PLAIN, replies);
    let home = &scene.bot.home;
    home.ok(&["init"]);
    let server = json!({ "mcpServers": { "s": { "command": "python3", "args": ["tools/server.py"] } } });
    home.write("work/.lepo/_mcp.json", server.to_string());
    scene.alone(&["do", "-n", "x"]);
    let ran = on_terminal(home.command(&["trust"]), &[("Trust this, as it is? (y/N): ", "y\n")]);
    assert!(ran.out.contains("tools/json.py") && ran.out.contains("+import os;"), "{}", ran.out);
    let (ran, result) = scene.alone(&["do", "-n", "x"]);
    assert!(scene.is_tripped(), "it was agreed to: {result} {}", ran.err);
}

#[test]
fn other_repositories_and_stores_make_no_difference() {
    if !bubblewrap_works() {
        return;
    }
    for (what, made_in, line, start_in, words) in [
        (
            "a path in another repository",
            "other",
            "cat > tools/json.py TRIP",
            "work",
            &["python3", "HOME/other/tools/server.py"][..],
        ),
        (
            "a store that the command made",
            "work",
            "mkdir -p sub/.lepo; cat > sub/tools/json.py TRIP",
            "work/sub",
            &["python3", "tools/server.py"],
        ),
        (
            "a submodule",
            "work",
            "cat > module/tools/json.py TRIP",
            "work/module",
            &["python3", "tools/server.py"],
        ),
        (
            "the worktree around a submodule",
            "work/module",
            "cat > tools/json.py TRIP",
            "work",
            &["python3", "module/tools/server.py"],
        ),
    ] {
        let scene =
            Scene::new(&[("sub/tools/server.py", SERVER)], [command("net", line), done(), call(), done()]);
        let home = &scene.bot.home;
        home.write("other/tools/server.py", SERVER);
        home.write("work/module/tools/server.py", SERVER);
        let git = |dir: &Path| Command::new("git").args(["init", "-q"]).current_dir(dir).status().unwrap();
        assert!(git(&home.path().join("other")).success());
        assert!(git(&home.work()).success());
        std::fs::create_dir(home.work().join(".git/modules")).unwrap();
        let modules = ["init", "-q", "--separate-git-dir", "../.git/modules/module"];
        let module = Command::new("git").args(modules).current_dir(home.work().join("module")).status();
        assert!(module.unwrap().success());
        let scene = Scene { bot: scene.bot, ..scene }.serve(words);
        let folder = |name: &str| scene.bot.home.path().join(name);
        scene.alone_in(&folder(made_in), &["do", "-n", "x"]);
        scene.bot.home.trust_folder(&folder(start_in));
        let (ran, _) = scene.alone_in(&folder(start_in), &["do", "-n", "x"]);
        assert!(!scene.is_tripped(), "{what}: {}", ran.err);
        assert!(ran.err.contains("json.py"), "{what}: {}", ran.err);
    }
}

#[test]
fn another_config_home_makes_no_difference() {
    if !bubblewrap_works() {
        return;
    }
    let replies = [command("write", "cat > tools/json.py TRIP"), done(), call(), done()];
    let scene = Scene::new(PLAIN, replies).serve(PYTHON);
    let home = &scene.bot.home;
    home.write("second/config.toml", home.read("config/config.toml"));
    home.write("second/mcp.json", home.read("config/mcp.json"));
    scene.alone(&["do", "-n", "x"]);
    let mut second = home.detached(&["do", "-n", "x"]);
    second.env("LEPO_CONFIG_HOME", home.path().join("second"));
    let ran = run(second, b"");
    let result = bubbs(home).into_iter().rev().find(|bubb| bubb.tag == "t1");
    let result = result.map(|bubb| bubb.text).unwrap_or_default();
    scene.refused((ran, result), "tools/json.py", "another config home");
    assert_eq!(scene.calls(), 0);
}

#[test]
fn another_definition_is_not_the_first_sight_of_what_a_command_changed() {
    if !bubblewrap_works() {
        return;
    }
    let replies = [command("write", "cat > tools/json.py TRIP"), done(), call(), done()];
    let scene = Scene::new(PLAIN, replies);
    scene.alone(&["do", "-n", "x"]);
    let scene = scene.serve(&["python3", "-u", "tools/server.py"]);
    scene.refused(scene.alone(&["do", "-n", "x"]), "tools/json.py", "a definition that is new");
    // With a person it starts, and the yes is kept for every definition.
    let home = &scene.bot.home;
    let ran = on_terminal(home.command(&["do", "-n", "x"]), &[(START, "y\n")]);
    assert!(ran.out.contains("tools/json.py") && ran.out.contains("+import os;"), "{}", ran.out);
    assert!(scene.is_tripped(), "{}", ran.out);
}

#[test]
fn no_program_starts_while_a_command_may_change_its_files_nor_unasked_after_lepo_was_killed() {
    if !bubblewrap_works() {
        return;
    }
    let calls = (0..40).flat_map(|_| [call(), done()]);
    let line = "cat > tools/json.py TRIP\n: > begun; while [ ! -e go ]; do sleep 0.05; done";
    let replies = [command("write", line)].into_iter().chain(calls);
    let scene = Scene::new(PLAIN, replies).serve(PYTHON);
    let home = &scene.bot.home;
    // Kept tools: the model of the first turn is asked before any server starts.
    let mut running = home.detached(&["do", "-n", "x"]).spawn().unwrap();
    until("the command runs", || home.path().join("work/begun").exists());
    let (ran, result) = scene.alone(&["do", "-n", "x"]);
    let words = format!("{result} {}", ran.err);
    assert!(words.contains("a command runs in"), "{words}");
    assert!(!scene.is_tripped());
    running.kill().unwrap();
    running.wait().unwrap();
    until("the command has ended", || {
        let (ran, result) = scene.alone(&["do", "-n", "x"]);
        let words = format!("{result} {}", ran.err);
        assert!(!scene.is_tripped(), "{words}");
        words.contains("tools/json.py")
    });
}

#[test]
fn a_running_server_is_asked_about_before_it_loads_what_a_command_made() {
    if !bubblewrap_works() {
        return;
    }
    let replies = || [call(), command("write", "cat > tools/late.py TRIP"), call_again(), done()];
    let scene = Scene::new(PLAIN, replies()).serve(PYTHON);
    let ran = scene.alone(&["do", "-n", "x"]);
    assert_eq!(scene.calls(), 1, "{}", ran.0.err);
    scene.refused(ran, "tools/late.py", "a module that a running server would load");
    // A yes starts it anew with its files as they are.
    let scene = Scene::new(PLAIN, replies()).serve(PYTHON);
    let ran = on_terminal(scene.bot.home.command(&["do", "-n", "x"]), &[(START, "y\n")]);
    assert_eq!(scene.calls(), 2, "{}", ran.out);
    assert!(scene.is_tripped(), "{}", ran.out);
    let scene = Scene::new(PLAIN, replies()).serve(PYTHON);
    let ran = on_terminal(scene.bot.home.command(&["do", "-n", "x"]), &[(START, "n\n")]);
    assert_eq!((scene.calls(), scene.is_tripped()), (1, false), "{}", ran.out);
}

#[test]
fn ordinary_work_of_a_command_brings_no_question() {
    if !bubblewrap_works() {
        return;
    }
    let edits = "mkdir -p src docs; for f in src/main.rs src/app.js src/app.py docs/a.md README.md tools/notes.md; \
                 do echo x > $f; done; rm -rf node_modules/gone";
    for words in [
        &["npx", "-y", "some-server"][..],
        &["uvx", "some-server", "--repository", "src"],
        &["sh", "-c", "exec npx -y some-server"],
        &["python3", "tools/server.py"],
        &["python3", "HOME/elsewhere/server.py"],
    ] {
        let scene =
            Scene::new(PLAIN, [call(), done(), command("write", edits), call(), done(), call(), done()]);
        let home = &scene.bot.home;
        home.write("elsewhere/server.py", SERVER);
        let server = home.path().join("elsewhere/server.py");
        for name in ["npx", "uvx"] {
            home.write_program(
                &format!("bin/{name}"),
                format!("#!/bin/sh\nexec python3 {}\n", server.display()),
            );
        }
        let scene = scene.serve(words);
        let start = || {
            let mut command = scene.bot.home.detached(&["do", "-n", "x"]);
            let path = std::env::var("PATH").unwrap();
            command.env("PATH", format!("{}:{path}", scene.bot.home.path().join("bin").display()));
            let ran = run(command, b"");
            let bubb = bubbs(&scene.bot.home).into_iter().rev().find(|bubb| bubb.tag == "t1");
            (ran, bubb.map(|bubb| bubb.text).unwrap_or_default())
        };
        for turn in 1..=3 {
            let (ran, result) = start();
            assert_eq!((ran.code, result.as_str()), (0, "hello there"), "{words:?} {turn}: {}", ran.err);
            assert_eq!(scene.calls(), turn, "{words:?}");
        }
        assert_eq!(scene.bot.home.read("work/src/main.rs"), "x\n");
    }
}

#[test]
fn a_yes_is_to_these_bytes_and_kept() {
    if !bubblewrap_works() {
        return;
    }
    let write = |text: &str| command("write", &format!("echo '{text}' > tools/helper.py"));
    let replies = [write("one = 1"), call(), done(), call(), done(), write("two = 2"), call(), done()];
    let scene = Scene::new(PLAIN, replies).serve(PYTHON);
    let ran = on_terminal(scene.bot.home.command(&["do", "-n", "x"]), &[(START, "y\n")]);
    assert_eq!(scene.calls(), 1, "{}", ran.out);
    let (ran, result) = scene.alone(&["do", "-n", "x"]);
    assert_eq!(result, "hello there", "{}", ran.err);
    let (ran, result) = scene.alone(&["do", "-n", "x"]);
    assert!(result.contains("\"tools/helper.py\" changed since it was agreed to"), "{result} {}", ran.err);
    let record: Value = json!(scene.bot.home.read("state/lepo/touched"));
    assert!(record.as_str().unwrap().contains("tools/helper.py"), "{record}");
}

#[test]
fn to_forget_the_folder_is_not_to_agree_to_what_a_command_changed_in_it() {
    if !bubblewrap_works() {
        return;
    }
    let replies = [call(), done(), command("write", "cat > tools/helper.py TRIP"), done(), call(), done()];
    let scene = Scene::new(PLAIN, replies).serve(PYTHON);
    scene.alone(&["do", "-n", "x"]);
    scene.alone(&["do", "-n", "x"]);
    scene.bot.home.ok(&["trust", "--forget", "."]);
    scene.bot.home.trust_work();
    let output = scene.alone(&["do", "-n", "x"]);
    scene.refused(output, "tools/helper.py", "forgotten and trusted anew");
}
