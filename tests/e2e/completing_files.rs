//! File names of others on a command line: only those that need no quotes are completed, in the real shells.

use std::path::Path;

use clap::{Arg, Command, ValueHint};

use crate::home::{Home, run};
use crate::pty::on_terminal;

/// Names that begin with `d`, each alone in a folder.
const NAMES: [&str; 19] = [
    "d a gram.png",
    "d$(touch PWNED).png",
    "d`touch PWNED`.png",
    "d;touch PWNED;.png",
    "d'it'.png",
    "d\"say\".png",
    "d\\back\\.png",
    "d*.png",
    "d?[a-z].png",
    "d!x!.png",
    "d~x.png",
    "d#x.png",
    "d&touch PWNED&.png",
    "d|touch PWNED.png",
    "d>PWNED",
    "d{a,b}.png",
    "d:e=f@g.png",
    "d 한글 이름.png",
    "d-1.2_한글.png",
];

/// Those of them that need no quotes in any shell.
const BARE: [&str; 2] = ["d:e=f@g.png", "d-1.2_한글.png"];

/// Names that no line can hold in one piece, or that look like others.
const LEFT_OUT: [&str; 5] =
    ["d\nnew line.png", "d\ttab.png", "d\u{1b}[31mred.png", "d\u{202e}gpj.exe", "d\u{200b}.png"];

/// Each name in a folder of its own, and lepo as one that records.
fn home() -> Home {
    let home = Home::new();
    write_recorder(&home);
    for (i, name) in NAMES.iter().chain(&LEFT_OUT).enumerate() {
        home.write(&format!("work/{i}/{name}"), "x");
    }
    home.write("work/dash/-d.png", "x");
    home
}

/// A program `lepo` in the path of [`typed`], which answers shells that complete and otherwise only records its words.
pub fn write_recorder(home: &Home) {
    let script = format!(
        "#!/bin/sh\nif [ -n \"$LEPO_COMPLETE\" ] || [ \"$1\" = completions ]; then exec '{}' \"$@\"; fi\n\
         printf '%s\\0' \"$@\" '|' >> \"$HOME/words\"\necho RAN\n",
        env!("CARGO_BIN_EXE_lepo")
    );
    home.write_program("bin/lepo", script);
}

/// A shell, its words, and what it is told first.
pub const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "bash --norc --noprofile -i", "source <(lepo completions bash); PS1=REA\"DY\""),
    ("zsh", "zsh -f -i", "source <(lepo completions zsh); bindkey -e; PS1=REA\"DY\""),
    (
        "fish",
        "fish --no-config -i",
        "lepo completions fish | source; function fish_prompt; printf REA'DY'; end; function fish_title; end",
    ),
];

