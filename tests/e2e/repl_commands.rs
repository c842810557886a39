//! The slash commands and `!COMMAND`, each in a real terminal.

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::home::Home;
use crate::screen::Screen;
use crate::scripted::{Reply, openai_sse};

const OFF: &str = "planner = \"off\"";

fn opened(home: &Home) -> Option<Screen> {
    let screen = Screen::lepo(home, 80, &[])?;
    screen.prompts("> ");
    Some(screen)
}

#[test]
fn help_lists_the_commands_and_the_unknown_point_to_it() {
    let bot = Bot::saying(OFF, &["ok"]);
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("/nonsense").shows("no command /nonsense; /help lists them").prompts("> ");
    screen.enters("/help").prompts("> ");
    for word in ["/new", "/set-model", "/mcp", "/set-tool-mode", "/retry", "/tail", "!COMMAND"] {
        screen.shows(word);
    }
    screen.enters("/mcp").shows("no MCP servers are enabled").prompts("> ");
    screen.enters(" /etc is what?").shows("\nok").prompts("> ");
    assert_eq!(bubbs(&bot.home)[1].text, " /etc is what?");
    screen.enters("/exit").ends(0);
}

#[test]
fn new_tail_branch_retry_and_show() {
    let bot = Bot::saying(OFF, &["A1", "A2", "A3", "A4"]);
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("/retry").shows("no question to answer again").prompts("> ");
    screen.enters("/branch x").shows("there is nothing to name yet").prompts("> ");
    screen.enters("one").shows("\nA1").prompts("> ");
    screen.enters("/branch 첫째").shows("branch 첫째 now follows this conversation").prompts("> ");
    screen.enters("/new").shows("begins a new conversation").prompts("> ");
    screen.enters("two").shows("\nA2").prompts("> ");
    screen.enters("/branch 첫째").shows("branch 첫째 already exists").prompts("> ");
    screen.enters("/retry").shows("\nA3").prompts("> ");
    screen.enters("/tail 첫째").shows("(1 question): one").prompts("> ");
    screen.enters("three").shows("\nA4").prompts("> ");
    screen.enters("/tail nowhere").shows("no message, branch or file").prompts("> ");
    screen.keys(&["C-l"]).becomes("clear", || !screen.text().contains("nowhere"));
    screen.prompts("> ").enters("/show").shows("three\n").shows("A4").prompts("> ");
    assert!(screen.text().contains("one") && !screen.text().contains("two"), "{}", screen.text());
    let found = bubbs(&bot.home);
    assert_eq!(
        forest(&bot.home),
        "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E / G a0 E / H u0 C / I a0 H"
    );
    let branch = bot.home.ok(&["resolve", "첫째"]);
    assert_eq!(branch.trim(), found[8].id, "it moved on to the answer");
}

#[test]
fn a_command_that_is_stopped_leaves_nothing() {
    let bot = Bot::saying(OFF, &[]);
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("!echo be''gun; exec sleep 60").shows("begun");
    screen.keys(&["C-c"]).shows("stopped; nothing was kept").prompts("> ").enters("/exit").ends(0);
    assert_eq!(bubbs(&bot.home).len(), 0);
}

#[test]
fn a_branch_waits_for_the_next_answer_when_one_fails() {
    let answers = [openai_sse(["A1"]), Reply::new(400, "no"), openai_sse(["A2"])];
    let bot = Bot::openai(OFF, answers);
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("one").shows("\nA1").prompts("> ");
    screen.enters("/branch here").shows("branch here now follows this conversation").prompts("> ");
    screen.enters("two").shows("error: ").prompts("> ");
    screen.enters("/retry").shows("\nA2").prompts("> ").enters("/exit").ends(0);
    assert_eq!(bot.home.ok(&["resolve", "here"]), bot.home.ok(&["resolve", "@"]));
}

