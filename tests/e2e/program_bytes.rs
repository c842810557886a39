//! Programs that lepo starts outside of a sandbox: a sandboxed command cannot change the files that they are started
//! from, and what changed all the same is asked about before it runs.

use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, Ran};
use crate::mcp::configure;
use crate::pty::on_terminal;
use crate::sandbox::world::{COMMAND, NONE, bubblewrap_works};
use crate::screen::Screen;
use crate::scripted::{Reply, openai_calls, openai_sse};

/// Models whose programs are files of the worktree.
const MODELS: &str = r#"
[[models]]
name = "program"
provider = "cli"
command = ["python3", "tools/model.py"]

[[models]]
name = "agent"
provider = "acp"
command = ["sh", "-c", "exec tools/agent.sh --acp"]

[[models]]
name = "keyed"
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:9/v1"
api_key_command = ["tools/key.sh"]
"#;

/// A conversation in which `auto` lets the model run a command.
fn commanding(access: &str, command: &str) -> Bot {
    let request = json!({ "access": access, "command": command }).to_string();
    let bot =
        Bot::saying("tool_call_mode = 'auto'\nauto_access = 'net'", &[COMMAND, &request, NONE, "Done."]);
    let config = bot.home.read("config/config.toml");
    bot.home.write("config/config.toml", config + MODELS);
    for file in ["server.py", "model.py", "agent.sh", "key.sh", "other.py"] {
        bot.home.write(&format!("work/tools/{file}"), "as it was\n");
    }
    configure(&bot.home, &[("s", json!({ "command": "python3", "args": ["-u", "tools/server.py"] }))]);
    bot
}

