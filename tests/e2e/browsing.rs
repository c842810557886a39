//! `browse`: the forest on a real terminal, in wide and narrow ones.

use crate::home::Home;
use crate::screen::Screen;

/// A home whose store has three conversations: a debate, and a fork with one in Korean.
fn home() -> Home {
    let home = Home::with_config(
        "planner = 'off'\n[[models]]\nname = 'm'\nprovider = 'cli'\ncommand = ['cat']\nactive = true\n",
    );
    home.copy(".lepo.example", ".lepo");
    home.trust_work();
    home
}

fn browse(home: &Home, size: (usize, usize)) -> Option<Screen> {
    Screen::sized(&home.command(&["browse"]), home, size)
}

#[test]
fn without_a_terminal_or_conversations_it_says_so() {
    let home = home();
    let ran = home.lepo(&["browse"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("needs a terminal"), "{}", ran.err);
    let empty = Home::new();
    empty.ok(&["init"]);
    let Some(screen) = browse(&empty, (80, 24)) else { return };
    screen.ends(1);
    assert!(screen.whole().contains("no conversations yet"), "{}", screen.whole());
}

#[test]
fn a_wide_terminal_shows_the_list_and_the_conversation() {
    let home = home();
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("Should tally ignore").shows("? keys");
    // The newest conversation at the right, with its speakers.
    screen.shows("│ user").shows("│ claude").shows("│ gemini");
    screen.keys(&["j"]).shows("│ Nothing is printed");
    screen.keys(&["j"]).shows("│ 네. 낱말을");
    let text = screen.text();
    assert_eq!(text.lines().count(), 24, "{text}");
    // The bar between the panes stands in one column on every line, beside Hangul too.
    let bars: Vec<usize> =
        text.lines().take(23).map(|line| columns(line.split('│').next().unwrap())).collect();
    assert!(bars.iter().all(|bar| *bar == bars[0]), "{bars:?}\n{text}");
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    screen.keys(&["k", "k"]).shows("│ Yes, by default");
    screen.keys(&["?"]).shows("compare with the marked one").keys(&["?"]).shows("│ user");
    screen.keys(&["q"]).ends(0);
}

/// Columns that a line takes, as tmux counts them.
fn columns(line: &str) -> usize {
    let wide =
        |c: char| matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}');
    line.chars().map(|c| 1 + usize::from(wide(c))).sum()
}

#[test]
fn answers_of_several_models_are_told_apart_in_the_list() {
    let panel = crate::many::Panel::saying(&[("gpt", &["one"]), ("qwen", &["two"])]);
    assert_eq!(panel.lepo(&["do", "--parallel", "which?"]).code, 0);
    let Some(screen) = browse(&panel.home, (80, 24)) else { return };
    screen.shows("gpt: which?").shows("qwen: which?").keys(&["q"]).ends(0);
}

#[test]
fn a_narrow_terminal_shows_one_of_them() {
    let home = home();
    let Some(screen) = browse(&home, (40, 15)) else { return };
    screen.shows("Should tally");
    assert!(!screen.text().contains('│'), "{}", screen.text());
    screen.keys(&["G", "l"]).shows("네. 낱말을");
    let text = screen.text();
    assert!(text.contains("assistant") && !text.contains("Should tally"), "{text}");
    assert!(text.lines().all(|line| columns(line) <= 40), "{text}");
    screen.keys(&["k", "k"]).shows("With find,");
    screen.keys(&["Escape"]).shows("Should tally");
    screen.keys(&["?"]).shows("leave").keys(&["q"]).shows("Should tally").keys(&["q"]).ends(0);
}

#[test]
fn resizing_draws_everything_anew() {
    let home = home();
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("│ claude").keys(&["l"]);
    screen.resizes(50).becomes("one pane", || {
        let text = screen.text();
        !text.contains('│') && text.contains("claude") && text.lines().all(|line| columns(line) <= 50)
    });
    screen.resizes(100).shows("│ claude");
    screen.keys(&["q"]).ends(0);
}

#[test]
fn it_finds_marks_compares_and_copies() {
    let home = home();
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("Should tally");
    screen.enters("/낱말").shows("Esc shows everything again").shows("│ assistant");
    let text = screen.text();
    assert!(!text.contains("Should tally") && text.contains("네. 낱말을"), "{text}");
    screen.keys(&["Space"]).shows("*").keys(&["Escape"]).shows("Should tally");
    screen.keys(&["j", "d"]).shows("+ Let the shell join them").shows("- With `find`");
    screen.keys(&["h", "h"]).enters("/nothing of the kind").shows("nothing matches");
    screen.enters("/(").becomes("an error", || !screen.text().contains("nothing matches"));
    screen.keys(&["y"]).shows("copied 01M80QW5DV255NT2X2MVY0TZ6K");
    screen.keys(&["q"]).ends(0);
    assert!(home.ok(&["fsck"]).is_empty(), "nothing was changed");
}

