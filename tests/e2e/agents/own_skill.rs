//! lepo's own skill in `contrib/skills/lepo`: what it says can be run, reads and changes nothing, and is enough to answer.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::bots::Bot;
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::scripted::{openai_calls, openai_sse};

const FILE: &str = include_str!("../../../contrib/skills/lepo/SKILL.md");

/// A message of the example that another one follows, and the end of a conversation.
const ID: &str = "01M80QW3N3DDGKXDE279QNWF38";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/skills/lepo")
}

/// The files of the store, each with its bytes.
fn store(home: &Home) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![home.work().join(".lepo")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push((path.display().to_string(), std::fs::read(&path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_command_of_it_reads_and_changes_nothing() {
    assert!(FILE.lines().count() < 120, "it is read whole each time");
    let home = Home::new();
    home.copy(".lepo.example", ".lepo");
    let before = store(&home);
    let commands: Vec<&str> = FILE.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for line in commands {
        let (command, about) = line.split_once("  #").unwrap_or_else(|| panic!("{line} says nothing"));
        let words: Vec<&str> = command.split_whitespace().collect();
        assert!(words[0] == "lepo" && ["grep", "ls", "show", "log"].contains(&words[1]), "{line}");
        let command = command.replace("A..B", "@^..@").replace("'regular expression'", "'count.*words'");
        let command = command.replace("'exact text'", "'words'").replace(" ID", &format!(" {ID}"));
        let ran = run(home.shell(&command), b"");
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
        assert!(!ran.out.is_empty(), "{command}");
        if let Some((_, fields)) = about.split_once("[{") {
            let first: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            let list = first.as_object().unwrap().values().next().unwrap();
            for field in fields.trim_end_matches("]}").trim_end_matches('}').split(',') {
                let field = field.trim().trim_matches('"');
                assert!(list[0].get(field).is_some(), "{command} has no {field}");
            }
        }
    }
    assert_eq!(store(&home), before);
    assert_eq!(home.ok(&["prompt", "check", folder().to_str().unwrap()]), "");
}

#[test]
fn a_model_with_a_shell_finds_reads_and_cites_with_it() {
    let run_command = |command: &str| {
        openai_calls("", &[("run_command", &json!({ "access": "full", "command": command }).to_string())])
    };
    let replies = [
        openai_calls("", &[("skill", r#"{"name":"lepo"}"#)]),
        run_command("lepo grep -i 'words in every Markdown'"),
        run_command(&format!("lepo show --one {ID}")),
        openai_sse([format!("\"How would I count words in every Markdown file?\" (user, {ID})").as_str()]),
    ];
    let bot = Bot::openai("planner = 'native'", replies);
    let skills = bot.home.path().join(".agents/skills");
    std::fs::create_dir_all(&skills).unwrap();
    std::os::unix::fs::symlink(folder(), skills.join("lepo")).unwrap();
    bot.home.copy(".lepo.example", ".lepo");
    let yes = ("Run it? [y]es ", "y\n");
    let ran = on_terminal(bot.home.command(&["do", "-n", "what was asked about Markdown?"]), &[yes, yes]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let bodies = bot.bodies();
    assert!(bodies[0].to_string().contains("- lepo: Searches, reads and cites"), "it is offered");
    assert!(bodies[1].to_string().contains("Give the full id of the message"), "it is given");
    assert!(bodies[2].to_string().contains(&format!("{ID} ")), "found: {}", bodies[2]);
    let read = bodies[3].to_string();
    assert!(read.matches("How would I count words in every Markdown file?").count() >= 2, "read: {read}");
}

#[test]
fn a_real_model_is_given_it_and_answers() {
    let Some(url) = std::env::var("LEPO_TEST_LLAMA").ok().filter(|url| !url.is_empty()) else {
        crate::skip::skipped("llama", "LEPO_TEST_LLAMA names no server");
        return;
    };
    let home = Home::with_config(&format!(
        "planner = 'native'\n[[models]]\nname = 'llama'\nprovider = 'openai'\nmodel = 'smollm2:135m'\n\
         base_url = '{url}'\nactive = true\noptions = {{ max_tokens = 40 }}\n"
    ));
    home.write("config/system_prompt.txt", "");
    home.copy(".lepo.example", ".lepo");
    home.write_insts("general = ''");
    let skills = home.path().join(".agents/skills");
    std::fs::create_dir_all(&skills).unwrap();
    std::os::unix::fs::symlink(folder(), skills.join("lepo")).unwrap();
    let question = ["do", "-n", "--no-stdin", "-q", "-T", "lepo", "Which command lists the conversations?"];
    assert!(!home.ok(&question).trim().is_empty());
    assert!(home.ok(&["show", "-a"]).contains("[skill lepo, from "));
}