#[test]
fn a_command_cannot_change_the_files_that_a_configured_program_is_started_from() {
    if !bubblewrap_works() {
        return;
    }
    let command = "for f in server.py model.py agent.sh key.sh other.py; do \
                   { echo x >> tools/$f; } 2>/dev/null && echo \"$f changed\"; rm -f tools/$f 2>/dev/null; \
                   mv tools/$f tools/y 2>/dev/null; done; mv tools elsewhere 2>/dev/null && echo moved; \
                   ln -sf other tools/server.py 2>/dev/null && echo replaced; true";
    for access in ["write", "net"] {
        let bot = commanding(access, command);
        let ran = bot.home.alone(&["do", "go"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let result =
            bubbs(&bot.home).into_iter().rev().find(|bubb| bubb.text.starts_with("$ ")).unwrap().text;
        assert!(result.ends_with("exit code: 0\nstdout:\nother.py changed"), "{result}");
        for file in ["server.py", "model.py", "agent.sh", "key.sh"] {
            assert_eq!(bot.home.read(&format!("work/tools/{file}")), "as it was\n", "{access} {file}");
        }
        assert_eq!(bot.home.read("work/tools/other.py"), "");
    }
}

/// An MCP server with one tool, `hello`, that leaves a mark when it is called.
const SERVER: &str = r#"import json, os, sys
def mark():
    open(os.environ["HOME"] + "/called", "a").write("as agreed\n")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "tools/call":
        mark()
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "hello there"}]},
    }.get(message["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// What a changed file does besides.
const TRIP: &str = "import os; open(os.environ['HOME'] + '/TRIPPED', 'w')\n";

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'\nauto_access = 'write'";
const START: &str = "Start it? [y]es [n]o ";

fn call() -> Reply {
    openai_calls("", &[("s__hello", "{}")])
}

/// The user's own server, whose script is a file of a trusted folder, and a model that calls it in every turn.
fn calling(turns: usize) -> Bot {
    let replies = (0..turns).flat_map(|_| [call(), openai_sse(["Done."])]);
    let bot = Bot::openai(AUTO, replies);
    bot.home.trust_work();
    bot.home.write("work/tools/server.py", SERVER);
    configure(&bot.home, &[("s", json!({ "command": "python3", "args": ["tools/server.py"] }))]);
    bot
}

fn is_tripped(home: &Home) -> bool {
    home.path().join("TRIPPED").exists()
}

fn calls(home: &Home) -> usize {
    home.read("called").lines().count()
}

/// A turn with nobody to ask; what came of its call.
fn alone(bot: &Bot) -> (Ran, String) {
    let ran = bot.home.alone(&["do", "-n", "x"]);
    let result = bubbs(&bot.home).into_iter().rev().find(|bubb| bubb.tag == "t1").map(|bubb| bubb.text);
    (ran, result.unwrap_or_default())
}

#[test]
fn a_server_whose_script_changed_is_asked_about_before_it_starts() {
    let bot = calling(6);
    let (ran, result) = alone(&bot);
    assert_eq!((ran.code, result.as_str()), (0, "hello there"), "{}", ran.err);
    assert_eq!(calls(&bot.home), 1);
    // Its tools are kept, so that it starts at its call alone; what changed is refused and named, in `auto` too.
    bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "changed") + TRIP);
    let (ran, result) = alone(&bot);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for words in [&ran.err, &result] {
        assert!(words.contains("\"tools/server.py\" changed since it was agreed to"), "{words}");
    }
    assert!(ran.err.contains("`lepo trust`"), "{}", ran.err);
    assert_eq!((calls(&bot.home), is_tripped(&bot.home)), (1, false));
    // A person sees which file, and where it differs.
    let ran = on_terminal(bot.home.command(&["do", "-n", "x"]), &[(START, "n\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    for shown in ["MCP server \"s\"", "tools/server.py", "-    open(", "+    open(", "changed"] {
        assert!(ran.out.contains(shown), "{shown}: {}", ran.out);
    }
    assert_eq!((calls(&bot.home), is_tripped(&bot.home)), (1, false));
    let ran = on_terminal(bot.home.command(&["do", "-n", "x"]), &[(START, "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(calls(&bot.home), 2);
    // The yes is kept, and the version of before is agreed to as it was.
    for text in [SERVER.replace("as agreed", "changed") + TRIP, SERVER.to_string()] {
        bot.home.write("work/tools/server.py", text);
        let (ran, result) = alone(&bot);
        assert_eq!((ran.code, result.as_str()), (0, "hello there"), "{}", ran.err);
    }
}

#[test]
fn a_new_folder_and_what_changed_in_it_are_one_question() {
    for (answer, expected) in [("y\n", 2), ("n\n", 1)] {
        let bot = calling(2);
        assert_eq!(alone(&bot).1, "hello there");
        std::fs::remove_file(bot.home.path().join("state/lepo/trusted-folders")).unwrap();
        bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "changed"));
        let ran = on_terminal(bot.home.command(&["do", "-n", "x"]), &[("~/work? [y]es [n]o ", answer)]);
        for shown in ["MCP server \"s\"", "+    open(", "A yes starts it as it is now, too."] {
            assert!(ran.out.contains(shown), "{shown}: {}", ran.out);
        }
        assert_eq!(ran.out.matches("[y]es [n]o").count(), 1, "{}", ran.out);
        assert_eq!(calls(&bot.home), expected, "{}", ran.out);
    }
}

#[test]
fn a_list_of_tools_asks_about_what_changed_where_a_person_is_there() {
    let bot = calling(0);
    let list = ["do", "--list-tools"];
    assert!(bot.home.alone(&list).out.contains("hello"));
    bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "changed") + TRIP);
    let ran = bot.home.alone(&list);
    assert!(ran.err.contains("changed since it was agreed to") && !is_tripped(&bot.home), "{}", ran.err);
    let ran = on_terminal(bot.home.command(&list), &[(START, "n\n")]);
    assert!(ran.out.contains("tools/server.py") && !is_tripped(&bot.home), "{}", ran.out);
    let ran = on_terminal(bot.home.command(&list), &[(START, "y\n")]);
    assert!(ran.out.contains("hello") && is_tripped(&bot.home), "{}", ran.out);
    // A session's list asks as well.
    bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "again"));
    let Some(screen) = Screen::lepo(&bot.home, 80, &["do", "-n"]) else { return };
    screen.prompts("> ").enters("/mcp").shows("tools/server.py").shows("Start it? [y]es [n]o").enters("y");
    screen.shows("hello").prompts("> ");
    screen.enters("/exit").ends(0);
}

