//! Public reports of configurations that other clients refuse, lose or misread.

use std::path::Path;

use lepo_base::env::Env;

use super::notices;
use crate::mcp::config::{EntryOrigin, ServerTarget, ServerVariables, parse_with};

/// Whole files: the report, the text, the server in a line.
#[test]
fn a_file_as_people_write_it_is_read() {
    const GOOD: &str = r#""ok":{"command":"good"}"#;
    for (report, text, expected) in [
        (
            "https://github.com/aws/amazon-q-developer-cli/issues/2082",
            format!("{{\"mcpServers\":{{{GOOD}\n// ,\"off\":{{\"command\":\"x\"}}\n}}}}"),
            "ok =good",
        ),
        (
            "https://github.com/nicobailon/pi-mcp-adapter/issues/193",
            format!("{{\"mcpServers\":{{ // \"off\": {{ \"command\": \"x\" }},\n /* y */ {GOOD} }}}}"),
            "ok =good",
        ),
        (
            "https://github.com/github/copilot-cli/issues/4323",
            "{\"mcpServers\":{// for tests.\n\"ok\":{\"type\":\"stdio\",\"command\":\"good\",\"tools\":[\"*\"]}}}"
                .to_string(),
            "ok =good",
        ),
        (
            "https://github.com/egoist/chatwise-releases/issues/910",
            "{\"mcpServers\":{\"ok\":{\"command\":\"good\",\"env\":{\"K\":\"\" // optional: for more\n}}}}".to_string(),
            "ok =good  K=",
        ),
        (
            "https://github.com/assistant-ui/assistant-ui/issues/7251",
            "{\n// mine\n\"servers\":{\"ok\":{\"type\":\"http\",\"url\":\"https://h/mcp\"},},\n}".to_string(),
            "ok =https://h/mcp",
        ),
        (
            "https://github.com/upstash/context7/issues/563",
            "{\"mcpServers\":{\"ok\":{\"url\":\"https://h/mcp\",}}}".to_string(),
            "ok =https://h/mcp",
        ),
        (
            "https://github.com/d-kimuson/modular-mcp/issues/3",
            format!("{{\"mcpServers\":{{{GOOD},}}}}"),
            "ok =good",
        ),
        (
            "https://github.com/CoplayDev/unity-mcp/pull/231",
            format!("\u{feff}{{\"mcpServers\":{{{GOOD}}}}}"),
            "ok =good",
        ),
        (
            "https://github.com/tradesdontlie/tradingview-mcp/issues/406",
            format!("\u{feff}{{\r\n  \"mcpServers\":{{{GOOD}}}\r\n}}\r\n"),
            "ok =good",
        ),
        (
            "https://github.com/ravitemer/mcphub.nvim/issues/209",
            "{\"inputs\":[{\"id\":\"k\"}],\"servers\":{\"ok\":{\"url\":\"https://h/mcp/\"}}}".to_string(),
            "ok =https://h/mcp/",
        ),
        (
            "https://github.com/posit-dev/mcptools/issues/67",
            "{\"servers\":{\"ok\":{\"type\":\"http\",\"url\":\"https://h/mcp\"}}}".to_string(),
            "ok =https://h/mcp",
        ),
        (
            "https://github.com/anthropics/claude-code/issues/78042",
            format!("{{\"mcpServers\":{{\"ok\":{{\"url\":\"https://h/\"}},{GOOD}}}}}"),
            "ok Twice(None) =good",
        ),
        (
            "https://github.com/DeusData/codebase-memory-mcp/issues/24",
            "{\"context_servers\":{\"ok\":{\"source\":\"custom\",\"command\":\"good\",\"args\":[\"\"]}}}".to_string(),
            "ok =good",
        ),
        (
            "https://github.com/anomalyco/opencode/pull/5739",
            "{\"$schema\":\"s\",\"mcp\":{\"ok\":{\"type\":\"local\",\"command\":[\"good\"]}}}".to_string(),
            "ok =good",
        ),
        (
            "https://github.com/tizerluo/zcode-open-bridge/pull/25",
            format!("{{\"mcp\":{{\"inputs\":[],\"servers\":{{{GOOD}}}}}}}"),
            "ok =good",
        ),
        ("Codex's key, as JSON", format!("{{\"mcp_servers\":{{{GOOD}}}}}"), "ok =good"),
    ] {
        assert_eq!(notices(&text), [expected], "{report}");
    }
    for text in ["{\"inputs\":[]}", "{\"$schema\":\"s\",\"inputs\":[]}"] {
        assert_eq!(notices(text), [""; 0], "{text}");
    }
    let other = parse_with(Path::new("m"), b"{\"mcp\":{\"inputs\":[]}}", None);
    assert_eq!(other.unwrap_err().kind.exit_code(), 2);
}

