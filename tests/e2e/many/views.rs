//! Many as a person sees them: a real terminal, and what it shows.

use serde_json::json as value;

use super::{Panel, debate};
use crate::home::{Home, until};
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, openai_event, openai_stream};

const LONG: &str = "아주 긴 이름의 참가자";

/// A reply that waits before it begins and once more in the middle of its two pieces.
fn slow(first: &str, second: &str) -> Reply {
    let first = openai_event(value!({"content": first}), None).into_bytes();
    let second = openai_stream([second]).into_bytes();
    Reply::pieces([Piece::Wait, Piece::Bytes(first), Piece::Wait, Piece::Bytes(second)])
}

/// lepo in a terminal that has pictures.
fn screen(home: &Home, columns: usize, rows: usize, args: &[&str]) -> Option<Screen> {
    let mut command = home.command(args);
    command.env("LANG", "C.UTF-8");
    Screen::sized(&command, home, (columns, rows))
}

/// Text of the screen at the end, ids as `ID`, the one that is `@` without its mark.
fn left(screen: &Screen) -> String {
    let is_id = |word: &str| {
        word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let line = |line: &str| match line.rsplit_once("  ").zip(line.split_once("  ")) {
        Some(((name, id), _)) if is_id(id) => format!("{name}  ID"),
        Some((_, (id, name))) if is_id(id) => format!("ID  {}", name.trim_end_matches("  @")),
        _ => line.trim_end().to_string(),
    };
    screen.whole().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn rows_tell_who_is_at_work_and_leave_nothing_behind() {
    for (columns, rows, narrow) in [(80, 24, 40), (40, 15, 38)] {
        let panel = Panel::new("", &[("a", vec![slow("on", "e")]), (LONG, vec![slow("하", "나")])]);
        panel.home.ok(&["init"]);
        let Some(screen) = screen(&panel.home, columns, rows, &["do", "--parallel", "물음?"]) else {
            return;
        };
        screen.shows("\na                     waiting ").shows("\n아주 긴 이름의 참...  waiting ");
        // Shown, it would move the rows.
        screen.types("typed").keys(&["Enter", "Enter"]);
        panel.server(LONG).release();
        screen.shows("참...  answering ");
        // The text breaks at the new width, is taken away by it, and drawn anew, cut.
        screen.resizes(narrow);
        screen.shows("참...  answering").becomes("one row each", || {
            screen.text().matches("waiting").count() == 1 && screen.text().matches("answering").count() == 1
        });
        panel.server(LONG).release();
        screen.shows("하나").shows("a                     waiting ");
        panel.server("a").release();
        panel.server("a").release();
        screen.ends(0);
        // Wide again, each line is one, and nothing else was left.
        screen.resizes(100);
        let whole = left(&screen);
        let whole = whole.replace("ID  a\n", "").replace("\nID  a", "");
        let expected = [
            &format!(
                "lepo do --parallel · a, {}",
                if columns == 80 { LONG } else { "아주 긴 이름의\n참가자" }
            ),
            "[user] 물음?",
            &format!("## {LONG}  ID\n\n하나\n\n## a  ID\n\none"),
            &format!("ID  {LONG}"),
        ];
        assert_eq!(whole, expected.join("\n"));
    }
}

#[test]
fn rows_that_fill_the_screen_are_drawn_in_place() {
    let names: Vec<String> = (0..12).map(|number| format!("model-{number}")).collect();
    let models: Vec<_> = names.iter().map(|name| (name.as_str(), vec![slow("a", "b")])).collect();
    let panel = Panel::new("", &models);
    let Some(screen) = screen(&panel.home, 40, 8, &["do", "--parallel", "q"]) else { return };
    screen.shows("model-11  waiting");
    screen.resizes(30);
    // Ten drawings a second.
    screen.shows("  4.");
    assert!(screen.whole().matches("waiting").count() < 40, "{}", screen.whole());
    screen.keys(&["C-c"]).ends(130);
}

#[test]
fn a_debate_is_shown_as_it_goes() {
    for (columns, rows) in [(80, 24), (40, 15)] {
        let panel = debate::seed();
        panel.home.ok(&["init"]);
        let Some(screen) = screen(&panel.home, columns, rows, &["do", "--debate", debate::Q]) else { return };
        screen.ends(0);
        let told = |requests: &str| match columns {
            80 => requests.to_string(),
            _ => requests.replace("   ", "\n"),
        };
        let expected = [
            "lepo do --debate · orchestrator: chief",
            if columns == 80 {
                "[user] 이 서비스 아키텍처 어떻게 구성할까?"
            } else {
                "[user] 이 서비스 아키텍처 어떻게 구성..."
            },
            &told("claude: ✋ REQUEST   제미니: ✋ REQUEST   codex: 💤 PASS"),
            "[orchestrator] 아키텍처 주제이므로 먼저 제미니의 의견을 들어보겠습니다.",
            "→ 제미니",
            "[제미니] 🎤",
            "모놀리식으로.",
            &told("claude: ✋ REQUEST   제미니: 💤 PASS   codex: 💤 PASS"),
            "→ claude",
            "",
            "[claude] 🎤",
            "동의합니다.",
            &told("claude: 💤 PASS   제미니: 💤 PASS   codex: 💤 PASS"),
            "[orchestrator] 모든 참여자가 동의했습니다.",
            "",
            "[conclusion] 📋",
            "모듈러 모놀리스 채택",
            "• 규모에 적합",
        ];
        // Long lines are the terminal's to break.
        let unbroken = |text: &str| text.replace(['\n', ' '], "");
        let whole = left(&screen);
        assert_eq!(unbroken(&whole), unbroken(&expected.join("\n")), "{whole}");
        if columns == 80 {
            assert_eq!(whole, expected.join("\n"));
        }
    }
}

#[test]
fn who_is_waited_for_stands_below_and_a_speech_streams() {
    let sse = |text: &str| crate::scripted::openai_sse([text]);
    let wait = |text: &str| Reply::pieces([Piece::Wait, Piece::Bytes(openai_stream([text]).into_bytes())]);
    let panel = Panel::new(
        "",
        &[
            ("chief", vec![wait("SELECT: b"), sse("END: 끝")]),
            ("a", vec![wait("PASS"), sse("PASS")]),
            ("b", vec![sse("REQUEST"), slow("안녕", "하세요"), sse("PASS")]),
        ],
    );
    let Some(screen) = screen(&panel.home, 40, 15, &["--color", "never", "do", "--debate", "q"]) else {
        return;
    };
    screen.shows("round 1: who wants the floor?\n").shows("a  waiting ").shows("b  REQUEST ");
    panel.server("a").release();
    screen.shows("a: 💤 PASS   b: ✋ REQUEST\nchief  deciding ");
    panel.server("chief").release();
    screen.shows("→ b\nb  waiting ");
    panel.server("b").release();
    screen.shows("→ b\n[b] 🎤\n안녕");
    assert!(!screen.text().contains("하세요") && !screen.text().contains("waiting"), "{}", screen.text());
    panel.server("b").release();
    screen.ends(0);
    assert!(screen.whole().ends_with("\n[conclusion] 📋\n끝"), "{}", screen.whole());
    assert!(!screen.painted().contains("\u{1b}["), "{:?}", screen.painted());
}

#[test]
fn a_dumb_terminal_and_a_locale_without_pictures_get_plain_lines() {
    for env in [[("TERM", "dumb"), ("LC_ALL", "C.UTF-8")], [("TERM", "xterm"), ("LC_ALL", "C")]] {
        let panel = debate::seed();
        let mut command = panel.home.command(&["--color", "never", "do", "--debate", "q"]);
        command.envs(env);
        let ran = on_terminal(command, &[]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert!(ran.out.contains("claude: REQUEST   제미니: REQUEST   codex: PASS\r\n"), "{}", ran.out);
        assert!(
            ran.out.contains("[제미니]\r\n모놀리식으로.\r\n") && ran.out.contains("[conclusion]\r\n"),
            "{}",
            ran.out
        );
        assert!(!["✋", "💤", "🎤", "📋", "→", "·"].iter().any(|sign| ran.out.contains(sign)), "{}", ran.out);
        assert_eq!(ran.out.contains('\u{1b}'), env[0] == ("TERM", "xterm"), "{:?}", ran.out);
    }
}

#[test]
fn nothing_a_model_says_can_drive_the_terminal() {
    let evil = "a\u{1b}]0;x\u{7}b\u{202e}c";
    let panel = Panel::saying(&[
        ("chief", &[&format!("{evil}\nSELECT: a"), &format!("END: {evil}")]),
        ("a", &["REQUEST", evil, "PASS"]),
    ]);
    let mut command = panel.home.command(&["do", "--debate", "q"]);
    command.env("TERM", "dumb");
    let ran = on_terminal(command, &[]);
    assert_eq!(ran.out.matches("a␛]0;x␇b<U+202E>c").count(), 3, "{:?}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
}

#[test]
fn an_interruption_takes_the_rows_away() {
    let panel = Panel::new("", &[("a", vec![Reply::pieces([Piece::Wait])])]);
    let Some(screen) = screen(&panel.home, 80, 24, &["do", "--parallel", "q"]) else { return };
    screen.shows("a  waiting ");
    panel.server("a").await_asked(1);
    screen.keys(&["C-c"]);
    screen.ends(130);
    until("the row is gone", || !screen.whole().contains("waiting"));
    assert!(screen.whole().contains("error: interrupted"), "{}", screen.whole());
}

#[test]
fn an_orchestrator_who_takes_part_is_shown_bidding_and_then_deciding() {
    let wait = |text: &str| Reply::pieces([Piece::Wait, Piece::Bytes(openai_stream([text]).into_bytes())]);
    let panel = Panel::new(
        "",
        &[("a", vec![wait("PASS"), wait("END: 끝")]), ("b", vec![crate::scripted::openai_sse(["PASS"])])],
    );
    let args = ["do", "--debate", "--orchestrator", "a", "--participants", "a,b", "q"];
    let Some(screen) = screen(&panel.home, 80, 24, &args) else { return };
    screen.shows("round 1: who wants the floor?\n").shows("a  waiting ").shows("b  PASS ");
    assert!(!screen.text().contains("deciding"), "{}", screen.text());
    panel.server("a").release();
    screen.shows("a: 💤 PASS   b: 💤 PASS\na  deciding ");
    panel.server("a").release();
    screen.ends(0);
}
