//! Scripts for sed, ed and Neovim as the editor of `lepo rebase -i`, each with the line that it makes.

use super::{conversation, edit, messages};
use crate::home::Home;

/// The conversation that is edited. Its text has these lines below four of comments:
///
/// 5 mark of the system prompt, 6 mark, 7 the first question, 8 mark, 9 and 10 the first answer, 11 mark, 12 the second
/// question, 13 mark, 14 and 15 the second answer, which ends with a newline.
const BEFORE: [&str; 5] =
    ["s1 Be brief.", "u0 첫 질문", "a0 first answer\nin two lines", "u0 second question ", "a0 둘째 답\n"];

/// The result of an edit.
enum Outcome {
    /// Nothing is made.
    Same,
    /// The messages of the new line: a number is one of before, `2=text` that with other text, any other is new.
    Line(&'static [&'static str]),
    /// The exit code, and words of the error.
    Refused(i32, &'static str),
}

use Outcome::{Line, Refused, Same};

const SED: &[(&str, Outcome)] = &[
    ("s/nowhere/x/", Same),
    ("7s/$/\\n%%# a comment/", Same),
    ("7s/^/%%# a comment\\n/", Same),
    ("1,4d", Same),
    ("10s/$/\\n/", Same),
    ("s/$/\\r/", Same),
    ("1s/^/\\xef\\xbb\\xbf/", Same),
    ("1s/^/\\xef\\xbb\\xbf/;s/$/\\r/", Same),
    ("s/^%%/%%%%%/", Same),
    ("6s/$/ \\t /", Same),
    ("6s/user \\(.*\\)/user \\L\\1/", Same),
    ("5s/ (.*//", Same),
    ("5s/(.*)/(a note (of mine))/", Same),
    ("5s/$/\\nBe brief./", Same),
    ("5s/$/\\n/", Same),
    // Other words.
    ("/^first/s/first/FIRST/", Line(&["0", "1", "2=FIRST answer\nin two lines", "3", "4"])),
    ("7s/.*/왜?/", Line(&["0", "1=왜?", "2", "3", "4"])),
    ("7s/.*/한글 ㄱㄴ 힣/", Line(&["0", "1=한글 ㄱㄴ 힣", "2", "3", "4"])),
    ("7s/.*/👩‍👩‍👧 e\\xcc\\x81/", Line(&["0", "1=👩‍👩‍👧 e\u{301}", "2", "3", "4"])),
    ("9s/^/\\t/", Line(&["0", "1", "2=\tfirst answer\nin two lines", "3", "4"])),
    ("9s/^/  /;10s/^/    /", Line(&["0", "1", "2=  first answer\n    in two lines", "3", "4"])),
    ("10d", Line(&["0", "1", "2=first answer", "3", "4"])),
    ("9s/^/\\n/", Line(&["0", "1", "2=\nfirst answer\nin two lines", "3", "4"])),
    ("9s/$/\\n/", Line(&["0", "1", "2=first answer\n\nin two lines", "3", "4"])),
    ("10s/$/\\n\\n/", Line(&["0", "1", "2=first answer\nin two lines\n", "3", "4"])),
    ("12s/ $//", Line(&["0", "1", "2", "3=second question", "4"])),
    ("7s/$/  /", Line(&["0", "1=첫 질문  ", "2", "3", "4"])),
    ("7s/$/\\r/", Line(&["0", "1=첫 질문\r", "2", "3", "4"])),
    ("$d", Line(&["0", "1", "2", "3", "4=둘째 답"])),
    ("$s/$/\\n/", Line(&["0", "1", "2", "3", "4=둘째 답\n\n"])),
    ("14s/답/대답/", Line(&["0", "1", "2", "3", "4=둘째 대답\n"])),
    ("7s/.*/왜?/;s/$/\\r/", Line(&["0", "1=왜?", "2", "3", "4"])),
    ("5s/$/\\nBe long./", Line(&["0=Be long.", "1", "2", "3", "4"])),
    // Marks in the text.
    ("s/^%%/%%%%/;9s/^/%% /", Line(&["0", "1", "2=%% first answer\nin two lines", "3", "4"])),
    ("7s/.*/% a comment of TeX/", Line(&["0", "1=% a comment of TeX", "2", "3", "4"])),
    ("7s/.*/ %% user/", Line(&["0", "1= %% user", "2", "3", "4"])),
    ("s/^%%/%%%/;7s/.*/%%# no comment/", Line(&["0", "1=%%# no comment", "2", "3", "4"])),
    // Dropped.
    ("11,12d", Line(&["0", "1", "2", "4"])),
    ("8,12d", Line(&["0", "1", "4"])),
    ("5d", Line(&["1", "2", "3", "4"])),
    ("1,5d", Line(&["1", "2", "3", "4"])),
    ("6,$d", Line(&["0"])),
    ("13,$d", Line(&["0", "1", "2", "3"])),
    ("13,$d;7s/.*/q/", Line(&["0", "1=q", "2", "3"])),
    // Inserted.
    ("5s/$/\\n%% user\\nnew question/", Line(&["0", "u0 new question", "1", "2", "3", "4"])),
    ("4s/$/\\n%% user\\nthe very first/", Line(&["u0 the very first", "0", "1", "2", "3", "4"])),
    ("$s/$/\\n%% user\\n끝/", Line(&["0", "1", "2", "3", "4", "u0 끝"])),
    ("10s/$/\\n%% user\\nwhy?\\n%% assistant\\nso/", Line(&["0", "1", "2", "u0 why?", "a0 so", "3", "4"])),
    ("10s/$/\\n%% user\\nwhy?\\n\\n\\n/", Line(&["0", "1", "2", "u0 why?", "3", "4"])),
    ("10s/$/\\n%% hidden user\\na note/", Line(&["0", "1", "2", "u1 a note", "3", "4"])),
    ("5s/.*/%% hidden system\\nBe new./", Line(&["s1 Be new.", "1", "2", "3", "4"])),
    ("5s/.*/%% system\\nVisible./", Line(&["s0 Visible.", "1", "2", "3", "4"])),
    ("6s/user .*/user/", Line(&["0", "u0 첫 질문", "2", "3", "4"])),
    // Split, joined, doubled.
    ("9s/$/\\n%% user/", Line(&["0", "1", "2=first answer", "u0 in two lines", "3", "4"])),
    ("11d", Line(&["0", "1", "2=first answer\nin two lines\nsecond question ", "4"])),
    ("8d", Line(&["0", "1=첫 질문\nfirst answer\nin two lines", "3", "4"])),
    ("6,7H;7G", Line(&["0", "1", "1", "2", "3", "4"])),
    // Refused.
    ("6s/user/robot/", Refused(2, "line 6: unknown speaker robot")),
    ("6s/user/User/", Refused(2, "line 6: unknown speaker User")),
    ("6s/user/assistant/", Refused(2, "without the id it is a new message")),
    ("6s/user/hidden user/", Refused(2, "line 6: ")),
    ("5s/hidden //", Refused(2, "line 5: ")),
    ("6s/user .*/user 00000000/", Refused(2, "line 6: no message 00000000")),
    ("6s/ user/user/", Refused(2, "line 6: no blank after the mark")),
    ("7s/.*/%%/", Refused(2, "line 7: the mark names no speaker")),
    ("7s/.*/%%%% heading/", Refused(2, "line 7: no blank after the mark")),
    ("7d", Refused(2, "line 6: the message has no text any more")),
    ("7s/.*//", Refused(2, "line 6: the message has no text any more")),
    ("10s/$/\\n%% tool\\nx/", Refused(2, "line 11: a new message cannot have the kind tool")),
    ("10s/$/\\n%% user/", Refused(2, "line 11: the new message has no text")),
    ("1s/^/words\\n/", Refused(2, "line 1: the text does not begin with a mark")),
    ("4s/$/\\nwords/", Refused(2, "line 5: text above the first mark")),
    ("5,$d", Refused(1, "nothing was made")),
    ("d", Refused(1, "nothing was made")),
];

