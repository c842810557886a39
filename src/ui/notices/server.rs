//! Texts of notices about MCP servers.

use super::table::{ManualNotice, SERVERS, name_values, notices};
use crate::term::{StatusLine, one_line};
use crate::ui::folder_name;
use lepo_base::hint::HintTarget;
use lepo_tool::mcp::{KeyFault, ServerNotice, ToolsFault};

notices! { ServerNotice, _at;
    ServerNotice::CannotBeUsed(name, reason) => warning "server {name} cannot be used: {reason}",
        SERVERS: "The question is answered without its tools. `lepo do --list-tools` tries all servers.";
    ServerNotice::KeptOut(name, dir), folder = one_line(&dir.to_string_lossy()) =>
        note "server {name} started in an empty folder, because {folder} is not trusted; if it needs files from there: `lepo trust`",
        SERVERS: "A server that needs files of the folder cannot start before the folder is trusted.";
    ServerNotice::LacksFolder(names, dir),
        server = if names.len() == 1 { "server" } else { "servers" }, names = names.join(", "), folder = folder_name(dir) =>
        note "without {server} {names}: {folder} is not trusted; `lepo trust`"
        as "without server {name}: {folder} is not trusted; `lepo trust`",
        SERVERS: "A server that needs files of the folder cannot start before the folder is trusted.";
    ServerNotice::Tools(name, fault), fault = tools_fault(fault) => note "server {name}: {fault}"
        as "server {name}: tool \"{tool}\" was left out: its schema is not an object",
        SERVERS: "The server's other tools are used.";
    ServerNotice::Junk(name) => note "server {name}: skipped lines on its stdout that are not messages",
        SERVERS: "This is an error of the server, whose stdout must contain only messages.";
    ServerNotice::ToolsUnlisted(name, reason) =>
        warning "server {name}: its tools changed and cannot be listed: {reason}",
        SERVERS: "The tools that were known before are used.";
    ServerNotice::OffersUnlisted(name, reason) =>
        warning "server {name}: its resources and prompts cannot be listed: {reason}";
    ServerNotice::Key(name, fault), fault = key_fault(fault) => warning "MCP server {name:?}: {fault}";
    ServerNotice::LeftOut(name, reason) => warning "MCP server {name:?} is left out: {reason}";
    ServerNotice::InSeconds(names), names = quoted_names(names) =>
        note "MCP server {names}: a `timeout` under 1,000 is taken as seconds; others are milliseconds";
    ServerNotice::NameTaken(name) =>
        note "MCP server {name:?} of the editor is ignored: another has its name";
}

fn quoted_names(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

fn tools_fault(fault: &ToolsFault) -> String {
    match fault {
        ToolsFault::Unread => "its list of tools could not be read".to_string(),
        ToolsFault::Circular => "its list of tools never ends: a page follows itself".to_string(),
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

fn key_fault(fault: &KeyFault) -> String {
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
            let lines = lines(&notice, HintTarget::SHELL);
            assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), [words]);
        }
    }
}
