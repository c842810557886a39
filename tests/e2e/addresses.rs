//! Ranges and `-`: bubbs named by other programs' output.

use crate::home::{Home, Ran, run};

/// Runs a shell line in the home, with `lepo` as a command.
pub fn shell(home: &Home, line: &str) -> Ran {
    let mut command = std::process::Command::new("bash");
    command.args([
        "-o",
        "pipefail",
        "-c",
        &format!("lepo() {{ '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_lepo")),
    ]);
    command.current_dir(home.work());
    run(command, b"")
}

/// A question with two answers, the second gone on from.
fn fork(home: &Home) -> [String; 5] {
    let root = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "prompt");
    let question = home.add(&[], "왜 panic 이 날까?");
    let first = home.add(&["--kind", "a"], "one");
    let second = home.add(&["--kind", "a", "--prev", &question], "둘");
    let more = home.add(&[], "and then?");
    [root, question, first, second, more]
}

#[test]
fn a_message_without_an_address_follows_what_the_newest_address_names() {
    let home = Home::new();
    let [.., more] = fork(&home);
    let hidden = home.add(&["--kind", "a", "--hidden"], "cut");
    let ahead = home.add(&["--prev", "head", "--time", "2199-01-01"], "from a wrong clock");
    for args in [&[][..], &["--prev", "@"]] {
        let newest = home.ok(&["resolve", "@"]).trim().to_string();
        assert_ne!(newest, ahead);
        let id = home.add(args, "next");
        let name = home.bubbs().into_iter().find(|name| name.starts_with(&id)).unwrap();
        assert!(
            name.ends_with(&format!("-{newest}.md")),
            "{args:?}: {name} follows {newest}, not {more} or {hidden}"
        );
    }
}

#[test]
fn a_range_is_shown_alone() {
    let home = Home::new();
    let [root, question, first, second, more] = fork(&home);
    let range = format!("{first}..@");
    assert_eq!(
        home.ok(&["show", &range]),
        format!("# assistant {second}\n둘\n\n# user {more}\nand then?\n\n")
    );
    assert_eq!(home.ok(&["show", "--one", &range]), "둘and then?");
    assert_eq!(home.ok(&["resolve", &range]), format!("{second}\n{more}\n"));
    assert_eq!(home.ok(&["resolve", &format!("@..{first}")]), format!("{first}\n"));
    let path = format!(".lepo/{second}-a0-{question}.md");
    assert_eq!(home.ok(&["resolve", &format!("{root}..{path}")]), format!("{question}\n{second}\n"));
    std::fs::create_dir(home.work().join("sub")).unwrap();
    assert_eq!(home.ok(&["-c", "sub", "resolve", &format!("../{path}")]), format!("{second}\n"));
}

#[test]
fn dash_takes_what_other_programs_print() {
    let home = Home::new();
    let [_, question, first, second, more] = fork(&home);
    let lines = format!("\n  {first} \r\n.lepo/{second}-a0-{question}.md\n\n@^..@\n");
    let ran = home.lepo_with(&["resolve", "-"], lines.as_bytes());
    assert_eq!((ran.code, ran.out), (0, format!("{first}\n{second}\n{more}\n")));
    let ran = shell(&home, "lepo ls | head -1 | cut -d' ' -f1 | lepo show -");
    assert_eq!((ran.code, ran.out), (0, home.ok(&["show"])));
    let ran = shell(&home, "grep -l 둘 .lepo/*.md | lepo show --one -");
    assert_eq!((ran.code, ran.out.as_str()), (0, "둘"));
    let ran = shell(&home, "lepo show --paths @ | xargs grep -n then");
    assert_eq!((ran.code, ran.out), (0, format!(".lepo/{more}-u0-{second}.md:1:and then?\n")));
    let ran = shell(&home, "lepo resolve --path @^ | xargs cat");
    assert_eq!((ran.code, ran.out.as_str()), (0, "둘"));
}

