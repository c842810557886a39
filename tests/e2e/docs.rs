//! Man pages and completions are made from the clap tree, schemas from the types of documents, and committed; this
//! compares them.
//!
//! `LEPO_WRITE_DOCS=1 cargo test --test e2e docs` writes them anew.

use std::collections::BTreeMap;
use std::path::Path;

use lepo::cli::{self, tasks};
use lepo::completions;

mod help_blocks;
mod markdown;
mod promises;
mod roff;

use markdown::markdown_sections;
use roff::{escaped, marked, section};

/// Of the manual's pages: the day on which their text last changed.
const DATE: &str = "2026-11-22";

#[test]
fn man_pages_completions_and_schemas_are_in_step() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = [made_pages(), written_pages(), made_completions(), made_schemas()].concat();
    if std::env::var_os("LEPO_WRITE_DOCS").is_some() {
        for (path, text) in &made {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            // Another test may read a page at this moment.
            if std::fs::read(root.join(path)).ok().as_ref() != Some(text) {
                std::fs::write(root.join(path), text).unwrap();
            }
        }
    }
    for (path, text) in &made {
        let there = std::fs::read(root.join(path)).unwrap_or_default();
        assert!(&there == text, "{path} is out of step: LEPO_WRITE_DOCS=1 cargo test --test e2e docs");
    }
    let known: BTreeMap<&String, ()> = made.iter().map(|(path, _)| (path, ())).collect();
    for page in manual() {
        let page = page.strip_prefix(root).unwrap().to_str().unwrap().to_string();
        let section = page.rsplit('.').next().unwrap();
        assert!(
            page.starts_with(&format!("man/man{section}/")),
            "{page} is not in the folder of its section"
        );
        assert!(
            known.contains_key(&page),
            "{page} has no source: a command, or docs/manual/NAME.{section}.md"
        );
    }
}

/// The pages of the manual, as `man` finds them in a checkout: MANPATH=man.
fn manual() -> Vec<std::path::PathBuf> {
    let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("man")).unwrap();
    let folders: Vec<_> = folders.map(|folder| folder.unwrap().path()).collect();
    assert!(folders.iter().all(|folder| folder.is_dir()), "{folders:?}: pages stand in folders");
    let pages = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    pages.map(|page| page.unwrap().path()).collect()
}

#[test]
fn man_finds_the_pages_of_a_checkout() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/man");
    for (section, name) in [("1", "lepo-do"), ("5", "lepo-config"), ("7", "lepo")] {
        let mut man = std::process::Command::new("man");
        let Ok(told) = man.args(["-M", folder, "-w", section, name]).output() else {
            crate::skip::skipped("man", "man is not there");
            return;
        };
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        assert_eq!(text.trim(), format!("{folder}/man{section}/{name}.{section}"));
    }
}

#[test]
fn every_argument_has_help() {
    let mut root = cli::command();
    root.build();
    for command in root.get_subcommands().chain([&root]) {
        let about = command.get_about().expect("a purpose").to_string();
        let long = command.get_long_about().map_or(about.clone(), ToString::to_string);
        assert!(long.starts_with(&about), "{}: --help begins as -h does", command.get_name());
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
        let name = format!("lepo-{}", command.get_name());
        pages.push(page(command, &name, &version));
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            pages.push(page(inner, &format!("{name}-{}", inner.get_name()), &version));
        }
    }
    pages
}

fn made_schemas() -> Vec<(String, Vec<u8>)> {
    let made = lepo::cli::schemas::schemas().into_iter();
    made.map(|(name, text)| (format!("docs/schemas/{name}.json"), text.into_bytes())).collect()
}