#[test]
fn set_model_is_chosen_by_number_and_kept_in_the_users_file() {
    let bot = Bot::saying(OFF, &["A1", "A2"]);
    let config = "# mine\nplanner = \"off\"   # none\n".to_string()
        + &bot.home.read("config/config.toml").replace("planner = \"off\"\n", "")
        + "[[models]]\nname = \"다른\" # the other\nprovider = \"openai\"\nmodel = \"other-model\"\nbase_url = \""
        + &bot.server().url()
        + "/v1\"\n";
    bot.home.write("config/config.toml", &config);
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("/set-model").shows("1  test openai m active").shows("2  다른 openai other-model");
    screen
        .shows("Number (0 keeps the current one):")
        .enters("0")
        .shows("The model was not changed.")
        .prompts("> ");
    assert_eq!(bot.home.read("config/config.toml"), config);
    screen.enters("/set-model 7").shows("no model 7").prompts("> ").keys(&["C-l"]).points(2, 0);
    screen.enters("/set-model").shows("Number").enters("9").shows("no model 9 in this list").enters("0");
    screen.shows("was not changed.").prompts("> ").keys(&["C-l"]).points(2, 0);
    for leave in ["C-c", "C-d"] {
        screen.enters("/set-model").shows("Number (0 keeps").keys(&[leave]);
        screen.shows("\nThe model was not changed.").prompts("> ").keys(&["C-l"]).points(2, 0);
    }
    screen
        .enters("/set-model")
        .shows("Number")
        .enters("2")
        .shows("다른 is the default model now")
        .prompts("> ");
    let kept = bot.home.read("config/config.toml");
    assert!(
        kept.starts_with("# mine\nplanner = \"off\"   # none\n") && kept.contains("# the other"),
        "{kept}"
    );
    assert!(kept.contains("active = false"), "{kept}");
    screen.enters("q").shows("\nA1").prompts("> ");
    assert_eq!(bot.bodies()[0]["model"], "other-model");
    screen
        .enters("/set-model test")
        .shows("test is the default model now")
        .prompts("> ")
        .enters("q")
        .shows("\nA2")
        .prompts("> ");
    assert_eq!(bot.bodies()[1]["model"], "m");
    screen.keys(&["Up", "Up"]).shows("> /set-model test");
}

#[test]
fn set_tool_mode_is_auto_or_manual() {
    let bot = Bot::saying(OFF, &[]);
    bot.home.write("config/config.toml", "# mine\n".to_string() + &bot.home.read("config/config.toml"));
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("/set-tool-mode loud").shows("Please enter either auto or manual.").prompts("> ");
    screen
        .enters("/set-tool-mode")
        .shows("tool mode is manual; /set-tool-mode auto|manual changes it")
        .prompts("> ");
    assert!(!bot.home.read("config/config.toml").contains("tool_call_mode"));
    screen
        .enters("/set-tool-mode auto --save")
        .shows("tool mode is auto from now on, everywhere")
        .prompts("> ");
    let kept = bot.home.read("config/config.toml");
    assert!(kept.starts_with("# mine\n") && kept.contains("tool_call_mode = \"auto\""), "{kept}");
}

#[test]
fn a_command_of_ones_own_is_shown_and_given_to_the_model() {
    let bot = Bot::saying(OFF, &["I see."]);
    let Some(screen) = opened(&bot.home) else { return };
    screen
        .enters("!echo 안녕; echo oh >&2; exit 3")
        .shows("\n안녕")
        .shows("\noh")
        .shows("exit code: 3")
        .prompts("> ");
    let ran = &bubbs(&bot.home)[1];
    assert_eq!(ran.tag, "s0");
    assert!(ran.text.contains("안녕\n") && ran.text.contains("exit code: 3"), "{}", ran.text);
    screen.enters("what was it?").shows("I see.").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B s0 A / C u0 B / D a0 C");
    assert_eq!(messages(&bot.bodies()[0])[1].1, ran.text);
    screen.enters("!sleep 60").shows("$ sleep 60").keys(&["C-c"]).prompts("> ");
    assert_eq!(bubbs(&bot.home).len(), 4);
}