/// Entries: the report, the entry, the server in a line.
#[test]
fn an_entry_in_the_form_of_another_client_is_read() {
    for (report, entry, expected) in [
        (
            "https://github.com/intellectronica/ruler/issues/66",
            r#"{"type":"local","command":["bun","x","a-server"],"enabled":true,"environment":{"K":"v"}}"#,
            "s =bun x a-server K=v",
        ),
        (
            "https://github.com/intellectronica/ruler/issues/66",
            r#"{"type":"remote","url":"https://h/","enabled":true,"headers":{"Authorization":"Bearer k"}}"#,
            "s =https://h/ Authorization",
        ),
        (
            "https://github.com/pathintegral-institute/mcpm.sh/pull/313",
            r#"{"command":["mcpm","run"],"args":["server"]}"#,
            "s =mcpm run server",
        ),
        (
            "https://github.com/pantheon-org/tekhne/pull/226",
            r#"{"transport":"stdio","command":"npx","environment":{"TIMEOUT_MS":900}}"#,
            "s =npx  TIMEOUT_MS=900",
        ),
        (
            "https://github.com/anthropics/claude-code/issues/6204",
            r#"{"transport":{"type":"http","url":"http://h:8002","headers":{"x-mcp-token":"t"}}}"#,
            "s =http://h:8002/ x-mcp-token",
        ),
        (
            "https://github.com/modelcontextprotocol/servers/issues/1332",
            r#"{"disabled":false,"timeout":600,"command":"npx","args":["tsx","x"],"transportType":"stdio"}"#,
            "s Unknown(\"transportType\") InSeconds([\"s\"]) =npx tsx x",
        ),
        (
            "https://github.com/ericwanghp/ComfyUI_MCP/issues/3",
            r#"{"autoApprove":[],"timeout":120,"url":"http://h:9000","transport":"sse","disabled":false}"#,
            "s InSeconds([\"s\"]) =http://h:9000/",
        ),
        (
            "https://github.com/cloudflare/mcp-server-cloudflare/issues/223",
            r#"{"type":"streamable-http","url":"https://h/","headers":{"X-API-Key":"k"},"alwaysAllow":[]}"#,
            "s =https://h/ X-API-Key",
        ),
        (
            "https://github.com/RooCodeInc/Roo-Code/issues/628",
            r#"{"command":"C:\\Program Files\\nodejs\\node.exe","args":["C:\\a b\\npx-cli.js","-y"]}"#,
            r"s =C:\Program Files\nodejs\node.exe C:\a b\npx-cli.js -y",
        ),
        (
            "https://github.com/mindverse-ltd/macaron-artifacts/pull/70",
            r#"{"command":"x","env":{"TOKEN":["x"]}}"#,
            "s -`env`: the value of \"TOKEN\" is not a string (put it in quotes)",
        ),
        (
            "https://github.com/coleam00/Archon/pull/1456",
            r#"{"command":"x","env":{"PORT":8080}}"#,
            "s =x  PORT=8080",
        ),
        (
            "https://github.com/vercel/vercel-mcp-overview/issues/1",
            r#"{"url":"https://h/","headers":{"Accept":"application/json","Authorization":"Bearer k"}}"#,
            "s Header(\"Accept\") =https://h/ Authorization",
        ),
        (
            "https://github.com/modelcontextprotocol/typescript-sdk/pull/1697",
            r#"{"url":"https://h/mcp","headers":{"Accept":"application/vnd.example.v1+json"}}"#,
            "s Header(\"Accept\") =https://h/mcp",
        ),
        (
            "https://github.com/CherryHQ/cherry-studio/pull/3274",
            r#"{"isActive":true,"name":"n","type":"streamableHttp","baseUrl":"https://h/mcp","command":"","args":[],"env":{}}"#,
            "s =https://h/mcp",
        ),
        (
            ".vscode/mcp.json of 0GiS0/mcp-elicitations",
            r#"{"command":"node","args":["./dist/src/index.js"],"dev":{"watch":"src/**/*.ts","debug":{"type":"node"}}}"#,
            "s =node ./dist/src/index.js",
        ),
        ("an address that is blank", r#"{"command":"x","url":""}"#, "s =x"),
        (
            "an address and a program that are blank",
            r#"{"command":"","url":""}"#,
            "s -`command` is empty (leave it out, or say what it is)",
        ),
        (
            "Zed's older form (crates/context_server of zed-industries/zed)",
            r#"{"source":"custom","command":{"path":"npx","args":["-y","a"],"env":{"K":"v"}}}"#,
            "s =npx -y a K=v",
        ),
        (
            "a transport as some write it",
            r#"{"type":"Streamable-HTTP","url":"https://h/mcp","requestInit":{"headers":{"A":"b"}}}"#,
            "s =https://h/mcp A",
        ),
        (
            "a command that is an empty list",
            r#"{"command":[]}"#,
            "s -`command` is not a string (put it in quotes)",
        ),
        (
            "a command that is a list beside arguments that are none",
            r#"{"command":["x"],"args":"y"}"#,
            "s -`command` is not a string (put it in quotes)",
        ),
        (
            "variables in both places",
            r#"{"command":"x","env":{"A":"1"},"environment":{"B":"2"}}"#,
            "s Unknown(\"environment\") =x  A=1",
        ),
    ] {
        assert_eq!(notices(&format!("{{\"mcpServers\":{{\"s\":{entry}}}}}")), [expected], "{report}");
    }
}

#[test]
fn a_server_that_is_off_stays_off() {
    for (report, entry) in [
        ("https://github.com/Chemaclass/agnostic-ai/issues/555", r#"{"command":["x"],"disabled":true}"#),
        ("https://github.com/openclaw/openclaw/pull/105376", r#"{"command":"x","disabled":true}"#),
        (
            "https://github.com/github/copilot-cli/issues/3582",
            r#"{"disabled":true,"type":"sse","url":"https://h/sse"}"#,
        ),
        (
            "https://github.com/RooCodeInc/Roo-Code/issues/2797",
            r#"{"disabled":true,"command":"x","args":[]}"#,
        ),
        ("https://github.com/1jehuang/jcode/issues/436", r#"{"command":"x","enabled":true,"disabled":true}"#),
        ("https://github.com/NousResearch/hermes-agent/pull/80641", r#"{"command":"x","enabled":false}"#),
        ("https://github.com/CherryHQ/cherry-studio/pull/3274", r#"{"command":"x","isActive":false}"#),
    ] {
        let text = format!("{{\"mcpServers\":{{\"s\":{entry}}}}}");
        let servers = parse_with(Path::new("m"), text.as_bytes(), None).unwrap();
        assert!(servers.iter().all(|server| !server.enabled), "{report}");
    }
}

#[test]
fn a_path_below_the_home_folder_and_a_variable_are_put_in() {
    let env = Env::from_pairs(&[("HOME", "/h"), ("TOKEN", "t")]);
    let variables = ServerVariables { env: &env, own_names: &[], keys: &[] };
    for (report, entry, expected) in [
        (
            "https://github.com/anthropics/claude-code/issues/37580",
            r#"{"command":"uv","args":["--directory","~/a","run"]}"#,
            "uv --directory /h/a run",
        ),
        (
            "https://github.com/microsoft/vscode/issues/247076",
            r#"{"command":"uv","args":["--directory","~/.cde/mcps/docker","run","docker"]}"#,
            "uv --directory /h/.cde/mcps/docker run docker",
        ),
        (
            "https://github.com/google-gemini/gemini-cli/issues/11778",
            r#"{"command":"bash","args":["mcp.sh"],"cwd":"~/somefolder/.mcp"}"#,
            "bash mcp.sh in /h/somefolder/.mcp",
        ),
        (
            "https://github.com/Science-Discovery/Aether/issues/1082",
            r#"{"type":"local","command":["~/.bin/uv","run","~/mcp/server.py"]}"#,
            "/h/.bin/uv run /h/mcp/server.py",
        ),
        (
            "https://github.com/Science-Discovery/Aether/pull/1083",
            r#"{"command":"x","args":["~","a~/b","--dir=~/c","~me/d"]}"#,
            "x /h a~/b --dir=~/c ~me/d",
        ),
        (
            "https://github.com/microsoft/vscode/issues/336232",
            r#"{"type":"http","url":"https://h/","headers":{"Authorization":"Bearer ${env:TOKEN}"}}"#,
            "https://h/ Authorization=Bearer t",
        ),
        (
            "https://github.com/esengine/DeepSeek-Reasonix/pull/2233",
            r#"{"url":"https://h/mcp","transport":"sse","headers":{"A":"Bearer ${TOKEN}","B":"~/x"}}"#,
            "https://h/mcp A=Bearer t B=~/x",
        ),
        (
            "https://github.com/anthropics/claude-code/issues/6204",
            r#"{"transport":{"type":"http","url":"http://h/","headers":{"x-mcp-token":"${TOKEN}"}}}"#,
            "http://h/ x-mcp-token=t",
        ),
        (
            "https://github.com/RooCodeInc/Roo-Code/issues/4739",
            r#"{"command":"${userHome}/x","args":["${env:TOKEN}","{env:TOKEN}"]}"#,
            "/h/x t t",
        ),
        (
            "https://github.com/zed-industries/zed/pull/60457",
            r#"{"url":"https://h/","headers":{"A":"Bearer ${MCP_TOKEN:-fallback}"}}"#,
            "https://h/ A=Bearer fallback",
        ),
    ] {
        let text = format!("{{\"mcpServers\":{{\"s\":{entry}}}}}");
        let server = parse_with(Path::new("m"), text.as_bytes(), Some((&variables, EntryOrigin::User)))
            .unwrap()
            .remove(0);
        assert_eq!(server.details.left_out, None, "{report}");
        let shown = match &server.target {
            ServerTarget::Program { command, args, cwd, .. } => {
                let cwd = cwd.as_ref().map(|cwd| format!(" in {}", cwd.display()));
                format!("{command} {}{}", args.join(" "), cwd.unwrap_or_default())
            }
            ServerTarget::Remote { url, headers, .. } => {
                let headers = headers.iter().map(|(name, value)| format!(" {name}={}", value.reveal()));
                format!("{url}{}", headers.collect::<String>())
            }
        };
        assert_eq!(shown, expected, "{report}");
    }
    for (report, entry) in [
        (
            "https://github.com/RooCodeInc/Roo-Code/issues/4017",
            r#"{"command":"docker","args":["--mount","${workspaceFolder}"]}"#,
        ),
        (
            "https://github.com/GreatScottyMac/context-portal/issues/13",
            r#"{"command":"x","args":["--workspace_id","${workspaceFolder}"]}"#,
        ),
        (
            "https://github.com/zai-org/feedback/issues/24",
            r#"{"command":"node","env":{"ROOT":"${workspaceFolder}"}}"#,
        ),
        (
            "https://github.com/anthropics/claude-code/issues/69123",
            r#"{"command":"x","env":{"KG":"${CLAUDE_PROJECT_DIR}/.kg"}}"#,
        ),
    ] {
        let text = format!("{{\"mcpServers\":{{\"s\":{entry}}}}}");
        let servers =
            parse_with(Path::new("m"), text.as_bytes(), Some((&variables, EntryOrigin::User))).unwrap();
        let why = servers[0].details.left_out.clone().unwrap_or_default();
        assert!(
            why.ends_with("is set by another program only; write the path, or leave it out"),
            "{report}: {why}"
        );
    }
    let none = Env::from_pairs(&[]);
    let variables = ServerVariables { env: &none, own_names: &[], keys: &[] };
    let text = br#"{"mcpServers":{"s":{"command":"~/x"}}}"#;
    let servers = parse_with(Path::new("m"), text, Some((&variables, EntryOrigin::User))).unwrap();
    assert_eq!(servers[0].details.left_out.as_deref(), Some("${HOME} is not set"));
}