fn page(command: &clap::Command, name: &str, version: &str) -> (String, Vec<u8>) {
    let man = clap_mangen::Man::new(daily_first(command))
        .title(name.to_uppercase())
        .section("1")
        .date(DATE)
        .source(format!("lepo {version}"))
        .manual("lepo manual");
    let of_man = |render: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut text = Vec::new();
        render(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let mut text = of_man(&|text| man.render_title(text));
    // Lines that are stretched to the margin read badly in a narrow window.
    text += ".ad l\n.nh\n";
    text += &of_man(&|text| man.render_name_section(text));
    // The usage of --help: clap_mangen's own leaves out values, and that there may be several.
    let usage =
        command.clone().render_usage().to_string().replace("Usage: ", "").replace("       lepo", "lepo");
    text += &format!(".SH SYNOPSIS\n.nf\n{}\n.fi\n", escaped(usage.trim()));
    let about = command.get_long_about().or(command.get_about()).map(|about| about.to_string());
    text += &section("DESCRIPTION", &about.unwrap_or_default());
    text += &marked(&in_groups(&of_man(&|text| man.render_options_section(text))));
    if name == "lepo" {
        text += &section("COMMANDS", &tasks::list(command, usize::MAX));
    } else if command.has_subcommands() {
        text += &marked(&of_man(&|text| man.render_subcommands_section(text)));
    }
    text += &details(name);
    let more = command.get_after_help().map(|more| more.to_string()).unwrap_or_default();
    for (heading, lines) in sections(&more) {
        if name == "lepo" && heading == "NOTES" {
            text += &diagnostics();
        }
        text += &section(heading, &lines);
        if heading == "EXAMPLES" {
            text += &more_examples(name);
        }
    }
    if command.get_version().is_some() {
        text += &of_man(&|text| man.render_version_section(text));
    }
    // A line break beside a space is one too many.
    let text = text.replace("\n.br\n\n.br\n", "\n.sp\n");
    (format!("man/man1/{name}.1"), text.into_bytes())
}

/// Returns the pages that are no command's: each is written whole in `docs/manual/NAME.SECTION.md`.
fn written_pages() -> Vec<(String, Vec<u8>)> {
    let version = env!("CARGO_PKG_VERSION");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    [("lepo-config", 5), ("lepo-store", 5), ("lepo", 7)]
        .map(|(name, section)| {
            let source = root.join(format!("docs/manual/{name}.{section}.md"));
            let text = markdown_sections(&std::fs::read_to_string(source).unwrap());
            let head = format!(
                ".TH {} {section} {DATE} \"lepo {version}\" \"lepo manual\"\n.ad l\n.nh\n",
                escaped(&name.to_uppercase())
            );
            (format!("man/man{section}/{name}.{section}"), format!("{head}{text}").into_bytes())
        })
        .to_vec()
}

/// Returns the command with its options of a day before the groups of the others, if it has groups.
fn daily_first(command: &clap::Command) -> clap::Command {
    let daily = tasks::daily_options(command.get_name());
    command.clone().mut_args(|arg| match daily.iter().position(|name| arg.get_long() == Some(name)) {
        Some(index) if arg.get_help_heading().is_some() => arg.help_heading(None).display_order(index),
        _ => arg,
    })
}

/// Returns the sections of options as one, with a part for each group.
fn in_groups(sections: &str) -> String {
    let mut section = String::from(".SH OPTIONS\n");
    for line in sections.lines() {
        match line.strip_prefix(".SH ").map(|group| group.trim_matches('"')) {
            Some("OPTIONS") => {}
            Some(group) => {
                let (first, rest) = group.split_at(1);
                section += &format!(".SS \"{first}{}\"\n", rest.to_lowercase());
            }
            None => section += &format!("{line}\n"),
        }
    }
    section
}

#[test]
fn the_options_of_a_day_are_options() {
    let mut root = cli::command();
    root.build();
    for command in root.get_subcommands() {
        for name in tasks::daily_options(command.get_name()) {
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some(name)), "{name}");
        }
    }
}

/// Sections that the help of a command is too short for, written by hand.
fn details(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/manual/{name}.md"));
    markdown_sections(&std::fs::read_to_string(path).unwrap_or_default())
}

