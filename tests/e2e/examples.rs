//! Every command that the README, `--help` and the manual show is run, on the store `.lepo.example` and with
//! models that answer at once. What cannot be run like that is named here, with where it is tried.

use std::collections::HashSet;

use clap::Command as Tree;
use lepo::cli;

use crate::home::{Home, run};

/// Begins of lines that are not run, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("scripts/", "they run these tests, and more"),
    ("cargo install", "builds a release; scripts/package does the same"),
    ("lepo model get", "fetches the weights: the tests of the embedded model"),
    ("lepo browse", "needs a terminal: browsing.rs"),
    ("lepo watch", "goes on until it is ended: watching.rs"),
    ("lepo do 'tidy up'", "waits for consent: consent.rs"),
    ("lepo do --approve ID", "the same"),
    ("lepo do --unheld", "the same"),
    ("lepo do --deny ID", "the same"),
    ("lepo do --attach", "its model is no program: attach.rs"),
    ("lepo do --schema", "its model answers in JSON: schema.rs"),
    ("lepo do -n --schema", "the same"),
    ("lepo model add", "its weights are the reader's own: adding_models.rs"),
    ("lepo prompt show", "its prompt is the reader's own: prompts.rs"),
    ("lepo prompt check", "its skills are the reader's own: agents/skills.rs"),
    ("lepo mcp login", "needs a server that wants a sign-in: mcp/sign_in.rs"),
    ("lepo mcp logout", "the same"),
    ("lepo trust", "asks on a terminal: trust.rs"),
    ("lepo rm @; lepo undo", "asks on a terminal: undoing.rs"),
    ("lepo undo 12", "its change is the reader's own: undoing.rs"),
    ("lepo undo --redo", "the same"),
    ("lepo do --proxy", "its programs are the reader's own: proxy/"),
    ("lepo sync", "its remote is a server: sync.rs"),
    ("lepo import", "its sources are other programs': import.rs"),
    ("lepo -s old import", "the same"),
    ("lepo config --import", "its file is another program's: settings.rs"),
    ("source <(lepo completions zsh)", "no bash: completing.rs"),
];

/// Begins of lines that end with another exit code than 0.
const CODES: &[(&str, i32)] = &[
    ("lepo diff", 1),                    // they differ
    ("lepo ls -n 2", 1),                 // the same
    ("lepo show -x", 1),                 // its last answer has no code
    ("lepo config stores --forget", 1),  // no such store is on the list
    ("lepo grep --everywhere 'time", 1), // no store on the list has it
    ("lepo do -n --recorded=only", 3),   // nothing of the kind is recorded
    ("lepo rm @", 2),                    // nobody there to ask
    ("lepo fsck | grep", 1),             // nothing is edited
    ("EDITOR='sed", 1),                  // the word is not there, and nothing changes
];

/// Placeholders for something of the reader's own: a bubb of the example, and the end of its id.
const ID: &str = "01M80QW3N3DDGKXDE279QNWF38";
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("9X1Y3Z5A", "279QNWF38"),
    ("ID1 ID2", "01M80QW3QGKSTBZ2N3M484307B 01M80QW3VYHVCDX4FHTNFDKG3D"),
    (" ID ", " 01M80QW3N3DDGKXDE279QNWF38 "),
];

/// A home with all that the examples take for granted.
fn home() -> Home {
    let home = fresh_home();
    home.copy(".lepo.example", ".lepo");
    home
}

