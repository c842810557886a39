//! Programs that lepo starts outside of a sandbox: a sandboxed command cannot change the files that they are started
//! from, and what changed all the same is asked about before it runs.

use serde_json::json;

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::mcp::configure;
use crate::sandbox::world::{COMMAND, NONE, bubblewrap_works};

/// Models whose programs are files of the work tree.
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
