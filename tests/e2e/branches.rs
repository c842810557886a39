//! `branch`: names that are made, moved, renamed and deleted, and nothing lost by any of it.

use crate::home::Home;

#[test]
fn a_branch_is_made_listed_and_used_as_an_address() {
    let home = Home::new();
    let first = home.add(&[], "What is the capital of France, please?");
    let second = home.add(&["--kind", "a"], "Paris.");
    assert_eq!(home.ok(&["branch"]), "");
    home.ok(&["branch", "main"]);
    home.ok(&["branch", "처음", "@^"]);
    let listed = format!(
        "main {second} (2): What is the  ... nce, please?\n처음 {first} (1): What is the  ... nce, please?\n"
    );
    assert_eq!(home.ok(&["branch"]), listed);
    assert_eq!(home.ok(&["resolve", "main", "처음"]), format!("{second}\n{first}\n"));
    let document: serde_json::Value = serde_json::from_str(&home.ok(&["branch", "--json"])).unwrap();
    assert_eq!(document["branches"][1]["name"], "처음");
    assert_eq!(document["branches"][0]["height"], 2);
    assert_eq!(document["branches"][0]["id"], second);
}

#[test]
fn one_that_is_there_moves_only_by_force() {
    let home = Home::new();
    let [first, second] = ["one", "two"].map(|text| home.add(&[], text));
    home.ok(&["branch", "main", &first]);
    let ran = home.lepo(&["branch", "main", &second]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains(&format!("hint: to move it: lepo branch -f main {second}")), "{}", ran.err);
    assert_eq!(home.ok(&["resolve", "main"]).trim(), first);
    home.ok(&["branch", "-f", "main", &second]);
    assert_eq!(home.ok(&["resolve", "main"]).trim(), second);
    assert!(std::fs::read_dir(home.work().join(".lepo/_tmp")).unwrap().next().is_none());
}

#[test]
fn a_rename_overwrites_only_by_force() {
    let home = Home::new();
    let [first, second] = ["one", "two"].map(|text| home.add(&[], text));
    home.ok(&["branch", "a", &first]);
    home.ok(&["branch", "b", &second]);
    for (args, code, says) in [
        (&["branch", "-m", "a", "b"][..], 1, "branch b already exists"),
        (&["branch", "-m", "gone", "c"], 1, "no branch gone"),
        (&["branch", "-m", "a", "x//y"], 2, "is not a valid branch name"),
        (&["branch", "-m", "a"], 2, "2 values required"),
    ] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, code, "{args:?} {}", ran.err);
        assert!(ran.err.contains(says), "{args:?} {}", ran.err);
    }
    home.ok(&["branch", "-m", "a", "c"]);
    assert_eq!(home.ok(&["resolve", "c"]).trim(), first);
    home.ok(&["branch", "-f", "-m", "c", "b"]);
    assert_eq!(home.ok(&["branch"]), format!("b {first} (1): one\n"));
}

#[test]
fn deleting_says_what_it_named() {
    let home = Home::new();
    let id = home.add(&[], "one");
    home.ok(&["branch", "main"]);
    let ran = home.lepo(&["branch", "-d", "main"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.contains(&id), "{}", ran.err);
    let again = home.lepo(&["branch", "-d", "main"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("no branch main"), "{}", again.err);
    ["a", "b", "c/d"].iter().for_each(|name| drop(home.ok(&["branch", name])));
    let ran = home.lepo(&["branch", "-d", "a", "gone", "b"]);
    assert_eq!((ran.code, home.ok(&["branch"]).lines().count()), (1, 3), "all or none: {}", ran.err);
    home.ok(&["branch", "-d", "a", "c/d"]);
    assert!(home.ok(&["branch"]).starts_with("b "));
    home.write("work/.lepo/_branches/bad", "no id");
    home.ok(&["branch", "-d", "bad"]);
    assert_eq!(home.bubbs().len(), 1);
}

#[test]
fn no_name_leads_out_of_its_directory() {
    let home = Home::new();
    home.add(&[], "one");
    for name in [
        "../x",
        "a/../b",
        "/a",
        "a//b",
        "a/.b",
        "a%2Fb",
        ".x",
        "a..b",
        "@",
        "a b",
        "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A",
        "x.lock",
        "",
    ] {
        for args in [&["branch", name][..], &["branch", "-d", name], &["branch", "-f", name]] {
            assert_eq!(home.lepo(args).code, 2, "{args:?}");
        }
    }
    assert!(!home.work().join(".lepo/_branches").exists());
}

#[test]
fn a_branch_of_a_lost_bubb_is_told_and_listed() {
    let home = Home::new();
    home.add(&[], "one");
    let gone = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";
    home.write("work/.lepo/_branches/old", format!("{gone}\n"));
    let ran = home.lepo(&["branch"]);
    assert_eq!((ran.code, ran.out), (0, format!("old {gone}\n")));
    assert!(ran.err.contains("names 01JB3Z0Q4N8V2K5T7W9X1Y3Z5A, which is not in the store"), "{}", ran.err);
}

#[test]
fn a_branch_of_others_is_one_word_of_the_command_that_a_hint_gives() {
    let home = Home::new();
    let id = home.add(&["--prev", "head"], "hi");
    home.write("work/.lepo/_branches/$(id)&x", &id);
    let ran = home.lepo(&["rm", "-y", "@"]);
    assert!(ran.code == 1 && ran.err.ends_with("lepo branch -d '$(id)&x'\n"), "{}", ran.err);
    let ran = home.lepo(&["branch", "$(id)&x", "@"]);
    assert!(ran.code == 1 && ran.err.ends_with("lepo branch -f '$(id)&x' @\n"), "{}", ran.err);
    home.write("work/.lepo/_branches/a;b", "nonsense");
    let ran = home.lepo(&["show", "a;b"]);
    assert!(ran.err.contains("lepo branch -f 'a;b' ADDR"), "{}", ran.err);
}