/// A home with models, a repository and no store. Each model answers in its own words.
fn fresh_home() -> Home {
    let model = |name: &&str| {
        let answer = format!(
            r#"command = ["sh", "-c", "cat > /dev/null; echo 'Yes, says {name}.'; echo 'END: It is so.'"]"#
        );
        format!("[[models]]\nname = \"{name}\"\nprovider = \"cli\"\n{answer}\n")
    };
    let models: String = ["gpt", "qwen", "claude", "other"].iter().map(model).collect();
    let home = Home::with_config(&format!(
        "planner = 'off'\n{models}active = true\n\
         [many]\norchestrator = 'claude'\nparticipants = ['gpt', 'qwen']\n"
    ));
    home.copy(".lepo.example", ".lepo.example");
    for (file, text) in [("build.log", "error"), ("review.md", "Review."), ("src/main.rs", "fn main() {}")] {
        home.write(&format!("work/{file}"), text);
    }
    for (program, script) in [("ed", "echo more >> \"$1\""), ("notify-send", "")] {
        home.write(&format!("bin/{program}"), format!("#!/bin/sh\n{script}\n"));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/offering.py");
    let docs = serde_json::json!({ "command": "python3", "args": [script, "plain", home.path()] });
    home.write("config/mcp.json", serde_json::json!({ "mcpServers": { "docs": docs } }).to_string());
    let git = "mkdir -p ../.config/fish/completions && chmod +x ../bin/* && git init -q && git add src && git -c user.name=x -c user.email=x@x commit -qm x && echo '// more' >> src/main.rs";
    assert!(home.shell(git).status().unwrap().success());
    home.trust_work();
    home
}

/// Runs the lines of one document in order, in this home; adds the rows of the tables that were of use to `used`.
/// Gives those that end otherwise than told.
fn follow(document: &str, home: &Home, lines: &[String], used: &mut HashSet<&str>) -> Vec<String> {
    let mut wrong = Vec::new();
    for line in lines {
        // The comment on it stands far behind it.
        let line = line.split("   ").next().unwrap_or_default().trim();
        if let Some((begin, _)) = ELSEWHERE.iter().find(|(begin, _)| line.starts_with(begin)) {
            used.insert(begin);
            continue;
        }
        if line == "lepo" {
            continue; // a conversation: repl_*.rs
        }
        if line.contains("jq ") && run(home.shell("jq --version"), b"").code != 0 {
            crate::skip::skipped("jq", format!("jq is not there for {line}"));
            continue;
        }
        let mut script = format!("{line} ");
        // A page that makes its own store names messages of that.
        if script.contains(" ID ") && home.lepo(&["resolve", ID]).code != 0 {
            script = script.replace(" ID ", &format!(" {} ", home.ok(&["resolve", "@"]).trim()));
        }
        for (placeholder, real) in PLACEHOLDERS {
            if script.contains(placeholder) {
                used.insert(placeholder);
            }
            script = script.replace(placeholder, real);
        }
        let row = CODES.iter().find(|(begin, _)| line.starts_with(begin));
        used.extend(row.map(|(begin, _)| begin));
        let code = row.map_or(0, |(_, code)| *code);
        let mut command = home.program("setsid", &["-w", "bash", "-o", "pipefail", "-c", &script]);
        let bin = home.path().join("bin");
        let path = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_os_string();
        command.env("PATH", format!("{}:{}", bin.display(), path.display())).env("EDITOR", bin.join("ed"));
        command.env("XDG_CONFIG_HOME", home.path().join("xdg"));
        let ran = run(command, b"");
        if ran.code != code {
            wrong.push(format!("{document}: {script}\n{} {}{}", ran.code, ran.out, ran.err));
        }
    }
    assert!(home.ok(&["fsck"]).lines().all(|finding| finding.starts_with("foreign")), "{document}");
    wrong
}

/// The commands in the indented blocks of a Markdown file.
fn in_markdown(text: &str) -> Vec<String> {
    let block = text.lines().filter_map(|line| line.strip_prefix("    "));
    block.filter_map(command).collect()
}

/// The commands in the sections of commands that are written by hand.
fn in_details() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| !file.ends_with("lepo.7.md"));
    files.sort();
    files.iter().flat_map(|file| in_markdown(&std::fs::read_to_string(file).unwrap())).collect()
}

/// The commands under `Examples:` in a command's help.
fn in_help(tree: &Tree) -> Vec<String> {
    let help = tree.get_after_help().map(|help| help.to_string()).unwrap_or_default();
    let Some((_, examples)) = help.split_once("Examples:\n") else { return Vec::new() };
    examples.lines().map_while(|line| line.strip_prefix("  ")).map(str::to_string).collect()
}