#[test]
fn lepo_itself_behind_an_exclamation_mark_asks_nothing_on_the_terminal_of_the_session() {
    let bot = Bot::saying(OFF, &["I see."]);
    let Some(screen) = opened(&bot.home) else { return };
    screen.enters("hello").shows("I see.").prompts("> ");
    for command in ["trust", "rm @"] {
        screen.enters(&format!("!lepo {command}")).shows("there is no terminal to ask on");
        screen.shows("exit code: 2").prompts("> ").keys(&["C-l"]);
        screen.becomes("clear", || !screen.text().contains("exit code"));
    }
    screen.enters("/exit").ends(0);
}

#[test]
fn the_editor_writes_a_question() {
    let bot = Bot::saying(OFF, &["ok"]);
    let mut command = bot.home.command(&[]);
    command.env("EDITOR", "printf '둘째 줄\\n\\n' >>");
    let Some(screen) = Screen::of(&command, &bot.home, 80) else { return };
    screen.prompts("> ").enters("/edit 첫 줄").shows("둘째 줄").shows("\nok").prompts("> ");
    assert_eq!(bubbs(&bot.home)[1].text, "첫 줄둘째 줄");
    drop(screen);
    command.env("EDITOR", "true");
    let screen = Screen::of(&command, &bot.home, 80).unwrap();
    screen.prompts("> ").enters("/edit").shows("Nothing was asked.").prompts("> ");
}

#[test]
fn without_a_model_the_question_is_kept_and_answered_later() {
    let bot = Bot::saying(OFF, &["서울."]);
    let config = bot.home.read("config/config.toml").replace("active = true\n", "");
    bot.home.write("config/config.toml", &config);
    let Some(screen) = opened(&bot.home) else { return };
    screen
        .enters("한국의 수도는?")
        .shows("no model is active")
        .shows("/set-model")
        .shows("/retry answers it")
        .prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A");
    screen.enters("!echo in between").shows("\nin between").prompts("> ");
    screen.enters("/set-model 1").shows("test is the default model now").prompts("> ");
    screen.enters("/retry").shows("\n서울.").prompts("> ");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s0 A / D a0 B");
}

#[test]
fn with_no_model_at_all_the_guidance_is_short_and_names_the_embedded_one() {
    let home = Home::with_config("planner = \"off\"\n");
    let Some(screen) = opened(&home) else { return };
    screen
        .shows("no model · new conversation")
        .enters("q")
        .shows("No model is configured. Add one now? (Y/n):")
        // A question is no answer to this one: it stands at the next prompt.
        .enters("what is 한글?")
        .shows("y or n; what you typed is kept for the prompt\nNo model is configured. Add one now? (Y/n):")
        .enters("n")
        .shows("no model is configured")
        .shows("lepo model add")
        .shows("lepo model get")
        .prompts("> what is 한글?")
        .keys(&["C-u"]);
    // An example of a configuration would fill the screen each time.
    assert!(!screen.text().contains("[[models]]"), "{}", screen.text());
    assert_eq!(forest(&home), "A s1 head / B u0 A");
    // One that is configured and was not fetched yet.
    screen
        .enters("/set-model")
        .shows("1  smollm2")
        .shows("not installed")
        .enters("1")
        .shows("lepo model get");
    screen.prompts("> ").enters("/retry").shows("lepo model get").prompts("> ");
    assert_eq!(forest(&home), "A s1 head / B u0 A");
}

#[test]
fn on_a_small_screen_help_goes_through_the_pager() {
    let bot = Bot::saying(OFF, &[]);
    let mut command = bot.home.command(&[]);
    command.env("LEPO_PAGER", "head -n 2");
    let Some(screen) = Screen::sized(&command, &bot.home, (40, 15)) else { return };
    screen.prompts("> ").enters("/help").shows("a new conversation").prompts("> ");
    assert!(!screen.text().contains("/exit"), "{}", screen.text());
}
