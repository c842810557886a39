//! The habits of users of git and of other programs for models, each with the hint at lepo's command for it.

/// The line after `lepo`, and its hint. A line begins with a command and ends with an argument that is not lepo's: `-#`
/// is a number with a dash, `$` the end of the line, `…` one that is not an option. In the hint, `#` is that number, and
/// `…` the other arguments, `'…'` the same where a search is one argument, and `%` the next argument unless it is an
/// option.
///
/// A row counts only for a line that failed, so that it stays free for commands, aliases and programs.
pub(super) type Habit = (&'static str, &'static str);

/// A number with a dash, in a line.
pub(super) const NUMBER: &str = "-#";

/// The first row that fits a line counts.
pub(super) const HABITS: &[Habit] = &[
    // git
    ("status", "`lepo ls` lists the conversations, newest first"),
    ("commit", "each message is a file as soon as it is written; `lepo branch NAME` names this end"),
    ("checkout -b", "`lepo branch …` names this end"),
    ("checkout …", CONTINUES_THERE),
    ("checkout", CONTINUES),
    ("switch -c", "`lepo branch …` names this end"),
    ("switch …", CONTINUES_THERE),
    ("switch", CONTINUES),
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
    ("clone", "`lepo init`, then `lepo sync %`"),
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
    ("rev-parse …", "`lepo resolve …` prints ids"),
    ("rev-parse", "`lepo resolve ADDR` prints ids"),
    ("cat", "`lepo show -1 %` prints one message"),
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
    ("log --reverse", "`lepo show %` begins with the oldest message"),
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
    ("init …", "to make a store there: lepo -c % init"),
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
    ("similar", "did you mean `lepo grep '…'`?"),
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
    ("--empty-session", "did you mean `lepo -n …`?"),
    ("--save-session", "every conversation is stored, and `lepo branch NAME` names one"),
    ("--list-sessions", "did you mean `lepo ls`?"),
    ("--list-models", "did you mean `lepo model ls`?"),
    ("--list-agents", "did you mean `lepo model ls`?"),
    ("--sync-models", "`lepo model ls --remote` asks the servers for their models"),
    ("--list-roles", "did you mean `lepo prompt ls`?"),
    ("--role", "`lepo -n -S TEXT` begins with a system prompt, and `lepo -T NAME` asks a prompt by name"),
    ("--rag", "`lepo -f FOLDER QUESTION` sends the text files of a folder"),
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
    ("search", "did you mean `lepo grep '…'`?"),
    ("find", "did you mean `lepo grep '…'`?"),
    ("new", "did you mean `lepo do -n …`?"),
    ("ask", "did you mean `lepo do …`?"),
    ("delete", "did you mean `lepo rm …`?"),
    ("remove", "did you mean `lepo rm …`?"),
    ("history", "did you mean `lepo log …`?"),
    ("settings", "did you mean `lepo config …`?"),
];

const CONTINUES: &str = "to continue from a branch or a message: lepo --tail ADDR QUESTION";
const CONTINUES_THERE: &str = "to continue from there: lepo --tail % QUESTION";
const WHOLE_TEXT: &str = "`lepo show %` prints the texts";
const TIMES: &str = "`lepo grep --since WHEN PATTERN` searches what is newer, and `--until` what is older";
const SET: &str = "did you mean `lepo config …`?";
const LOGS: &str = "`lepo ls` lists the conversations, `lepo log` the messages of one";
const RUNS: &str = "a model with tools may ask to run a command, and lepo asks you: lepo do …";
const RESUMES: &str =
    "`lepo` continues the newest conversation, and `lepo --tail ADDR` another; `lepo ls` lists them";
const MCP_FILE: &str = "mcp.json beside lepo's config.toml names the servers, as other programs write it; `lepo mcp ls` lists them";
const AUTO: &str = "`lepo --tools auto …` runs commands up to the setting `auto_access` without asking";

pub(super) fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is this option, perhaps with a value after `=`.
pub(super) fn is_option(word: &str, option: &str) -> bool {
    word == option || option.starts_with("--") && word.split_once('=').is_some_and(|(name, _)| name == option)
}
