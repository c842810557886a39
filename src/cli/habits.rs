//! Habits of users of git and of other programs for models, each with the hint at lepo's command for it.

use std::ffi::OsString;

use super::first_word::{FirstWord, FirstWordKind};
use crate::commands::suggest::or_question;
use lepo_base::error::{Error, ExitKind, quoted};

/// The line after `lepo`, and its hint. A line begins with a command and ends with an argument that is not lepo's: `-#`
/// is a number with a dash, `$` the end of the line, `…` one that is not an option. In the hint, `#` is that number, and
/// `…` the other arguments.
///
/// A row counts only for a line that failed, so that it stays free for commands, aliases and programs.
type Habit = (&'static str, &'static str);

/// A number with a dash, in a line.
const NUMBER: &str = "-#";

/// The first row that fits a line counts.
const HABITS: &[Habit] = &[
    // git
    ("status", "`lepo ls` lists the conversations, newest first"),
    ("commit", "each message is a file as soon as it is written; `lepo branch NAME` names this end"),
    ("checkout -b", "`lepo branch …` names this end"),
    ("checkout $", CONTINUES),
    ("checkout", "to continue from there: lepo --tail … QUESTION"),
    ("switch -c", "`lepo branch …` names this end"),
    ("switch $", CONTINUES),
    ("switch", "to continue from there: lepo --tail … QUESTION"),
    ("merge", "conversations are not merged; `lepo rebase A --onto B` copies one to the end of another"),
    ("cherry-pick", "`lepo rebase A..B --onto BASE` copies messages"),
    ("push", "`lepo sync REMOTE` exchanges messages with other clones"),
    (
        "pull",
        "`lepo sync REMOTE` exchanges messages with other clones; `lepo model get` fetches the small model",
    ),
    ("fetch", "`lepo sync REMOTE` exchanges messages with other clones"),
    (
        "remote",
        "`lepo sync REMOTE` exchanges messages with other clones; `lepo sync --status` names the remote",
    ),
    ("clone", "`lepo init`, then `lepo sync …`"),
    (
        "reset",
        "`lepo undo` undoes a change of the store; to continue from before the last question: lepo --tail @~2",
    ),
    (
        "revert",
        "`lepo undo` undoes a change of the store; to continue from before the last question: lepo --tail @~2",
    ),
    ("restore", "`lepo undo` brings back what was removed"),
    ("stash", "`lepo -n` begins a new conversation, and `lepo --tail ADDR` continues an old one"),
    ("tag", "`lepo branch NAME ADDR` names a message"),
    ("reflog", "`lepo undo --list` lists the changes of the store"),
    ("gc", "`lepo tidy` packs days that are over"),
    ("rev-parse", "`lepo resolve …` prints ids"),
    ("cat", "`lepo show -1 …` prints one message"),
    ("tree", "`lepo log --graph --all` draws all conversations"),
    ("graph", "`lepo log --graph --all` draws all conversations"),
    ("version", "did you mean `lepo --version`?"),
    ("-V", "did you mean `lepo --version`?"),
    ("log -#", "did you mean `lepo log -n # …`?"),
    ("log --oneline", "a message has one line already: lepo log …"),
    ("log -p", WHOLE_TEXT),
    ("log --patch", WHOLE_TEXT),
    ("log --stat", "`lepo stats` counts messages, tokens and costs"),
    ("log --decorate", "branches are shown already: lepo log …"),
    ("log --reverse", "`lepo show …` begins with the oldest message"),
    ("log --grep", "`lepo grep PATTERN` searches messages, and `lepo ls --grep PATTERN` lists conversations"),
    ("log -S", "`lepo grep PATTERN` searches messages, and `lepo ls --grep PATTERN` lists conversations"),
    ("log --since", TIMES),
    ("log --after", TIMES),
    ("log --until", TIMES),
    ("log --before", TIMES),
    (
        "log --author",
        "`lepo grep --model NAME PATTERN` and `lepo grep --kind KINDS PATTERN` search what one said",
    ),
    ("log --pretty", "`lepo log --json` has every field"),
    ("log --format", "`lepo log --json` has every field"),
    ("ls -#", "did you mean `lepo ls -n # …`?"),
    ("ls --oneline", "a conversation has one line already: lepo ls …"),
    ("ls -a", "`lepo ls` lists every conversation already; `-l` has long lines"),
    ("ls -la", "did you mean `lepo ls -l …`?"),
    ("ls -al", "did you mean `lepo ls -l …`?"),
    ("ls -t", "the newest is first already: lepo ls …"),
    ("ls --limit", "`lepo ls -n N` lists the N newest"),
    ("show -#", "`lepo show -1` prints one message, and `lepo log -n #` lists several"),
    ("diff --cached", "did you mean `lepo diff …`?"),
    ("diff --staged", "did you mean `lepo diff …`?"),
    ("diff --name-only", "`lepo diff --stat …` counts lines"),
    ("branch -D", "did you mean `lepo branch -d …`?"),
    ("branch -M", "`lepo branch -m OLD NEW` renames a branch"),
    ("branch -a", "`lepo branch` lists all branches"),
    ("branch --all", "`lepo branch` lists all branches"),
    ("branch --list", "`lepo branch` lists all branches"),
    ("branch -l", "`lepo branch` lists all branches"),
    ("branch -vv", "`lepo branch` lists all branches"),
    ("rm -r", "did you mean `lepo rm …`?"),
    ("rm -rf", "did you mean `lepo rm -y …`? it asks nothing"),
    ("rm -f", "did you mean `lepo rm -y …`? it asks nothing"),
    ("rebase --continue", "a rebase is never half done; `lepo rebase -i` edits a conversation as one text"),
    ("rebase --abort", "a rebase is never half done; `lepo undo` undoes it"),
    ("init …", "to make a store there: lepo -c … init"),
    ("grep -r", "every conversation is searched already: lepo grep …"),
    ("grep -R", "every conversation is searched already: lepo grep …"),
    ("grep -E", "a pattern is a regular expression already: lepo grep …"),
    ("grep -e", "did you mean `lepo grep …`?"),
    ("grep -A", "`lepo grep -C N PATTERN` prints N lines around a match"),
    ("grep -B", "`lepo grep -C N PATTERN` prints N lines around a match"),
    ("add …", "a message is read from stdin: lepo add < FILE"),
    ("stats --days", "`lepo stats --since 7d` counts the last seven days"),
    ("undo -#", "`lepo undo --list -n #` lists changes, and `lepo undo N` undoes the one with this number"),
    ("undo --hard", "did you mean `lepo undo`?"),
    ("config --global", SET),
    ("config --local", SET),
    ("config --list", "`lepo config` lists the settings"),
    ("config -l", "`lepo config` lists the settings"),
    ("config list", "`lepo config` lists the settings"),
    ("config ls", "`lepo config` lists the settings"),
    ("config show", "`lepo config …` prints settings"),
    ("config --get", "did you mean `lepo config …`?"),
    ("config get", "did you mean `lepo config …`?"),
    ("config set $", "`lepo config NAME VALUE` sets a setting"),
    ("config set", SET),
    ("config --set", SET),
    ("config unset", "did you mean `lepo config --unset …`?"),
    ("config edit", "did you mean `lepo config --edit`?"),
    ("completions $", "name the shell: `lepo completions bash`, `zsh`, `fish` or `elvish`"),
    ("completion", "did you mean `lepo completions …`?"),
    // llm
    ("logs list", LOGS),
    ("logs -n", "`lepo log -n N` lists the newest messages, `lepo ls -n N` the newest conversations"),
    ("logs", LOGS),
    ("chat", "`lepo` alone is a conversation; to ask one question: lepo do …"),
    ("models default", "did you mean `lepo model use …`?"),
    ("models list", "did you mean `lepo model ls`?"),
    ("models", "did you mean `lepo model ls`?"),
    ("keys", "a key belongs to a model: `lepo model add` asks for it"),
    ("templates", "`lepo prompt ls` lists questions that you ask often, and `lepo do -T NAME` asks one"),
    ("similar", "did you mean `lepo grep …`?"),
    ("tools", "did you mean `lepo do --list-tools`?"),
    ("plugins", "a program `lepo-NAME` in PATH is the command NAME"),
    ("--cid", "did you mean `lepo --tail …`?"),
    ("--conversation", "did you mean `lepo --tail …`?"),
    ("--no-log", "did you mean `lepo --no-keep …`?"),
    ("--no-stream", "in a pipe, `-q` prints the answer once it is complete: lepo -q …"),
    ("--save", "`lepo prompt add NAME TEXT` saves a question that you ask often"),
    ("--key", "a key belongs to a model: `lepo model add` asks for it"),
    // aichat
    ("--session", "`lepo branch NAME` names a conversation, and `lepo --tail NAME` continues it"),
    ("--list-sessions", "did you mean `lepo ls`?"),
    ("--list-models", "did you mean `lepo model ls`?"),
    ("--list-roles", "did you mean `lepo prompt ls`?"),
    ("--role", "`lepo -n -S TEXT` begins with a system prompt, and `lepo -T NAME` asks a prompt by name"),
    ("--execute", RUNS),
    ("-e", RUNS),
    ("--info", "`lepo config` lists the settings, and `lepo model ls` the models"),
    ("--serve", "`lepo do --proxy` answers programs, and `lepo mcp serve` agents"),
    // Claude Code, Codex, Gemini CLI
    ("--print", "did you mean `lepo do …`?"),
    ("--resume", RESUMES),
    ("--last", "`lepo` continues the newest conversation"),
    ("resume", RESUMES),
    ("continue", "`lepo` continues the newest conversation"),
    ("fork", "to continue from an earlier message: lepo --tail ADDR QUESTION"),
    ("sessions", "`lepo ls` lists the conversations, and `lepo browse` shows them on the whole screen"),
    ("exec", "did you mean `lepo do …`?"),
    ("login", "a key belongs to a model: `lepo model add` asks for it"),
    ("logout", "`lepo model rm NAME` removes a model"),
    ("auth", "a key belongs to a model: `lepo model add` asks for it"),
    ("doctor", "`lepo --version --verbose` names what lepo found, and `lepo fsck` checks the store"),
    ("mcp add", MCP_FILE),
    ("mcp remove", MCP_FILE),
    ("mcp get", "did you mean `lepo mcp ls`?"),
    ("mcp list", "did you mean `lepo mcp ls`?"),
    (
        "--output-format",
        "`lepo --json QUESTION` prints one document, and `--events` an object for each event",
    ),
    ("--dangerously-skip-permissions", AUTO),
    ("--yolo", AUTO),
    ("--full-auto", AUTO),
    ("--append-system-prompt", "did you mean `lepo -n -S …`?"),
    ("--system-prompt", "did you mean `lepo -n -S …`?"),
    ("--image", "did you mean `lepo -A …`?"),
    ("--mcp-config", MCP_FILE),
    // Ollama
    ("run", "`lepo -m MODEL QUESTION` asks a model; `lepo model ls` lists them"),
    ("serve", "`lepo do --proxy` answers programs, and `lepo mcp serve` agents"),
    ("list", "`lepo ls` lists the conversations, and `lepo model ls` the models"),
    ("ps", "`lepo model ls` lists the models"),
    ("model list", "did you mean `lepo model ls`?"),
    ("model show", "`lepo model ls` lists the models with their addresses"),
    ("model default", "did you mean `lepo model use …`?"),
    ("model set", "did you mean `lepo model use …`?"),
    ("model remove", "did you mean `lepo model rm …`?"),
    ("model delete", "did you mean `lepo model rm …`?"),
    ("model pull", "`lepo model get` fetches the small model"),
    ("prompt list", "did you mean `lepo prompt ls`?"),
    ("prompt new", "`lepo prompt add NAME TEXT` saves a question"),
    ("prompt create", "`lepo prompt add NAME TEXT` saves a question"),
    ("prompt remove", "did you mean `lepo prompt rm …`?"),
    ("prompt delete", "did you mean `lepo prompt rm …`?"),
    ("import claude", "did you mean `lepo import claude-code …`? an export of Claude.ai is `claude-ai`"),
    ("import gemini", "did you mean `lepo import gemini-cli …`?"),
    ("import openai", "did you mean `lepo import chatgpt …`?"),
    // Any program
    ("search", "did you mean `lepo grep …`?"),
    ("find", "did you mean `lepo grep …`?"),
    ("new", "did you mean `lepo do -n …`?"),
    ("ask", "did you mean `lepo do …`?"),
    ("delete", "did you mean `lepo rm …`?"),
    ("remove", "did you mean `lepo rm …`?"),
    ("history", "did you mean `lepo log …`?"),
    ("settings", "did you mean `lepo config …`?"),
];

