//! An error has its file, its line and the allowed values, and never contains a key.

use std::path::Path;

use super::load;
use crate::config::Flags;
use crate::config::file::ConfigFile;
use lepo_base::hint::HintTarget;

#[test]
fn mistakes_say_line_and_what_is_allowed() {
    let openai = "[[models]]\nname='g'\nprovider='openai'\nmodel='m'\n";
    let cli = "[[models]]\nname='c'\nprovider='cli'\n";
    let acp = "[[models]]\nname='a'\nprovider='acp'\npreset='claude'\n";
    // text, line, part of the message, part of the hint
    let table: Vec<(String, usize, &str, &str)> = vec![
        ("max_round = 3".into(), 1, "unknown key `max_round`", "max_rounds"),
        ("\n\nlog_level = 'loud'".into(), 3, "cannot be \"loud\"", "debug | info | warn | error"),
        ("tool_call_mode = 'off'".into(), 1, "`tool_call_mode`", "manual | auto"),
        ("max_rounds = 'many'".into(), 1, "is a TOML string", "from 1 to 1000"),
        ("max_rounds = 0".into(), 1, "out of range", "from 1 to 1000"),
        ("max_rounds = -1".into(), 1, "out of range", "from 1 to 1000"),
        ("command_timeout = 99999999".into(), 1, "out of range", "86400"),
        ("command_timeout = nan".into(), 1, "out of range", "86400"),
        ("http = 3".into(), 1, "is a TOML integer", "[http]"),
        ("[http]\nidle = 3".into(), 2, "unknown key `idle` in [http]", "idle_timeout"),
        ("[models]\nname='x'".into(), 1, "is a TOML table", "[[models]]"),
        ("models = [3]".into(), 1, "`models`", "[[models]]"),
        ("[sandbox]\nread_only = ['tools']".into(), 2, "relative", "~/"),
        ("[many]\nparticipants = ['a', 3]".into(), 2, "`participants`", "list of texts"),
        ("[many]\norchestrator = ' '".into(), 2, "is empty", "leave the key out"),
        (openai.replace("model=", "modle="), 4, "unknown key `modle` in a model with", "base_url"),
        (format!("{cli}comand=['x']"), 4, "unknown key `comand`", "did you mean `command`? allowed here: "),
        (
            format!("{openai}max_tokens=20"),
            5,
            "unknown key `max_tokens`",
            "it is an option of the model: options = { max_tokens = … }",
        ),
        (format!("{cli}command=['x']\nseed=1"), 5, "unknown key `seed`", "allowed here: "),
        ("a = \n".into(), 1, "", "TOML"),
        (
            "max_rounds = 3\nlog_level = info".into(),
            2,
            "value of `log_level` is not in quotes",
            "log_level = \"",
        ),
        ("[many]\norchestrator = claude # mine".into(), 2, "value of `orchestrator` is not in", "quotes"),
        ("max_rounds = 1\nmax_rounds = 2".into(), 2, "duplicate key", "TOML"),
        ("\n[[models]]\nprovider='openai'".into(), 2, "without a name", "name ="),
        ("[[models]]\nname='a,b'\nprovider='ollama'".into(), 2, "comma", "plain"),
        ("[[models]]\nname='x'".into(), 1, "no provider", "openai"),
        (
            "[[models]]\nname='x'\nprovder='openai'\nmodel='m'".into(),
            3,
            "unknown key `provder`",
            "did you mean `provider`?",
        ),
        (
            "[[models]]\nname='x'\nprovider='bard'".into(),
            3,
            "cannot be \"bard\"",
            "openai | anthropic | ollama | cli | acp | embedded",
        ),
        ("[[models]]\nname='x'\nprovider='ollama'".into(), 1, "no `model`", "qwen3:8b"),
        (
            format!("{openai}command=['x']"),
            5,
            "unknown key `command` in a model with provider = \"openai\"",
            "base_url",
        ),
        (format!("{openai}base_url='localhost:1'"), 5, "neither http nor https", "http"),
        (format!("{openai}base_url='http://u:p@h'"), 5, "user or password", "http"),
        (format!("{openai}base_url='http://h?a=1'"), 5, "query", "http"),
        (format!("{openai}api_key=12345"), 5, "`api_key`", "quotes"),
        (format!("{openai}api_key='hush'\napi_key_env='A'"), 6, "cannot be combined with", "one of the two"),
        (format!("{openai}system='last'"), 5, "not \"first\"", "first"),
        (format!("{openai}active='yes'"), 5, "is a TOML string", "true or false"),
        (format!("{openai}{openai}"), 5, "appears twice", "name of its own"),
        (format!("{openai}active=true\n{}active=true", openai.replace('g', "h")), 6, "two active", "at most"),
        (format!("{acp}sandbox='full'"), 5, "cannot be \"full\"", "read | write | net"),
        (format!("{acp}sandbox_home=['~/x']"), 5, "needs `sandbox`", "read | write | net"),
        (format!("{acp}sandbox='read'\nsandbox_home=['x']"), 6, "relative", "~/"),
        (format!("{cli}command=['x']\nsandbox='read'"), 5, "unknown key `sandbox`", "command"),
        (cli.to_string(), 1, "no command", "preset"),
        (format!("{cli}command=[]"), 4, "is empty", "program"),
        (format!("{openai}wire='both'"), 5, "cannot be \"both\"", "responses | chat"),
        (format!("{openai}options={{temperature=3}}"), 5, "not such a number", "0 to 2"),
        (format!("{openai}options={{colour='red'}}"), 5, "unknown key `colour`", "max_tokens"),
        (format!("{openai}extra=1"), 5, "is a TOML integer", "as in extra = {"),
        (
            format!("{openai}api_key='hush'\napi_key_command=['pass']"),
            6,
            "cannot be combined with",
            "keep one",
        ),
        (format!("{openai}context=1"), 5, "out of range", "256"),
        (
            "[[models]]\nname='x'\nprovider='anthropic'\nmodel='m'\nwire='chat'".into(),
            5,
            "unknown key `wire`",
            "model",
        ),
        (format!("{cli}preset='bard'"), 4, "not known", "claude | gemini | codex"),
        (format!("{cli}preset='claude'\nanswer='text'"), 4, "cannot be combined with", "preset"),
        (format!("{cli}command=['x']\nanswer='xml:/a'"), 5, "not an answer form", "json:/POINTER"),
        (format!("{cli}command=['x']\nanswer='json:a'"), 5, "not an answer form", "json:/POINTER"),
        (format!("{cli}command=['x']\nmodel='m'"), 5, "unknown key `model`", "command"),
        (format!("{cli}command=['x']\napi_key='hush'"), 5, "unknown key `api_key`", "command"),
    ];
    for (text, line, what, allowed) in table {
        let error = ConfigFile::parse(Path::new("/c.toml"), text.as_bytes()).unwrap_err();
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.message.starts_with(&format!("/c.toml:{line}: ")), "{text}\n{}", error.message);
        assert!(error.message.contains(what), "{text}\n{}", error.message);
        assert!(
            error.hint_for(HintTarget::SHELL).unwrap_or_default().contains(allowed),
            "{text}\n{:?}",
            error.hint
        );
        assert!(!format!("{error:?}").contains("hush") && !format!("{error:?}").contains("12345"));
    }
    let error = ConfigFile::parse(Path::new("/c.toml"), b"a = 1\nb = '\xff'").unwrap_err();
    assert_eq!(error.message, "/c.toml:2: not UTF-8");
}

#[test]
fn a_wrong_variable_is_named() {
    for (name, value, allowed) in [
        ("LEPO_LOG_LEVEL", "loud", "debug"),
        ("LEPO_TOOL_CALL_MODE", "off", "manual | auto"),
        ("LEPO_AUTO_ACCESS", "full", "read | write | net"),
        ("LEPO_PLANNER", "x", "chooser"),
        ("LEPO_MAX_ROUNDS", "0", "from 1 to 1000"),
    ] {
        let error = load("", "", &[(name, value)], &Flags::default()).unwrap_err();
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.message.contains(name) && error.hint_for(HintTarget::SHELL).unwrap().contains(allowed));
    }
    let flags = Flags { config: Some("/no/such.toml".into()), ..Flags::default() };
    assert!(load("", "", &[], &flags).unwrap_err().message.contains("/no/such.toml"));
}
