//! Every value at every key of the files: the text of each error, as in `wrong_values.txt`, and no secret in any.
//! `LEPO_WRITE_DOCS=1 cargo test -p lepo-turn wrong_values` writes the texts anew.

use std::fmt::Write as _;
use std::path::Path;

use super::load;
use crate::config::file::{ConfigFile, RecordedTable};
use crate::config::{Flags, Insts, set_setting, setting_lines, setting_names};
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;

/// Part of each text that is tried.
const SECRET: &str = "sk-hush";

/// Values of each type.
const VALUES: &[&str] = &[
    "'sk-hush'",
    "' '",
    "\"sk-hush\\u0001\"",
    "'sk-hush, '",
    "7",
    "-3",
    "99999999999999999999",
    "1.5",
    "1e9",
    "nan",
    "true",
    "false",
    "2020-01-01",
    "[]",
    "['sk-hush']",
    "['sk-hush', 3]",
    "[' ']",
    "[['sk-hush']]",
    "[{}]",
    "{}",
    "{ sk = 'sk-hush' }",
    "{ ls = 'sk-hush' }",
    "{ in = 1 }",
    "{ a = nan }",
    "{ a = [99999999999999999999] }",
];

/// Texts that are no TOML.
const BROKEN: &[&str] =
    &["sk-hush", "'sk-hush", "[sk-hush", "\"sk-hush\\q\"", "'sk-hush' 1", "1\u{0}sk-hush", "0sk-hush"];

/// Settings whose message has a word that is not of its list.
const OF_A_LIST: &[&str] = &[
    "log_level",
    "tool_call_mode",
    "auto_access",
    "tool_history",
    "compact",
    "new",
    "planner",
    "keep_removed",
    "secrets",
    "term.thinking",
    "term.math",
    "term.notify",
    "repl.empty_line",
    "repl.keys",
    "[[models]] provider",
    "openai wire",
    "anthropic cache",
    "acp sandbox",
];

/// Returns each key with the text before and after its value.
fn keys() -> Vec<(String, String, &'static str)> {
    let mut keys = Vec::new();
    for name in setting_names().chain(["alias.r"]) {
        let before = match name.split_once('.') {
            Some((table, key)) => format!("\n[{table}]\n{key} = "),
            None => format!("\n{name} = "),
        };
        keys.push((name.to_string(), before, ""));
    }
    let tables = ["budget", "term", "repl", "http", "mcp", "sandbox", "many", "recorded", "models", "alias"];
    for table in tables.into_iter().chain(["prices", "hush", "http.hush", "log_levels"]) {
        keys.push((table.to_string(), format!("{table} = "), ""));
    }
    for key in ["model", "input", "output", "in", "out", "cached", "hush"] {
        let others = ["model", "in", "out"].iter().filter(|other| **other != key && !key.starts_with(*other));
        let others: String =
            others.map(|key| format!("{key} = {}\n", if *key == "model" { "'m'" } else { "1" })).collect();
        keys.push((format!("[[prices]] {key}"), format!("[[prices]]\n{others}{key} = "), ""));
    }
    keys.push(("[[models]] name".into(), "[[models]]\nprovider = 'ollama'\nmodel = 'm'\nname = ".into(), ""));
    keys.push(("[[models]] provider".into(), "[[models]]\nname = 'n'\nmodel = 'm'\nprovider = ".into(), ""));
    keys.push(("[[models]] preset".into(), "[[models]]\npreset = ".into(), ""));
    keys.push(("[[models]] provder".into(), "[[models]]\nname = 'n'\nprovder = ".into(), ""));
    let common = ["active", "price", "context", "hush", "model", "command"];
    let server =
        ["base_url", "api_key", "api_key_env", "api_key_command", "options", "web", "extra", "system"];
    let fields: [(&str, &[&str], &str); 5] = [
        ("openai", &[&server[..], &["wire", "cache", "modle", "seed"]].concat(), "model = 'm'"),
        ("anthropic", &["cache", "wire"], "model = 'm'"),
        ("cli", &["answer", "preset", "sandbox", "comand"], "command = ['c']"),
        ("acp", &["sandbox", "sandbox_home", "preset", "answer"], "command = ['c']"),
        ("embedded", &["base_url"], ""),
    ];
    for (provider, own, needed) in fields {
        for key in common.into_iter().chain(own.iter().copied()) {
            let needed = if needed.starts_with(key) || key == "preset" { "" } else { needed };
            let before = format!("[[models]]\nname = 'n'\nprovider = '{provider}'\n{needed}\n{key} = ");
            keys.push((format!("{provider} {key}"), before, ""));
        }
    }
    let openai = "[[models]]\nname = 'n'\nprovider = 'openai'\nmodel = 'm'\n";
    for key in ["temperature", "top_p", "max_tokens", "effort", "seed", "stop", "hush", "temprature"] {
        keys.push((format!("options.{key}"), format!("{openai}options = {{ {key} = "), " }"));
    }
    for (key, other) in [("in", "out"), ("out", "in"), ("cached", "in"), ("input", "out"), ("hush", "in")] {
        keys.push((format!("price.{key}"), format!("{openai}price = {{ {other} = 1, {key} = "), " }"));
    }
    for (key, other) in [("api_key", "api_key_env = 'A'"), ("api_key_command", "api_key_env = 'A'")] {
        keys.push((format!("openai {key}, {other}"), format!("{openai}{other}\n{key} = "), ""));
    }
    keys.push((
        "cli preset, command".into(),
        "[[models]]\nname = 'n'\nprovider = 'cli'\ncommand = ['c']\npreset = ".into(),
        "",
    ));
    keys.push((
        "acp preset, command".into(),
        "[[models]]\nname = 'n'\nprovider = 'acp'\ncommand = ['c']\npreset = ".into(),
        "",
    ));
    keys.push((
        "acp sandbox_home, sandbox".into(),
        "[[models]]\nname = 'n'\nprovider = 'acp'\ncommand = ['c']\nsandbox = 'read'\nsandbox_home = ".into(),
        "",
    ));
    keys
}

