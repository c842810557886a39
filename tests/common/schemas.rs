//! The JSON Schemas of `docs/schemas/`: everything that lepo prints as JSON in a test is validated by them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::Value;

/// Each schema by the command whose `--json` it is of; true if that prints one document a line.
const COMMANDS: &[(&str, &str, bool)] = &[
    ("branch", "branch", false),
    ("config", "config", false),
    ("diff", "diff", false),
    ("do", "do", false),
    ("fsck", "fsck", false),
    ("grep", "grep", true),
    ("import", "import", false),
    ("log", "log", true),
    ("ls", "ls", false),
    ("mcp", "mcp-ls", false),
    ("model", "model-ls", false),
    ("prompt", "prompt-ls", false),
    ("rebase", "rebase", false),
    ("rm", "rm", false),
    ("show", "show", false),
    ("stats", "stats", false),
    ("undo", "undo", false),
    ("watch", "watch", true),
];

/// The folder of the schemas.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/schemas")
}

/// The schema of this name, compiled once for all tests.
pub fn schema(name: &str) -> Arc<Validator> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Arc<Validator>>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(|lock| lock.into_inner());
    let compile = || {
        let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        Arc::new(jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap())
    };
    known.entry(name.to_string()).or_insert_with(compile).clone()
}

/// Fails unless a document is of a schema.
pub fn validate(name: &str, document: &Value) {
    let schema = schema(name);
    let faults: Vec<String> =
        schema.iter_errors(document).map(|fault| format!("{} at {}", fault, fault.instance_path())).collect();
    assert!(faults.is_empty(), "not of docs/schemas/{name}.json: {document}\n{}", faults.join("\n"));
}

/// The schema of what a command line prints, and whether each line is a document; none where it prints no JSON.
pub fn schema_of(args: &[String]) -> Option<(&'static str, bool)> {
    let options = args.split(|arg| arg == "--").next().unwrap_or_default();
    let has = |option: &str| options.iter().any(|arg| arg == option);
    let command = options.iter().find_map(|arg| COMMANDS.iter().find(|(command, ..)| command == arg));
    match command {
        _ if has("--events") => Some(("events", true)),
        _ if !has("--json") => None,
        // The proxy leaves stdout to its command, and prints its documents on stderr.
        _ if has("--proxy") => None,
        Some((_, schema, by_line)) => Some((schema, *by_line)),
        // A bare question.
        None => Some(("do", false)),
    }
}

/// Validates what a run of lepo printed. A run that a signal ended, or whose output was cut short, may have printed a
/// part.
pub fn check_output<'a>(args: impl Iterator<Item = &'a OsStr>, code: i32, (out, err): (&str, &str)) {
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let lepo_args = || args.iter().take_while(|arg| *arg != "--");
    if ["--proxy", "--json"].iter().all(|option| lepo_args().any(|arg| arg == option)) {
        for line in err.lines().filter(|line| line.starts_with('{')) {
            validate("proxy", &serde_json::from_str(line).unwrap());
        }
    }
    let Some((name, by_line)) = schema_of(&args).filter(|_| code < 128 && !out.trim().is_empty()) else {
        return;
    };
    let documents: Vec<&str> = if by_line { out.lines().collect() } else { vec![out] };
    for text in documents {
        let document = serde_json::from_str(text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"));
        validate(name, &document);
    }
}
