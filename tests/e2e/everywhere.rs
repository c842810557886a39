//! `--everywhere`: all stores that this user's lepo has written to, and the list of them.

use serde_json::Value;

use crate::home::{Home, run};

/// A home with two projects, `a` and `b`, each with a question.
fn two_projects() -> Home {
    let home = Home::new();
    for project in ["a", "b"] {
        std::fs::create_dir(home.work().join(project)).unwrap();
        home.ok(&["--cd", project, "init"]);
        home.add(&["--cd", project], &format!("시간대 question of {project}"));
    }
    home
}

#[test]
fn every_store_that_was_written_to_is_searched_and_listed_with_its_project() {
    let home = two_projects();
    let found = home.ok(&["grep", "--everywhere", "시간대"]);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    // The store that was written to last comes first.
    assert!(lines[0].starts_with("~/work/b 0") && lines[0].ends_with("시간대 question of b"), "{found}");
    assert!(lines[1].starts_with("~/work/a 0"), "{found}");
    assert_eq!(home.ok(&["grep", "--everywhere", "-n", "1", "question"]).lines().count(), 1);
    assert_eq!(home.lepo(&["grep", "--everywhere", "nowhere"]).code, 1);
    let json = home.ok(&["grep", "--everywhere", "--json", "of a"]);
    let document: Value = serde_json::from_str(json.trim()).unwrap();
    assert!(document["store"].as_str().unwrap().ends_with("/work/a/.lepo"), "{json}");

    let listed = home.ok(&["ls", "--everywhere"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("~/work/b 0") && lines[1].starts_with("~/work/a 0"),
        "{listed}"
    );
    let document: Value = serde_json::from_str(&home.ok(&["ls", "--everywhere", "--json"])).unwrap();
    let tails = document["tails"].as_array().unwrap();
    assert!(tails.len() == 2 && tails[0]["store"].as_str().unwrap().ends_with("/work/b/.lepo"), "{document}");
    let ran = run(home.terminal("stty cols 100 rows 24; lepo ls --everywhere"), b"");
    assert!(ran.out.contains("~/work/a") && ran.out.contains("1 question"), "{}", ran.out);
    for args in
        [&["ls", "--everywhere", "@"][..], &["grep", "--everywhere", "x", "@"], &["grep", "--all", "x", "@"]]
    {
        assert_eq!(home.lepo(args).code, 2, "{args:?}");
    }
}

#[test]
fn the_list_is_shown_forgets_and_passes_over_what_is_gone() {
    let home = two_projects();
    let listed = home.ok(&["config", "stores"]);
    let store =
        |project: &str| format!("{}/{project}/.lepo\n", home.work().canonicalize().unwrap().display());
    assert_eq!(listed, store("a") + &store("b"));
    std::fs::remove_dir_all(home.work().join("b")).unwrap();
    assert_eq!(home.ok(&["ls", "--everywhere"]).lines().count(), 1);
    let document: Value = serde_json::from_str(&home.ok(&["config", "stores", "--json"])).unwrap();
    assert_eq!(document["stores"][1]["exists"], false);
    home.ok(&["config", "stores", "--forget", "a"]);
    home.ok(&["config", "stores", "--forget", "b/.lepo"]);
    assert_eq!(home.ok(&["config", "stores"]), "");
    assert_eq!(home.lepo(&["config", "stores", "--forget", "a"]).code, 1);
    // Reading alone puts no store on the list; the next message does.
    home.ok(&["--cd", "a", "ls"]);
    assert_eq!(home.ok(&["config", "stores"]), "");
    home.add(&["--cd", "a"], "more");
    assert_eq!(home.ok(&["config", "stores"]), store("a"));
}