/// Returns the words for the type of a value.
fn type_of(value: &str) -> &'static str {
    match value.as_bytes() {
        [b'\'' | b'"', ..] => "a TOML string",
        [b'[', ..] => "a TOML array",
        [b'{', ..] => "a TOML table",
        [b't' | b'f', ..] => "a TOML boolean",
        [b'2', b'0', ..] => "a TOML datetime",
        bytes if bytes.iter().any(|byte| b".en".contains(byte)) => "a TOML float",
        _ => "a TOML integer",
    }
}

fn outcome_of(result: Result<()>) -> String {
    let Err(error) = result else { return "ok".to_string() };
    assert_eq!(error.kind.exit_code(), 2);
    message(&error)
}

fn message(error: &Error) -> String {
    format!("{} | {}", error.chain(), error.hint_for(HintTarget::SHELL).unwrap_or_default())
}

/// Adds the outcomes of each value at a key; values with the same outcome share a line.
fn add(table: &mut String, key: &str, outcomes: impl Iterator<Item = (String, String)>) {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for (value, outcome) in outcomes {
        match lines.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, values)) => values.push(value),
            None => lines.push((outcome, vec![value])),
        }
    }
    let _ = writeln!(table, "## {key}");
    for (outcome, values) in lines {
        let _ = writeln!(table, "{}\n    {}", values.join("   "), outcome.replace('\n', "\n    "));
    }
}