/// The words that lepo was started with, for each of these lines typed in `work`.
pub fn typed(home: &Home, (shell, start, begin): (&str, &str, &str), lines: &[String]) -> Vec<Vec<String>> {
    let path = format!("{}:{}", home.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = home.terminal(&format!("stty cols 200; {start}"));
    command.env("PATH", path);
    let mut steps = vec![("", format!("cd '{}'; {begin}\n", home.work().display()))];
    steps.extend(lines.iter().map(|line| ("READY", format!("{line}\n"))));
    steps.push(("READY", "exit\n".into()));
    let steps: Vec<_> = steps.iter().map(|(wait, keys)| (*wait, keys.as_str())).collect();
    let shown = on_terminal(command, &steps).out;
    let words = home.read("words");
    let ran: Vec<Vec<String>> = words
        .split("|\0")
        .filter(|one| !one.is_empty())
        .map(|one| one.split_terminator('\0').map(str::to_string).collect())
        .collect();
    assert!(!shown.contains("nothing more came"), "{shell}: {shown}");
    ran
}

/// The lines by which a file of a folder is completed after what was typed of it.
fn within(folder: &str, begin: &str) -> [String; 2] {
    [format!("cd '{folder}'"), format!("lepo do --attach {begin}\t; cd ..")]
}

pub fn is_here(shell: &str) -> bool {
    let is_here = std::process::Command::new(shell).arg("--version").output().is_ok();
    if !is_here {
        crate::skip::skipped(shell, format!("no {shell} here"));
    }
    is_here
}

/// No file of this name below a folder.
fn nothing_ran(folder: &Path, shell: &str) {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            assert_ne!(entry.file_name(), "PWNED", "{shell}: a name ran");
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
}

#[test]
fn a_name_that_needs_no_quotes_reaches_lepo_as_it_is_and_no_other_is_completed() {
    for shell in SHELLS {
        if !is_here(shell.0) {
            continue;
        }
        let home = home();
        let all: Vec<&str> = NAMES.iter().chain(&LEFT_OUT).copied().collect();
        let lines: Vec<String> = (0..all.len()).flat_map(|i| within(&i.to_string(), "d")).collect();
        let ran = typed(&home, shell, &lines);
        nothing_ran(home.path(), shell.0);
        let given: Vec<&str> = ran.iter().map(|words| words[2].as_str()).collect();
        let expected: Vec<&str> =
            all.iter().map(|name| if BARE.contains(name) { name } else { "d" }).collect();
        assert_eq!(given, expected, "{}", shell.0);
    }
}

#[test]
fn a_file_name_is_completed_also_where_quotes_were_begun() {
    for shell in SHELLS {
        if !is_here(shell.0) {
            continue;
        }
        let home = home();
        let mut lines = Vec::new();
        let mut expected = Vec::new();
        for begin in ["'d-1", "\"d-1"] {
            lines.extend(within("18", begin));
            expected.push(NAMES[18]);
        }
        lines.extend(within("dash", "./"));
        expected.push("./-d.png");
        let ran = typed(&home, shell, &lines);
        nothing_ran(home.path(), shell.0);
        let given: Vec<&str> = ran.iter().map(|words| words[2].as_str()).collect();
        assert_eq!(given, expected, "{}", shell.0);
    }
}

#[test]
fn a_name_that_begins_as_an_option_does_is_offered_below_its_folder() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish"] {
        for word in ["", "-"] {
            let mut command = home.command(&["--", "lepo", "do", "--attach", word]);
            command.current_dir(home.work().join("dash")).env("LEPO_COMPLETE", shell);
            command.env("_CLAP_COMPLETE_INDEX", "3");
            let ran = run(command, b"");
            let found: Vec<&str> = ran.out.split(['\n', '\u{b}']).map(str::trim).collect();
            assert!(found.contains(&"./-d.png"), "{shell}: {}", ran.out);
            assert!(!found.contains(&"-d.png"), "{shell}: {}", ran.out);
        }
    }
}

#[test]
fn shells_are_told_only_bare_names() {
    let home = home();
    home.write("work/0/d-1.png", "x");
    home.write("work/0/d\u{2019}quote.png", "x");
    for shell in ["bash", "zsh", "fish", "elvish"] {
        for (i, name) in NAMES.iter().chain(&LEFT_OUT).enumerate() {
            let mut command = home.command(&["--", "lepo", "do", "--attach", "d"]);
            command.current_dir(home.work().join(i.to_string())).env("LEPO_COMPLETE", shell);
            command.env("_CLAP_COMPLETE_INDEX", "3");
            let found = run(command, b"").out;
            let expected = match (i, *name) {
                (0, _) => "d-1.png",
                (_, name) if BARE.contains(&name) => name,
                _ => "",
            };
            assert_eq!(found.trim().replace('\\', ""), expected, "{shell}: {name:?}");
        }
    }
}

#[test]
fn bash_puts_no_meaning_on_the_line() {
    let home = Home::new();
    home.add(&["--prev", "head"], "$(touch PWNED)");
    home.add(&["--prev", "head"], "`touch PWNED`");
    let script = "source <(lepo completions bash); COMP_LINE='lepo show 0'; COMP_POINT=11; COMP_CWORD=2; \
                  COMP_WORDS=(lepo show 0); _lepo_whole_arguments lepo 0 show; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let listed = run(home.shell(script), b"").out;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(!listed.contains("touch"), "{listed}");
}

#[test]
fn a_name_that_is_a_pattern_of_file_names_is_not_put_on_the_line() {
    let home = home();
    home.write("work/stars/d*", "x");
    home.write("work/stars/dx$(touch PWNED)", "x");
    let script = "cd stars; source <(lepo completions bash); COMP_LINE='lepo do --attach d'; COMP_POINT=18; \
                  COMP_WORDS=(lepo do --attach d); COMP_CWORD=3; COMP_TYPE=9; \
                  _lepo_whole_arguments lepo d --attach; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let found = run(home.shell(script), b"").out;
    assert_eq!(found, "\n");
}

