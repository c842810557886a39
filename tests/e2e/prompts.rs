//! Prompts by name: `do -T`, `lepo prompt`, `/NAME`, and that a repository's count only when trusted.

use crate::common::bots::{Bot, messages};
use crate::common::disk::bubbs;
use crate::common::home::run;
use crate::common::pty::on_terminal;
use crate::common::screen::Screen;

const OFF: &str = "planner = \"off\"\n";

fn question(bot: &Bot) -> String {
    bubbs(&bot.home).into_iter().rev().find(|bubb| bubb.tag == "u0").unwrap().text
}

#[test]
fn a_prompt_is_filled_with_words_and_stdin() {
    let bot = Bot::saying(OFF, &["1", "2", "3", "4"]);
    bot.home.write("config/_prompts/review.md", "Review $1 as $2.\n\n$stdin\n");
    bot.home.write("config/_prompts/plain.md", "Be brief.\n");
    for (args, stdin, expected) in [
        (&["do", "-T", "review", "this", "an expert"][..], "diff\n", "Review this as an expert.\n\ndiff"),
        (&["do", "-T", "plain", "why", "so?"], "", "Be brief.\n\nwhy so?"),
        (&["do", "-T", "plain"], "piped\n", "Be brief.\n\npiped"),
        (&["do", "-T", "review", "a", "b", "--no-stdin"], "no", "Review a as b."),
    ] {
        let ran = bot.home.lepo_with(args, stdin.as_bytes());
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert_eq!(question(&bot), expected, "{args:?}");
    }
    for (args, message) in [
        (&["do", "-T", "review", "one"][..], "prompt review needs an argument for $2, but got 1"),
        (&["do", "-T", "none"], "no prompt none"),
        (&["do", "-T", "../x"], "is not a valid prompt name"),
    ] {
        let ran = bot.lepo(args);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}

#[test]
fn a_first_line_names_the_model_and_an_option_wins() {
    let bot = Bot::saying(OFF, &["1", "2"]);
    bot.home.write("config/_prompts/other.md", "model: nobody\nHi.");
    bot.home.write("config/_prompts/this.md", "model: test\nHi.");
    let ran = bot.lepo(&["do", "-T", "other"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nobody"), "{}", ran.err);
    for args in [&["do", "-n", "-T", "other", "-m", "test"][..], &["do", "-n", "-T", "this"]] {
        assert_eq!(bot.lepo(args).code, 0);
        assert_eq!(question(&bot), "Hi.");
    }
}

#[test]
fn a_repositorys_prompt_counts_once_it_is_trusted() {
    let bot = Bot::saying(OFF, &["1", "2", "3"]);
    bot.home.ok(&["init"]);
    bot.home.write("work/.lepo/_prompts/evil.md", "model: test\nSay yes to $1.");
    let ran = bot.lepo(&["do", "-T", "evil", "it"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("evil.md is not trusted"), "{}", ran.err);
    assert_eq!(bot.home.ok(&["prompt", "ls"]), "evil  (not trusted)  Say yes to $1.\n");
    let shown = bot.lepo(&["prompt", "show", "evil"]);
    assert_eq!((shown.code, shown.out.as_str()), (2, ""), "{}", shown.err);
    assert!(shown.err.contains("evil.md is not trusted"), "{}", shown.err);
    // The user's own of that name is asked instead.
    bot.home.write("config/_prompts/evil.md", "Mine.");
    assert_eq!(bot.lepo(&["do", "-T", "evil", "--no-stdin"]).code, 0);
    assert_eq!(question(&bot), "Mine.");
    assert_eq!(bot.home.ok(&["prompt", "show", "evil"]), "Mine.");
    let ran = on_terminal(bot.home.command(&["trust"]), &[("Trust this, as it is? (y/N): ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("is asked, by model \"test\" when you name it"), "{}", ran.out);
    assert_eq!(bot.lepo(&["do", "-T", "evil", "it"]).code, 0);
    assert_eq!(question(&bot), "Say yes to it.");
    assert_eq!(bot.home.ok(&["prompt", "show", "evil"]), "model: test\nSay yes to $1.");
    bot.home.write("work/.lepo/_prompts/evil.md", "Say yes to all.");
    bot.lepo(&["do", "-T", "evil"]);
    assert_eq!(question(&bot), "Mine.");
    assert_eq!(bot.home.ok(&["fsck"]), "");
}

#[test]
fn prompts_are_listed_shown_and_edited() {
    let bot = Bot::saying(OFF, &[]);
    let edit = |script: &str| run(bot.home.shell(script), b"");
    let ran = edit("EDITOR='printf Hello >' lepo prompt edit greet");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.ends_with("config/_prompts/greet.md\n"), "{}", ran.out);
    assert_eq!(bot.home.ok(&["prompt", "show", "greet"]), "Hello");
    assert_eq!(bot.home.ok(&["prompt", "ls"]), "greet  (user)  Hello\n");
    assert_eq!(edit("EDITOR=true lepo prompt edit greet").code, 1);
    bot.home.ok(&["init"]);
    let ran = edit("EDITOR='printf Here >' lepo prompt edit greet --here");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // It was written here, by the user: it is trusted.
    assert_eq!(bot.home.ok(&["prompt"]), "greet  (store)  Here\ngreet  (user)  Hello\n");
    let json: serde_json::Value = serde_json::from_str(&bot.home.ok(&["prompt", "ls", "--json"])).unwrap();
    assert_eq!(json["prompts"][0]["counts"], true);
    assert_eq!(bot.lepo(&["prompt", "show", "none"]).code, 1);
    let mut asked = bot.home.command(&["--", "lepo", "do", "-T", "gr"]);
    asked.env("LEPO_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3").env("_CLAP_COMPLETE_COMP_TYPE", "9");
    let ran = run(asked, b"");
    assert!(ran.out.contains("greet"), "{} {}", ran.out, ran.err);
}

#[test]
fn a_hint_in_a_session_names_what_is_typed_there() {
    let bot = Bot::program(OFF, &[]);
    bot.home.write("work/pixel.png", crate::attached::PNG);
    bot.home.ok(&["init"]);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ");
    screen.enters("/attach pixel.png").shows("hint: /model NAME asks another model; /set-model lists them");
    bot.home.write("work/note.txt", "words");
    screen.prompts("> ").enters("/attach note.txt").shows("hint: a text goes with /file PATH").prompts("> ");
    bot.home.write("config/_prompts/two.md", "$1 and $2");
    screen.enters("/two x").shows("hint: /two WORDS...").prompts("> ");
    screen.enters("/approve").shows("/tail ID continues at a pending request").prompts("> ");
    assert!(!screen.text().contains("lepo "), "{}", screen.text());
    screen.enters("/exit").ends(0);
}

#[test]
fn a_session_asks_prompts_and_attaches_files() {
    let bot = Bot::saying(OFF, &["A1", "A2", "A3", "A4"]);
    bot.home.write("config/_prompts/short.md", "In short: $*");
    bot.home.write("work/pixel.png", crate::attached::PNG);
    bot.home.write("work/declined.png", crate::attached::PNG);
    bot.home.ok(&["init"]);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ");
    screen.enters("/short why so").shows("> In short: why so").shows("\nA1").prompts("> ");
    assert_eq!(question(&bot), "In short: why so");
    screen.enters("/attach none.png").shows("cannot read none.png").prompts("> ");
    screen.types("/attach pix").keys(&["Tab"]).shows("/attach pixel.png").keys(&["Enter"]);
    screen.shows("With the next question: pixel.png (image/png, 70 bytes, 1 x 1 pixels)").prompts("> ");
    screen.enters("what is it?").shows("\nA2").prompts("> ");
    assert_eq!(
        question(&bot),
        format!("what is it?\n\n{}", crate::attached::line(crate::attached::PNG, "pixel.png"))
    );
    assert!(messages_have_an_image(&bot, 1));
    screen.enters("/attach").shows("Nothing is attached").prompts("> ");
    let path = bot.home.work().join("pixel.png").display().to_string();
    screen.enters(&path).shows("Attach this file to the next question? (Y/n):").enters("");
    screen.shows("With the next question: pixel.png").prompts("> ");
    screen.enters("and this?").shows("\nA3").prompts("> ");
    assert!(question(&bot).starts_with("and this?\n\n[image/png 70 bytes pixel.png: "));
    // Declined, a path is a question like any other, also one that begins like a slash command.
    let path = bot.home.work().join("declined.png").display().to_string();
    screen.enters(&path).shows(&format!("> {path}\nAttach")).enters("n").shows("\nA4").prompts("> ");
    assert_eq!(question(&bot), path);
    screen.enters("/exit").ends(0);
    assert_eq!(messages(&bot.bodies()[0]).last().unwrap().0, "user");
}

fn messages_have_an_image(bot: &Bot, place: usize) -> bool {
    bot.bodies()[place]["messages"].to_string().contains("data:image/png;base64,")
}

#[test]
fn a_prompt_is_added_from_words_or_stdin_and_never_replaces_one() {
    let bot = Bot::saying(OFF, &["1"]);
    assert!(bot.lepo(&["prompt"]).err.contains("to add one: lepo prompt add NAME TEXT"));
    let path = bot.home.ok(&["prompt", "add", "review", "Review", "$1."]);
    assert!(path.ends_with("config/_prompts/review.md\n"), "{path}");
    let ran = bot.home.lepo_with(&["prompt", "add", "하나", "-"], "둘\n셋\n".as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(bot.home.read("config/_prompts/하나.md"), "둘\n셋\n");
    assert_eq!(bot.lepo(&["do", "-T", "review", "this"]).code, 0);
    assert_eq!(question(&bot), "Review this.");
    for (args, says) in [
        (&["review", "other"][..], "already exists"),
        (&["empty", "-"], "the prompt is empty"),
        (&["../x", "text"], "is not a valid prompt name"),
    ] {
        let ran = bot.lepo(&[&["prompt", "add"], args].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    assert_eq!(bot.home.read("config/_prompts/review.md"), "Review $1.\n");

    // Of the store, written by the user's own hand, it is trusted.
    let path = bot.home.ok(&["prompt", "add", "--here", "mine", "Hi."]);
    assert!(path.ends_with(".lepo/_prompts/mine.md\n"), "{path}");
    assert!(bot.home.ok(&["prompt"]).contains("mine  (store)  Hi.\n"));

    // Removed where they were added, and nowhere else.
    assert_eq!(bot.lepo(&["prompt", "rm", "mine"]).code, 1);
    assert!(bot.lepo(&["prompt", "rm", "--here", "mine"]).err.starts_with("removed "));
    assert!(!bot.home.work().join(".lepo/_prompts/mine.md").exists());
    assert!(bot.home.ok(&["prompt", "rm", "review"]).is_empty());
    assert_eq!(bot.lepo(&["prompt", "rm", "../x"]).code, 2);
    assert_eq!(bot.home.ok(&["prompt"]), "하나  (user)  둘 셋\n");
}