#[test]
fn wrong_values_are_told_with_the_same_words_and_no_secret() {
    let mut all = String::new();
    for (key, before, after) in keys() {
        let outcomes = VALUES.iter().map(|value| {
            let text = format!("{before}{value}{after}");
            let result = ConfigFile::parse(Path::new("c"), text.as_bytes()).map(|_| ());
            if let Err(error) = &result {
                let is_of_list = OF_A_LIST.contains(&key.as_str());
                let whole = format!("{} {error:?}", message(error));
                assert!(is_of_list || !whole.contains(SECRET), "{text}\n{whole}");
            }
            (value.to_string(), outcome_of(result).replace(type_of(value), "TYPE"))
        });
        add(&mut all, &key, outcomes);
        for value in BROKEN {
            let text = format!("{before}{value}{after}");
            let error = ConfigFile::parse(Path::new("c"), text.as_bytes()).unwrap_err();
            assert!(!format!("{} {error:?}", message(&error)).contains(SECRET), "{text}");
        }
    }
    let broken = BROKEN.iter().map(|value| {
        let text = format!("max_rounds = 3\napi_key = {value}\n");
        (format!("{value:?}"), outcome_of(ConfigFile::parse(Path::new("c"), text.as_bytes()).map(|_| ())))
    });
    add(&mut all, "no TOML", broken);
    for key in ["general", "toolChooser", "hush"] {
        let outcomes = VALUES.iter().map(|value| {
            let text = format!("\n{key} = {value}");
            let parsed = Insts::parse(Path::new("i"), text.as_bytes());
            let ignored = parsed.as_ref().map(|(_, ignored)| ignored.join("; ")).unwrap_or_default();
            let outcome = outcome_of(parsed.map(|_| ())) + &ignored;
            assert!(!outcome.contains(SECRET), "{text}\n{outcome}");
            (value.to_string(), outcome.replace(type_of(value), "TYPE"))
        });
        add(&mut all, &format!("_insts.toml {key}"), outcomes);
    }
    for before in ["recorded = ", "[recorded]\nignore = ", "[recorded]\nhush = "] {
        let outcomes = VALUES.iter().map(|value| {
            let text = format!("{before}{value}");
            let outcome = outcome_of(RecordedTable::parse(Path::new("r"), text.as_bytes()).map(|_| ()));
            assert!(!outcome.contains(SECRET), "{text}\n{outcome}");
            (value.to_string(), outcome.replace(type_of(value), "TYPE"))
        });
        add(&mut all, &format!("_config.toml {}", before.replace('\n', " ")), outcomes);
    }
    compare("wrong_values.txt", &all);
}

#[test]
fn typed_values_and_variables_are_told_with_the_same_words() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config.toml");
    let texts = [
        "a",
        "",
        " ",
        "7",
        "-3",
        "1e9",
        "true",
        "false",
        "a,b",
        "[a, 3]",
        "[]",
        "30d",
        "{ ls = false }",
        "{ a = 1 }",
        "a\u{1}",
    ];
    let mut all = String::new();
    for name in setting_names().chain(["alias.r", "alias.a b", "http", "nothing"]) {
        let outcomes = texts.iter().map(|text| {
            let _ = std::fs::remove_file(&path);
            let outcome = outcome_of(set_setting(&path, name, text));
            let outcome = outcome.replace(&path.display().to_string(), "CONFIG");
            (format!("{text:?}"), outcome.replace(&format!("\"{text}\""), "\"TEXT\""))
        });
        add(&mut all, name, outcomes);
    }
    let variables = ["LOG_LEVEL", "TOOL_CALL_MODE", "AUTO_ACCESS", "PLANNER", "MAX_ROUNDS", "TIDY", "MODEL"];
    for name in variables.map(|name| format!("LEPO_{name}")) {
        let words = ["a", " ", "7", "+7", "0", "1.5", "true", "false", "off", "debug", "read", "300"];
        let outcomes = words.iter().map(|text| {
            let loaded = load("", "", &[(&name, text)], &Flags::default());
            (format!("{text:?}"), outcome_of(loaded.map(|_| ())).replace(&format!("\"{text}\""), "\"TEXT\""))
        });
        add(&mut all, &name, outcomes);
    }
    compare("wrong_words.txt", &all);
}

