//! `edit`: a sibling and nothing else, with every editor and in every place.

use crate::home::{Home, run};

/// `edit` with this editor, without a terminal.
fn edit(home: &Home, editor: &str, address: &str) -> crate::home::Ran {
    let mut command = home.detached(&["edit", address]);
    command.env("EDITOR", editor);
    run(command, b"")
}

#[test]
fn an_edited_bubb_is_a_sibling_of_its_own_kind() {
    let home = Home::new();
    let root = home.add(&["--kind", "s"], "Be brief.");
    let question = home.add(&[], "What is one?\n");
    let hidden = home.add(&["--kind", "a", "--hidden"], "one 한글");
    for (of, tag, prev) in
        [(&hidden, "a1", question.as_str()), (&question, "u0", &root), (&root, "s0", "head")]
    {
        let ran = edit(&home, "sed -i s/e/E/", of);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let name = format!("{}-{tag}-{prev}.md", ran.out.trim());
        assert!(home.bubbs().contains(&name), "{name} {:?}", home.bubbs());
    }
    assert_eq!(home.ok(&["show", "--one", &question]), "What is one?\n");
    assert_eq!(home.ok(&["show", "--one", "@"]), "BE brief.");
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn the_journal_knows_what_an_edited_message_is_a_copy_of() {
    let home = Home::new();
    let question = home.add(&[], "What is one?");
    let answer = home.add(&["--kind", "a"], "one");
    let request = home.add(&["--kind", "a", "--hidden"], r#"{"lepo":"run","command":"ls"}"#);
    let copy_of = |id: &str| {
        let journal = home.read("work/.lepo/_journal.ndjson");
        let lines = journal.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut lines = lines.filter(|line| line["bubb"] == id);
        lines.find_map(|line| line["copy_of"].as_str().map(str::to_string))
    };
    for original in [&question, &answer, &request] {
        let ran = edit(&home, "sed -i s/o/O/", original);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(copy_of(ran.out.trim()).as_ref(), Some(original));
    }
    // Another text of a request is another request, which waits as the first does.
    let canonical = r#"{"access":"read","command":"ls -l"}"#;
    let request = home.add(&["--kind", "a", "--hidden"], canonical);
    let ran = edit(&home, "sed -i s/-l/-a/", &request);
    assert_eq!((ran.code, copy_of(ran.out.trim())), (0, None), "{}", ran.err);
}

#[test]
fn what_did_not_change_or_failed_writes_nothing() {
    let home = Home::new();
    home.add(&[], "one");
    for (editor, says) in [
        ("true", "did not change"),
        ("sh -c 'echo >> \"$0\"'", "did not change"),
        ("sh -c 'echo two > \"$0\"; exit 3'", "exited with exit status: 3"),
        ("no-such-editor", "exited with exit status: 127"),
        ("rm", "cannot use the editor"),
        ("truncate -s0", "the text is empty"),
    ] {
        let ran = edit(&home, editor, "@");
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{editor} {}", ran.err);
        assert!(ran.err.contains(says), "{editor}: {}", ran.err);
    }
    assert_eq!(home.bubbs().len(), 1);
}

#[test]
fn the_newline_that_editors_add_is_not_part_of_the_text() {
    for (before, left, after) in [
        ("one", "two\n", "two"),
        ("one", "two\n\n", "two\n"),
        ("one", "two", "two"),
        ("one\n", "two\n", "two\n"),
        ("one\n", "one", "one"),
        ("one\n", "one\n\n", "one\n\n"),
    ] {
        let home = Home::new();
        home.add(&[], before);
        home.write("left", left);
        let ran = edit(&home, "cp ../left", "@");
        assert_eq!(ran.code, 0, "{before:?} {left:?}: {}", ran.err);
        assert_eq!(home.ok(&["show", "--one", ran.out.trim()]), after, "{before:?} {left:?}");
    }
}

#[test]
fn visual_wins_and_an_empty_one_does_not() {
    let home = Home::new();
    home.add(&[], "one");
    for (visual, after) in [("sed -i s/one/visual/", "visual"), ("", "editor")] {
        let first = home.bubbs()[0].split('-').next().unwrap().to_string();
        let mut command = home.detached(&["edit", &first]);
        command.env("VISUAL", visual).env("EDITOR", "sed -i s/one/editor/");
        let ran = run(command, b"");
        assert_eq!(home.ok(&["show", "--one", ran.out.trim()]), after, "{}", ran.err);
    }
}

#[test]
fn stdout_carries_the_id_alone_and_the_copy_is_private_and_gone() {
    let home = Home::new();
    home.add(&[], "one");
    let ran = edit(&home, "sh -c 'echo noise; echo $0; stat -c %a \"$0\"; echo two > \"$0\"'", "@");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.trim(), home.ok(&["resolve", "@"]).trim());
    let texts: Vec<&str> = ran.err.lines().collect();
    assert_eq!((texts[0], texts[2]), ("noise", "600"));
    assert!(texts[1].ends_with(".md") && !std::path::Path::new(texts[1]).exists(), "{}", texts[1]);
}

#[test]
fn in_a_pipe_the_editor_has_the_terminal() {
    let home = Home::new();
    home.add(&[], "one");
    home.write(
        "work/editor",
        "#!/bin/sh\ntest -t 0 && test -t 1 && echo \"$(cat \"$1\") on a terminal\" > \"$1\"\n",
    );
    let script = "chmod +x editor; export EDITOR=./editor; echo words | lepo edit @ | cat > id";
    let ran = run(home.terminal(script), b"");
    assert_eq!(ran.code, 0, "{}", ran.out);
    let id = std::fs::read_to_string(home.work().join("id")).unwrap();
    assert_eq!(home.ok(&["show", "--one", id.trim()]), "one on a terminal");
}

#[test]
fn ctrl_c_is_the_editors() {
    let home = Home::new();
    home.add(&[], "one");
    let ran = edit(&home, "kill -INT $PPID; kill -QUIT $PPID; sed -i s/one/two/", "@");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.ok(&["show", "--one", "@"]), "two");
}