/// Returns the paragraph that names the transcripts of a command, after its examples.
fn more_examples(name: &str) -> String {
    let transcripts = transcripts();
    let paths: Vec<String> = transcripts
        .iter()
        .filter(|(page, _)| page == name)
        .map(|(_, file)| format!("\\fI{}\\fR", escaped(&format!("tests/cases/{file}"))))
        .collect();
    match paths.is_empty() {
        true => String::new(),
        false => format!(
            ".PP\nMore examples, each run by a test, are in the source of lepo: {}.\n",
            paths.join(", ")
        ),
    }
}

/// Returns the transcripts of commands: for each the page of the command that its title names, and its file.
fn transcripts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut transcripts: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let command = text.strip_prefix("# `lepo ")?.split(['`', ' ']).next()?;
            Some((format!("lepo-{command}"), path.file_name()?.to_str()?.to_string()))
        })
        .collect();
    transcripts.sort();
    transcripts
}

#[test]
fn each_transcript_is_named_by_the_page_of_its_command() {
    let pages = made_pages();
    for (name, file) in transcripts() {
        let (_, page) = pages.iter().find(|(path, _)| *path == format!("man/man1/{name}.1")).unwrap();
        let link = format!("tests/cases/{file}");
        assert!(
            String::from_utf8_lossy(page).contains(&link),
            "{name} has no examples, so {link} is not named"
        );
    }
    assert!(transcripts().len() >= 20);
}

/// The section on what a turn tells besides the conversation, from the table of its words.
fn diagnostics() -> String {
    let mut text = String::from(
        ".SH DIAGNOSTICS\nNotes of a turn are on stderr; \\-q hides them. Most say all by themselves; these do not:\n",
    );
    for (subject, notices) in lepo::explained_notices() {
        text.push_str(&format!(".SS {subject}\n"));
        for (at, notice) in notices.iter().enumerate() {
            let paragraph = if at == 0 { "" } else { ".PP\n" };
            text.push_str(&format!(
                "{paragraph}\\fB{}\\fR\n.RS 4\n{}\n.RE\n",
                escaped(&notice.line),
                marked(&escaped(notice.meaning))
            ));
        }
    }
    text
}

/// The paragraphs behind a help, each under the heading that a manual has for it.
fn sections(help: &str) -> Vec<(&'static str, String)> {
    const HEADINGS: &[(&str, &str)] =
        &[("Examples:", "EXAMPLES"), ("Exit codes:", "EXIT STATUS"), ("Environment:", "ENVIRONMENT")];
    let (mut sections, mut notes) = (Vec::new(), Vec::new());
    for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        match HEADINGS.iter().find(|(told, _)| *told == first) {
            Some((_, heading)) => sections.push((*heading, rest.to_string())),
            None => notes.push(paragraph),
        }
    }
    if !notes.is_empty() {
        sections.push(("NOTES", notes.join("\n\n")));
    }
    sections
}

#[test]
fn every_command_stands_under_one_task() {
    let tree = cli::command();
    let mut listed: Vec<&str> = tasks::TASKS.iter().flat_map(|(_, names)| *names).copied().collect();
    let mut there: Vec<&str> = tree.get_subcommands().map(|command| command.get_name()).collect();
    listed.sort_unstable();
    there.sort_unstable();
    assert_eq!(listed, there);
}

/// Every page renders without a warning, where `mandoc` can tell.
#[test]
fn the_manual_renders_without_a_warning() {
    for page in manual() {
        let mut lint = std::process::Command::new("mandoc");
        let Ok(told) = lint.args(["-T", "lint", "-W", "warning"]).arg(&page).output() else {
            crate::skip::skipped("mandoc", "mandoc is not there");
            return;
        };
        assert_eq!(String::from_utf8_lossy(&told.stdout), "");
    }
}

fn made_completions() -> Vec<(String, Vec<u8>)> {
    let files = [("bash", "lepo.bash"), ("zsh", "_lepo"), ("fish", "lepo.fish"), ("elvish", "lepo.elv")];
    let made = files.into_iter().map(|(shell, file)| {
        let shell = completions::SHELLS.completer(shell).unwrap();
        (format!("completions/{file}"), completions::script(shell).unwrap())
    });
    made.collect()
}