#[test]
fn settings_are_listed_with_the_same_words() {
    let user = "log_level = 'warn'\ntidy = false\nkeep_removed = '2w'\ncommand_timeout = 0.5\nsandbox.read_only = ['/a', '~/b']\n\
                [budget]\nturn = 0.5\nday = 3\n[term]\npager = { ls = false, log = true }\nnotify = 'bell'\nusage = false\n\
                [many]\nparticipants = ['a', 'b']\norchestrator = 'c'\n[alias]\nr = 'do --retry'\n[recorded]\nignore = ['\\d+']\n\
                [[models]]\nname = 'g'\nprovider = 'openai'\nmodel = 'm'\nactive = true\nprice = { in = 1, out = 2 }\n";
    let repo = "max_rounds = 3\n[budget]\nturn = 0.7\nday = 2\n[[models]]\nname = 'h'\nprovider = 'cli'\ncommand = ['c', 'sk-hush']\n";
    let flags = Flags { agents: Some(false), participants: Some(vec!["z".into()]), ..Flags::default() };
    let mut all = String::new();
    for (user, repo, variables, flags) in [
        ("", "", &[][..], Flags::default()),
        (user, repo, &[("LEPO_MAX_ROUNDS", "5"), ("LEPO_TIDY", "300"), ("OPENAI_API_KEY", "sk-hush")], flags),
    ] {
        let settings = load(user, repo, variables, &flags).unwrap();
        let home = settings.file.parent().unwrap().display().to_string();
        for row in setting_lines(&settings) {
            let allowed = row.allowed.unwrap_or_default();
            let line = format!("{} = {}  # {} [{allowed}]", row.name, row.value, row.source);
            let _ = writeln!(all, "{}", line.replace(&home, "HOME"));
        }
        assert!(!all.contains(SECRET));
    }
    for repo in [
        "[alias]\nr = 'do'",
        "secrets = 'off'",
        "keep_removed = '1d'",
        "[[prices]]\nmodel = 'm'\nin = 1\nout = 1",
        "[[models]]\nname = 'n'\nprovider = 'openai'\nmodel = 'm'\napi_key_command = ['c']",
        "[[models]]\nname = 'n'\nprovider = 'embedded'\nprice = { in = 1, out = 1 }",
        "max_rounds = 0",
    ] {
        let _ =
            writeln!(all, "{repo}\n    {}", message(&load("", repo, &[], &Flags::default()).unwrap_err()));
    }
    let price = "price = { input = 1.5, output = 2, cached = 0 }\ncontext = 4096\nactive = true\n";
    let request = "options = { temperature = 0, top_p = 0.5, max_tokens = 7, effort = 'low', seed = -3, stop = ['a', 'b'] }\n\
                   extra = { a = 1, b = [1.5, 'x', { c = true }], d = 2020-01-01, e = 0x10 }\nsystem = 'first'\nweb = true\n";
    let models = [
        format!(
            "name = 'a'\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'http://h/v1/'\nwire = 'chat'\n{price}{request}"
        ),
        format!(
            "name = 'b'\nprovider = 'anthropic'\nmodel = 'm'\napi_key_command = ['pass', 'x']\ncache = '1h'\n{request}"
        ),
        "name = 'c'\nprovider = 'ollama'\nmodel = 'm'\napi_key = 'sk-hush'\n".to_string(),
        "name = 'd'\nprovider = 'openai'\nmodel = 'm'\napi_key_env = 'KEY'\noptions = {}\nextra = {}\n"
            .to_string(),
        "name = 'e'\nprovider = 'cli'\ncommand = ['c', '{prompt}']\nanswer = 'jsonl:/a'\n".to_string(),
        "preset = 'codex'\n".to_string(),
        "name = 'f'\nprovider = 'acp'\npreset = 'claude'\nsandbox = 'write'\nsandbox_home = ['~/x', '/y']\n"
            .to_string(),
        "name = 'g'\nprovider = 'acp'\ncommand = ['agent', 'x']\n".to_string(),
        "name = 'h'\nprovider = 'embedded'\nmodel = 'small'\ncontext = 512\n".to_string(),
    ];
    let text: String = models.iter().map(|model| format!("[[models]]\n{model}")).collect();
    let file = ConfigFile::parse(Path::new("c"), text.as_bytes()).unwrap();
    for entry in file.models {
        let _ = writeln!(all, "{entry:?}");
    }
    assert!(!all.contains(SECRET));
    compare("listed_settings.txt", &all);
}

/// Compares with a file of this folder.
fn compare(name: &str, made: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/tests").join(name);
    if lepo_base::env::text("LEPO_WRITE_DOCS").is_some() {
        std::fs::write(&file, made).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap();
    let line = there.lines().zip(made.lines()).position(|(there, made)| there != made);
    let line = line.unwrap_or(there.lines().count().min(made.lines().count()));
    let around =
        |text: &str| text.lines().skip(line.saturating_sub(2)).take(4).collect::<Vec<_>>().join("\n");
    assert!(there == made, "{name}:{}: was\n{}\nis\n{}", line + 1, around(&there), around(made));
}
