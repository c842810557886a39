//! Lists and comparisons on a terminal of 40 columns, with Korean text: no line is wider, and what matters stands whole.

use unicode_width::UnicodeWidthStr;

use crate::home::{Home, run};
use crate::screen::Screen;

/// The branch of the first answer.
const BRANCH: &str = "서울-부산-인구-비교-긴-이름";

/// Two projects below the home, the last with two answers to its last question; the answers.
fn home() -> (Home, [String; 2]) {
    let home = Home::new();
    let project = "아주-긴-이름의-프로젝트";
    for name in [project, "a-project-with-a-long-name"] {
        std::fs::create_dir(home.work().join(name)).unwrap();
    }
    let add = |args: &[&str], text: &str| home.add(&[&["--cd", project], args].concat(), text);
    home.add(&["--cd", "a-project-with-a-long-name"], "What is a leap year, and which of the next are?");
    add(&["--prev", "head"], "서울의 인구는 얼마나 되고 지난 십 년 동안 어떻게 변했는지 알려 주세요?");
    let first = add(
        &["--kind", "a"],
        "약 940만 명입니다. 지난 십 년 동안 꾸준히 줄어들었고, 주된 이유는 주거비입니다.",
    );
    let question = add(&[], "그러면 부산은 어떻습니까? 부산의 인구도 줄어들고 있습니까?");
    let [short, long] = [
        "네, 부산의 인구도 줄고 있습니다.",
        "약 330만 명이고, 해마다 조금씩 줄어들고 있습니다. 자세한 것은 통계청 자료를 보십시오.",
    ]
    .map(|text| add(&["--kind", "a", "--prev", &question], text));
    let store = format!("work/{project}/.lepo");
    let line = |id: &str, model: &str, input: u64| {
        format!(
            "{{\"time\":1,\"bubb\":\"{id}\",\"what\":\"answer\",\"model\":\"{model}\",\"input\":{input},\"output\":7654321,\"ms\":123456}}\n"
        )
    };
    home.write(
        &format!("{store}/_journal.ndjson"),
        line(&first, "claude-opus-4-한국어", 1_234_567) + &line(&short, "gpt-4o", 3_000),
    );
    home.write(&format!("{store}/아주-긴-이름의-낯선-파일.txt"), "x");
    home.write(&format!("{store}/$낯선 파일이 하나 더 있는데 명령처럼 시작한다.txt"), "x");
    home.ok(&["--cd", project, "branch", BRANCH, &short]);
    (home, [short, long])
}

/// Output on a terminal of so many columns, without paint.
fn shown(home: &Home, columns: usize, script: &str) -> String {
    let script = format!("cd 아주-긴-이름의-프로젝트; stty cols {columns} rows 24; lepo {script}");
    let mut command = home.terminal(&script);
    command.env("NO_COLOR", "1").env("LEPO_PAGER", "cat").env("LC_ALL", "C.UTF-8");
    run(command, b"").out.replace('\r', "")
}

#[test]
fn no_line_is_wider_than_the_terminal_and_what_matters_is_whole() {
    let (home, [short, long]) = home();
    let (a, b) = (&short[18..], &long[18..]);
    let turns = format!("diff --turns {short} {long}");
    let words = format!("diff --word {short} {long}");
    for (script, parts) in [
        (
            "ls --everywhere",
            vec!["프로젝트\n", "a-project-with-a-long-name\n", a, b, "1 question now", "What is a leap"],
        ),
        ("ls -l --everywhere", vec!["프로젝트\n", &short, "gpt-4o"]),
        (
            &turns,
            vec![
                "A: gpt-4o · 3,000 in · 7,654,321 out",
                "123.4 s",
                "2 questions: ",
                "1 different",
                "줄어들고",
            ],
        ),
        (&words, vec!["330만", "통계청 자료를"]),
        ("stats", vec!["1,237,567  15,308,642"]),
        ("stats --by conv", vec!["1,237,567  15,308,642"]),
        ("stats --by model", vec!["claude-opus-4-", "1,234,567   7,654,321", "gpt-4o"]),
        ("stats --by day,model", vec!["1,234,567   7,654,321"]),
        ("log", vec![b, "약 940만", "서울의"]),
        ("log --graph --all", vec![a, b, " a0 네, 부산의... [서울-...]\n"]),
        ("fsck", vec!["foreign\n    아주-긴-이름의-낯선-파일.txt:", "does not have the name"]),
        ("config stores", vec!["아주-긴-이름의-프로젝트\n"]),
        ("branch", vec![BRANCH, a, "(4):\n    그러면 부산은"]),
    ] {
        let text = shown(&home, 40, script);
        // The home of a test has a long path of its own.
        let lines = text.lines().filter(|line| !line.contains("/tmp"));
        for line in lines {
            assert!(line.width() <= 40, "{script}: {} columns: {line}\n{text}", line.width());
        }
        assert!(parts.iter().all(|part| text.contains(part)), "{script}: {parts:?}: {text}");
    }
    assert!(
        shown(&home, 120, "ls --everywhere").contains("프로젝트 "),
        "beside its rows where there is room"
    );
    let listed = shown(&home, 120, "branch");
    assert!(listed.contains("그러면 부산은 어떻습니까? 부산의 인구도 줄어들고 있습니까?\n"), "{listed}");
}

#[test]
fn a_session_begins_with_model_and_conversation_on_a_narrow_terminal_too() {
    let (home, [_, long]) = home();
    home.write("config/config.toml", "planner = \"off\"\n[[models]]\nname = \"로컬-모델\"\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nactive = true\n");
    let Some(screen) = Screen::lepo(&home, 40, &["--cd", "아주-긴-이름의-프로젝트"]) else {
        return;
    };
    screen
        .shows(&format!("로컬-모델 · {} (2 questions) ", &long[18..]))
        .shows("\n\"그러면 부산은")
        .shows("\" · /help");
}

#[test]
fn the_models_of_a_log_have_a_column_from_56_columns_on() {
    let (home, [short, _]) = home();
    for (columns, is_told) in [(40, false), (55, false), (56, true), (80, true)] {
        let log = shown(&home, columns, &format!("log {short}"));
        assert_eq!(log.contains(" claude-op... "), is_told, "{columns}: {log}");
        assert!(log.lines().all(|line| line.width() <= columns), "{columns}: {log}");
        // Excerpts begin in one column on all rows without branches.
        let begins = |text: &str| log.lines().find_map(|line| Some(line.split_once(text)?.0.width()));
        assert_eq!(begins("그러면"), begins("약 940"), "{columns}: {log}");
    }
}
