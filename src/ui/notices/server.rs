//! Texts of notices about MCP servers.

use crate::term::{StatusLine, one_line};
use crate::ui::folder_name;
use lepo_tool::mcp::{KeyFault, ServerNotice, ToolsFault};

pub fn line(notice: &ServerNotice) -> StatusLine {
    match notice {
        ServerNotice::CannotBeUsed(name, why) => {
            StatusLine::warning(format!("server {name} cannot be used: {why}"))
        }
        ServerNotice::KeptOut(name, dir) => StatusLine::note(format!(
            "server {name} started in an empty folder, because {} is not trusted; if it needs files from there: `lepo trust`",
            one_line(&dir.to_string_lossy())
        )),
        ServerNotice::LacksFolder(names, dir) => {
            let (word, dir) = (if names.len() == 1 { "server" } else { "servers" }, folder_name(dir));
            StatusLine::note(format!(
                "without {word} {}: {dir} is not trusted; `lepo trust`",
                names.join(", ")
            ))
        }
        ServerNotice::Tools(name, fault) => StatusLine::note(format!("server {name}: {}", of_tools(fault))),
        ServerNotice::Junk(name) => {
            StatusLine::note(format!("server {name}: skipped lines on its stdout that are not messages"))
        }
        ServerNotice::ToolsUnlisted(name, why) => {
            StatusLine::warning(format!("server {name}: its tools changed and cannot be listed: {why}"))
        }
        ServerNotice::OffersUnlisted(name, why) => {
            StatusLine::warning(format!("server {name}: its resources and prompts cannot be listed: {why}"))
        }
        ServerNotice::Key(name, fault) => {
            StatusLine::warning(format!("MCP server {name:?}: {}", of_key(fault)))
        }
        ServerNotice::LeftOut(name, why) => {
            StatusLine::warning(format!("MCP server {name:?} is left out: {why}"))
        }
        ServerNotice::InSeconds(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            StatusLine::note(format!(
                "MCP server {}: a `timeout` under 1,000 is taken as seconds; others are milliseconds",
                names.join(", ")
            ))
        }
        ServerNotice::NameTaken(name) => {
            StatusLine::note(format!("MCP server {name:?} of the editor is ignored: another has its name"))
        }
    }
}

fn of_tools(fault: &ToolsFault) -> String {
    match fault {
        ToolsFault::Unread => "its list of tools could not be read".to_string(),
        ToolsFault::Circular => "its list of tools goes in circles".to_string(),
        ToolsFault::ManyPages(most) => format!("its list of tools has more than {most} pages"),
        ToolsFault::Missing(tool) => format!("it has no tool {tool:?}, which its configuration names"),
        ToolsFault::Nameless => "a tool without a name was left out".to_string(),
        ToolsFault::BadName(tool) => format!("tool {tool:?} was left out: its name has control characters"),
        ToolsFault::BadSchema(tool) => format!("tool {tool:?} was left out: its schema is not an object"),
        ToolsFault::ManyTools { most, used } => {
            format!("it has more than {most} tools: only the first {used} are used")
        }
        ToolsFault::Long { mib, used } => {
            format!("its list of tools is longer than {mib} MiB: only the first {used} are used")
        }
    }
}

fn of_key(fault: &KeyFault) -> String {
    match fault {
        KeyFault::CwdAlone => "`cwd` needs a `command`".to_string(),
        KeyFault::NotSupported(key, instead) => format!("`{key}` is not supported: {instead}"),
        KeyFault::Unknown(key) => format!("unknown key {key:?}; lepo-config(5) lists the keys"),
        KeyFault::Twice(Some(key)) => format!("`{key}` appears twice: the last counts"),
        KeyFault::Twice(None) => "it appears twice: the last counts".to_string(),
        KeyFault::Header(name) => format!("the header {name:?} belongs to the protocol, and is ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_stand_in_quotes_or_escaped() {
        let s = || "s".to_string();
        for (notice, words) in [
            (
                ServerNotice::Tools(s(), ToolsFault::BadName("f\u{9b}2J".into())),
                "note: server s: tool \"f\\u{9b}2J\" was left out: its name has control characters",
            ),
            (
                ServerNotice::LacksFolder(vec![s(), "t".into()], "/a\nb".into()),
                "note: without servers s, t: /a␊b is not trusted; `lepo trust`",
            ),
            (
                ServerNotice::KeptOut(s(), "/a\nb".into()),
                "note: server s started in an empty folder, because /a␊b is not trusted; if it needs files from there: `lepo trust`",
            ),
            (
                ServerNotice::InSeconds(vec![s(), "t".into()]),
                "note: MCP server \"s\", \"t\": a `timeout` under 1,000 is taken as seconds; others are milliseconds",
            ),
            (
                ServerNotice::Key(s(), KeyFault::Unknown("autoAprove".into())),
                "warning: MCP server \"s\": unknown key \"autoAprove\"; lepo-config(5) lists the keys",
            ),
            (
                ServerNotice::LeftOut(s(), "${GONE} is not set".into()),
                "warning: MCP server \"s\" is left out: ${GONE} is not set",
            ),
        ] {
            assert_eq!(line(&notice).to_string(), words);
        }
    }
}