#[test]
fn each_argument_that_takes_a_path_offers_only_bare_names() {
    fn lines(command: &Command, names: &[String], found: &mut Vec<Vec<String>>) {
        let is_path = |arg: &&Arg| {
            !matches!(arg.get_value_hint(), ValueHint::Unknown | ValueHint::Other | ValueHint::Url)
        };
        let own = command.get_arguments().filter(|arg| names.is_empty() || !arg.is_global_set());
        for arg in own.filter(is_path) {
            let before = match (arg.get_long(), arg.get_index()) {
                (Some(long), _) => vec![format!("--{long}")],
                (None, index) => vec!["x".to_string(); index.unwrap() - 1],
            };
            found.push([names, &before[..], &["d".to_string()]].concat());
        }
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            lines(inner, &[names, &[inner.get_name().to_string()]].concat(), found);
        }
    }
    let mut root = lepo::cli::command();
    root.build();
    let mut all = Vec::new();
    lines(&root, &[], &mut all);
    let home = Home::new();
    for name in NAMES.iter().chain(&LEFT_OUT) {
        home.write(&format!("work/{name}"), "x");
        home.write(&format!("work/{name}dir/x"), "x");
    }
    home.write("work/d-dir/x", "x");
    let (count, mut offered) = (all.len(), 0);
    for line in all {
        let args: Vec<&str> = ["--", "lepo"].into_iter().chain(line.iter().map(String::as_str)).collect();
        let mut command = home.command(&args);
        command.env("LEPO_COMPLETE", "fish");
        let found = run(command, b"").out;
        let values: Vec<&str> = found.lines().map(|line| line.split('\t').next().unwrap()).collect();
        offered += usize::from(values.contains(&"d-dir/"));
        let is_bare = |value: &str| value.chars().all(|c| c.is_alphanumeric() || "-_./:@,+=%".contains(c));
        assert!(values.iter().all(|value| is_bare(value)), "{line:?}: {values:?}");
    }
    // All but the argument of `import`, which offers formats.
    assert!(count > 15 && offered + 1 == count, "{offered} of {count}");
}

#[test]
fn an_argument_in_quotes_completes_as_without() {
    for shell in SHELLS {
        if !is_here(shell.0) {
            continue;
        }
        let home = home();
        home.write("notes/plan.md", "x");
        home.write("work/plain.md", "x");
        let in_home = home.path().join("notes/plan.md").display().to_string();
        for (shells, line, expected) in [
            ("bash zsh fish", "do --attach ~/not\tpl\t", ["do", "--attach", &in_home]),
            ("bash zsh fish", "\"do\" --att\t pla\t", ["do", "--attach", "plain.md"]),
            ("bash zsh", "do --attach pl\\a\t", ["do", "--attach", "plain.md"]),
            ("bash zsh fish", "do --attach p'la\t", ["do", "--attach", "plain.md"]),
            ("bash zsh fish", "do \"--color=al\t ", ["do", "--color=always", ""]),
            ("bash", "do --color=\"al\t", ["do", "--color=always", ""]),
        ] {
            if !shells.split(' ').any(|name| name == shell.0) {
                continue;
            }
            let _ = std::fs::remove_file(home.path().join("words"));
            let ran = typed(&home, shell, &[format!("lepo {line}")]);
            assert_eq!(ran.concat().join(" "), expected.join(" ").trim_end(), "{}: {line:?}", shell.0);
        }
    }
}

#[test]
fn files_and_folders_are_in_one_order() {
    let home = Home::new();
    for name in ["a/x", "b.txt", "c/y", "d.txt"] {
        home.write(&format!("work/all/{name}"), "x");
    }
    let mut command = home.command(&["--", "lepo", "do", "--attach", "all/"]);
    command.env("LEPO_COMPLETE", "fish");
    assert_eq!(run(command, b"").out, "all/a/\nall/b.txt\nall/c/\nall/d.txt\n");
}

#[test]
fn a_host_is_no_address() {
    let home = home();
    home.write("hosts", "127.0.0.1 onlyhost\n");
    let lines = ["HOSTFILE=\"$HOME/hosts\"", "lepo show @on\t"].map(String::from);
    assert_eq!(typed(&home, SHELLS[0], &lines), [["show", "@on"]]);
}