const CONTINUES: &str = "to continue from a branch or a message: lepo --tail ADDR QUESTION";
const WHOLE_TEXT: &str = "`lepo show …` prints the texts";
const TIMES: &str = "`lepo grep --since WHEN PATTERN` searches what is newer, and `--until` what is older";
const SET: &str = "did you mean `lepo config …`?";
const LOGS: &str = "`lepo ls` lists the conversations, `lepo log` the messages of one";
const RUNS: &str = "a model with tools may ask to run a command, and lepo asks you: lepo do …";
const RESUMES: &str =
    "`lepo` continues the newest conversation, and `lepo --tail ADDR` another; `lepo ls` lists them";
const MCP_FILE: &str = "mcp.json beside lepo's config.toml names the servers, as other programs write it; `lepo mcp ls` lists them";
const AUTO: &str = "`lepo --tools auto …` runs commands up to the setting `auto_access` without asking";

/// The line after `lepo`, as typed.
pub(super) struct TypedLine {
    words: Vec<String>,
    /// Whether it is for `do`: it begins with no other command, and it may contain a question.
    is_do: bool,
    /// Whether its first argument is not a command of lepo.
    is_unknown: bool,
}

impl TypedLine {
    pub(super) fn new(args: &[OsString], first: &FirstWord) -> TypedLine {
        let (at, means) = (first.at, first.means);
        let has_do = means == FirstWordKind::Command && args.get(at).is_some_and(|word| word == "do");
        let is_do = has_do || means == FirstWordKind::Question;
        let is_part = |index: usize| match is_do {
            true => index > 0 && !(has_do && index == at),
            false => index >= at,
        };
        let words = args.iter().enumerate().filter(|(index, _)| is_part(*index));
        TypedLine {
            words: words.map(|(_, word)| word.to_string_lossy().into_owned()).collect(),
            is_do,
            is_unknown: means == FirstWordKind::Other,
        }
    }