/// A line that is one: what a person types, without the prompt.
fn command(line: &str) -> Option<String> {
    const PROGRAMS: &[&str] = &["lepo", "git", "grep", "scripts/demo", "scripts/test", "cargo", "source"];
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let first = line.split(' ').next().unwrap_or_default();
    PROGRAMS.contains(&first).then(|| line.to_string())
}

#[test]
fn what_is_shown_can_be_run() {
    assert!(home().ok(&["resolve", "279QNWF38"]).starts_with(ID));
    let (mut used, mut wrong) = (HashSet::new(), Vec::new());
    // Pasted one after the other, where there is nothing yet.
    for (file, text) in [
        ("README.md", in_markdown(include_str!("../../README.md"))),
        ("README.ko.md", in_markdown(include_str!("../../README.ko.md"))),
    ] {
        assert!(text.len() > 40, "{file}: {text:?}");
        wrong.extend(follow(file, &fresh_home(), &text, &mut used));
    }
    for (file, text) in
        [("lepo(7)", in_markdown(include_str!("../../docs/manual/lepo.7.md"))), ("docs/manual", in_details())]
    {
        assert!(text.len() > 10, "{file}: {text:?}");
        wrong.extend(follow(file, &home(), &text, &mut used));
    }
    let mut root = cli::command();
    root.build();
    for command in root.get_subcommands().filter(|command| command.get_name() != "help") {
        let examples = in_help(command);
        if examples.is_empty() {
            wrong.push(format!("{} shows no example", command.get_name()));
        }
        wrong.extend(follow(command.get_name(), &home(), &examples, &mut used));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let rows =
        [ELSEWHERE.iter().map(|row| row.0).collect(), CODES.iter().map(|row| row.0).collect::<Vec<_>>()];
    let rows = rows.concat().into_iter().chain(PLACEHOLDERS.iter().map(|row| row.0));
    let unused: Vec<&str> = rows.filter(|begin| !used.contains(begin)).collect();
    assert!(unused.is_empty(), "shown nowhere: {unused:?}");
}

#[test]
fn the_configurations_that_are_shown_are_read() {
    let page = include_str!("../../docs/manual/lepo-config.5.md");
    let is_code = |line: &&str| line.starts_with("    ") || line.is_empty();
    let lines: Vec<&str> = page.lines().collect();
    let blocks: Vec<String> = lines
        .chunk_by(|one, other| is_code(one) == is_code(other))
        .filter(|block| block.iter().any(|line| line.starts_with("    ")))
        .map(|block| block.join("\n").replace("\n    ", "\n"))
        .collect();
    let [prices, aliases, toml, json] = &blocks[..] else { panic!("{blocks:?}") };
    let home = Home::with_config(&format!("{toml}\n{aliases}\n{prices}"));
    home.write("config/mcp.json", json);
    assert!(home.ok(&["model", "ls"]).starts_with("gpt "));
    // The server is not there: said, and no word about its configuration.
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    for readme in [include_str!("../../README.md"), include_str!("../../README.ko.md")] {
        let shown = readme.split("config.toml`").nth(1).unwrap();
        let config: Vec<&str> = shown
            .lines()
            .skip(2)
            .map_while(|line| line.strip_prefix("    ").or(line.is_empty().then_some("")))
            .collect();
        let home = Home::with_config(&config.join("\n"));
        assert!(home.ok(&["model", "ls"]).contains("\nclaude "), "{config:?}");
    }
}

#[test]
fn the_demo_types_the_commands_of_the_first_screen() {
    let script = include_str!("../../scripts/demo").lines();
    let typed = script.filter_map(|line| match line.strip_prefix("ask ") {
        Some(words) => Some(format!("lepo {words}")),
        None => line.strip_prefix("show ").map(|line| line.split(" ||").next().unwrap().to_string()),
    });
    let typed: Vec<String> = typed.collect();
    assert!(typed.len() > 8, "{typed:?}");
    for readme in [include_str!("../../README.md"), include_str!("../../README.ko.md")] {
        let shown: Vec<String> = in_markdown(first_screen(readme))
            .iter()
            .map(|line| line.split("  ").next().unwrap().to_string())
            .filter(|line| !line.starts_with("scripts/"))
            .collect();
        assert_eq!(shown, typed);
    }
}

/// The part of a README before its first heading of a section.
fn first_screen(readme: &str) -> &str {
    readme.split_once("\n## ").unwrap().0
}

/// Replaces short ids, times and numbers of tokens, which differ with each run.
fn without_what_differs(text: &str) -> String {
    let mut out = String::new();
    for line in text.replace('\r', "").lines() {
        let mut words: Vec<&str> = line.split(' ').collect();
        let is_id = |word: &&str| {
            word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        };
        if let Some(index) = words.iter().position(is_id) {
            words[index] = "ID";
            match words.get(index + 2) {
                Some(&"questions") => {
                    // A program as model counts no tokens.
                    let begins =
                        |word: &&str| word.starts_with(|first: char| first == '[' || first.is_uppercase());
                    let text = words.iter().skip(index + 3).position(begins).unwrap();
                    words.splice(index + 3..index + 3 + text, ["AGE", "MODEL"]);
                }
                _ => {
                    // The column is as wide as a day of two digits makes it.
                    let width =
                        if words[index + 2].len() == 1 && words[index + 5].is_empty() { 4 } else { 3 };
                    words.splice(index + 2..index + 2 + width, ["DAY", "MONTH", "TIME"]);
                }
            }
        }
        out += words.join(" ").trim_end();
        out.push('\n');
    }
    out
}

#[test]
fn the_first_screen_is_what_a_terminal_shows() {
    let sentences = "case $(cat) in *Japan*) echo The capital of Japan is Tokyo.;; *Italy*) echo The capital of Italy \
                     is Rome.;; *) echo The capital of France is Paris.;; esac";
    let home = Home::with_config(&format!(
        "planner = 'off'\n[[models]]\nname = 'embedded'\nprovider = 'cli'\nactive = true\ncommand = ['sh', '-c', \"{sentences}\"]\n"
    ));
    home.trust_work();
    let (mut shown, mut printed) = (String::new(), String::new());
    let has_no_output = ["lepo init", "lepo branch", "lepo diff", "grep", "lepo export"];
    for line in first_screen(include_str!("../../README.md")).lines() {
        let Some(line) = line.strip_prefix("    ") else { continue };
        let typed = line.strip_prefix("$ ").map(|line| line.split("  ").next().unwrap());
        match typed {
            None if line.starts_with("scripts/") => {}
            None => shown += &format!("{line}\n"),
            Some(typed) if typed.starts_with("lepo model get") => {}
            Some(typed) => {
                let mut command = home.terminal(&format!("stty cols 100 rows 40; {typed} 2>err"));
                command.env("NO_COLOR", "1").env("LEPO_PAGER", "cat");
                let out = run(command, b"").out;
                if !has_no_output.iter().any(|begin| typed.starts_with(begin)) {
                    printed += &out;
                }
            }
        }
    }
    assert_eq!(without_what_differs(&printed), without_what_differs(&shown));
}

#[test]
fn the_korean_readme_is_in_step() {
    let commands = |text: &str| {
        let typed = in_markdown(text).into_iter();
        typed.map(|line| line.split("  ").next().unwrap().to_string()).collect::<Vec<_>>()
    };
    let headings = |text: &str| text.lines().filter(|line| line.starts_with('#')).count();
    let (english, korean) = (include_str!("../../README.md"), include_str!("../../README.ko.md"));
    // Questions are in the reader's language; what surrounds them is the same.
    let bare = |line: &String| line.split('\'').step_by(2).collect::<Vec<_>>().join("''");
    assert_eq!(
        commands(english).iter().map(bare).collect::<Vec<_>>(),
        commands(korean).iter().map(bare).collect::<Vec<_>>()
    );
    assert_eq!(headings(english), headings(korean));
}
