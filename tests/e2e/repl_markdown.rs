//! Markdown of an answer as a terminal shows it: captured with its paint, wide and narrow; bytes in a pipe.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, end, openai_sse, openai_stream, said};

const OFF: &str = "planner = \"off\"";

const FORMS: &[(&str, &str, &str)] = &[
    ("## 제목 *x*", "제목 x", "\u{1b}[1m제목 "),
    ("a **굵게** b", "a 굵게 b", "a \u{1b}[1m굵게"),
    ("a *italic* b", "a italic b", "a \u{1b}[3mitalic"),
    ("- one\n  - two\n1. three", "• one\n  • two\n1. three", "\u{1b}[36m•\u{1b}[39m one"),
    ("> said **so**", "│ said so", "\u{1b}[2m│ "),
    ("[text](http://x.test/)", "text (http://x.test/)", "\u{1b}[4mtext"),
    ("run `cargo test` now", "run cargo test now", "\u{1b}[36mcargo test"),
    (
        "```rust\nlet x = 1; // 하나\n```",
        "```rust\nlet x = 1; // 하나\n```",
        "let\u{1b}[39m x = \u{1b}[33m1\u{1b}[39m; \u{1b}[2m// 하나",
    ),
    (
        "|이름|n|\n|:--|--:|\n|가나|10|\n|x|2000|",
        "이름 │    n\n─────┼─────\n가나 │   10\nx    │ 2000",
        "\u{1b}[1m이름",
    ),
    ("~~gone~~ ---", "gone ---", "\u{1b}[9mgone"),
];

#[test]
fn each_form_is_shown_as_it_comes_wide_and_narrow() {
    for columns in [80, 40] {
        for (markdown, shown, painted) in FORMS {
            // In pieces of one character, as the slowest model sends them.
            let letters: Vec<String> = markdown.chars().map(String::from).collect();
            let bot = Bot::openai(OFF, [openai_sse(letters.iter().map(String::as_str))]);
            let Some(screen) = Screen::lepo(&bot.home, columns, &["do", "-q", "q"]) else { return };
            screen.ends(0);
            assert_eq!(screen.whole(), *shown, "{markdown}");
            assert!(screen.painted().contains(painted), "{markdown}: {:?}", screen.painted());
            assert_eq!(bubbs(&bot.home)[2].text, *markdown, "what is stored is what was said");
        }
    }
}

#[test]
fn formulas_are_in_unicode_on_a_terminal_alone() {
    let source =
        "So $E = mc^2$ and \\(\\alpha\\), not $x^T$:\n\n$$\nx = \\frac{1}{2}\n$$\n\n|$n^2$|\n|-|\n|4|";
    let unicode = "So E = mc² and α, not $x^T$:\n\nx = 1/2\n\nn²\n───\n4";
    let as_written = source.replace("|$n^2$|\n|-|\n|4|", "$n^2$\n─────\n4");
    let bot = Bot::saying(OFF, &[source, source, source]);
    let shown = |args: &[&str]| {
        let screen = Screen::lepo(&bot.home, 80, args)?;
        screen.ends(0);
        Some(screen.whole())
    };
    let Some(answer) = shown(&["do", "-q", "q"]) else { return };
    assert_eq!(answer, unicode);
    assert!(shown(&["show", "--no-pager"]).unwrap().contains(unicode));
    assert_eq!(shown(&["do", "-q", "--plain", "q"]).unwrap(), source);
    assert_eq!(shown(&["show", "-1"]).unwrap(), source);
    assert!(shown(&["show", "--no-pager", "--plain"]).unwrap().contains(source));
    assert_eq!(bot.lepo(&["show", "-1"]).out, source);
    assert!(bot.lepo(&["--color=always", "show"]).out.contains(source), "a pipe with colours has the source");
    assert_eq!(bot.lepo(&["do", "-q", "q"]).out, format!("{source}\n"));
    bot.home.ok(&["config", "term.math", "source"]);
    assert!(shown(&["show", "--no-pager"]).unwrap().contains(&as_written));
    bot.home.ok(&["config", "term.math", "unicode"]);
    assert!(shown(&["show", "--no-pager"]).unwrap().contains(unicode));
}

