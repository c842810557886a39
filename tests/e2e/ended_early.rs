//! Answers that ended early as they are read: a word beside the model, and a line below the question.

use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::screen::Screen;

/// Output of lepo on a terminal of so many columns, without paint.
fn shown(home: &Home, columns: u32, args: &[&str]) -> String {
    let mut command = home.terminal(&format!("stty cols {columns} rows 24; lepo {}", args.join(" ")));
    command.env("NO_COLOR", "1").env("LEPO_PAGER", "cat");
    run(command, b"").out.replace('\r', "")
}

/// A question whose answer was stopped, one whose answer failed, and the ids of question, part, question, part.
fn store(home: &Home) -> [String; 4] {
    let stopped = home.add(&["--prev", "head"], "What is a leap year?");
    let part = home.add(&["--kind", "a", "--hidden"], "A year with");
    let failed = home.add(&["--prev", &stopped], "And a leap second?");
    let other = home.add(&["--kind", "a", "--hidden"], "One that");
    home.write(
        "work/.lepo/_journal.ndjson",
        format!(
            "{{\"bubb\":\"{part}\",\"what\":\"partial\",\"model\":\"gpt-4o\",\"ms\":5}}\n\
             {{\"bubb\":\"{other}\",\"what\":\"partial\",\"model\":\"gpt-4o\",\"ms\":5,\"failed\":true}}\n"
        ),
    );
    [stopped, part, failed, other]
}

#[test]
fn a_question_without_an_answer_says_on_a_terminal_what_became_of_it() {
    let home = Home::new();
    let [stopped, part, failed, other] = store(&home);
    for columns in [80, 40] {
        let read = shown(&home, columns, &["show"]);
        let line = format!("(stopped; see lepo show --one {})\n", &part[18..]);
        assert!(read.contains(&line), "{read}");
        assert!(read.contains(&format!("# assistant {} (stopped)", &other[18..])), "{read}");
        assert!(read.lines().all(|line| line.chars().count() <= columns as usize), "{read}");
    }
    // The part of the talk is read as it is; one beside the next question by its line.
    let read = shown(&home, 80, &["show", "-a"]);
    assert!(read.contains(&format!("(stopped; see lepo show --one {})\n", &part[18..])), "{read}");
    assert!(read.contains(&format!("# assistant {} (stopped)  now · gpt-4o", &other[18..])), "{read}");
    assert!(!read.contains("(failed"), "{read}");
    let whole = home.add(&["--kind", "a", "--prev", &failed], "One second more.");
    let read = shown(&home, 80, &["show", &whole]);
    assert!(read.contains("(stopped; ") && !read.contains("(failed"), "{read}");
    assert!(!shown(&home, 80, &["show", &failed]).contains("(failed"));
    assert!(!home.ok(&["show"]).contains("stopped"));
    assert!(!home.ok(&["show", &stopped]).contains("stopped"));
}

#[test]
fn a_question_that_waits_or_got_nothing_says_so() {
    let home = Home::new();
    let question = home.add(&["--prev", "head"], "Which files are here?");
    assert!(!shown(&home, 80, &["show"]).contains('('), "a message that was added waits for nothing");
    home.write(
        "work/.lepo/_journal.ndjson",
        format!("{{\"time\":1,\"bubb\":null,\"what\":\"unanswered\",\"under\":\"{question}\",\"ms\":0}}\n"),
    );
    assert!(shown(&home, 80, &["show"]).contains("(no answer)\n"));
    home.add(&["--kind", "s", "--hidden"], "{\"access\":\"read\",\"command\":\"ls\"}");
    for args in [&["show"][..], &["show", &question]] {
        let read = shown(&home, 40, args);
        assert!(read.contains("(needs approval; see lepo ls --pending)\n"), "{read}");
    }
    assert!(!shown(&home, 80, &["show", "-a"]).contains("(needs"));
    home.add(&["--kind", "a", "--prev", &question], "None.");
    assert!(!shown(&home, 80, &["show", &question]).contains('('));
}

