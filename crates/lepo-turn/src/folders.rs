//! The question whether programs of the user's may start in the folder that a turn works in: asked once a folder, before
//! the first of them starts there.

use tokio::sync::Mutex;

use super::folder_questions::{FolderPrograms, joined, model_programs, take_answers};
use super::program_changes::ProgramRole;
use super::program_start::{StartingProgram, ask_about_files, model_program};
use super::steering::{agree_to_words, words_of_turn};
use super::turn::Turn;
use crate::config::{FolderQuestion, FolderTrust};
use lepo_base::error::Result;
use lepo_model::spec;
use lepo_tool::mcp::programs_to_start;

/// The programs that are about to start in a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StartNeeds<'n> {
    /// Servers are asked for their tools.
    pub lists: bool,
    /// The servers of these names are called.
    pub calls: &'n [&'n str],
    /// The model is asked.
    pub model: bool,
}

/// Held while a question stands: turns side by side do not ask the same.
static ASKING: Mutex<()> = Mutex::const_new(());

/// Asks the person about each folder in which a program is about to start, unless there is an answer. Programs start in
/// an empty folder as long as nobody has answered.
pub(super) async fn ask_about_folders(turn: &mut Turn<'_>, needs: StartNeeds<'_>) -> Result<()> {
    let trust = FolderTrust::new(&turn.env.configured.paths);
    let mut questions = questions(turn, &trust, needs)?;
    let mut words = None;
    if let Some(first) = questions.first_mut() {
        let steering = words_of_turn(turn)?;
        first.words = steering.names();
        words = Some(steering);
    }
    for question in questions {
        let words = words.take();
        // The question of the turn is kept, whatever the answer to this one is.
        turn.question_saved().await?;
        let _asking = ASKING.lock().await;
        if trust.answer(&question.folder)?.is_some() {
            continue;
        }
        let asked = turn.env.interrupt.or(turn.front.trust_folder(&question)).await?;
        match asked {
            Some(is_trusted) => {
                trust.keep(&question.folder, is_trusted)?;
                if let Some(words) = words.filter(|_| is_trusted) {
                    agree_to_words(turn, &words)?;
                }
            }
            None => turn.env.note_unanswered(&question),
        }
    }
    take_answers(turn.servers, &turn.env.configured.paths);
    ask_about_changes(turn, needs).await
}

/// Asks about the programs that are about to start and whose files changed.
async fn ask_about_changes(turn: &mut Turn<'_>, needs: StartNeeds<'_>) -> Result<()> {
    let mut programs = if needs.lists { programs_to_start(turn.servers, None) } else { Vec::new() };
    if !needs.calls.is_empty() {
        programs.extend(programs_to_start(turn.servers, Some(needs.calls)));
    }
    let mut starting: Vec<StartingProgram> =
        programs.into_iter().map(|(name, program)| (ProgramRole::Server(name), program)).collect();
    let (configured, root) = (&turn.env.configured, turn.env.store.root());
    if needs.model {
        let dir = if spec(turn.config).own_tools { root.to_path_buf() } else { configured.cli_dir() };
        starting.extend(model_program(&configured.paths, turn.config, &dir));
    }
    ask_about_files(starting, (&configured.paths, root), (&mut *turn.front, &turn.env.interrupt)).await
}

fn questions(turn: &mut Turn<'_>, trust: &FolderTrust, needs: StartNeeds<'_>) -> Result<Vec<FolderQuestion>> {
    let mut is_server_needed = needs.lists && turn.servers.is_trust_needed(None);
    is_server_needed |= needs.calls.iter().any(|name| turn.servers.is_trust_needed(Some(name)));
    let of_model = model_programs(&turn.env.configured, turn.config, turn.env.store.root());
    let of_model = of_model.map(|programs| FolderPrograms { is_needed: needs.model, ..programs });
    let of_servers = FolderPrograms {
        dir: turn.servers.folders().work_dir.clone(),
        labels: turn.servers.programs(),
        is_needed: is_server_needed,
    };
    let mut questions = joined([of_servers].into_iter().chain(of_model), trust)?;
    questions.retain(|question| !turn.env.is_unanswered(question));
    Ok(questions)
}