const ED: &[(&str, Outcome)] = &[
    ("q", Same),
    ("w", Same),
    ("0a\n%%# mine\n.\nw", Same),
    ("7a\n\n.\nw", Same),
    ("6,7m$\nw", Line(&["0", "2", "3", "4", "1"])),
    ("13,15m5\nw", Line(&["0", "4", "1", "2", "3"])),
    ("11,12m5\nw", Line(&["0", "3", "1", "2", "4"])),
    ("5m$\nw", Line(&["1", "2", "3", "4", "0"])),
    ("6,7t7\nw", Line(&["0", "1", "1", "2", "3", "4"])),
    ("6,7t$\nw", Line(&["0", "1", "2", "3", "4", "1"])),
    ("7c\n여러 줄\n둘째 줄\n.\nw", Line(&["0", "1=여러 줄\n둘째 줄", "2", "3", "4"])),
    ("9,10j\nw", Line(&["0", "1", "2=first answerin two lines", "3", "4"])),
    ("g/답/s//대답/\nw", Line(&["0", "1", "2", "3", "4=둘째 대답\n"])),
    ("5,7d\nw", Line(&["2", "3", "4"])),
];

const NVIM: &[(&str, Outcome)] = &[
    ("w", Same),
    ("set ff=dos | w", Same),
    ("set bomb | w", Same),
    ("7s/첫/둘째/ | w", Line(&["0", "1=둘째 질문", "2", "3", "4"])),
    ("6,7m$ | w", Line(&["0", "2", "3", "4", "1"])),
    ("9m10 | w", Line(&["0", "1", "2=in two lines\nfirst answer", "3", "4"])),
    ("normal! 7Gcc고친 질문", Line(&["0", "1=고친 질문", "2", "3", "4"])),
    ("call append('$', ['%% user', '마지막']) | w", Line(&["0", "1", "2", "3", "4", "u0 마지막"])),
    ("set ff=dos | 7s/.*/왜?/ | w", Line(&["0", "1=왜?", "2", "3", "4"])),
    ("set fenc=utf-16le bomb | w", Refused(2, "it is UTF-16")),
    ("7d | w", Refused(2, "line 6: the message has no text any more")),
    // github.com/bk201-/jira-prepare-commit-msg/issues/319: both ways to leave without a change.
    ("qa!", Same),
    ("cq", Refused(2, "the edited text is kept")),
];

