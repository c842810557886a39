//! Servers of `mcp.json`: every form, every mistake.

mod readmes;
mod reports;

use std::path::Path;
use std::time::Duration;

use lepo_base::env::Env;
use lepo_base::secret::Secret;

use crate::mcp::config::{
    EntryOrigin, ServerConfig, ServerTarget, ServerVariables, Transport, notes, parse, parse_with,
};
use crate::mcp::notice::{KeyFault, ServerNotice};

fn one(fields: &str) -> std::result::Result<ServerConfig, String> {
    let text = format!(r#"{{"mcpServers":{{"s":{fields}}},"inputs":[]}}"#);
    let server = parse(Path::new("mcp.json"), text.as_bytes()).unwrap().remove(0);
    match &server.details.left_out {
        None => Ok(server),
        Some(why) => Err(why.clone()),
    }
}

fn remote(server: &ServerConfig) -> (Transport, Vec<&str>) {
    match &server.target {
        ServerTarget::Remote { transport, headers, .. } => {
            (*transport, headers.iter().map(|(name, _)| name.as_str()).collect())
        }
        ServerTarget::Program { .. } => panic!("{server:?}"),
    }
}

#[test]
fn every_form_of_a_server() {
    let server = one(r#"{"command":"npx","args":["-y","x"],"env":{"A":"1"},"description":"d"}"#).unwrap();
    let env = vec![("A".to_string(), Secret::new("1"))];
    let args = vec!["-y".to_string(), "x".to_string()];
    assert_eq!(server.target, ServerTarget::Program { command: "npx".into(), args, env, cwd: None });
    assert!(server.enabled);
    for (fields, transport, headers) in [
        (r#"{"url":"http://h/sse"}"#, Transport::HttpFirst, vec![]),
        (r#"{"serverUrl":"http://h/sse","headers":{"A":"k"}}"#, Transport::HttpFirst, vec!["A"]),
        (r#"{"url":"http://h/sse","env":{"A":"k"}}"#, Transport::SseFirst, vec!["A"]),
        (r#"{"url":"http://h/sse","type":"sse"}"#, Transport::Sse, vec![]),
        (r#"{"url":"http://h/mcp","type":"remote"}"#, Transport::HttpFirst, vec![]),
        (r#"{"httpUrl":"http://h/mcp"}"#, Transport::Http, vec![]),
        (r#"{"url":"http://h/mcp","transport":"streamable-http"}"#, Transport::Http, vec![]),
        (r#"{"url":"http://h/mcp","transport":"http","env":{"X-Key":"k"}}"#, Transport::Http, vec!["X-Key"]),
        (
            r#"{"url":"http://h","type":"streamable-http","headers":{"Authorization":"k"}}"#,
            Transport::Http,
            vec!["Authorization"],
        ),
    ] {
        assert_eq!(remote(&one(fields).unwrap()), (transport, headers), "{fields}");
    }
    for (fields, enabled) in [
        (r#"{"command":"x","enabled":false}"#, false),
        (r#"{"command":"x","disabled":true}"#, false),
        (r#"{"command":"x","disabled":false,"timeout":5,"type":"stdio","autoApprove":[]}"#, true),
    ] {
        assert_eq!(one(fields).unwrap().enabled, enabled, "{fields}");
    }
}

#[test]
fn a_mistake_names_the_server_and_the_key_and_no_value() {
    for (fields, what) in [
        (r#"{}"#, "it has neither `command` nor `url`"),
        (r#"{"command":"x","url":"http://h"}"#, "it has both `command` and `url`"),
        (r#"{"comand":"x"}"#, "it has neither `command` nor `url`"),
        (r#"{"url":"http://h","httpUrl":"http://h"}"#, "it has both `url` and `httpUrl`"),
        (r#"{"httpUrl":"h"}"#, "`httpUrl` is not an address"),
        (r#"{"httpUrl":"http://h","type":"sse"}"#, "`httpUrl` cannot be used with sse"),
        (r#"{"command":"x","timeout":"1"}"#, "`timeout` is not a number above 0"),
        (r#"{"command":"x","startup_timeout_sec":0}"#, "`startup_timeout_sec` is not a number above 0"),
        (r#"{"command":"x","includeTools":"a"}"#, "`includeTools` is not a list of strings"),
        (r#"{"command":""}"#, "`command` is empty"),
        (r#"{"command":1}"#, "`command` is not a string"),
        (r#"{"command":"x","args":"y"}"#, "`args` is not a list of strings"),
        (r#"{"command":"x","env":{"A":[]}}"#, "`env`: the value of \"A\" is not a string"),
        (r#"{"url":"http://h","type":"websocket"}"#, "`type` is not stdio, sse or http"),
        (r#"{"command":"x","enabled":"no"}"#, "`enabled` is neither true nor false"),
        (r#"{"command":"x","transport":"http"}"#, "`transport` needs a `url`"),
        (r#"{"url":"http://h","transport":"ws"}"#, "`transport` is neither sse nor http"),
        (r#"{"url":"http://h","transport":"sse","type":"http"}"#, "`transport` and `type` differ"),
        (r#"{"url":"ftp://h"}"#, "`url` is neither http nor https"),
        (r#"{"url":"h"}"#, "`url` is not an address"),
        (r#"{"url":"http://h","env":{"a b":"1"}}"#, "`env`: \"a b\" is not a valid header name"),
        (
            r#"{"url":"http://h","env":{"X":"s3cret\n"}}"#,
            "`env`: the value of \"X\" cannot be sent as a header",
        ),
        ("[]", "it is not an object"),
    ] {
        let why = one(fields).unwrap_err();
        assert!(why.starts_with(&format!("{what} (")) && !why.contains("s3cret"), "{fields}: {why}");
    }
    for text in ["", "[]", "{\"a\":1}", r#"{"mcpServers":["a"]}"#, "{\"mcpServers\":"] {
        assert_eq!(parse(Path::new("m"), text.as_bytes()).unwrap_err().kind.exit_code(), 2, "{text}");
    }
    for text in ["{}", r#"{"mcpServers":{}}"#, r#"{"mcpServers":[]}"#, r#"{"mcpServers":null}"#] {
        assert_eq!(parse(Path::new("m"), text.as_bytes()).unwrap(), [], "{text}");
    }
}

/// Renders the servers of a file, each with its notices and, after `=`, its target.
fn notices(text: &str) -> Vec<String> {
    let servers = parse(Path::new("mcp.json"), text.as_bytes()).unwrap();
    let shown = |server: &ServerConfig| {
        let mut shown = server.name.clone();
        for notice in notes(std::slice::from_ref(server)) {
            match notice {
                ServerNotice::LeftOut(_, why) => shown += &format!(" -{why}"),
                ServerNotice::Key(_, fault) => shown += &format!(" {fault:?}"),
                other => shown += &format!(" {other:?}"),
            }
        }
        if server.details.left_out.is_none() {
            match &server.target {
                ServerTarget::Program { command, args, env, .. } => {
                    let env: Vec<_> =
                        env.iter().map(|(name, value)| format!("{name}={}", value.reveal())).collect();
                    shown += &format!(" ={command} {} {}", args.join(" "), env.join(" "));
                }
                ServerTarget::Remote { url, headers, .. } => {
                    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
                    shown += &format!(" ={url} {}", names.join(" "));
                }
            }
        }
        shown.trim_end().to_string()
    };
    servers.iter().map(shown).collect()
}

/// In public reports, one bad entry disables every server.
#[test]
fn one_bad_entry_leaves_the_others_in_use() {
    const GOOD: &str = r#""ok":{"command":"good"}"#;
    for (report, entry, expected) in [
        (
            "https://github.com/PrefectHQ/fastmcp/issues/4711",
            r#""bad":{"args":["x.py"]}"#,
            "bad -it has neither `command` nor `url` (give it one of them)",
        ),
        (
            "https://github.com/intellectronica/ruler/issues/606",
            r#""bad":{"command":"x","url":"http://h"}"#,
            "bad -it has both `command` and `url` (leave one of them out)",
        ),
        (
            "https://github.com/NousResearch/hermes-agent/pull/33405",
            r#""bad":"x""#,
            "bad -it is not an object (it is {\"command\": …} or {\"url\": …})",
        ),
        (
            "https://github.com/NousResearch/hermes-agent/pull/33405",
            r#""bad":{"command":1}"#,
            "bad -`command` is not a string (put it in quotes)",
        ),
        (
            "https://github.com/can1357/oh-my-pi/pull/7101",
            r#""bad":{"url":123}"#,
            "bad -`url` is not a string (put it in quotes)",
        ),
        (
            "https://github.com/different-ai/openwork/pull/1543",
            r#""bad":{"url":"ws://h"}"#,
            "bad -`url` is neither http nor https (a `url` is like https://mcp.example.com/mcp)",
        ),
        (
            "https://github.com/different-ai/openwork/pull/1543",
            r#""bad":{"command":" "}"#,
            "bad -`command` is empty (leave it out, or say what it is)",
        ),
        (
            "https://github.com/mastra-ai/mastra/pull/13613",
            r#""bad":{"type":"websocket","url":"http://h"}"#,
            "bad -`type` is not stdio, sse or http (leave it out, or say one of them)",
        ),
        ("https://github.com/plmbr/notebook-intelligence/pull/299", r#""bad":{"disabled":true}"#, "bad"),
        (
            "a number in args",
            r#""bad":{"command":"x","args":["--port",8080,true]}"#,
            "bad =x --port 8080 true",
        ),
        (
            "a number in env",
            r#""bad":{"command":"x","env":{"PORT":8080,"ON":true}}"#,
            "bad =x  PORT=8080 ON=true",
        ),
        (
            "a header of the protocol",
            r#""bad":{"url":"http://h/","headers":{"Accept":"*/*","X-Key":"k"}}"#,
            "bad Header(\"Accept\") =http://h/ X-Key",
        ),
        ("a key twice", r#""bad":{"command":"x","command":"y"}"#, "bad Twice(Some(\"command\")) =y"),
        ("a server twice", r#""bad":{"command":"x"},"bad":{"command":"y"}"#, "bad Twice(None) =y"),
    ] {
        for text in [
            format!("{{\"mcpServers\":{{{GOOD},{entry}}}}}"),
            format!("{{\"servers\":{{{GOOD},{entry}}}}}"),
            format!("\u{feff}{{\"mcp\":{{\"servers\":{{{GOOD},{entry}}}}}}}"),
        ] {
            let mut actual = notices(&text);
            actual.sort();
            assert_eq!(actual, [expected, "ok =good"], "{report}: {text}");
        }
    }
}

#[test]
fn keys_of_other_clients_are_honoured_or_named() {
    let server =
        one(r#"{"command":"x","cwd":"/d","includeTools":["a"],"excludeTools":["b"],"disabledTools":["c"],
            "timeout":30000,"startup_timeout_sec":2.5,"version":"1","trust":false,"alwaysAllow":null}"#)
        .unwrap();
    let details = &server.details;
    let ServerTarget::Program { cwd, .. } = &server.target else { panic!() };
    assert_eq!(cwd.as_deref(), Some(Path::new("/d")));
    assert_eq!(
        (details.call, details.connect),
        (Some(Duration::from_secs(30)), Some(Duration::from_millis(2500)))
    );
    assert!(details.uses("a") && !details.uses("b") && !details.uses("c") && !details.uses("d"));
    assert_eq!((notes(std::slice::from_ref(&server)), details.call_in_seconds), (Vec::new(), false));

    let server =
        one(r#"{"command":"x","tools":["*"],"timeout":60,"trust":true,"autoAprove":[],"cwd":"/d"}"#).unwrap();
    assert!(server.details.uses("anything"));
    assert_eq!(server.details.call, Some(Duration::from_secs(60)));
    let other = ServerConfig { name: "t".into(), ..server.clone() };
    let off = ServerConfig { name: "off".into(), enabled: false, ..server.clone() };
    let actual = notes(&[server, other, off]);
    let [ServerNotice::Key(name, KeyFault::NotSupported(key, _)), unknown, .., seconds] = actual.as_slice()
    else {
        panic!("{actual:?}");
    };
    assert_eq!((actual.len(), name.as_str(), key.as_str()), (5, "s", "trust"));
    assert_eq!(*unknown, ServerNotice::Key("s".into(), KeyFault::Unknown("autoAprove".into())));
    assert_eq!(*seconds, ServerNotice::InSeconds(vec!["s".into(), "t".into()]));
}

#[test]
fn a_key_may_have_any_number() {
    let server = one(
        r#"{"command":"x","args":[99999999999999999999],"env":{"A":99999999999999999999},"timeout":99999999999999999999,
            "id":99999999999999999999,"metadata":{"a":[-99999999999999999999,1e999]},"new":{"a":99999999999999999999}}"#,
    )
    .unwrap();
    let number = "99999999999999999999".to_string();
    let env = vec![("A".to_string(), Secret::new(number.clone()))];
    let args = vec![number];
    assert_eq!(server.target, ServerTarget::Program { command: "x".into(), args, env, cwd: None });
    assert_eq!(server.details.call, Some(Duration::from_secs(86_400)));
    let unknown = ServerNotice::Key("s".into(), KeyFault::Unknown("new".into()));
    assert_eq!(notes(&[server]), [unknown]);
}

#[test]
fn the_file_of_vs_code_is_read_with_its_comments() {
    let text = br#"{
  // asked for once
  "inputs": [{ "type": "promptString", "id": "key", "password": true }],
  "servers": {
    "a": { "type": "http", "url": "https://h/mcp" }, /* remote */
    "b": { "type": "stdio", "command": "x", "args": ["//not", "/* a comment */"], },
  },
}"#;
    let servers = parse(Path::new("mcp.json"), text).unwrap();
    assert_eq!(remote(&servers[0]), (Transport::Http, vec![]));
    let ServerTarget::Program { args, .. } = &servers[1].target else { panic!() };
    assert_eq!(args, &["//not", "/* a comment */"]);
    let both = br#"{"servers":{"a":{"command":"x"}},"mcpServers":{"a":{"command":"y"}}}"#;
    let servers = parse(Path::new("mcp.json"), both).unwrap();
    assert_eq!((servers.len(), &servers[0].details.notes), (1, &vec![KeyFault::Twice(None)]));
    for (text, names) in [
        (r#"{"mcp":{"servers":{"command":"x"}}}"#, vec!["servers"]),
        (r#"{"mcp":{"servers":{"command":{"command":"x"}}}}"#, vec!["command"]),
        (r#"{"mcp":{"servers":{"a":{"command":"x"}},"enabled":true}}"#, vec!["a"]),
    ] {
        let servers = parse(Path::new("mcp.json"), text.as_bytes()).unwrap();
        assert!(servers.iter().all(|server| server.details.left_out.is_none()), "{text}");
        assert_eq!(Vec::from_iter(servers.iter().map(|server| &server.name)), names, "{text}");
    }
}

#[test]
fn a_variable_without_a_value_leaves_only_its_server_out() {
    let text = br#"{"mcpServers":{
        "a":{"url":"https://${HOST}/mcp?k=${KEY:-none}","headers":{"Authorization":"Bearer ${TOKEN}"}},
        "b":{"command":"${HOME}/x","args":["${GONE}"]},
        "c":{"url":"https://${GONE}:${PORT}/"},
        "d":{"command":"x","env":{"K":"${KEY}"}}}}"#;
    let env = Env::from_pairs(&[("HOST", "h"), ("TOKEN", "t0ken"), ("HOME", "/h"), ("KEY", "sk-12345678")]);
    let (own, keys) = (["KEY".to_string()], Vec::new());
    let variables = ServerVariables { env: &env, own_names: &own, keys: &keys };
    for (origin, query, left_out) in [
        (EntryOrigin::User, "k=sk-12345678", vec!["b", "c"]),
        (EntryOrigin::Repository, "k=none", vec!["b", "c", "d"]),
    ] {
        let servers = parse_with(Path::new("mcp.json"), text, Some((&variables, origin))).unwrap();
        let ServerTarget::Remote { url, headers, .. } = &servers[0].target else { panic!() };
        assert_eq!((url.host_str(), url.query()), (Some("h"), Some(query)));
        assert_eq!(headers[0].1.reveal(), "Bearer t0ken");
        let out = servers.iter().filter(|server| server.details.left_out.is_some());
        assert_eq!(out.map(|server| server.name.as_str()).collect::<Vec<_>>(), left_out, "{origin:?}");
        let notices = notes(&servers);
        let has = |name: &str, start: &str| {
            let is = |notice: &ServerNotice| matches!(notice, ServerNotice::LeftOut(of, why) if of == name && why.starts_with(start));
            notices.iter().any(is)
        };
        assert!(has("b", "${GONE} is not set"), "{notices:?}");
        assert_eq!(
            has("d", "${KEY} holds a key of lepo's"),
            origin == EntryOrigin::Repository,
            "{notices:?}"
        );
        assert!(!format!("{notices:?}{servers:?}").contains("t0ken"));
    }
    // Without substitution, the file needs no values for the variables that it names.
    assert_eq!(parse(Path::new("mcp.json"), text).unwrap().len(), 4);
}

/// Every value of every wrong type at every key, in a program, a remote server, and alone.
#[test]
fn no_value_is_told_whatever_is_wrong_with_it() {
    let keys = "description enabled disabled command args env cwd url httpUrl serverUrl transport type headers timeout \
        startup_timeout_sec includeTools excludeTools disabledTools tools client_id client_secret client_metadata_url \
        environment trust envFile oauth other";
    let values = [
        r#""s3cret""#,
        r#""s3cret\n""#,
        r#""http://s3cret\u0000""#,
        r#"["s3cret"]"#,
        r#"[["s3cret"]]"#,
        r#"[{"s":"s3cret"}]"#,
        r#"["s3cret\u0000"]"#,
        r#"{"N":"s3cret\n"}"#,
        r#"{"N":["s3cret"]}"#,
        r#"{"N":{"s":"s3cret"}}"#,
        r#"{"N N":"s3cret"}"#,
        r#""${S}""#,
        r#"["${S}"]"#,
        r#"{"N":"${S}"}"#,
        "-53273",
        "53273.5e999",
        "[53273]",
        r#"{"N":53273}"#,
        "true",
        "null",
    ];
    let env = Env::from_pairs(&[("S", "s3cret\n")]);
    let variables = ServerVariables { env: &env, own_names: &[], keys: &[] };
    let mut left_out = 0;
    for key in keys.split_whitespace() {
        for value in values {
            for before in ["", r#""command":"x","#, r#""url":"https://h/","#] {
                let text = format!(r#"{{"mcpServers":{{"a":{{{before}"{key}":{value}}}}}}}"#);
                for variables in [None, Some((&variables, EntryOrigin::User))] {
                    let servers = parse_with(Path::new("m"), text.as_bytes(), variables).unwrap();
                    let message = format!("{:?}", notes(&servers));
                    assert!(!message.contains("s3cret") && !message.contains("53273"), "{text}: {message}");
                    left_out += usize::from(servers[0].details.left_out.is_some());
                }
            }
        }
    }
    assert!(left_out > 1000, "{left_out}");
    for value in values {
        for text in [
            format!(r#"{{"mcpServers":{value}}}"#),
            format!(r#"{{"servers":{{"a":{value}}}}}"#),
            format!(r#"{{"mcp":{value},"a":{value}}}"#),
            value.to_string(),
            format!(r#"{{"mcpServers":{{"a":{value}"#),
        ] {
            let printed = match parse(Path::new("m"), text.as_bytes()) {
                Ok(servers) => format!("{:?}", notes(&servers)),
                Err(error) => error.chain(),
            };
            assert!(!printed.contains("s3cret") && !printed.contains("53273"), "{text}: {printed}");
        }
    }
}
