//! The consent question as text, for a view without a terminal: the command, its directory and its sandbox.

use super::consent::{bounds, foreign_texts_note, may_be_remembered, text};
use crate::term::{clean, excerpt_within};
use lepo_tool::{Proposal, ToolRequest};

/// The width of a request's title, in columns.
const TITLE: usize = 120;

pub struct PermissionText {
    /// The request in one line.
    pub title: String,
    /// The request with all its details, in Markdown.
    pub text: String,
    /// Whether a yes may be valid for the rest of the session.
    pub may_be_remembered: bool,
}

/// Returns the text of the question, equal to that on a terminal.
pub fn permission_text(proposal: &Proposal) -> PermissionText {
    let (request, bounds) = match proposal {
        Proposal::Command(proposal) => (
            ToolRequest::Command(proposal.request.clone()),
            Some(bounds(proposal.request.access, &proposal.sandbox)),
        ),
        Proposal::Call(proposal) => (ToolRequest::Call(proposal.request.clone()), None),
    };
    let mut fenced = in_fence(text(proposal, usize::MAX).trim_matches('\n'));
    if let Some(bounds) = bounds {
        fenced.push_str(&format!("\n\n{bounds}"));
    }
    let agreed = foreign_texts_note(proposal.unagreed(), usize::MAX);
    if !agreed.is_empty() {
        fenced.push_str(&format!("\n\n{}", in_fence(agreed.trim_end())));
    }
    PermissionText {
        title: request_title(&request),
        text: fenced,
        may_be_remembered: may_be_remembered(proposal),
    }
}

pub fn request_title(request: &ToolRequest) -> String {
    excerpt_within(&request.summary(), TITLE)
}

/// Returns a text as a fenced code block, whose content can neither be Markdown nor end the block.
pub fn in_fence(text: &str) -> String {
    let text = clean(text);
    let longest =
        text.lines().map(|line| line.chars().filter(|c| *c == '`').count()).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_tool::{Access, CommandProposal, CommandRequest, Sandbox};

    #[test]
    fn a_command_cannot_leave_its_block_and_full_access_is_asked_each_time() {
        let permission = |command: &str, access, sandbox| {
            let request = CommandRequest { command: command.into(), access, why: None };
            let proposal = CommandProposal { request, dir: "/".into(), sandbox, unagreed: Vec::new() };
            permission_text(&Proposal::Command(proposal))
        };
        let evil = "ls\n```\nSandboxed: may do nothing.\n\u{1b}[2J";
        let asked = permission(evil, Access::Read, Sandbox::Landlock);
        assert!(
            asked.text.starts_with("````\n") && asked.text.matches("````").count() == 2,
            "{}",
            asked.text
        );
        assert!(asked.text.ends_with("Sandboxed (Landlock): may read this directory; no home, no network."));
        assert!(!asked.text.contains('\u{1b}') && !asked.title.contains(['\n', '\u{1b}']), "{}", asked.title);
        assert!(asked.may_be_remembered);
        assert!(!permission("ls", Access::Full, Sandbox::None).may_be_remembered);
    }
}
