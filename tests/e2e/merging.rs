//! A store that is committed: two branches of a repository that both went on merge without a conflict.

use crate::bots::Bot;
use crate::home::{Home, Ran, run};

/// Sets up a repository whose store is committed, with a question answered on each of two branches.
const TWO_BRANCHES: &str = "\
    git init -q -b main . && git config user.name me && git config user.email me@localhost && lepo init && \
    : > .lepo/.gitignore && echo base | lepo add && lepo branch work @ && git add -A && git commit -qm base && \
    git checkout -qb theirs && lepo do -q 'their question' && lepo branch -f work @ && lepo branch new @ && \
    lepo title @ Theirs && git add -A && git commit -qm theirs && \
    git checkout -q main && lepo do -q 'my question' && lepo branch -f work @ && lepo branch new @ && \
    lepo title @ Mine && git add -A && git commit -qm mine";

fn shell(home: &Home, script: &str) -> Ran {
    run(home.shell(script), b"")
}

#[test]
fn a_committed_store_merges_and_all_of_both_sides_is_there() {
    let bot = Bot::saying("planner = \"off\"", &["theirs said", "mine said"]);
    let ran = shell(&bot.home, TWO_BRANCHES);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let merged = shell(&bot.home, "git merge -q -m merged theirs > /dev/null && git status --porcelain");
    assert_eq!((merged.code, merged.out.as_str()), (0, ""), "{}", merged.err);
    // Of the ids of a branch the greatest counts, whichever side it came from; setting it leaves one.
    let newest = bot.home.ok(&["resolve", "@"]);
    for branch in ["work", "new"] {
        assert_eq!(bot.home.read(&format!("work/.lepo/_branches/{branch}")).lines().count(), 2, "{branch}");
        assert_eq!(bot.home.ok(&["resolve", branch]), newest, "{branch}");
    }
    let theirs = bot.home.ok(&["ls", "--grep", "theirs said"]);
    let theirs = theirs.split(' ').next().unwrap();
    bot.home.ok(&["branch", "-f", "work", theirs]);
    assert_eq!(bot.home.read("work/.lepo/_branches/work"), format!("{theirs}\n"));
    // The journal and the titles have the lines of both.
    let long = bot.home.ok(&["ls", "-l"]);
    assert_eq!(long.lines().filter(|line| line.contains(" test 46 ")).count(), 2, "{long}");
    let titles = bot.home.read("work/.lepo/_titles");
    assert!(titles.contains(" Mine\n") && titles.contains(" Theirs\n"), "{titles}");
    assert_eq!(bot.home.ok(&["log", "--all"]).lines().count(), 5);
    assert_eq!(bot.home.lepo(&["fsck"]).code, 0);
    assert_eq!(shell(&bot.home, "lepo init; git status --porcelain .lepo/.gitattributes").out, "");
}

#[test]
fn a_store_that_had_no_attributes_gets_them() {
    let bot = Bot::saying("", &[]);
    bot.home.ok(&["init"]);
    let attributes = bot.home.read("work/.lepo/.gitattributes");
    assert_eq!(attributes.lines().filter(|line| line.ends_with(" merge=union")).count(), 3, "{attributes}");
    std::fs::remove_file(bot.home.work().join(".lepo/.gitattributes")).unwrap();
    bot.home.ok(&["init"]);
    assert_eq!(bot.home.read("work/.lepo/.gitattributes"), attributes);
}
