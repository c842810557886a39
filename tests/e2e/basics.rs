//! `init`, `add`, `ls`, `show`, `resolve`: the store from outside.

use crate::disk::put;
use crate::home::Home;

#[test]
fn a_conversation_written_by_hand_is_listed_and_shown() {
    let home = Home::new();
    home.ok(&["init"]);
    let first = home.add(&[], "What is the capital of France, please?");
    let second = home.add(&["--kind", "a"], "Paris.\n");
    assert_eq!(home.ok(&["ls"]), format!("{second} (2): What is the  ... nce, please?\n"));
    assert_eq!(
        home.ok(&["show"]),
        format!("# user {first}\nWhat is the capital of France, please?\n\n# assistant {second}\nParis.\n\n")
    );
    assert_eq!(home.ok(&["show", "--one", "@"]), "Paris.\n");
    assert_eq!(home.ok(&["resolve", "@^", &second[18..]]), format!("{first}\n{second}\n"));
    assert_eq!(home.ok(&["resolve", "--path", "@"]), format!(".lepo/{second}-a0-{first}.md\n"));
}

#[test]
fn init_twice_changes_nothing() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/_insts.toml", "general = 'mine'\n");
    let again = home.lepo(&["init"]);
    assert_eq!(again.code, 0);
    assert!(again.err.contains("nothing changed"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(home.work().join(".lepo/_insts.toml")).unwrap(), "general = 'mine'\n");
}

#[test]
fn no_store_is_exit_1_with_a_hint() {
    let home = Home::new();
    for args in [&["ls"][..], &["show"], &["resolve", "@"]] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(ran.err.contains("hint: "), "{}", ran.err);
    }
}

