//! Man pages and completions are made from the clap tree and committed; this compares them.
//!
//! `LEPO_WRITE_DOCS=1 cargo test --test e2e docs` writes them anew.

use std::collections::BTreeMap;
use std::path::Path;

use clap_complete::Shell;
use lepo::cli;

#[test]
fn man_pages_and_completions_are_in_step() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = [made_pages(), made_completions()].concat();
    if std::env::var_os("LEPO_WRITE_DOCS").is_some() {
        for (path, text) in &made {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
    }
    for (path, text) in &made {
        let there = std::fs::read(root.join(path)).unwrap_or_default();
        assert!(&there == text, "{path} is out of step: LEPO_WRITE_DOCS=1 cargo test --test e2e docs");
    }
    let known: BTreeMap<&String, ()> = made.iter().map(|(path, _)| (path, ())).collect();
    for page in std::fs::read_dir(root.join("man")).unwrap() {
        let name = page.unwrap().file_name().to_string_lossy().into_owned();
        let made = known.contains_key(&format!("man/{name}"));
        assert!(made || !name.ends_with(".1"), "man/{name} is of no command");
    }
}

#[test]
fn every_argument_has_help() {
    let mut root = cli::command();
    root.build();
    for command in root.get_subcommands().chain([&root]) {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
    }
    root.debug_assert();
}

fn made_pages() -> Vec<(String, Vec<u8>)> {
    let mut root = cli::command().disable_help_subcommand(true);
    root.build();
    let version = root.get_version().unwrap_or_default().to_owned();
    let mut pages = vec![page(&root, "lepo", &version)];
    for command in root.get_subcommands() {
        pages.push(page(command, &format!("lepo-{}", command.get_name()), &version));
    }
    pages
}

fn page(command: &clap::Command, name: &str, version: &str) -> (String, Vec<u8>) {
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .section("1")
        .source(format!("lepo {version}"))
        .manual("lepo manual");
    man.render(&mut text).unwrap();
    (format!("man/{name}.1"), text)
}

fn made_completions() -> Vec<(String, Vec<u8>)> {
    let shells = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell];
    let made = shells.into_iter().map(|shell| {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut cli::command(), "lepo", &mut text);
        let file = clap_complete::Generator::file_name(&shell, "lepo");
        (format!("completions/{file}"), text)
    });
    made.collect()
}
