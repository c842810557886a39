//! The question whether programs of the user's may start in a folder, on the terminal device.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use rustix::process::Signal;

use super::answer::{Choice, Offer};
use super::consent::agreed;
use crate::term::{Asking, Tty, on_terminal, one_line};
use lepo_base::error::{Error, Result};
use lepo_tool::Unagreed;
use lepo_turn::config::FolderQuestion;

/// Asks; a signal can withdraw the question. `None` if there is no terminal.
pub async fn ask_about_folder(question: &FolderQuestion) -> Result<Option<bool>> {
    let asked = format!("{} {}", programs_line(question), trust_line(question));
    let words = question.words.clone();
    match on_terminal(move |tty, withdrawn| converse(tty, asked, &words, withdrawn)).await? {
        Some(answer) => answer.map(Some).ok_or_else(|| Error::interrupted(Signal::INT.as_raw() as u8)),
        None => Ok(None),
    }
}

fn converse(
    tty: &mut Tty,
    asked: String,
    words: &[Unagreed],
    withdrawn: &AtomicBool,
) -> std::io::Result<Option<bool>> {
    let _asking = Asking::begin();
    let offer = Offer::new(asked, &[]);
    let about = agreed(words, tty.columns());
    tty.show(&format!("\n{about}"))?;
    loop {
        tty.forget_typed();
        let Some(answer) = tty.ask(&offer.question(), withdrawn)? else { return Ok(None) };
        match offer.read(&answer) {
            Some(Choice::Yes) => return Ok(Some(true)),
            Some(Choice::No) => return Ok(Some(false)),
            _ => tty.show(&format!("{}\n", offer.letters()))?,
        }
    }
}

/// What the question is about, with the names of the programs.
pub fn programs_line(question: &FolderQuestion) -> String {
    let programs: Vec<String> = question.programs.iter().map(|program| one_line(program)).collect();
    format!("Programs of yours ({}) may run files of the folder they start in.", programs.join(", "))
}

/// The words of others that a yes agrees to as well, for a view that is no terminal.
pub fn words_text(question: &FolderQuestion) -> Option<String> {
    let text = agreed(&question.words, usize::MAX);
    (!text.is_empty()).then(|| text.trim_end().to_string())
}

/// The question itself.
pub fn trust_line(question: &FolderQuestion) -> String {
    format!("Trust {}?", folder_name(&question.folder.root))
}

/// A folder as people write it: below the home directory with `~`.
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

    #[test]
    fn the_question_names_the_programs_and_the_folder_and_nothing_in_it_is_a_line_of_its_own() {
        let folder = WorkFolder {
            root: "/srv/app\nTrust ~? [y]es".into(),
            identity: String::new(),
            root_identity: String::new(),
        };
        let programs = vec!["npx".to_string(), "python3 -m".to_string(), "x\n\u{1b}[2J".to_string()];
        let question = FolderQuestion { folder, programs, words: Vec::new() };
        let (about, asked) = (programs_line(&question), trust_line(&question));
        assert!(about.starts_with("Programs of yours (npx, python3 -m, x"), "{about}");
        assert!(asked.starts_with("Trust /srv/app"), "{asked}");
        assert!(!format!("{about}{asked}").contains(['\n', '\u{1b}']), "{about}{asked}");
    }
}
