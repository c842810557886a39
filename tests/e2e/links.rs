//! Links of a terminal (OSC 8): addresses in answers and ids in lists, where the terminal is known to show them.

use std::os::unix::fs::PermissionsExt;

use crate::bots::Bot;
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::repl_keys::OFF;

/// Runs a script on a terminal with these variables, and returns its output.
fn run_on_terminal(home: &Home, variables: &str, script: &str) -> String {
    let mut command = home.terminal(&format!("stty cols 100 rows 24; {script}"));
    command.env("TERM", "xterm-256color");
    for (name, value) in variables.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        command.env(name, value);
    }
    let ran = run(command, b"");
    assert_eq!(ran.code, 0, "{script}: {}", ran.out);
    ran.out.replace('\r', "")
}

/// Links as `[TEXT](URI)`, without colours.
fn links(shown: &str) -> Vec<(String, String)> {
    let mut parts = shown.split("\u{1b}]8;;").skip(1);
    let mut links = Vec::new();
    while let (Some(open), Some(close)) = (parts.next(), parts.next()) {
        let (uri, text) = open.split_once('\u{7}').unwrap();
        assert!(!uri.is_empty() && close.starts_with('\u{7}'), "{shown:?}");
        let text = text.split("\u{1b}[").enumerate();
        let text = text.map(|(i, part)| if i > 0 { part.split_once('m').unwrap().1 } else { part });
        links.push((text.collect(), uri.to_string()));
    }
    links
}

/// The link of a message: its short id, and its file.
fn link(home: &Home, id: &str) -> (String, String) {
    let host = rustix::system::uname().nodename().to_str().unwrap().to_string();
    let paths = home.ok(&["ls", "--paths", id]);
    let path = std::fs::canonicalize(home.work().join(paths.lines().next().unwrap())).unwrap();
    (id[18..].to_string(), format!("file://{host}{}", path.display()))
}

#[test]
fn ids_of_lists_are_links_to_the_files_of_messages() {
    let home = Home::new();
    let first = home.add(&["--prev", "head"], "a leap year");
    let second = home.add(&["--prev", "head"], "a leap second");
    let both = vec![link(&home, &second), link(&home, &first)];
    let log = vec![link(&home, &second)];
    for variables in ["TERM=xterm-kitty", "TERM_PROGRAM=ghostty", "VTE_VERSION=7600", "WT_SESSION=1"] {
        for (script, expected) in [("lepo ls", &both), ("lepo log", &log), ("lepo grep leap", &both)] {
            assert_eq!(&links(&run_on_terminal(&home, variables, script)), expected, "{variables} {script}");
        }
    }
    std::fs::create_dir(home.work().join("folder")).unwrap();
    assert_eq!(links(&run_on_terminal(&home, "TERM=foot", "cd folder; lepo ls")), both);
    for (variables, script) in [
        ("", "lepo ls"),
        ("VTE_VERSION=4800", "lepo ls"),
        ("TERM=dumb WT_SESSION=1", "lepo ls"),
        ("STY=1.x WT_SESSION=1", "lepo log"),
        ("TERM=screen-256color WT_SESSION=1", "lepo log"),
        ("TMUX=/tmp/x TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3a WT_SESSION=1", "lepo grep leap"),
        ("WT_SESSION=1", "lepo --color never ls"),
        ("WT_SESSION=1 NO_COLOR=1", "lepo ls"),
        ("WT_SESSION=1", "lepo --color always ls | cat"),
        ("WT_SESSION=1 FORCE_COLOR=1", "lepo log | cat"),
    ] {
        let shown = run_on_terminal(&home, variables, script);
        assert!(!shown.contains("\u{1b}]") && shown.contains("leap"), "{variables} {script}: {shown:?}");
    }
    let tmux = "TMUX=/tmp/x TERM=tmux-256color TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.4";
    assert_eq!(links(&run_on_terminal(&home, tmux, "lepo ls")), both);
}

#[test]
fn a_pager_gets_links_only_if_it_is_the_default_and_new_enough() {
    let home = Home::new();
    home.add(&["--prev", "head"], "a leap year");
    home.add(&["--prev", "head"], "a leap second");
    std::fs::create_dir(home.path().join("bin")).unwrap();
    let less = home.path().join("bin/less");
    let pager = |version: &str| {
        let script = format!(
            "#!/bin/sh\ncase $1 in\n--version) echo asked >> $HOME/asked; echo '{version}';;\n*) sed s/^/P:/\nesac\n"
        );
        std::fs::write(&less, script).unwrap();
        std::fs::set_permissions(&less, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let asked = || std::fs::read_to_string(home.path().join("asked")).unwrap_or_default().lines().count();
    let paged = |variables: &str, command: &str| {
        run_on_terminal(&home, variables, &format!("stty rows 2; PATH=$HOME/bin:$PATH; {command}"))
    };
    pager("less 590 (x)");
    let shown = paged("WT_SESSION=1", "lepo ls");
    assert!(shown.contains("P:") && links(&shown).len() == 2, "{shown:?}");
    assert_eq!(asked(), 1);
    pager("less 551 (x)");
    let plain = paged("WT_SESSION=1", "lepo ls");
    assert!(plain.contains("P:") && plain.contains("\u{1b}[33m") && !plain.contains("\u{1b}]"), "{plain:?}");
    assert_eq!(asked(), 2);
    for (variables, command) in [
        ("WT_SESSION=1", "LEPO_PAGER='less -R' lepo ls"),
        ("WT_SESSION=1 PAGER=less", "lepo log --all"),
        ("", "lepo ls"),
    ] {
        let shown = paged(variables, command);
        assert!(shown.contains("P:") && !shown.contains("\u{1b}]"), "{command}: {shown:?}");
    }
    assert_eq!(asked(), 2, "it is asked only for a link");
}

#[test]
fn addresses_in_answers_are_links() {
    let answer = "See [the docs](https://docs.test/한/a_b), [mail](mailto:a@b.test),\n[a](x.md) and [b](file:///etc/passwd).\n\n\
                  | page |\n| - |\n| [c](http://c.test) |\n";
    let bot = Bot::saying(OFF, &[answer]);
    let mut command = bot.home.command(&["do", "Where?"]);
    command.env("TERM", "xterm-kitty");
    let ran = on_terminal(command, &[]);
    let expected = [
        ("https://docs.test/한/a_b", "https://docs.test/%ED%95%9C/a_b"),
        ("mailto:a@b.test", "mailto:a@b.test"),
        ("http://c.test", "http://c.test"),
    ]
    .map(|(text, uri)| (text.to_string(), uri.to_string()));
    assert_eq!(links(&ran.out), expected, "{:?}", ran.out);
    assert_eq!(links(&run_on_terminal(&bot.home, "TERM=foot", "lepo show")), expected);
    for (variables, script) in
        [("", "lepo show"), ("TERM=foot", "lepo show --plain"), ("TERM=foot", "lepo show | cat")]
    {
        assert!(!run_on_terminal(&bot.home, variables, script).contains("\u{1b}]"), "{script}");
    }
}