#[test]
fn a_module_beside_the_script_is_a_file_of_the_server_too() {
    let bot = calling(2);
    assert_eq!(alone(&bot).1, "hello there");
    // Python would take it in place of its own.
    bot.home.write("work/tools/json.py", TRIP);
    let (ran, result) = alone(&bot);
    assert!(
        result.contains("\"tools/json.py\" is new since its files were agreed to"),
        "{result}{}",
        ran.err
    );
    assert_eq!((calls(&bot.home), is_tripped(&bot.home)), (1, false));
}

#[test]
fn what_a_command_made_before_the_first_start_is_not_what_was_first_seen() {
    if !bubblewrap_works() {
        return;
    }
    let command = json!({ "access": "write", "command": format!("cat > tools/json.py <<'E'\n{TRIP}E") });
    let run = openai_calls("", &[("run_command", &command.to_string())]);
    let replies = [call(), openai_sse(["One."]), run, call(), openai_sse(["Two."])];
    let bot = Bot::openai(&AUTO.replace("'off'", "'native'"), replies);
    bot.home.trust_work();
    bot.home.write("work/tools/server.py", SERVER);
    configure(&bot.home, &[("s", json!({ "command": "python3", "args": ["tools/server.py"] }))]);
    assert_eq!(alone(&bot).1, "hello there");
    // Its tools are kept, so that it starts at its call, behind the command; and nothing is known of its files.
    std::fs::remove_file(bot.home.path().join("state/lepo/trust")).unwrap();
    let (ran, result) = alone(&bot);
    assert_eq!(bot.home.read("work/tools/json.py"), TRIP, "{}", ran.err);
    assert!(
        result.contains("\"tools/json.py\" is new since its files were agreed to"),
        "{result}{}",
        ran.err
    );
    assert_eq!((calls(&bot.home), is_tripped(&bot.home)), (1, false));
}