#[test]
fn lists_and_documents_have_the_word_too() {
    let home = Home::new();
    let [_, part, _, other] = store(&home);
    for columns in [80, 40] {
        let listed = shown(&home, columns, &["log", "-a", "--graph"]);
        let line = listed.lines().find(|line| line.contains(&part[18..])).unwrap();
        assert!(line.contains("(stopped) A"), "{listed}");
        assert!(listed.contains("(stopped)"), "{listed}");
        assert!(!listed.contains("failed"), "it is part of the talk: {listed}");
    }
    let second = home.add(&["--kind", "a", "--hidden", "--prev", "@~1"], "Other words");
    let listed = shown(&home, 120, &["ls"]);
    assert!(listed.contains("(failed) One that") && listed.contains("(stopped) Other words"), "{listed}");
    let document = home.ok(&["export", "-a", &other]);
    assert!(document.contains("## Assistant (gpt-4o) (stopped)\n"), "{document}");
    let page = home.ok(&["export", "-a", "--format", "html", &part, &second]);
    assert!(page.contains(" · gpt-4o · stopped"), "{page}");
}

/// A home with a model that nobody answers for.
fn with_model() -> Home {
    Home::with_openai("http://127.0.0.1:9/v1")
}

#[test]
fn a_session_begins_with_the_question_that_has_no_answer() {
    let home = with_model();
    home.add(&["--prev", "head"], "서울의 인구는?");
    home.add(&["--kind", "a"], "약 940만.");
    let left = home.add(&[], "부산은?");
    home.write(
        "work/.lepo/_journal.ndjson",
        format!("{{\"time\":1,\"bubb\":null,\"what\":\"unanswered\",\"under\":\"{left}\",\"ms\":0}}\n"),
    );
    let Some(screen) = Screen::lepo(&home, 60, &[]) else { return };
    screen.shows("(1 question)").shows("\nnot answered: \"부산은?\" · /retry\n").prompts("> ");
}

#[test]
fn the_list_of_a_session_marks_its_place_and_has_first_and_last_question() {
    let home = with_model();
    home.add(&["--prev", "head"], "다른 대화");
    home.add(&["--prev", "head"], "서울의 인구는?");
    home.add(&["--kind", "a"], "약 940만.");
    home.add(&[], "부산은?");
    home.add(&["--kind", "a"], "약 330만.");
    let Some(screen) = Screen::lepo(&home, 80, &[]) else { return };
    screen.prompts("> ").enters("/ls").shows("\n  1* ").shows("서울의 인구는? · 부산은?").shows("\n  2  ");
}

#[test]
fn several_conversations_that_would_be_deleted_are_told_by_their_questions() {
    let home = Home::new();
    home.add(&["--prev", "head"], "첫 물음");
    home.add(&["--prev", "head"], "둘째 물음");
    let ran = on_terminal(home.command(&["rm", "--unanswered"]), &[("(y/N): ", "ㅜ\n")]);
    assert!(ran.out.contains("  첫 물음") && ran.out.contains("  둘째 물음"), "{}", ran.out);
    assert!(ran.out.contains("Delete these 2 files of 2 conversations?"), "{}", ran.out);
    assert_eq!(home.bubbs().len(), 2);
    // The key is the same with the Korean layout on.
    on_terminal(home.command(&["rm", "--unanswered"]), &[("(y/N): ", "ㅛ\n")]);
    assert!(home.bubbs().is_empty());
    home.add(&["--prev", "head"], "x");
    assert!(shown(&home, 80, &["ls", "--grep", "y"]).contains("no conversation has a message that matches"));
}

#[test]
fn a_title_that_was_given_is_told_on_a_terminal() {
    let home = Home::new();
    let id = home.add(&["--prev", "head"], "서울의 인구는?");
    let short = &id[18..];
    assert_eq!(shown(&home, 80, &["title", short, "수도"]), format!("title of {short}: {short} 수도\n"));
    assert_eq!(shown(&home, 80, &["title", "-d"]), format!("title of {short} removed\n"));
    let ran = home.lepo(&["title", "@", "수도"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}
