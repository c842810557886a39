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
    // Both ends are shown until one is chosen, also when the branch moves on.
    let ends = |newest: &str| {
        let ran = bot.home.lepo(&["branch"]);
        let rows: Vec<String> =
            ran.out.lines().filter_map(|line| Some(line.split_once(" (")?.0.to_string())).collect();
        let both = ["new", "work"].map(|name| [format!("{name} {newest}"), format!("{name} {theirs}")]);
        assert_eq!(rows, both.concat(), "{}", ran.out);
        assert!(
            ran.err.contains("branch work with several ends; `lepo branch -f work ID` chooses one"),
            "{}",
            ran.err
        );
        let json: serde_json::Value = serde_json::from_str(&bot.home.ok(&["branch", "--json"])).unwrap();
        assert_eq!(json["branches"].as_array().unwrap().len(), 2);
        assert_eq!(json["branches"][0]["ends"], serde_json::json!([newest, theirs]));
        let listed: serde_json::Value = serde_json::from_str(&bot.home.ok(&["ls", "--json"])).unwrap();
        for tail in listed["tails"].as_array().unwrap() {
            assert_eq!(tail["branches"], serde_json::json!(["new", "work"]), "{tail}");
        }
        assert_eq!(bot.home.lepo(&["fsck"]).code, 0);
    };
    ends(newest.trim());
    for args in
        [&["do", "--dry-run", "--tail", "work", "q"][..], &["do", "--tail", "work^", "--dry-run", "q"]]
    {
        let ran = bot.home.lepo(args);
        let note = format!(
            "note: a merge left branch work with several ends: this continues {}, not {theirs}; `lepo branch -f work ID` \
             chooses one",
            newest.trim()
        );
        assert_eq!(ran.err.contains(&note), args[3] == "work", "{args:?} {}", ran.err);
    }
    bot.home.ok(&["branch", "-f", "work", theirs]);
    assert_eq!(bot.home.read("work/.lepo/_branches/work"), format!("{theirs}\n"));
    bot.home.ok(&["branch", "-f", "new", "@"]);
    let ran = bot.home.lepo(&["branch"]);
    assert_eq!((ran.out.lines().count(), ran.err.as_str()), (2, ""));
    // The journal and the titles have the lines of both.
    let long = bot.home.ok(&["ls", "-l"]);
    assert_eq!(long.lines().filter(|line| line.contains(" test 46 ")).count(), 2, "{long}");
    let titles = bot.home.read("work/.lepo/_titles");
    assert!(titles.contains(" Mine\n") && titles.contains(" Theirs\n"), "{titles}");
    assert_eq!(bot.home.ok(&["log", "--all"]).lines().count(), 5);
    assert_eq!(bot.home.lepo(&["fsck"]).code, 0);
    assert_eq!(shell(&bot.home, "lepo init; git status --porcelain .lepo/.gitattributes").out, "");
}

/// A repository whose store is committed by this script, with a branch `other` that has no answer yet.
fn committed(bot: &Bot, commits: &str) {
    let script = format!(
        "git init -q -b main . && git config user.name me && git config user.email me@localhost && {commits} && \
         echo base | lepo add && git add -A && git commit -qm base && git branch other"
    );
    let ran = shell(&bot.home, &script);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
}

#[test]
fn a_committed_store_does_not_block_git_after_an_answer() {
    for commits in [
        // the line goes, as the file says
        "lepo init && sed -i '/^\\*$/d' .lepo/.gitignore",
        // a store that was made before its own files were listed
        "lepo init && echo '# mine' > .lepo/.gitignore && echo '* -text' > .lepo/.gitattributes",
    ] {
        let bot = Bot::saying("planner = \"off\"", &["one", "two"]);
        committed(&bot, commits);
        let script = "lepo do -q q && git add -A && git commit -qm one && git checkout -q other && echo x > x && git add x && \
            git commit -qm x && git checkout -q main && lepo do -q q && git checkout -q other && git rebase -q main && \
            git pull -q . main && git ls-files .lepo | grep -c journal; git status --porcelain | grep -v '^??'";
        let ran = shell(&bot.home, script);
        assert_eq!(ran.out, "one\ntwo\n0\n", "{commits}: {}", ran.err);
        assert!(bot.home.read("work/.lepo/_journal.ndjson").lines().count() > 1, "{commits}");
    }
}

