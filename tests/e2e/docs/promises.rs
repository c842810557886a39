//! Checks documents against the code: their lengths, settings and slash commands in the manual, the tests of each promise.

use std::path::Path;

#[test]
fn the_first_documents_stay_short() {
    for (file, most) in
        [("README.md", 150), ("README.ko.md", 150), ("SECURITY.md", 40), ("ARCHITECTURE.md", 120)]
    {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let lines = text.lines().count();
        assert!(lines <= most, "{file} has {lines} lines, of at most {most}");
    }
}

#[test]
fn each_setting_and_each_slash_command_is_in_the_manual() {
    let config = include_str!("../../../docs/manual/lepo-config.5.md");
    let terms = config.split("\n: ").filter_map(|before| before.lines().last());
    let items: Vec<&str> = terms.flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let table = include_str!("../../../crates/lepo-turn/src/config/table.rs");
    let settings = quoted_after(table, "file \"");
    assert!(settings.len() > 30, "{settings:?}");
    for setting in settings {
        let last = setting.rsplit('.').next().unwrap();
        assert!(items.contains(&setting) || items.contains(&last), "{setting} is not in lepo-config(5)");
    }
    for variable in quoted_after(table, "variable \"") {
        assert!(config.contains(variable), "{variable} is not in lepo-config(5)");
        let help = include_str!("../../../src/cli.rs");
        assert!(help.contains(variable), "{variable} is not in the help of lepo");
    }
    let session = include_str!("../../../docs/manual/lepo-do.md");
    let commands = quoted_after(include_str!("../../../src/repl/commands.rs"), "row(\"");
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let is_named = ["`", " "].iter().any(|end| session.contains(&format!("`{command}{end}")));
        assert!(is_named, "{command} is not in docs/manual/lepo-do.md");
    }
}

/// Returns the rest of each text in quotes that begins so.
fn quoted_after<'t>(text: &'t str, begin: &str) -> Vec<&'t str> {
    text.split(begin).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn each_promise_of_security_has_its_code_and_its_tests() {
    let promises = include_str!("../../../SECURITY.md")
        .lines()
        .filter(|line| line.split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok()));
    let rows = include_str!("../../../docs/threats.md").lines().filter_map(|line| {
        let [_, number, code, tests, _] = line.split('|').collect::<Vec<_>>()[..] else { return None };
        Some((number.trim().parse::<usize>().ok()?, code, tests))
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), (1..=promises.count()).collect::<Vec<_>>());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (number, code, tests) in rows {
        for path in code.split('`').skip(1).step_by(2) {
            assert!(root.join(path).is_file(), "{number}: {path}");
        }
        for file in tests.split("; ") {
            let mut names = file.split('`').skip(1).step_by(2);
            let path = names.next().unwrap();
            let text = std::fs::read_to_string(root.join("tests/e2e").join(path)).unwrap();
            for name in names {
                assert!(text.contains(&format!("#[test]\nfn {name}()")), "{number}: {name} in {path}");
            }
        }
    }
}
