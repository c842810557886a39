//! Tests of the painted Markdown.

use super::*;
use crate::term::Color;

fn markdown() -> Markdown {
    Markdown::new(Paint::new(Color::Always, true, |_| None), MathNotation::Unicode, || 40)
}

/// Renders a text that arrives in these chunks, with paint as `‹CODE:…›`.
fn rendered<'t>(pieces: impl IntoIterator<Item = &'t [u8]>) -> String {
    let (mut markdown, mut out) = (markdown(), String::new());
    pieces.into_iter().for_each(|piece| markdown.push(piece, &mut out));
    markdown.finish(&mut out);
    legible(&out)
}

fn legible(painted: &str) -> String {
    let mut parts = painted.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |shown, part| match part.split_once('m').unwrap() {
        ("0", rest) => format!("{shown}›{rest}"),
        (code, rest) => format!("{shown}‹{code}:{rest}"),
    })
}

/// Joins adjacent spans of one style: chunk boundaries may split them.
fn joined(shown: &str) -> String {
    let mut parts = shown.split('‹');
    let mut joined = parts.next().unwrap_or_default().to_string();
    let mut last = "";
    for part in parts {
        let (code, text) = part.split_once(':').unwrap();
        match joined.strip_suffix('›').filter(|_| code == last) {
            Some(open) => joined = format!("{open}{text}"),
            None => joined = format!("{joined}‹{code}:{text}"),
        }
        last = code;
    }
    joined
}

const CASES: &[(&str, &str)] = &[
    ("plain\n\ntext", "plain\n\ntext"),
    ("# One\n## Two *x*\n####### no", "‹1;4:One›\n‹1:Two ›‹1;3:x›\n####### no"),
    ("#no #hash", "#no #hash"),
    ("- a\n  * b\n+ c\n-d", "‹36:•› a\n  ‹36:•› b\n‹36:•› c\n-d"),
    ("1. one\n10) ten\n1.5 is", "‹36:1.› one\n‹36:10)› ten\n1.5 is"),
    ("- [ ] todo\n- [x] done\n- [a] b", "‹36:☐› todo\n‹36:☑› done\n‹36:•› [a] b"),
    ("> said\n>> twice\n> - x", "‹2:│ ›said\n‹2:│ ›‹2:│ ›twice\n‹2:│ ›‹36:•› x"),
    ("- - -\n", "‹2:────────────────────────────────────────›\n"),
    (
        "***\n___",
        "‹2:────────────────────────────────────────›\n‹2:────────────────────────────────────────›",
    ),
    ("**bold** start\n* * *x", "‹1:bold› start\n‹36:•› * *x"),
    ("```rust\nlet x = 1;\n\n# no\n```\nafter", "‹2:```rust›\n‹35:let› x = ‹33:1›;\n\n# no\n‹2:```›\nafter"),
    ("  ~~~\n  a ``` b\n  ~~~~\nz", "‹2:  ~~~›\n  a ``` b\n‹2:  ~~~~›\nz"),
    ("```inline``` code", "‹36:inline› code"),
    ("```\nnever closed", "‹2:```›\nnever closed"),
    ("a\n|x|y|\n|-|-|\n|1|2|\n\nb", "a\n‹1:x›  ‹2: │ ›‹1:y›\n‹2:────┼────›\n1  ‹2: │ ›2\n\nb"),
    ("|x|y|\n|-|-|\nb", "‹1:x›  ‹2: │ ›‹1:y›\n‹2:────┼────›\nb"),
    ("|x|\n|y|\n", "|x|\n|y|\n"),
    ("|not a table", "|not a table\n"),
    ("tab\there <U+0000>", "tab     here <U+0000>"),
    ("한글 **굵게** 끝\r\n", "한글 ‹1:굵게› 끝␍\n"),
    ("", ""),
    ("\n\n", "\n\n"),
];

#[test]
fn forms_are_painted() {
    for (text, painted) in CASES {
        assert_eq!(&rendered([text.as_bytes()]), painted, "{text}");
    }
}

#[test]
fn pieces_give_what_the_whole_gives() {
    for (text, painted) in CASES {
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(joined(&rendered(bytes)), joined(painted), "{text}");
    }
}