/// The newest 256 are read at first; keys that lead farther read on, and lose nothing of what is on the screen.
#[test]
fn older_conversations_are_read_when_a_key_leads_to_them() {
    let home = Home::new();
    home.ok(&["init"]);
    for i in 0..700 {
        home.write(&format!("work/.lepo/01JB3Z{i:020}-u0-head.md"), format!("question {i:03}"));
    }
    home.ok(&["tidy"]);
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("question 699").keys(&["Space"]).shows("*");
    screen.keys(&["PageDown"; 15]).shows("question 369").keys(&["g"]).shows("*");
    screen.keys(&["G"]).shows("question 000").shows("question 022");
    screen.keys(&["d"]).shows("- question 699").shows("+ question 000").keys(&["h", "h", "g"]).shows("*");
    screen.keys(&["q"]).ends(0);
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("question 699").keys(&["j"]).enters("/question 00[1-3]").shows("Esc shows everything again");
    screen.shows("question 003").shows("question 001");
    assert!(!screen.text().contains("question 004"), "{}", screen.text());
    screen.keys(&["Escape"]).shows("question 699").keys(&["q"]).ends(0);
}

#[test]
fn enter_continues_the_conversation_and_comes_back() {
    let home = home();
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("Should tally").keys(&["j", "j", "Enter"]);
    screen.prompts("> ").enters("그래?").shows("그래?");
    let follows = |name: &String| name.contains("-u0-01M80QW4VQEW5T6RYATD24TD5E");
    screen.becomes("a question under it", || home.bubbs().iter().any(follows));
    // The list comes back at the conversation, which has a new end.
    screen.prompts("> ").keys(&["C-d"]).shows("t tree").shows("│ 그래?");
    screen.keys(&["c"]).prompts("> ").keys(&["C-d"]).shows("t tree").keys(&["q"]).ends(0);
}

#[test]
fn t_shows_the_tree_of_the_conversation() {
    let home = home();
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("Should tally").keys(&["j", "t"]).shows("|/").shows("t list");
    // Below the tree is the message under the cursor; every row has the drawing of `log --graph`.
    screen
        .shows("─────")
        .shows("Nothing is printed: stdin().lines() yields no line. Only bytes that are not");
    let drawing = |text: &str| -> Vec<String> {
        let rows = text.lines().take_while(|line| !line.is_empty() && !line.starts_with('─'));
        rows.map(|row| row.chars().take_while(|c| "*|/ ".contains(*c)).collect()).collect()
    };
    let graph = home.ok(&["log", "--graph", "main"]);
    assert_eq!(drawing(&screen.text()), drawing(&graph), "{graph}");
    // To the root, the next sibling below it, the parent; the fold counts what it hides.
    let at = |id: &str| screen.becomes(id, || screen.text().lines().last().unwrap().starts_with(id));
    screen.keys(&["G"]);
    at("01M80QW1W7S6Q8QKWQ9TVY7XZE");
    screen.keys(&["k", "k", "k", "k"]);
    at("01M80QW4KCCDVYHW8QPF1VKT0K");
    screen
        .keys(&["f"])
        .shows("[+1] u0 한국어")
        .keys(&["f"])
        .becomes("unfolded", || !screen.text().contains("[+"));
    screen.keys(&["k", "f"]).shows("nothing follows this message").keys(&["Left", "Left", "Right"]);
    at("01M80QW3QGKSTBZ2N3M484307B");
    // Search unfolds what hides a match; compare takes the marked message; Escape is the list again.
    screen
        .keys(&["g", "G", "f"])
        .shows("[+8]")
        .enters("/낱말")
        .shows("네. 낱말을")
        .keys(&["Space"])
        .shows("* a0 네.");
    screen
        .keys(&["g", "d"])
        .shows("- With `find`")
        .shows("+ Let the shell")
        .keys(&["h", "h"])
        .shows("t tree");
    screen.keys(&["q"]).ends(0);
}

#[test]
fn a_tree_is_next_to_its_message_or_alone() {
    let home = home();
    let Some(screen) = browse(&home, (130, 40)) else { return };
    screen.shows("Should tally").keys(&["j", "t"]).shows("|/").shows("│ Nothing is printed");
    screen.resizes(50).becomes("one pane", || !screen.text().contains(['│', '─']));
    let text = screen.text();
    assert!(text.lines().all(|line| columns(line) <= 50), "{text}");
    screen.keys(&["l"]).shows("UTF-8 make it panic").keys(&["Escape"]).shows("|/");
    screen.keys(&["t"]).becomes("the list", || !screen.text().contains("|/"));
    screen.keys(&["q"]).ends(0);
}

