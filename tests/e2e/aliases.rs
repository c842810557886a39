//! `[alias]`: words of the user's own for commands.

use crate::home::Home;
use crate::pty::on_terminal;

const CONFIG: &str = "[alias]\nl = \"ls -n 1\"\ntop = \"l --paths\"\nls = \"show\"\nround = \"about\"\nabout = \"round\"\n\
    here = \"-s other root\"\n";

#[test]
fn an_alias_stands_for_a_command_and_its_options() {
    let home = Home::with_config(CONFIG);
    home.add(&[], "first");
    let id = home.add(&["--prev", "head"], "second 둘째");
    let line = format!("{id} (1): second 둘째\n");
    assert_eq!(home.ok(&["l"]), line);
    assert_eq!(home.ok(&["-c", ".", "l"]), line);
    // Further words are added, and an alias may begin with another.
    assert!(home.ok(&["l", "--paths"]).contains(&id) && home.ok(&["top"]).contains(&id));
    assert!(home.ok(&["l", "--help"]).contains("List the conversations"));
    // A command's own name is the command.
    assert_eq!(home.ok(&["ls"]).lines().count(), 2);
    let shown = home.ok(&["config"]);
    let ignored = |line: &&str| line.ends_with(", ignored: a command has that name");
    assert_eq!(shown.lines().filter(ignored).count(), 1, "{shown}");
    assert!(shown.contains("alias.ls = show  # ") && shown.contains("alias.l = ls -n 1  # "), "{shown}");
    // Options before a command, as on any line.
    assert_eq!(home.lepo(&["here"]).code, 1);
    let ran = home.lepo(&["round"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("expands to itself"), "{}", ran.err);
    let ran = home.lepo(&["help", "top"]);
    assert!(ran.code == 0 && ran.out.starts_with("List the conversations"), "{}", ran.out);
    assert_eq!(ran.err, "top is an alias for: lepo ls -n 1 --paths\n");
    // A word that is no alias is looked for as ever.
    assert!(home.lepo(&["shwo"]).err.contains("did you mean `lepo show`"));
}

#[test]
fn an_alias_is_checked_and_only_the_users() {
    for (line, said) in [
        ("r = 3", "is not a text"),
        ("r = \"\"", "cannot be taken apart"),
        ("r = \"do 'x\"", "cannot be taken apart"),
        ("\"a b\" = \"ls\"", "an alias cannot be"),
        ("\"-r\" = \"ls\"", "an alias cannot be"),
    ] {
        let ran = Home::with_config(&format!("[alias]\n{line}\n")).lepo(&["config"]);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.err.contains("config.toml:2") && ran.err.contains(said), "{line}: {}", ran.err);
    }
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/_config.toml", "[alias]\nl = \"ls\"\n");
    assert_eq!(home.lepo(&["l"]).code, 2);
    // It cannot be trusted, so it stops no other command.
    let ran = on_terminal(home.terminal("lepo trust"), &[]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.out.contains("not allowed in a repository's file"), "{}", ran.out);
    assert_eq!(home.lepo(&["config"]).code, 0);
}
