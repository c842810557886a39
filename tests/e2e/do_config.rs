//! Configuration as `do` meets it: mistakes with their place, guidance, keys, the system prompt.

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::home::{Home, run};
use crate::pty::on_terminal;

const OFF: &str = "planner = \"off\"";

#[test]
fn a_mistake_is_told_with_file_and_line() {
    let model = "[[models]]\nname = \"m\"\nprovider = \"ollama\"\nmodel = \"x\"\n";
    for (config, line, says) in [
        ("\n\nlog_levle = \"info\"".to_string(), 3, "log_levle"),
        ("planner = \"maybe\"".into(), 1, "chooser"),
        ("max_rounds = \"many\"".into(), 1, "max_rounds"),
        ("planner = \"off\"\nplanner = [".into(), 2, ""),
        (format!("{model}active = true\n{model}active = true\n"), 0, "m"),
        ("[[models]]\nname = \"m\"\nprovider = \"abacus\"\nmodel = \"x\"".into(), 3, "openai"),
        (
            "[[models]]\nname = \"m\"\nprovider = \"openai\"\nmodel = \"x\"\nbase_url = \"nowhere\"".into(),
            5,
            "base_url",
        ),
    ] {
        let home = Home::with_config(&config);
        let ran = home.lepo(&["do", "q"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{config}: {}", ran.err);
        let place =
            if line > 0 { format!("config/config.toml:{line}") } else { "config/config.toml:".into() };
        assert!(ran.err.contains(&place) && ran.err.contains(says), "{config}: {}", ran.err);
        assert!(!home.work().join(".lepo").exists());
    }
}

#[test]
fn without_a_model_there_is_guidance() {
    let home = Home::new();
    let ran = home.lepo(&["do", "q"]);
    assert_eq!(ran.code, 2);
    for words in ["no model is configured", "config/config.toml", "[[models]]", "lepo model get"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let home = Home::with_config("[[models]]\nname = \"one\"\nprovider = \"ollama\"\nmodel = \"x\"\n");
    let ran = home.lepo(&["do", "q"]);
    assert_eq!(ran.code, 2);
    for words in ["no model is active", "/set-model", "-m NAME", "one"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert!(!home.work().join(".lepo").exists());
}

#[test]
fn a_missing_key_names_its_variable() {
    let bot = Bot::saying(OFF, &["ok"]);
    let with_key = bot.home.read("config/config.toml") + "api_key_env = \"MY_KEY\"\n";
    bot.home.write("config/config.toml", with_key);
    let ran = bot.lepo(&["do", "q"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("MY_KEY in the environment"), "{}", ran.err);
    let mut command = bot.home.command(&["do", "q"]);
    command.env("MY_KEY", "sk-canary");
    assert_eq!(crate::home::run(command, b"").out, "ok\n");
    assert_eq!(bot.server().asked()[0].header("authorization"), Some("Bearer sk-canary"));
}

#[test]
fn the_environment_alone_is_enough() {
    let bot = Bot::saying(OFF, &["ok"]);
    let home = Home::new();
    let mut command = home.command(&["do", "q", "--tools", "off"]);
    command
        .env("OPENAI_API_KEY", "sk-1")
        .env("OPENAI_BASE_URL", bot.server().url())
        .env("OPENAI_MODEL", "gpt-x");
    let ran = crate::home::run(command, b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{}", ran.err);
    assert_eq!(bot.bodies()[0]["model"], "gpt-x");
}

#[test]
fn the_system_prompt_is_made_once_and_is_the_root() {
    let bot = Bot::saying(OFF, &["one", "two", "three", "four"]);
    assert_eq!(bot.lepo(&["do", "1."]).code, 0);
    let made = bot.home.read("config/system_prompt.txt");
    assert_eq!(made, include_str!("../../crates/lepo-turn/src/config/default-system-prompt.txt"));
    // As it was made, it is for conversations with MCP servers.
    let root = bubbs(&bot.home)[0].text.clone();
    assert!(root.starts_with("You are a helpful assistant in a terminal."), "{root}");
    assert_eq!(messages(&bot.bodies()[0])[0], ("system".to_string(), root));
    // Changed, it is that of new convs; old ones keep theirs.
    bot.home.write("config/system_prompt.txt", "한글로.\n");
    assert_eq!(bot.lepo(&["do", "2."]).code, 0);
    assert_eq!(bot.lepo(&["do", "-n", "3."]).code, 0);
    assert_eq!(bubbs(&bot.home)[5].text, "한글로.\n");
    // Empty, there is none, and the question is the root.
    bot.home.write("config/system_prompt.txt", "");
    assert_eq!(bot.lepo(&["do", "-n", "4."]).code, 0);
    assert!(forest(&bot.home).ends_with(" / I u0 head / J a0 I"), "{}", forest(&bot.home));
    assert_eq!(messages(&bot.bodies()[3])[0], ("user".to_string(), "4.".to_string()));
    assert_eq!(bot.home.read("config/system_prompt.txt"), "");
}

#[test]
fn an_empty_instruction_is_none() {
    let bot = Bot::saying(OFF, &["one"]);
    bot.home.write("config/system_prompt.txt", "");
    bot.home.write_insts("general = ''\n");
    assert_eq!(bot.lepo(&["do", "1."]).code, 0);
    assert_eq!(messages(&bot.bodies()[0]), [("user".to_string(), "1.".to_string())]);
}

#[test]
fn instructions_count_in_a_store_of_the_users_own_and_elsewhere_once_they_are_trusted() {
    const INSTS: &str = "general = 'OBEY'\n";
    let told =
        |bot: &Bot| messages(bot.bodies().last().unwrap()).iter().any(|(_, text)| text.contains("OBEY"));
    let ignored =
        "warning: .lepo/_insts.toml is ignored: it is not trusted; `lepo trust` shows what it would do\n";
    for (what, git, counts) in [
        ("made here", None, true),
        ("made here, in a repository that ignores it", Some("git init -q"), true),
        ("tracked", Some("git init -q && git add -f .lepo/_insts.toml"), false),
        ("a copy", Some("cp -r .lepo x && rm -r .lepo && mv x .lepo"), false),
    ] {
        let bot = Bot::saying(OFF, &["one", "two", "three", "four"]);
        bot.home.write_insts(INSTS);
        if let Some(git) = git {
            assert_eq!(run(bot.home.shell(git), b"").code, 0, "{what}");
        }
        let ran = bot.lepo(&["do", "1."]);
        assert_eq!((ran.code, told(&bot), ran.err == ignored), (0, counts, !counts), "{what}: {}", ran.err);
        // A conversation that is not kept has no other ones.
        let ran = bot.lepo(&["do", "--no-keep", "2."]);
        assert_eq!((ran.code, told(&bot), ran.err == ignored), (0, counts, !counts), "{what}: {}", ran.err);
        if counts {
            continue;
        }
        let yes = [("Trust this, as it is? (y/N): ", "y\n")];
        let ran = on_terminal(bot.home.command(&["trust"]), &yes);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert!(ran.out.contains("tells models its own `general`"), "{}", ran.out);
        let ran = bot.lepo(&["do", "3."]);
        assert_eq!((told(&bot), ran.err.as_str()), (true, ""), "{what}");
        bot.home.write("work/.lepo/_insts.toml", INSTS.replace("OBEY", "OBEY!"));
        let ran = bot.lepo(&["do", "4."]);
        assert_eq!((told(&bot), ran.err.as_str()), (false, ignored), "{what}");
    }
}

#[test]
fn what_lies_in_a_repository_is_inert() {
    let bot = Bot::saying(OFF, &["one"]);
    bot.home.write("work/.lepo/_config.toml", "planner = \"chooser\"\nno such thing");
    let ran = bot.lepo(&["do", "1."]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "one\n"));
    let ignored =
        "note: .lepo/_config.toml is ignored: it is not trusted; `lepo trust` shows what it would do\n";
    assert_eq!(ran.err, ignored);
}

#[test]
fn a_model_that_there_is_not_fails_at_once() {
    let bot = Bot::saying(OFF, &["ok"]);
    for (args, env) in
        [(&["-m", "nobody"][..], None), (&["do", "-m", "nobody", "q"], None), (&[], Some("nobody"))]
    {
        let mut command = bot.home.command(args);
        command.envs(env.map(|name| ("LEPO_MODEL", name)));
        // At the prompt, before anything is typed.
        let ran = on_terminal(command, &[]);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.out.contains("unknown model \"nobody\""), "{}", ran.out);
    }
    assert!(!bot.home.work().join(".lepo").exists());
}

#[test]
fn a_system_prompt_is_given_to_a_new_conversation_and_an_old_one_keeps_its_own() {
    let bot = Bot::saying(OFF, &["1", "2", "3", "4", "5"]);
    bot.home.write("work/prompt.txt", "Be 엄격.");
    assert_eq!(bot.lepo(&["do", "--system", "Be brief.", "q"]).err, "");
    assert_eq!(bubbs(&bot.home)[0].text, "Be brief.");
    let keeps =
        "note: this conversation keeps its own system prompt; -n starts one with the current prompt\n";
    assert_eq!(bot.lepo(&["do", "q"]).err, "", "the file is not newer");
    assert_eq!(bot.lepo(&["do", "--system", "@prompt.txt", "q"]).err, keeps);
    assert_eq!(bot.lepo(&["do", "-n", "--system", "@prompt.txt", "q"]).err, "");
    assert_eq!(bubbs(&bot.home)[7].text, "Be 엄격.");
    // The user's file, changed since.
    let newer = bot.home.path().join("config/system_prompt.txt");
    bot.home.write("config/system_prompt.txt", "New.");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(&newer).unwrap().set_modified(later).unwrap();
    assert_eq!(bot.lepo(&["do", "q"]).err, keeps);
    let ran = bot.lepo(&["do", "--system", "@none.txt", "q"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot read the system prompt none.txt"), "{}", ran.err);
}

#[test]
fn a_blank_system_prompt_is_none() {
    let bot = Bot::saying(OFF, &["1"]);
    bot.lepo(&["do", "--system", "", "q"]);
    assert_eq!(forest(&bot.home), "A u0 head / B a0 A");
}