#[test]
fn a_journal_that_git_tracks_is_named_with_the_remedy_and_the_remedy_is_right() {
    let bot = Bot::saying("planner = \"off\"", &["one", "two"]);
    committed(&bot, "lepo init && : > .lepo/.gitignore && lepo do -q q");
    let blocked = "lepo do -q q && git checkout -q other";
    let ran = shell(&bot.home, blocked);
    assert_eq!(ran.code, 0, "tracked, but the same on both branches: {}", ran.err);
    // The user took the lines out: nothing is said.
    assert_eq!(shell(&bot.home, "lepo fsck").err, "");
    shell(&bot.home, "echo /_journal.ndjson >> .lepo/.gitignore");
    let ran = shell(&bot.home, "lepo fsck");
    assert!(ran.err.contains("`git rm --cached .lepo/_journal.ndjson`"), "{}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(shell(&bot.home, "git rm -q --cached .lepo/_journal.ndjson && lepo fsck").err, "");
}

#[test]
fn a_store_for_recorded_answers_keeps_its_journal_in_git() {
    let answers = &["one"];
    let tracked = "git add -A && git commit -qm x && git ls-files .lepo | grep -c journal";
    let elsewhere = "git clone -q . ../clone && cd ../clone && lepo do -q -n --recorded=only q";
    for (makes, commits) in [
        ("lepo init --committed", ""),
        // an existing one
        ("lepo init && lepo init --committed", ""),
        // the first recording makes it, and the line goes
        ("true", "sed -i '/^\\*$/d' .lepo/.gitignore &&"),
        ("lepo init", "sed -i '/^\\*$/d' .lepo/.gitignore &&"),
    ] {
        let bot = Bot::saying("planner = \"off\"", answers);
        let git = "git init -q -b main . && git config user.name me && git config user.email me@localhost";
        let ran =
            shell(&bot.home, &format!("{git} && {makes} && lepo do -q --recorded q && {commits} {tracked}"));
        assert_eq!((ran.code, ran.out.as_str()), (0, "one\n1\n"), "{makes}: {}", ran.err);
        let leave_out = "`echo /_journal.ndjson >> .lepo/.gitignore`";
        assert_eq!(ran.err.contains(leave_out), makes.contains("--committed"), "{makes}: {}", ran.err);
        let ran = shell(&bot.home, elsewhere);
        assert_eq!((ran.code, ran.out.as_str()), (0, "one\n"), "{makes}: {}", ran.err);
        // Nothing puts the line back.
        shell(&bot.home, "echo more | lepo add");
        assert!(!bot.home.read("work/.lepo/.gitignore").contains("journal"), "{makes}");
    }
}

#[test]
fn a_store_that_had_no_attributes_gets_them() {
    let bot = Bot::saying("", &[]);
    bot.home.ok(&["init"]);
    let attributes = bot.home.read("work/.lepo/.gitattributes");
    assert_eq!(attributes.lines().filter(|line| line.ends_with(" merge=union")).count(), 3, "{attributes}");
    assert_eq!(attributes.lines().next(), Some("* -text"), "before the rules for merges");
    std::fs::remove_file(bot.home.work().join(".lepo/.gitattributes")).unwrap();
    bot.home.ok(&["init"]);
    assert_eq!(bot.home.read("work/.lepo/.gitattributes"), attributes);
}

/// Settings under which git takes files for text: of the repository, of its user.
const TEXT: [(&str, &str); 3] =
    [("", "true"), ("* text=auto\n", "false"), ("* text=auto eol=crlf\n", "false")];

/// A repository with a committed store of texts with line ends of each kind, on two branches, under these settings.
/// `attributes`: those of the store, where they are not what `init` makes.
fn with_line_ends((root, autocrlf): (&str, &str), attributes: Option<&str>) -> Home {
    let bot = Bot::saying("", &[]);
    let home = bot.home;
    home.write(
        ".gitconfig",
        format!("[core]\n\tautocrlf = {autocrlf}\n[user]\n\tname = me\n\temail = me@localhost\n"),
    );
    home.write("work/.gitattributes", root);
    let made = shell(&home, "git init -q -b main . && lepo init && : > .lepo/.gitignore");
    assert_eq!(made.code, 0, "{}", made.err);
    if let Some(attributes) = attributes {
        home.write("work/.lepo/.gitattributes", attributes);
    }
    let texts = ["one\ntwo\n", "one\r\ntwo\r\n", "한글\n\nend", "no end", "$Id$\n"];
    for text in texts {
        // As a message has it, from before there were attributes.
        home.write("work/text", text);
        let added = shell(
            &home,
            "cp .lepo/.gitattributes kept && lepo add < text; cp kept .lepo/.gitattributes; rm kept text",
        );
        assert_eq!(added.code, 0, "{}", added.err);
    }
    let blob = b"a blob\nof text\n";
    let hash: String = sha2::Digest::finalize(<sha2::Sha256 as sha2::Digest>::new_with_prefix(blob))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    home.write(&format!("work/.lepo/_blobs/{hash}"), blob);
    let branches = "git add -A && git commit -qm base && git checkout -qb theirs && printf 'theirs\\r\\nsaid\\r\\n' > text && \
        cp .lepo/.gitattributes kept && lepo add < text; lepo branch new @; cp kept .lepo/.gitattributes; rm kept text; \
        git add -A && git commit -qm theirs && git checkout -q main && printf 'mine\\nsaid\\n' > text && \
        cp .lepo/.gitattributes kept && lepo add < text; lepo branch new @; cp kept .lepo/.gitattributes; rm kept text; \
        git add -A && git commit -qm mine";
    let committed = shell(&home, branches);
    assert_eq!(committed.code, 0, "{} {}", committed.out, committed.err);
    home
}

#[test]
fn git_changes_no_line_ends_in_a_store() {
    for text in TEXT {
        let home = with_line_ends(text, None);
        let script = "lepo fsck && git merge -q -m merged theirs > /dev/null && lepo fsck && git checkout -q theirs && lepo fsck && \
            git checkout -q main && rm -r .lepo && git checkout -q -- .lepo && lepo fsck && \
            cd .. && git clone -q work clone && cd clone && lepo fsck && git status --porcelain && lepo log --all | wc -l";
        let ran = shell(&home, script);
        assert_eq!((ran.code, ran.out.trim(), ran.err.as_str()), (0, "7", ""), "{text:?}");
    }
}

#[test]
fn line_ends_that_git_changed_are_named_and_given_back() {
    for text in TEXT {
        let before = "_journal.ndjson merge=union\n_titles merge=union\n_branches/* merge=union\n";
        let home = with_line_ends(text, Some(before));
        let ran = shell(
            &home,
            "git merge -q -m merged theirs > /dev/null; cd .. && git clone -q work clone && cd clone && lepo fsck",
        );
        assert_eq!(ran.code, 1, "{text:?} {} {}", ran.out, ran.err);
        let note = "note: added `* -text` to .lepo/.gitattributes: git changes no line ends there\n";
        assert_eq!(ran.err, note, "{text:?}");
        assert!(ran.out.lines().all(|line| line.starts_with("line ends ")), "{text:?} {}", ran.out);
        assert!(
            ran.out.contains("CRLF and LF were exchanged, as git does with core.autocrlf"),
            "{}",
            ran.out
        );
        let changed = ran.out.lines().count();
        let blob = text.0 != "* text=auto\n";
        assert_eq!(ran.out.contains("_blobs/"), blob, "{text:?} {}", ran.out);
        let ran = shell(&home, "cd ../clone && lepo fsck --recover --json");
        assert_eq!(ran.code, 0, "{text:?} {}", ran.err);
        let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(json["restored"].as_array().unwrap().len(), changed, "{text:?} {json}");
        assert_eq!(
            ran.err.lines().filter(|line| line.starts_with("restored ")).count(),
            changed,
            "{}",
            ran.err
        );
        let ran = shell(&home, "cd ../clone && lepo fsck && lepo ls");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{text:?} {}", ran.out);
        // An edit besides is not taken for that.
        let edited =
            "cd ../clone && for file in .lepo/*-head.md; do printf 'x\\r\\n' >> $file; done; lepo fsck";
        let ran = shell(&home, edited);
        assert_eq!(ran.code, 1);
        assert!(ran.out.lines().all(|line| line.starts_with("edited ")), "{}", ran.out);
    }
}

#[test]
fn a_store_without_the_rule_gets_it_from_each_command_that_writes_and_is_told_once() {
    for command in
        ["lepo init", "lepo do -q hi", "lepo fsck", "echo hi | lepo add", "lepo sync --yes ../remote"]
    {
        let bot = Bot::saying("planner = \"off\"", &["ok"]);
        let made = shell(
            &bot.home,
            "git init -q --bare ../remote && lepo init && git config --global user.email me@localhost",
        );
        assert_eq!(made.code, 0, "{}", made.err);
        bot.home.write("work/.lepo/.gitattributes", "_titles merge=union\n*.md diff=none\n");
        let ran = shell(&bot.home, command);
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
        let is_reported = ran.err.contains(".lepo already exists; added missing files")
            || ran.err.contains("note: added `* -text` to .lepo/.gitattributes");
        assert!(is_reported, "{command}: {}", ran.err);
        let listed = "# .gitignore: lepo's own files were listed once";
        let after = format!("* -text\n_titles merge=union\n*.md diff=none\n{listed}\n");
        assert_eq!(bot.home.read("work/.lepo/.gitattributes"), after, "{command}");
        let again = shell(&bot.home, "lepo fsck");
        assert_eq!((again.code, again.err.as_str()), (0, ""), "{command}");
    }
    // One that is only listed is left as it is.
    let bot = Bot::saying("", &[]);
    bot.home.ok(&["init"]);
    bot.home.write("work/.lepo/.gitattributes", "");
    bot.home.ok(&["ls"]);
    assert_eq!(bot.home.read("work/.lepo/.gitattributes"), "");
}