#[test]
fn a_formula_is_shown_alike_when_each_byte_of_the_wire_comes_alone() {
    let source = "한 $E = mc^2$ 그리고 \\(a \\leq b\\), $x^T$ for $5.\n\n$$\n\\alpha_1 = 2\n$$\n\nend";
    for columns in [40, 80, 120] {
        let stream = openai_stream([source]);
        let bytes = stream.as_bytes().chunks(1);
        let reply = Reply::chunks(bytes).header("content-type", "text/event-stream");
        let bot = Bot::openai(OFF, [reply]);
        let Some(screen) = Screen::lepo(&bot.home, columns, &["do", "-q", "q"]) else { return };
        screen.ends(0);
        assert_eq!(screen.whole(), "한 E = mc² 그리고 a ≤ b, $x^T$ for $5.\n\nα₁ = 2\n\nend", "{columns}");
    }
}

#[test]
fn a_table_is_as_wide_as_the_terminal_lets_it() {
    let table = "|이름|what it is|\n|-|-|\n|bubb|one message, one file, and its name says who spoke|\n\nend";
    for (columns, lines) in [(80, 1), (40, 2)] {
        let bot = Bot::saying(OFF, &[table]);
        let Some(screen) = Screen::lepo(&bot.home, columns, &["do", "-q", "q"]) else { return };
        screen.ends(0);
        let text = screen.whole();
        let rows: Vec<&str> =
            text.lines().take_while(|line| line.contains('│') || line.contains('┼')).collect();
        assert_eq!(rows.len(), 2 + lines, "{text}");
        let border = |row: &&str| row.chars().take_while(|c| !matches!(c, '│' | '┼')).count();
        assert!(rows[1..].iter().all(|row| border(row) == border(&rows[1])), "{text}");
    }
}

#[test]
fn plain_and_a_pipe_get_the_bytes() {
    let text = "# H\n**b** `c`\n\n|a|\n|-|";
    let bot = Bot::saying(OFF, &[text, text, text]);
    assert_eq!(bot.lepo(&["do", "q"]).out, format!("{text}\n"));
    let Some(screen) = Screen::lepo(&bot.home, 80, &["do", "-q", "--plain", "q"]) else { return };
    screen.ends(0);
    assert_eq!(screen.whole(), text);
    drop(screen);
    let mut command = bot.home.command(&["do", "-q", "q"]);
    let screen = Screen::of(command.env("NO_COLOR", "1"), &bot.home, 80).unwrap();
    screen.ends(0);
    assert_eq!(screen.whole(), text);
}

#[test]
fn a_window_that_is_resized_in_mid_answer_stays_right() {
    let first = "가".repeat(30) + " ";
    let table = "\n\n|a|b|\n|-|-|\n|one two three four five|six seven eight nine ten|\n\n";
    let bot = Bot::openai(
        OFF,
        [Reply::pieces([said(&first), Piece::Wait, said(table), said("끝."), end()]), openai_sse(["ok"])],
    );
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    screen.prompts("> ").enters("q").shows(first.trim()).resizes(40).shows(&"가".repeat(20));
    bot.server().release();
    screen.shows("끝.").prompts("> ");
    let text = screen.text();
    assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    assert!(text.contains("one two three"), "{text}");
    screen.types("다음 질문").prompts("> 다음 질문").resizes(80).prompts("> 다음 질문");
    screen.keys(&["Enter"]).shows("\nok").prompts("> ");
    let questions: Vec<String> =
        bubbs(&bot.home).into_iter().filter(|bubb| bubb.tag == "u0").map(|bubb| bubb.text).collect();
    assert_eq!(questions, ["q", "다음 질문"]);
}
