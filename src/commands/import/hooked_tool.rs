//! The tools whose sessions can be imported as each ends, and the lines by which they call lepo.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::sources;
use crate::commands::Context;
use lepo_base::env;
use lepo_base::error::{Error, Result};
use lepo_base::sys::HAS_LAUNCHD;
use lepo_import::SourceFormat;

/// Time limit of the hook in seconds: the greatest that Claude Code accepts. Its default is 1.5.
const CLAUDE_SECONDS: u64 = 60;

/// Time limit of the hook in milliseconds.
const GEMINI_MILLIS: u64 = 60_000;

/// A tool whose sessions can be imported as each ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum HookedTool {
    ClaudeCode,
    Codex,
    GeminiCli,
    Opencode,
}

impl HookedTool {
    pub fn format(self) -> SourceFormat {
        match self {
            HookedTool::ClaudeCode => SourceFormat::ClaudeCode,
            HookedTool::Codex => SourceFormat::Codex,
            HookedTool::GeminiCli => SourceFormat::GeminiCli,
            HookedTool::Opencode => SourceFormat::OpenCode,
        }
    }

    /// Whether the tool writes the event to the hook's stdin; else stdin may be the user's terminal.
    pub fn writes_event(self) -> bool {
        matches!(self, HookedTool::ClaudeCode | HookedTool::GeminiCli)
    }
}

/// Prints to stdout what to paste, and where to on stderr.
pub fn print_hook(tool: HookedTool, context: &mut Context<'_>) -> Result<u8> {
    let program = std::env::current_exe()
        .map_err(|error| Error::usage("cannot find the path of lepo").because(error))?;
    let mut words = vec![program.to_string_lossy().into_owned()];
    if let Some(store) = context.save_to() {
        // Without the `.` of `./NAME`.
        let store: PathBuf = context.cwd().join(store).components().collect();
        words.extend(["-s".to_string(), store.to_string_lossy().into_owned()]);
    }
    words.extend(["import", "--on-end", tool.format().as_str()].map(str::to_string));
    let command = shell_line(&words)?;
    let home = |variable: &str, folder: &str| match env::var(variable).filter(|value| !value.is_empty()) {
        Some(value) => Path::new(&value).display().to_string(),
        None => format!("~/{folder}"),
    };
    let (text, hints) = match tool {
        HookedTool::ClaudeCode => {
            let hook = json!({ "type": "command", "command": command, "timeout": CLAUDE_SECONDS });
            let text = pretty(&json!({ "hooks": { "SessionEnd": [{ "hooks": [hook] }] } }));
            let file = home("CLAUDE_CONFIG_DIR", ".claude");
            (
                text,
                vec![format!(
                    "put this into {file}/settings.json; if it has hooks already, add the line SessionEnd"
                )],
            )
        }
        HookedTool::GeminiCli => {
            let hook =
                json!({ "name": "lepo", "type": "command", "command": command, "timeout": GEMINI_MILLIS });
            let text = pretty(&json!({ "hooks": { "SessionEnd": [{ "hooks": [hook] }] } }));
            (
                text,
                vec![
                    "put this into ~/.gemini/settings.json; if it has hooks already, add the line SessionEnd"
                        .into(),
                ],
            )
        }
        HookedTool::Codex => {
            let words: Vec<String> = words.iter().map(|word| json!(word).to_string()).collect();
            let file = home("CODEX_HOME", ".codex");
            (
                format!("notify = [{}]", words.join(", ")),
                vec![
                    format!("put this line into {file}/config.toml, above the first line that begins with ["),
                    "Codex takes only one notify: if there is one, let it call a script that calls both"
                        .into(),
                ],
            )
        }
        HookedTool::Opencode => {
            let root = sources::directories(context)?.into_iter().next().unwrap_or_default();
            let hint = "opencode has no hook: this imports every ten minutes what is about this directory";
            let (text, how) = timer(&words, &root)?;
            (text, vec![hint.into(), how.into()])
        }
    };
    context.out.line(&text);
    context.out.flush();
    hints.into_iter().for_each(|hint| context.print_hint(hint));
    Ok(0)
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn shell_line(words: &[String]) -> Result<String> {
    shlex::try_join(words.iter().map(String::as_str))
        .map_err(|error| Error::usage("the path of lepo or of the store cannot be quoted").because(error))
}

/// Returns a timer of the service manager that runs here, and how to install it.
fn timer(words: &[String], root: &Path) -> Result<(String, &'static str)> {
    let (root, name) = (root.to_string_lossy(), "lepo-opencode");
    if HAS_LAUNCHD {
        return Ok((
            launchd_plist(words, &root, name),
            "put it into ~/Library/LaunchAgents/lepo-opencode.plist, then: launchctl load ~/Library/LaunchAgents/lepo-opencode.plist",
        ));
    }
    if Path::new("/run/systemd/system").is_dir() {
        return Ok((systemd_units(words, &root, name), "paste it into a shell"));
    }
    // In a line of cron, `%` ends the command.
    let line = format!("cd {} && {}", shell_line(&[root.into_owned()])?, shell_line(words)?);
    Ok((format!("*/10 * * * * {}", line.replace('%', "\\%")), "add this line with `crontab -e`"))
}

/// Returns shell commands that write and start a timer of the user's systemd.
fn systemd_units(words: &[String], root: &str, name: &str) -> String {
    let quote = |word: &str| {
        let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
        format!("\"{word}\"")
    };
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    let root = root.replace('%', "%%");
    format!(
        "mkdir -p ~/.config/systemd/user\n\
        cat > ~/.config/systemd/user/{name}.service <<'END'\n\
        [Service]\nType=oneshot\nWorkingDirectory={root}\nExecStart={}\nEND\n\
        cat > ~/.config/systemd/user/{name}.timer <<'END'\n\
        [Timer]\nOnCalendar=*:0/10\nPersistent=true\n[Install]\nWantedBy=timers.target\nEND\n\
        systemctl --user daemon-reload && systemctl --user enable --now {name}.timer",
        words.join(" ")
    )
}

fn launchd_plist(words: &[String], root: &str, name: &str) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let words: String = words.iter().map(|word| format!("<string>{}</string>", escape(word))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\n<key>Label</key><string>{name}</string>\n\
        <key>WorkingDirectory</key><string>{}</string>\n<key>ProgramArguments</key><array>{words}</array>\n\
        <key>StartInterval</key><integer>600</integer>\n</dict></plist>",
        escape(root)
    )
}

#[cfg(test)]
mod tests {
    use super::{launchd_plist, systemd_units};

    fn words() -> Vec<String> {
        ["/a b/50%<$x>&\"lepo\"", "import"].map(str::to_string).into()
    }

    #[test]
    fn a_plist_has_the_words_of_hostile_paths() {
        let plist = launchd_plist(&words(), "/w & <x>", "lepo-opencode");
        assert!(plist.contains("<string>/w &amp; &lt;x&gt;</string>"), "{plist}");
        let program =
            "<array><string>/a b/50%&lt;$x&gt;&amp;\"lepo\"</string><string>import</string></array>";
        assert!(plist.contains(program), "{plist}");
    }

    #[test]
    fn a_unit_has_the_words_of_hostile_paths() {
        let units = systemd_units(&words(), "/w 50%", "lepo-opencode");
        assert!(units.contains("\nWorkingDirectory=/w 50%%\n"), "{units}");
        assert!(units.contains("\nExecStart=\"/a b/50%%<$$x>&\\\"lepo\\\"\" \"import\"\n"), "{units}");
    }
}
