//! Lines that users of git, llm, aichat, coding agents and Ollama type from habit: each gets a hint at lepo's command,
//! and no model is asked.

use crate::bots::Bot;

/// The line after `lepo`, and the beginning of its hint.
const HABITS: &[(&str, &str)] = &[
    (
        "status",
        "`lepo ls` lists the conversations, newest first; to ask a model about what is piped: lepo do status",
    ),
    ("commit -m x", "each message is a file as soon as it is written"),
    ("checkout italy", "to continue from there: lepo --tail italy QUESTION"),
    ("checkout -b italy", "`lepo branch italy` names this end"),
    ("switch", "to continue from a branch or a message: lepo --tail ADDR QUESTION"),
    ("push origin main", "`lepo sync REMOTE` exchanges"),
    ("pull", "`lepo sync REMOTE` exchanges"),
    ("reset --hard HEAD~1", "`lepo undo` undoes a change"),
    ("stash", "`lepo -n` begins a new conversation"),
    ("show HEAD", "`@` is the newest message: lepo show @"),
    ("show HEAD~1", "`@` is the newest message: lepo show @~1"),
    ("diff HEAD~1 HEAD", "`@` is the newest message: lepo diff @~1 @"),
    ("show HEAD^", "`@` is the newest message: lepo show @~"),
    ("show HEAD@{1}", "`@` is the newest message, and `@~1`"),
    ("show HEADING", "`lepo ls` lists the conversations"),
    ("HEAD^", "`@` is the newest message: lepo show @~; to ask a model"),
    ("log HEAD~1..HEAD", "`@` is the newest message: lepo log @~1..@"),
    ("do --tail HEAD why", "`@` is the newest message: lepo --tail @ why"),
    ("log -3", "did you mean `lepo log -n 3`?"),
    ("log --graph -5", "did you mean `lepo log -n 5 --graph`?"),
    ("log -p -3", "did you mean `lepo log -n 3`?"),
    ("log --oneline -5", "did you mean `lepo log -n 5`?"),
    ("log --oneline", "a message has one line already: lepo log"),
    ("log -p", "`lepo show` prints the texts"),
    ("log --since=yesterday", "`lepo grep --since WHEN PATTERN` searches"),
    ("ls --oneline", "a conversation has one line already: lepo ls"),
    ("ls -la", "did you mean `lepo ls -l`?"),
    ("branch -D italy", "did you mean `lepo branch -d italy`?"),
    ("branch -a", "`lepo branch` lists all branches"),
    ("rm -rf --yes @", "did you mean `lepo rm -y @`? it asks nothing"),
    ("rm -rf @", "did you mean `lepo rm -y @`? it asks nothing"),
    ("init new", "to make a store there: mkdir -p new && lepo -c new init"),
    ("checkout -", "to continue from a branch or a message"),
    ("search two words", "did you mean `lepo grep 'two words'`?"),
    ("grep -r Paris", "every conversation is searched already: lepo grep Paris"),
    ("config set max_rounds 5", "did you mean `lepo config max_rounds 5`?"),
    ("config set alias.again 'do --retry'", "did you mean `lepo config alias.again 'do --retry'`?"),
    ("config get max_rounds", "did you mean `lepo config max_rounds`?"),
    ("config list", "`lepo config` lists the settings"),
    ("config --global user.name me", "did you mean `lepo config user.name me`?"),
    ("config unset max_rounds", "did you mean `lepo config --unset max_rounds`?"),
    ("completions", "name the shell: `lepo completions bash`"),
    ("completion zsh", "did you mean `lepo completions zsh`?"),
    ("logs", "`lepo ls` lists the conversations, `lepo log` the messages of one"),
    ("logs -n 3", "`lepo log -n N` lists the newest messages"),
    ("chat -m gpt", "`lepo` alone is a conversation"),
    ("models default gpt", "did you mean `lepo model use gpt`?"),
    ("keys set openai", "a key belongs to a model: `lepo model add` asks for it"),
    ("templates list", "`lepo prompt ls` lists"),
    ("--list-models", "did you mean `lepo model ls`?"),
    ("--session italy why", "`lepo branch NAME` names a conversation"),
    ("--resume", "`lepo` continues the newest conversation"),
    ("--print why", "did you mean `lepo do why`?"),
    ("--print --output-format json why", "did you mean `lepo do why`?"),
    ("--output-format json why", "`lepo --json QUESTION` prints"),
    ("--yolo why", "`lepo --tools auto why` runs commands"),
    ("exec 'why is it?'", "did you mean `lepo do 'why is it?'`?"),
    ("mcp add files", "mcp.json beside lepo's config.toml"),
    ("mcp list", "did you mean `lepo mcp ls`?"),
    ("login", "a key belongs to a model"),
    ("run llama3 why", "`lepo -m MODEL QUESTION` asks a model"),
    ("list", "`lepo ls` lists the conversations, and `lepo model ls` the models; to ask"),
    ("serve", "`lepo do --proxy` answers programs"),
    ("model list", "did you mean `lepo model ls`?"),
    ("add main.rs", "a message is read from stdin: lepo add < FILE"),
    (
        "-c 'and of Italy?'",
        "-c names the folder to start in; a question continues the newest conversation without it",
    ),
    ("-r coder why", "`lepo --retry` answers the last question again; to continue another"),
    ("stats --days 3", "`lepo stats --since 7d` counts"),
    ("import claude", "did you mean `lepo import claude-code`?"),
    ("hello there", "did you mean `lepo help`? to ask a model about what is piped: lepo do 'hello there'"),
    ("shwo @", "did you mean `lepo show`?"),
    ("/help", "slash commands are for a session, which `lepo` starts"),
];