#[test]
fn a_program_that_is_a_model_or_prints_a_key_is_compared_too() {
    let config = |work: &str| {
        format!(
            "planner = 'off'\n[[models]]\nname = 'program'\nprovider = 'cli'\ncommand = ['python3', 'tools/model.py']\n\
             [[models]]\nname = 'keyed'\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:9/v1'\n\
             api_key_command = ['python3', '{work}/keys/key.py']\n"
        )
    };
    let home = Home::new().trusting();
    home.write("config/config.toml", config(home.work().to_str().unwrap()));
    home.write("work/tools/model.py", "print('Hi.')\n");
    home.write("work/keys/key.py", "print('canary-key')\n");
    assert_eq!(home.alone(&["do", "-m", "program", "x"]).out, "Hi.\n");
    assert_eq!(home.alone(&["do", "-m", "keyed", "x"]).code, 3);
    for (model, file) in [("program", "tools/model.py"), ("keyed", "keys/key.py")] {
        home.write(&format!("work/{file}"), format!("{TRIP}print('Hi.')\n"));
        let ran = home.alone(&["do", "-m", model, "x"]);
        assert!(
            ran.code == 2 && ran.err.contains(&format!("\"{file}\" changed since")),
            "{} {}",
            ran.code,
            ran.err
        );
        assert!(ran.err.contains("`lepo trust`"), "{}", ran.err);
        assert!(!is_tripped(&home));
        let ran = on_terminal(home.command(&["do", "-m", model, "x"]), &[(START, "n\n")]);
        assert!(ran.out.contains(file), "{}", ran.out);
        assert!(!is_tripped(&home));
    }
    let ran = on_terminal(home.command(&["do", "-m", "program", "x"]), &[(START, "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(is_tripped(&home));
}

#[test]
fn trust_shows_what_changed_and_agrees_to_it() {
    let bot = calling(2);
    assert_eq!(alone(&bot).1, "hello there");
    bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "changed"));
    let ran = bot.home.alone(&["trust"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.out.contains("tools/server.py") && ran.out.contains("+    open("), "{}", ran.out);
    let ran = on_terminal(bot.home.command(&["trust"]), &[("Trust this, as it is? (y/N): ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(alone(&bot).1, "hello there");
    assert_eq!(bot.home.read("called"), "as agreed\nchanged\n");
}

#[test]
fn the_script_of_a_repositorys_server_is_part_of_the_trust_in_it() {
    let replies = (0..3).flat_map(|_| [call(), openai_sse(["Done."])]);
    let bot = Bot::openai(AUTO, replies);
    bot.home.write("work/tools/server.py", SERVER);
    let server = json!({ "mcpServers": { "s": { "command": "python3", "args": ["tools/server.py"] } } });
    bot.home.ok(&["init"]);
    bot.home.write("work/.lepo/_mcp.json", server.to_string());
    let yes = [("Trust this, as it is? (y/N): ", "y\n")];
    let ran = on_terminal(bot.home.command(&["trust"]), &yes);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("started from tools/server.py"), "{}", ran.out);
    assert_eq!(alone(&bot).1, "hello there");
    // As a pull would bring it.
    bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "pulled") + TRIP);
    let (ran, result) = alone(&bot);
    assert!(result.contains("\"tools/server.py\" changed since"), "{result}{}", ran.err);
    assert_eq!((calls(&bot.home), is_tripped(&bot.home)), (1, false));
    let ran = on_terminal(bot.home.command(&["trust"]), &yes);
    assert!(ran.out.contains("tools/server.py"), "{}", ran.out);
    assert_eq!(alone(&bot).1, "hello there");
    assert_eq!(calls(&bot.home), 2);
}

#[test]
fn an_editor_is_asked_about_the_changed_script_of_a_server_that_was_always_allowed() {
    let replies = (0..2).flat_map(|_| [call(), openai_sse(["Done."])]);
    let bot = Bot::openai(&AUTO.replace("'off'", "'native'"), replies);
    bot.home.trust_work();
    bot.home.write("work/tools/server.py", SERVER);
    let given = json!({ "cwd": bot.home.work(), "mcpServers": [
        { "name": "s", "command": "python3", "args": ["tools/server.py"], "env": [] },
    ] });
    let text = |asked: &Value| asked["params"]["toolCall"].to_string();
    let begun = |client: &mut Client| {
        let reply = client.call("session/new", given.clone());
        let session = reply["sessionId"].as_str().unwrap().to_string();
        client.ask(&session, "x")
    };
    let mut client = Client::start(&bot.home, &[]);
    let id = begun(&mut client);
    let asked = client.question();
    assert_eq!(asked["params"]["options"][1]["name"], "Always allow exactly this server in this folder");
    client.choose(&asked, "allow_always");
    client.end(id).unwrap();
    assert_eq!(calls(&bot.home), 1);
    client.leave();
    bot.home.write("work/tools/server.py", SERVER.replace("as agreed", "changed") + TRIP);
    let mut client = Client::start(&bot.home, &[]);
    let id = begun(&mut client);
    let asked = client.question();
    assert!(text(&asked).contains("tools/server.py") && text(&asked).contains("+    open("), "{asked}");
    client.choose(&asked, "reject_once");
    client.end(id).unwrap();
    assert_eq!((calls(&bot.home), is_tripped(&bot.home)), (1, false));
}