#[test]
fn help_and_version_win_over_everything() {
    let home = Home::new();
    for (args, begins) in [
        (&["-v"][..], "lepo 0."),
        (&["ls", "--nonsense", "-v"], "lepo 0."),
        (&["--new", "--tail", "x", "--version"], "lepo 0."),
        (&["ls", "-v", "--help"], "List the conversations"),
        (&["--help"], "Conversations with language models"),
        (&["help"], "Conversations with language models"),
        (&["help", "help"], "Conversations with language models"),
        (&["help", "model", "use"], "Make a model active"),
        (&["-t", "show", "-h"], "Conversations with language models"),
        (&["model", "use", "x", "--help"], "Make a model active"),
    ] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert!(ran.out.starts_with(begins), "{args:?}: {}", ran.out);
    }
    // A screen, also from a cluster of short options.
    assert_eq!(home.ok(&["do", "-nh"]), home.ok(&["do", "-h"]));
    for (args, said) in [
        (&["help", "bogus"][..], "unknown command \"bogus\""),
        (&["help", "shwo"], "did you mean `lepo show`?"),
        (&["help", "model", "bogus"], "`lepo model` has no subcommand \"bogus\""),
    ] {
        let ran = home.lepo(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_verbose_version_says_what_was_built_and_what_holds_commands_here() {
    let home = Home::new();
    // A package for another processor is tried under an emulator (scripts/test-package).
    let emulated = std::env::var_os("LEPO_EMULATED").is_some();
    let processor = if emulated { "aarch64" } else { std::env::consts::ARCH };
    for args in [&["--version", "--verbose"][..], &["--verbose", "-v"], &["ls", "--verbose", "--version"]] {
        let out = home.ok(args);
        let lines: Vec<&str> = out.lines().collect();
        let [version, target, programs, sandbox] = lines[..] else { panic!("{args:?}: {out}") };
        assert_eq!(version, concat!("lepo ", env!("CARGO_PKG_VERSION")));
        assert!(target.starts_with(&format!("target    {processor}-")), "{target}");
        // A packaged program may be built without the model.
        assert!(
            ["programs  lepo-", "programs  none"].iter().any(|known| programs.starts_with(known)),
            "{programs}"
        );
        let known = ["bubblewrap (/", "Landlock", "none: "];
        assert!(known.iter().any(|known| sandbox.starts_with(&format!("sandbox   {known}"))), "{sandbox}");
    }
    // A PATH without bubblewrap has none; it is no option without the version.
    let ran = home.command(&["--version", "--verbose"]).env("PATH", home.work()).output().unwrap();
    assert!(!String::from_utf8_lossy(&ran.stdout).contains("bubblewrap"));
    assert_eq!(home.lepo(&["ls", "--verbose"]).code, 2);
}

/// Whatever its letters are: `-cdocs` is a directory and not the option that its last letter names.
#[test]
fn a_value_glued_to_its_option_takes_no_command_word() {
    let home = Home::new();
    for letter in 'a'..='z' {
        let dir = format!("do{letter}");
        std::fs::create_dir(home.work().join(&dir)).unwrap();
        let ran = home.lepo(&[&format!("-c{dir}"), "init"]);
        assert_eq!((ran.code, ran.err), (0, "made .lepo\n".into()), "{dir}");
        assert!(home.work().join(&dir).join(".lepo").is_dir(), "{dir}");
        assert_eq!(home.ok(&[&format!("-vs{dir}"), "ls"]).split(' ').next(), Some("lepo"), "{dir}");
    }
}

#[test]
fn a_wrong_command_line_is_told_in_plain_words() {
    let home = Home::new();
    for (args, said) in [
        (&["ls", "-n", "x"][..], "expected a whole number"),
        (&["log", "-n", ""], "expected a whole number"),
        (&["tidy", "--keep", "99999999999999999999"], "the number is too large"),
        (&["do", "--max-tokens", "0", "q"], "0 is too small: the minimum is 1"),
        (&["sync", "--watch", "0"], "0 is too small: the minimum is 1"),
    ] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
    }
    // A document says what is missing.
    let ran = home.lepo(&["grep", "--json"]);
    assert!(ran.out.contains("missing PATTERN"), "{}", ran.out);
    let short = home.ok(&["export", "-h"]);
    assert!(
        short.contains("--format <FORMAT>  The format to write [possible values: markdown, json"),
        "{short}"
    );
}

#[test]
fn hints_are_for_the_store_that_was_named() {
    let home = Home::new();
    home.ok(&["-s", "./my notes", "init"]);
    let ran = home.lepo(&["-s", "else", "ls"]);
    assert!(ran.err.contains("hint: `lepo -s else init` makes it"), "{}", ran.err);
    let ran = home.lepo(&["-s", "my notes", "show", "@"]);
    assert!(ran.err.ends_with("hint: ask something first: lepo -s 'my notes' do QUESTION\n"), "{}", ran.err);
    std::fs::create_dir(home.work().join("sub folder")).unwrap();
    let ran = home.lepo(&["-c", "sub folder", "ls"]);
    assert!(ran.err.contains("hint: `lepo -c 'sub folder' init` makes one"), "{}", ran.err);
    home.ok(&["-c", "sub folder", "-s", "./my notes", "init"]);
    let ran = home.lepo(&["-c", "sub folder", "-s", "my notes", "show", "@"]);
    let command = "lepo -c 'sub folder' -s 'my notes' do QUESTION\n";
    assert!(ran.err.ends_with(&format!("hint: ask something first: {command}")), "{}", ran.err);
    let ran = home.lepo(&["-s", "my notes", "rm", "01JB3Z"]);
    assert_eq!(ran.code, 2);
    std::fs::create_dir_all(home.work().join("project/.lepo")).unwrap();
    for (project, command) in [("project", "add"), (home.work().join("project").to_str().unwrap(), "ls")] {
        let ran = home.lepo_with(&["-s", project, command], b"text");
        assert!(ran.code == 2 && ran.err.contains(&format!("-s {project}/.lepo")), "{}", ran.err);
        assert_eq!(std::fs::read_dir(home.work().join("project")).unwrap().count(), 1);
    }
    // A store in which one asked has both.
    std::fs::create_dir_all(home.work().join("my notes/.lepo")).unwrap();
    assert_eq!(home.lepo(&["-s", "my notes", "ls"]).code, 0);
    // A document, a command behind a colon, and a line that is no error.
    let ran = home.lepo(&["-s", "else", "ls", "--json"]);
    assert!(ran.out.contains("`lepo -s else init` makes it"), "{}", ran.out);
    home.lepo_with(&["-s", "my notes", "add", "--kind", "u"], b"q");
    home.ok(&["-s", "my notes", "branch", "b", "@"]);
    let ran = home.lepo(&["-s", "my notes", "branch", "b", "@"]);
    assert!(ran.err.ends_with("hint: to move it: lepo -s 'my notes' branch -f b @\n"), "{}", ran.err);
    // A program of the user's may not know the option; without one, the word is no command.
    let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
    home.write_program("bin/lepo-mine", "#!/bin/sh\n");
    for (word, message) in [
        ("mine", "the program lepo-mine does not accept --save-to"),
        ("nonesuch", "unknown command \"nonesuch\", and no program lepo-nonesuch in PATH"),
    ] {
        let mut command = home.command(&["-s", "my notes", word, "more"]);
        command.env("PATH", &path);
        let ran = crate::home::run(command, b"");
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}

#[test]
fn what_bears_a_bubbs_name_without_being_one_is_no_bubb() {
    let home = Home::new();
    let real = home.add(&[], "hello");
    let store = home.work().join(".lepo");
    let name = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}-u0-{real}.md");
    let status = std::process::Command::new("mkfifo").arg(store.join(name('A'))).status().unwrap();
    assert!(status.success());
    std::fs::create_dir(store.join(name('B'))).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", store.join(name('C'))).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(store.join(name('D'))).unwrap();
    std::fs::write(store.join("notes.md"), "foreign").unwrap();
    assert_eq!(home.ok(&["ls"]), format!("{real} (1): hello\n"));
}

#[test]
fn a_name_in_lower_case_is_read() {
    let home = Home::new();
    let root = home.add(&[], "one");
    let name = format!("{}-a0-{}.md", "01jb3z0q4n8v2k5t7w9x1y3z5a", root.to_lowercase());
    home.write(&format!("work/.lepo/{name}"), "two\n");
    assert_eq!(home.ok(&["show", "--one", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A"]), "two\n");
    assert_eq!(
        home.ok(&["show", "--paths", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A"]).lines().last().unwrap(),
        format!(".lepo/{name}")
    );
}

#[test]
fn a_missing_prev_and_a_circle_are_warned_of() {
    let home = Home::new();
    home.ok(&["init"]);
    let [a, b, gone] = ["A", "B", "C"].map(|end| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}"));
    home.write(&format!("work/.lepo/{a}-u0-{gone}.md"), "left");
    let ran = home.lepo(&["show", &a]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains(&format!("message {gone} not found: incomplete conversation")), "{}", ran.err);
    home.write(&format!("work/.lepo/{gone}-u0-{b}.md"), "c");
    home.write(&format!("work/.lepo/{b}-u0-{a}.md"), "b");
    let ran = home.lepo(&["show", &a]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("incomplete conversation"), "{}", ran.err);
}

#[test]
fn a_store_is_found_in_a_parent_and_made_elsewhere_on_wish() {
    let home = Home::new();
    let id = home.add(&[], "hello");
    std::fs::create_dir(home.work().join("sub")).unwrap();
    assert_eq!(home.ok(&["-c", "sub", "ls"]), format!("{id} (1): hello\n"));
    assert!(home.ok(&["-c", "sub", "resolve", "--path", "@"]).starts_with("../.lepo/"));
    let other = home.add(&["--save-to", ".lepo/other"], "other");
    assert_eq!(home.ok(&["-s", ".lepo/other", "ls"]), format!("{other} (1): other\n"));
    for bad in ["/tmp/x", "../x", "", ".git", "a\nb", "link/x"] {
        std::os::unix::fs::symlink("/tmp", home.work().join("link")).ok();
        assert_eq!(home.lepo_with(&["-s", bad, "add"], b"x").code, 2, "{bad:?}");
    }
    // A command that only reads takes any path.
    let path = home.work().join(".lepo");
    let path = path.to_str().unwrap();
    home.ok(&["title", "@", "Greeting"]);
    assert_eq!(home.ok(&["--store", path, "title", "@"]), "Greeting\n");
    assert!(home.ok(&["--store", path, "rm", "-n", "@"]).contains(&id));
    for args in [&["prompt", "ls"][..], &["mcp", "ls"], &["config"]] {
        home.ok(&[&["--store", path], args].concat());
    }
    for args in [&["title", "@", "New"][..], &["rm", "-y", "@"], &["title", "-d", "@"]] {
        let ran = home.lepo(&[&["--store", path], args].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains("is absolute") && !ran.err.contains("error: --save-to"), "{}", ran.err);
    }
}

#[test]
fn a_store_that_is_a_file_is_told() {
    let home = Home::new();
    home.write("work/.lepo", "a file");
    for args in [&["ls"][..], &["init"], &["add"]] {
        let ran = home.lepo_with(args, b"x");
        assert_eq!(ran.code, 5, "{args:?} {}", ran.err);
        assert!(ran.err.contains("is not a directory"), "{}", ran.err);
    }
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let home = Home::new();
    home.ok(&["init"]);
    for i in 0..200 {
        put(&home, 1_760_599_230_000 + i, "u0", "head", &format!("question {i}"));
    }
    let script = format!("'{}' ls | head -1", env!("CARGO_BIN_EXE_lepo"));
    let mut command = std::process::Command::new("bash");
    command.args(["-o", "pipefail", "-c", &script]).current_dir(home.work());
    let ran = crate::home::run(command, b"");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ran.out.lines().count(), 1);
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let home = Home::new();
    home.add(&[], "hello");
    let mut command = home.command(&["ls"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));
    for args in [&["--version"][..], &["-v"], &["-h"], &["--help"], &["help", "ls"], &["ls", "-h"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = home.command(args).stdout(full).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{args:?} {err}");
        assert!(err.starts_with("error: cannot write the output: "), "{args:?} {err}");
    }
}