#[test]
fn text_on_stdin_or_in_a_file_is_the_new_text() {
    let home = Home::new();
    let question = home.add(&[], "one");
    home.write("work/new.txt", "from a file\n");
    let ran = |args: &[&str], editor: &str, stdin: &[u8]| {
        let mut command = home.detached(args);
        command.env_remove("VISUAL").env("EDITOR", editor);
        run(command, stdin)
    };
    for (args, editor, stdin, text) in [
        (&["edit", &question][..], "", &b"piped\n"[..], "piped"),
        (&["edit", &question, "--file", "-"], "sed -i s/one/editor/", b"by option\n", "by option"),
        (&["edit", &question, "-f", "new.txt"], "sed -i s/one/editor/", b"", "from a file"),
        // Who names an editor means it, also in a loop whose stdin is a list.
        (&["edit", &question], "sed -i s/one/editor/", b"a list\n", "editor"),
        (&["edit", "-", "-f", "new.txt"], "", question.as_bytes(), "from a file"),
    ] {
        let ran = ran(args, editor, stdin);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert_eq!(home.ok(&["show", "--one", ran.out.trim()]), text, "{args:?}");
    }
    let count = home.bubbs().len();
    for (args, stdin, code, says) in [
        (&["edit", &question][..], &b""[..], 2, "there is no terminal for an editor"),
        (&["edit", "-"], question.as_bytes(), 2, "there is no terminal for an editor"),
        (&["edit", "-", "--file", "-"], question.as_bytes(), 2, "both the address and the text"),
        (&["edit", &question, "--file", "gone.txt"], b"", 2, "cannot read gone.txt"),
        (&["edit", &question, "--file", "-"], b"", 1, "the text is empty"),
        (&["edit", &question, "--file", "-"], b"one", 1, "did not change"),
    ] {
        let ran = ran(args, "", stdin);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{args:?} {}", ran.err);
        assert!(ran.err.contains(says), "{args:?} {}", ran.err);
        assert_eq!(ran.err.contains("lepo edit ADDR --file FILE"), says.contains("terminal"), "{}", ran.err);
    }
    assert_eq!(home.bubbs().len(), count);
}

#[test]
fn no_command_starts_vi_without_a_terminal() {
    let home = Home::new();
    home.write("work/bin/vi", "#!/bin/sh\ntouch \"$HOME/TRIPPED\"\n");
    let vi = home.work().join("bin/vi");
    std::fs::set_permissions(&vi, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    home.add(&[], "one");
    for args in [&["edit", "@"][..], &["prompt", "edit", "p"], &["config", "--edit"]] {
        let mut command = home.detached(args);
        let path = format!("{}:{}", home.work().join("bin").display(), std::env::var("PATH").unwrap());
        command.env_remove("VISUAL").env_remove("EDITOR").env("PATH", path);
        let ran = run(command, b"");
        assert_eq!(ran.code, 2, "{args:?} {}", ran.err);
        assert!(ran.err.contains("there is no terminal for an editor"), "{args:?} {}", ran.err);
    }
    assert!(!home.path().join("TRIPPED").exists());
}
