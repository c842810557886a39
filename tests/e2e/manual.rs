//! Commands of the manual that can be run are run.

use crate::home::{Home, run};

#[test]
fn the_script_of_the_store_page_tells_good_bubbs_from_edited_ones() {
    let page = include_str!("../../docs/manual/lepo-store.5.md");
    let (_, from) = page.split_once("that takes its path:\n\n").unwrap();
    let script: String = from
        .lines()
        .take_while(|line| !line.starts_with('#'))
        .map(|line| line.replacen("    ", "", 1) + "\n")
        .collect();
    let home = Home::new();
    home.write("check", script);
    home.add(&[], "한글 and \u{0} bytes\n");
    home.add(&["--kind", "s", "--hidden"], "an answer");
    let check = |name: &str| {
        let mut command = std::process::Command::new("bash");
        command.arg(home.path().join("check")).arg(home.work().join(".lepo").join(name));
        run(command, b"").out
    };
    let names = home.bubbs();
    assert_eq!(names.len(), 2);
    for name in &names {
        assert_eq!(check(name), "good\n", "{name}");
    }
    home.write(&format!("work/.lepo/{}", names[1]), "another answer");
    assert_eq!(check(&names[1]), "edited\n");
}