#[test]
fn text_is_shown_at_once_and_code_by_the_line() {
    for (text, painted) in [
        ("The answer", "The"),
        ("The answer is", "The answer"),
        ("- ", ""),
        ("- a ", "‹36:•› a"),
        ("1", ""),
        ("1. o ", "‹36:1.› o"),
        ("a **b", "a"),
        ("```rust\nlet x", "‹2:```rust›\n"),
        ("```rust\nlet x\n", "‹2:```rust›\n‹35:let› x\n"),
        ("|a|b|\n|-|-|\n|1|2|\n", ""),
    ] {
        let (mut markdown, mut out) = (markdown(), String::new());
        markdown.push(text.as_bytes(), &mut out);
        assert_eq!(legible(&out), painted, "{text}");
    }
}

#[test]
fn prose_breaks_between_words_and_its_marks_are_repeated() {
    for (text, painted) in [
        (
            "One sentence that is longer than forty columns, and **bold words** in it.",
            "One sentence that is longer than forty\ncolumns, and ‹1:bold words› in it.",
        ),
        (
            "- a point that is longer than forty columns is\n  1. nested, and longer than forty columns\n",
            "‹36:•› a point that is longer than forty\n  columns is\n  ‹36:1.› nested, and longer than forty\n     columns\n",
        ),
        (
            "> a quotation that is longer than forty columns",
            "‹2:│ ›a quotation that is longer than forty\n‹2:│ ›columns",
        ),
        (
            "긴 한국어 문장은 낱말 사이에서 나뉘고, 낱말 안에서는 나뉘지 않습니다.",
            "긴 한국어 문장은 낱말 사이에서 나뉘고,\n낱말 안에서는 나뉘지 않습니다.",
        ),
        (
            "```\nlet code_is_never_broken = \"wherever its line ends\";\n```",
            "‹2:```›\nlet code_is_never_broken = \"wherever its line ends\";\n‹2:```›",
        ),
    ] {
        assert_eq!(rendered([text.as_bytes()]), painted, "{text}");
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(joined(&rendered(bytes)), joined(painted), "{text}");
    }
}

#[test]
fn only_addresses_are_links() {
    let shown = |text: &str, columns: fn() -> usize| {
        let paint = Paint::new(Color::Always, true, |name| (name == "TERM").then(|| "foot".into()));
        let (mut markdown, mut out) = (Markdown::new(paint, MathNotation::Unicode, columns), String::new());
        markdown.push(text.as_bytes(), &mut out);
        markdown.finish(&mut out);
        legible(&out.replace("\u{1b}]8;;\u{7}", "⟧").replace("\u{1b}]8;;", "⟦").replace('\u{7}', "|"))
    };
    let uri = "https://a.test/b";
    for (text, columns, painted) in [
        (format!("[a]({uri})"), (|| 40) as fn() -> usize, format!("‹4:a›‹2: (⟦{uri}|{uri}⟧)›")),
        (format!("[{uri}]({uri})"), || 40, format!("‹4:⟦{uri}|{uri}⟧›")),
        ("[a](b.md)".into(), || 40, "‹4:a›‹2: (b.md)›".into()),
        (
            format!("- [a]({uri})"),
            || 12,
            format!("‹36:•› ‹4:a›‹2: (⟦{uri}|https:/⟧›\n  ‹2:⟦{uri}|/a.test/b⟧)›"),
        ),
        (
            format!("|x|y|\n|-|-|\n|[a]({uri})|c|\n"),
            || 18,
            format!(
                "‹1:x›           ‹2: │ ›‹1:y›\n‹2:─────────────┼────›\n\
                 ‹4:a›           ‹2: │ ›c\n‹2:(⟦{uri}|https://a.t⟧›‹2: │ ›\n‹2:⟦{uri}|est/b⟧)›      ‹2: │ ›\n"
            ),
        ),
    ] {
        assert_eq!(shown(&text, columns), painted, "{text}");
    }
}

#[test]
fn nothing_a_model_says_can_drive_the_terminal() {
    assert_eq!(rendered([b"**a\x1b[2J".as_slice(), b"b** `\x1b]0;x\x07`"]), "‹1:a␛[2Jb› ‹36:␛]0;x␇›");
}