    /// Sets the hint at what the user meant, if the line failed for a habit. If the parser took the line, its error must
    /// name the word.
    pub(super) fn explain(&self, error: Error, is_parsed: bool) -> Error {
        if error.kind != ExitKind::Usage {
            return error;
        }
        let is_any = !is_parsed || self.is_unknown && error.message.starts_with("unknown command");
        let is_named = |word: &str| {
            let message = error.message.as_str();
            message.contains(&format!("{word:?}")) || message.split(' ').next() == Some(word)
        };
        let is_reason = |word: &str| is_any || is_named(word);
        let hint = self.without_head(&error.message).or_else(|| self.slash_hint());
        match hint.or_else(|| self.hint_if(is_reason)) {
            Some(hint) if self.is_unknown => error.hint(or_question(&hint, &self.words, false)),
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// Returns the hint of the first row that fits and whose last word is the reason.
    fn hint_if(&self, is_reason: impl Fn(&str) -> bool) -> Option<String> {
        HABITS.iter().filter(|(typed, _)| typed.starts_with('-') == self.is_do).find_map(|(typed, hint)| {
            let (number, rest) = self.rest_of(typed)?;
            let last = typed.trim_end_matches([' ', '$', '…']).rsplit(' ').next()?;
            is_reason(last).then(|| filled(hint, number, &rest))
        })
    }

    fn slash_hint(&self) -> Option<String> {
        let name = self.words.first().filter(|_| self.is_unknown)?.strip_prefix('/')?;
        (!name.contains('/')).then(|| "slash commands are for a session, which `lepo` starts".to_string())
    }

    /// Returns the number and the other arguments, if a row fits the line.
    fn rest_of(&self, typed: &str) -> Option<(&str, Vec<&str>)> {
        let mut rest: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let mut number = "";
        for word in typed.split(' ') {
            match word {
                "$" => return rest.is_empty().then_some((number, rest)),
                "…" => {
                    let is_plain = rest.first().is_some_and(|next| !next.starts_with('-'));
                    return is_plain.then_some((number, rest));
                }
                _ => {}
            }
            let options = rest.iter().take_while(|other| **other != "--");
            let at = match word {
                NUMBER => options.clone().position(|other| is_number(other))?,
                word if word.starts_with('-') => options.clone().position(|other| is_option(other, word))?,
                word => rest.first().filter(|first| **first == word).map(|_| 0)?,
            };
            let found = rest.remove(at);
            if word == NUMBER {
                number = found.trim_start_matches('-');
            }
        }
        Some((number, rest))
    }

    /// Returns the hint with `@` for git's `HEAD`, if no such message was found.
    fn without_head(&self, message: &str) -> Option<String> {
        if !message.contains("\"HEAD") {
            return None;
        }
        // A shell does nothing with a `~` inside an argument.
        let is_address = |word: &str| word.chars().all(|sign| "@~.".contains(sign) || sign.is_ascii_digit());
        let line = self.words.iter().map(|word| match word.replace("HEAD", "@") {
            word if is_address(&word) => format!(" {word}"),
            word => format!(" {}", quoted(&word)),
        });
        Some(format!("`@` is the newest message: lepo{}", line.collect::<String>()))
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is this option, perhaps with a value after `=`.
fn is_option(word: &str, option: &str) -> bool {
    word == option || option.starts_with("--") && word.split_once('=').is_some_and(|(name, _)| name == option)
}

/// Sets the number and the other arguments into a hint.
fn filled(hint: &str, number: &str, rest: &[&str]) -> String {
    let rest: String = rest.iter().map(|word| format!(" {}", quoted(word))).collect();
    hint.replace('#', number).replace(" …", &rest)
}

#[cfg(test)]
#[path = "habits_tests.rs"]
mod tests;