#[test]
fn a_habit_of_other_programs_gets_a_hint_and_asks_no_model() {
    let bot = Bot::saying("", &["never"]);
    bot.home.add(&[], "why?");
    for (typed, hint) in HABITS {
        let args = shlex::split(typed).unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = bot.home.lepo(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{typed}: {}", ran.err);
        let found = ran.err.lines().find_map(|line| line.strip_prefix("hint: "));
        assert!(found.is_some_and(|found| found.starts_with(hint)), "{typed}: {}", ran.err);
    }
    assert_eq!(bot.times_asked(), 0);
    assert_eq!(bot.home.bubbs().len(), 1);
}

#[test]
fn a_suggested_command_that_needs_no_model_is_one() {
    let bot = Bot::saying("", &["never"]);
    let refill = || {
        for text in ["why?", "two words of Paris?", "HEADING"] {
            bot.home.add(&[], text);
        }
    };
    refill();
    assert_eq!(bot.home.lepo(&["branch", "italy"]).code, 0);
    let mut count = 0;
    for (typed, _) in HABITS {
        let args = shlex::split(typed).unwrap();
        let ran = bot.home.lepo(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let hint = ran.err.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
        let quoted = hint.split('`').skip(1).step_by(2);
        let last = hint.rsplit_once(": ").map(|(_, line)| line).filter(|line| !line.contains('`'));
        for line in quoted.chain(last) {
            let command = line.rsplit_once("lepo ").map_or("", |(_, command)| command);
            let is_offline =
                OFFLINE.iter().any(|begin| command == *begin || command.starts_with(&format!("{begin} ")));
            // In capitals is what the user sets there; `user.name` is git's.
            let has_gap = line.split(' ').any(|word| {
                (word.len() > 2 || word == "N") && word.bytes().all(|it| it.is_ascii_uppercase())
            });
            if !is_offline || has_gap || line.contains("user.name") {
                continue;
            }
            let ran = crate::home::run(bot.home.shell(line), b"");
            assert_ne!(ran.code, 2, "{typed}: {line}: {}", ran.err);
            count += 1;
            if command.starts_with("rm ") {
                refill();
            }
        }
    }
    assert!(count > 40, "{count}");
    assert_eq!(bot.times_asked(), 0);
}

/// Beginnings of commands that ask no model and nobody.
const OFFLINE: &[&str] = &[
    "ls",
    "log",
    "show",
    "diff",
    "grep",
    "branch",
    "config",
    "model ls",
    "prompt ls",
    "mcp ls",
    "stats",
    "undo --list",
    "rm -y",
    "completions",
    "-c new init",
    "help",
];

#[test]
fn what_is_piped_is_named_only_where_something_is() {
    let home = crate::home::Home::new();
    let hint = |redirection: &str| {
        let ran = crate::home::run(home.shell(&format!("lepo lss {redirection}")), b"");
        ran.err.lines().find_map(|line| line.strip_prefix("hint: ")).map(str::to_string)
    };
    home.write("work/some", "text");
    home.write("work/none", "");
    let plain = "did you mean `lepo ls`? to ask a model: lepo do lss";
    let piped = "did you mean `lepo ls`? to ask a model about what is piped: lepo do lss";
    for (redirection, is) in [("", piped), ("< some", piped), ("< none", plain), ("< /dev/null", plain)] {
        assert_eq!(hint(redirection).as_deref(), Some(is), "{redirection}");
    }
}

#[test]
fn a_file_among_the_words_of_a_question_is_named_on_a_terminal() {
    let bot = Bot::saying("planner = 'off'", &["Yes.", "Yes.", "Yes."]);
    bot.home.write("work/main.rs", "fn main() {}");
    let ran = |line: &str| crate::home::run(bot.home.terminal(line), b"").out;
    let note = "main.rs is sent as text; -f main.rs sends the file";
    assert!(ran("lepo do -n main.rs 'what is it?'").contains(note));
    for line in ["lepo do -n 'what is main.rs?'", "lepo do -n -f main.rs what is it"] {
        let out = ran(line);
        assert!(out.contains("Yes.") && !out.contains("is sent as text"), "{out}");
    }
}