/// Edits that others' tools stumbled on, by the address of the report.
const REPORTS: &[(&str, &str, Outcome)] = &[
    ("github.com/git-for-windows/git/pull/507", "s/$/\\r/", Same),
    (
        "github.com/git-for-windows/git/issues/818",
        "1s/^/\\xef\\xbb\\xbf/;7s/.*/Здраво/",
        Line(&["0", "1=Здраво", "2", "3", "4"]),
    ),
    (
        "github.com/MitMaro/git-interactive-rebase-tool/issues/51",
        "7s/.*/% first, a heading\\n# user/",
        Line(&["0", "1=% first, a heading\n# user", "2", "3", "4"]),
    ),
    (
        "github.com/zed-industries/zed/issues/17667",
        "8d",
        Line(&["0", "1=첫 질문\nfirst answer\nin two lines", "3", "4"]),
    ),
    (
        "github.com/zed-industries/zed/pull/2613",
        "9s/$/\\n%% assistant/",
        Line(&["0", "1", "2=first answer", "a0 in two lines", "3", "4"]),
    ),
    ("github.com/karthink/gptel/issues/768", "s/질문/물음/", Line(&["0", "1=첫 물음", "2", "3", "4"])),
    (
        "github.com/karthink/gptel/issues/546",
        "7s/.*/# user\\n*** heading\\n### Assistant:/",
        Line(&["0", "1=# user\n*** heading\n### Assistant:", "2", "3", "4"]),
    ),
    (
        "github.com/karthink/gptel/issues/1263",
        "10s/^/%% user\\n/",
        Line(&["0", "1", "2=first answer", "u0 in two lines", "3", "4"]),
    ),
    ("github.com/open-webui/open-webui/issues/122", "11,$d", Line(&["0", "1", "2"])),
];

#[test]
fn edits_that_others_stumbled_on_are_read() {
    for (address, script, outcome) in REPORTS {
        eprintln!("https://{address}");
        check(&[(script, outcome)], |script| format!("sed -i '{script}' \"$1\""));
    }
}

/// Applies each script to the conversation.
fn check<O: std::borrow::Borrow<Outcome>>(rows: &[(&str, O)], editor: impl Fn(&str) -> String) {
    let home = Home::new();
    let ids = conversation(&home, &BEFORE);
    let tail = ids.last().unwrap();
    for (script, outcome) in rows {
        let count = home.bubbs().len();
        let ran = edit(&home, &editor(script), &[tail]);
        match outcome.borrow() {
            Same => {
                assert_eq!((ran.code, ran.out.trim()), (0, tail.as_str()), "{script:?}: {}", ran.err);
                assert!(ran.err.contains("nothing changed"), "{script:?}: {}", ran.err);
                assert_eq!(home.bubbs().len(), count, "{script:?}");
            }
            Line(line) => {
                assert_eq!(ran.code, 0, "{script:?}: {}", ran.err);
                let line: Vec<String> = line.iter().map(|message| meaning(message)).collect();
                assert_eq!(messages(&home, ran.out.trim()), line, "{script:?}");
                assert!(ran.out.trim() > tail.as_str(), "{script:?} is not the newest");
            }
            Refused(code, words) => {
                assert_eq!((ran.code, ran.out.as_str()), (*code, ""), "{script:?}: {}", ran.err);
                assert!(ran.err.contains(words), "{script:?}: {}", ran.err);
                assert_eq!(home.bubbs().len(), count, "{script:?}");
            }
        }
    }
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

fn meaning(message: &str) -> String {
    let (number, text) = message.split_once('=').unwrap_or((message, ""));
    match number.parse::<usize>() {
        Err(_) => message.to_string(),
        Ok(at) if text.is_empty() => BEFORE[at].to_string(),
        Ok(at) => format!("{} {text}", &BEFORE[at][..2]),
    }
}

#[test]
fn sed_edits_a_conversation() {
    check(SED, |script| format!("sed -i '{script}' \"$1\""));
}

#[test]
fn ed_edits_a_conversation() {
    if crate::contrib::is_missing("ed") {
        return;
    }
    check(ED, |script| format!("ed -s \"$1\" >/dev/null <<'EOF'\n{script}\nEOF"));
}

#[test]
fn neovim_edits_a_conversation() {
    if crate::contrib::is_missing("nvim") {
        return;
    }
    check(NVIM, |script| format!("nvim --headless -u NONE -i NONE -n -c \"{script}\" -c 'wq' \"$1\" 2>&1"));
}

#[test]
fn there_are_eighty_scripts() {
    assert!(SED.len() + ED.len() + NVIM.len() >= 80);
}