#[test]
fn one_bad_address_on_stdin_is_an_error_before_anything_is_printed() {
    let home = Home::new();
    let [.., more] = fork(&home);
    for bad in ["nobody", "-", ".lepo/README.md", "..@"] {
        let ran = home.lepo_with(&["resolve", "-"], format!("{more}\n{bad}\n").as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{bad}: {}", ran.err);
    }
    assert_eq!(home.lepo_with(&["resolve", "-"], b"\xff\xfe\n").code, 2);
}

#[test]
fn an_error_is_one_line_whatever_a_file_is_called() {
    let home = Home::new();
    let ids = [home.add(&["--prev", "head"], "a"), home.add(&["--prev", "head"], "b")];
    for args in [
        &["-c", "no\nsuch", "ls"][..],
        &["do", "-f", "no\nsuch", "q"],
        &["export", "--format", "html", "-o", "no\nsuch/x.html"],
        &["config", "--import", "no\nsuch"],
    ] {
        let ran = home.lepo(args);
        assert_ne!(ran.code, 0, "{args:?}");
        let total = ran.err.lines().filter(|line| line.starts_with("error: ")).count();
        assert!(total == 1 && ran.err.contains("no␊such"), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("no\nsuch"), "{args:?}: {}", ran.err);
    }
    // The meanings of an address stand in lines below.
    let ran = home.lepo(&["show", &ids[0][..5]]);
    assert!(
        ran.err.contains(&format!(" messages:\n  {} u0\n  {} u0\nhint: ", ids[1], ids[0])),
        "{}",
        ran.err
    );
}

#[test]
fn a_path_that_is_no_text_is_printed_and_read_as_it_is() {
    let home = Home::new();
    let line = "cd \"$(printf 'a\\377b')\" && lepo init 2> /dev/null && echo hi | lepo add > id && \
        test -d \"$(lepo root)\" && mkdir sub && cd sub && S=\"$(printf 's\\377')\" && \
        echo x | lepo -s \"$S\" add > /dev/null && for list in 'ls --paths' 'show --paths' 'resolve --path @' \
        'grep -l x' 'rm -n @'; do test -f \"$(lepo -s \"$S\" $list)\" || { echo $list; exit 1; }; done && \
        lepo -s \"$S\" ls --paths | lepo -s \"$S\" show --one -";
    assert!(shell(&home, "mkdir \"$(printf 'a\\377b')\"").code == 0);
    let ran = shell(&home, line);
    assert_eq!((ran.code, ran.out.as_str()), (0, "x\n"), "{}", ran.err);
}

#[test]
fn a_caret_steps_over_hidden_bubbs_and_show_json_has_every_prev() {
    let home = Home::new();
    let root = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "prompt");
    let question = home.add(&[], "question");
    let call = home.add(&["--kind", "a", "--hidden"], r#"{"access":"read","command":"ls"}"#);
    let result = home.add(&["--kind", "t", "--hidden"], "result");
    let answer = home.add(&["--kind", "a"], "answer");
    for address in ["@^", "@~1", &format!("{answer}^")] {
        assert_eq!(home.ok(&["resolve", address]).trim(), question, "{address}");
    }
    for (options, ids) in [
        (&["--json"][..], vec![&question, &answer]),
        (&["--json", "-a"], vec![&root, &question, &call, &result, &answer]),
    ] {
        let document: serde_json::Value =
            serde_json::from_str(&home.ok(&[&["show"], options].concat())).unwrap();
        let found: Vec<_> =
            document["bubbs"].as_array().unwrap().iter().map(|bubb| (&bubb["id"], &bubb["prev"])).collect();
        let prev =
            |id: &String| match [&root, &question, &call, &result, &answer].iter().position(|one| *one == id)
            {
                Some(0) | None => serde_json::Value::Null,
                Some(at) => [&root, &question, &call, &result][at - 1].clone().into(),
            };
        let expected: Vec<_> =
            ids.into_iter().map(|id| (serde_json::Value::from(id.clone()), prev(id))).collect();
        assert_eq!(found, expected.iter().map(|(id, prev)| (id, prev)).collect::<Vec<_>>(), "{options:?}");
    }
}
