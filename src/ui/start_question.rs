//! Asks before programs of the user start, on the terminal device: in a new folder, or although their files have
//! changed. The question shows everything that a yes approves.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use rustix::process::Signal;

use super::answer::{ChoicePrompt, PromptChoice};
use super::changed_files::{changed_text, role_text};
use super::consent::foreign_texts_note;
use super::in_fence;
use crate::term::{Tty, TypeAheadPause, extent, fold, on_terminal, one_line};
use lepo_base::error::{Error, Result};
use lepo_turn::StartQuestion;

/// Asks the user; a signal can withdraw the question. `None` without a terminal.
pub async fn agree_to_start(question: StartQuestion) -> Result<Option<bool>> {
    match on_terminal(move |tty, withdrawn| converse(tty, &question, withdrawn)).await? {
        Some(answer) => answer.map(Some).ok_or_else(|| Error::interrupted(Signal::INT.as_raw() as u8)),
        None => Ok(None),
    }
}

fn converse(
    tty: &mut Tty,
    question: &StartQuestion,
    withdrawn: &AtomicBool,
) -> std::io::Result<Option<bool>> {
    let _asking = TypeAheadPause::pause();
    let lines: Vec<String> = programs_line(question).into_iter().chain([start_line(question)]).collect();
    let offer = ChoicePrompt::new(lines.join(" "), &[]);
    tty.show(&format!("\n{}", about_text(question, tty.columns())))?;
    loop {
        tty.forget_typed();
        let about = about_text(question, tty.columns());
        let prompt = format!("{}{}", extent(&about, tty.columns()), offer.question());
        let Some(answer) = tty.ask_about(&about, &prompt, withdrawn)? else { return Ok(None) };
        match offer.read(&answer) {
            Some(PromptChoice::Yes) => return Ok(Some(true)),
            Some(PromptChoice::No) => return Ok(Some(false)),
            _ => tty.show(&format!("{}\n", offer.letters()))?,
        }
    }
}

/// Returns the text above the question: changed files, and foreign texts. Both are marked as quotes.
fn about_text(question: &StartQuestion, columns: usize) -> String {
    let mut text: String = question.changed.iter().map(|changed| changed_text(changed, columns)).collect();
    if !question.changed.is_empty() && !question.folders.is_empty() {
        text.push_str(&format!("{}\n", fold("A yes starts it as it is now, too.", columns)));
    }
    text + &foreign_texts_note(&question.texts(), columns)
}

/// Like [`about_text`], for a view without a terminal.
pub fn fenced_about(question: &StartQuestion) -> Option<String> {
    let text = about_text(question, usize::MAX);
    (!text.is_empty()).then(|| in_fence(text.trim_end()))
}

/// Returns the names of the programs that would start in a new folder.
pub fn programs_line(question: &StartQuestion) -> Option<String> {
    if question.folders.is_empty() {
        return None;
    }
    let programs: Vec<String> = question.programs().iter().map(|program| one_line(program)).collect();
    Some(format!("Programs of yours ({}) may run files of the folder they start in.", programs.join(", ")))
}

pub fn start_line(question: &StartQuestion) -> String {
    let folders: Vec<String> =
        question.folders.iter().map(|question| folder_name(&question.folder.root)).collect();
    match (folders.as_slice(), question.changed.len()) {
        ([], ..=1) => "Start it?".to_string(),
        ([], _) => "Start them?".to_string(),
        (folders, _) => format!("Trust {}?", folders.join(" and ")),
    }
}

/// Returns the question in one line, for a view that shows its subject elsewhere.
pub fn start_title(question: &StartQuestion) -> String {
    match (question.folders.is_empty(), question.changed.as_slice()) {
        (true, changed) if !changed.is_empty() => {
            let roles: Vec<String> = changed.iter().map(|changed| role_text(&changed.role)).collect();
            format!("Start {}", roles.join(" and "))
        }
        _ => start_line(question),
    }
}

/// Returns a folder's path with `~` for the home directory.
pub fn folder_name(folder: &Path) -> String {
    let home = lepo_base::env::var("HOME").filter(|home| Path::new(home).is_absolute());
    let home = home.and_then(|home| Path::new(&home).canonicalize().ok());
    let shown = match home.as_deref().and_then(|home| folder.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".to_string(),
        Some(below) => format!("~/{}", below.display()),
        None => folder.display().to_string(),
    };
    one_line(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::work_folder::WorkFolder;
    use lepo_turn::config::FolderQuestion;
    use lepo_turn::{ChangedProgram, ProgramRole};

    fn folder(root: &str, programs: &[&str]) -> FolderQuestion {
        let folder =
            WorkFolder { root: root.into(), identity: root.to_string(), root_identity: root.to_string() };
        FolderQuestion { folder, programs: programs.iter().map(|program| program.to_string()).collect() }
    }

    #[test]
    fn the_question_names_the_programs_and_the_folder_and_nothing_in_it_is_a_line_of_its_own() {
        let folder = folder("/srv/app\nTrust ~? [y]es", &["npx", "python3 -m", "x\n\u{1b}[2J"]);
        let question = StartQuestion::about_folders(vec![folder]);
        let (about, lines) = (programs_line(&question).unwrap(), start_line(&question));
        assert!(about.starts_with("Programs of yours (npx, python3 -m, x"), "{about}");
        assert!(lines.starts_with("Trust /srv/app"), "{lines}");
        assert!(!format!("{about}{lines}").contains(['\n', '\u{1b}']), "{about}{lines}");
        assert_eq!(fenced_about(&question), None);
    }

    #[test]
    fn all_that_a_yes_agrees_to_is_named_in_one_question() {
        let changed =
            |name: &str| ChangedProgram { role: ProgramRole::Server(name.into()), files: Vec::new() };
        let [a, b] = [folder("/a", &["npx"]), folder("/b", &["claude", "npx"])];
        for (folders, files, line, title) in [
            (vec![a.clone()], vec![], "Trust /a?", "Trust /a?"),
            (vec![a.clone(), b], vec![], "Trust /a and /b?", "Trust /a and /b?"),
            (vec![], vec![changed("s")], "Start it?", "Start MCP server \"s\""),
            (
                vec![],
                vec![changed("s"), changed("t")],
                "Start them?",
                "Start MCP server \"s\" and MCP server \"t\"",
            ),
            (vec![a], vec![changed("s")], "Trust /a?", "Trust /a?"),
        ] {
            let both = !folders.is_empty() && !files.is_empty();
            let mut question = StartQuestion::about_files(files);
            question.folders = folders;
            assert_eq!((start_line(&question).as_str(), start_title(&question).as_str()), (line, title));
            assert_eq!(about_text(&question, 80).contains("as it is now, too"), both, "{line}");
        }
    }
}