#[test]
fn a_session_continues_where_its_tree_was_left() {
    let home = home();
    let Some(screen) = Screen::sized(&home.command(&["do", "--tail", "main"]), &home, (80, 24)) else {
        return;
    };
    screen.prompts("> ").enters("/tree").shows("|/").shows("a0 Let the shell").keys(&["q"]);
    screen
        .shows("the session continues where it was")
        .prompts("> ")
        .enters("/tree")
        .shows("|/")
        .keys(&["j", "Enter"]);
    screen.shows("continuing TD24TD5E (3 questions)").prompts("> ").enters("그래?").shows("그래?");
    let follows = |name: &String| name.contains("-u0-01M80QW4VQEW5T6RYATD24TD5E");
    screen.becomes("a question under it", || home.bubbs().iter().any(follows));
}

/// An answer with each form of Markdown, and a line of code that no pane has room for.
const FORMED: &str = "# Top\n\nA **bold** `code` word, \\(x^2 \\le y\\), [site](https://example.org/a) and so on, far to \
    the right.\n\n- item **one**\n- 한글 항목\n\n| a | b |\n|---|---|\n| 1 | 22 |\n\n```rust\nlet line = \
    \"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\";\n\
    \tindented();\n```\n\n> quoted words\n\nThe end.";

#[test]
fn an_answer_is_shown_as_show_does_and_every_line_is_reached() {
    let home = home();
    home.add(&["--prev", "head"], "how?");
    let answer = home.add(&["--kind", "a"], FORMED);
    home.add(&[], "a **question** as typed");
    home.add(&["--kind", "a"], "*last*");
    for (columns, rows) in [(80, 24), (120, 12), (40, 15), (30, 7)] {
        let Some(screen) = browse(&home, (columns, rows)) else { return };
        screen.keys(&["l", "g"]).shows("how?");
        let mut seen = String::new();
        for _ in 0..80 {
            let text = screen.text();
            let pane = |line: &str| {
                line.split_once('│').filter(|_| columns >= 60).map_or(line, |(_, right)| right).to_string()
            };
            let lines: Vec<String> =
                text.lines().take(rows - 1).map(|line| pane(line).trim_end().to_string()).collect();
            seen += &format!("{}\n", lines.join("\n"));
            if lines.iter().any(|line| line.trim() == "last") {
                break;
            }
            screen.keys(&["Down"]).becomes("the next line", || screen.text() != text);
        }
        let all = |text: &str| assert!(seen.contains(text), "{columns}×{rows} lacks {text}\n{seen}");
        for text in [
            "Top",
            "bold code",
            "x² ≤ y",
            "• item one",
            "한글 항목",
            "1   │ 22",
            "let line = ",
            "indented();",
            "│ quoted",
            "The end.",
            "**question**",
            "last",
        ] {
            all(text);
        }
        // Every digit of the long line is on the screen at some time.
        let digits = seen.lines().filter(|line| line.contains("6789")).count();
        assert!(digits > 0 && !seen.contains("**bold**") && !seen.contains("\\(x^2"), "{seen}");
        screen.keys(&["q"]).ends(0);
    }
    // Without colours as it was written, as by `show`.
    let mut command = home.command(&["browse"]);
    command.env("NO_COLOR", "1");
    let Some(screen) = Screen::sized(&command, &home, (100, 30)) else { return };
    screen.keys(&["l", "g"]).shows("**bold** `code`").shows("\\(x^2 \\le y\\)").keys(&["q"]).ends(0);
    assert!(home.ok(&["show", &answer]).contains("**bold**"));
}

#[test]
fn hostile_words_move_nothing() {
    let home = Home::new();
    home.ok(&["init"]);
    home.add(&[], "\u{1b}[2J\u{1b}[31mred\u{7}\ta\u{202e}b\r\nsecond");
    let Some(screen) = browse(&home, (80, 24)) else { return };
    screen.shows("␛[2J␛[31mred␇");
    assert!(screen.text().contains("<U+202E>"), "{}", screen.text());
    screen.keys(&["q"]).ends(0);
}

#[test]
fn it_ends_when_its_terminal_is_gone() {
    let home = home();
    let mut command = home.terminal("lepo browse");
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut byte = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let mut below: Vec<String> =
        std::fs::read_to_string(children).unwrap().split_whitespace().map(str::to_string).collect();
    if let Some(shell) = below.first().cloned() {
        let deeper =
            std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap_or_default();
        below.extend(deeper.split_whitespace().map(str::to_string));
    }
    assert!(!below.is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = std::time::Instant::now();
    let is_there = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains("lepo") && !stat.contains(") Z")
    };
    while below.iter().any(is_there) {
        assert!(begun.elapsed().as_secs() < 30, "it is still there");
        std::thread::yield_now();
    }
}

#[test]
fn the_help_has_whole_words_on_a_small_screen() {
    let home = home();
    let Some(screen) = browse(&home, (40, 15)) else { return };
    screen
        .shows("? keys")
        .keys(&["?"])
        .shows("open the conversation")
        .shows("next conversation")
        .shows("q     leave");
    assert!(!screen.text().contains("..."), "{}", screen.text());
}
