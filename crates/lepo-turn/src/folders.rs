//! The question before programs of the user start in a turn: in a folder without an answer, or with changed files.

use tokio::sync::Mutex;

use super::event::ask_to_start;
use super::folder_questions::{
    FolderPrograms, is_asked_about, model_once_trusted, model_programs, questions_per_folder, take_answers,
};
use super::program_changes::ProgramRole;
use super::program_start::{StartingProgram, changed_of};
use super::start_question::StartQuestion;
use super::steering::{apply_consent, texts_of_turn};
use super::turn::Turn;
use crate::config::{FolderQuestion, FolderTrust};
use lepo_base::error::Result;
use lepo_model::spec;
use lepo_tool::mcp::{end_server, programs_to_start};

/// The programs that are about to start in a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StartNeeds<'n> {
    /// Whether servers are started to list their tools.
    pub lists: bool,
    /// Names of the servers to call.
    pub calls: &'n [&'n str],
    /// Whether the model is asked.
    pub model: bool,
}

/// Locked during a question, so that concurrent turns do not ask the same.
static ASKING: Mutex<()> = Mutex::const_new(());

/// Asks the user, once, about everything that these programs need before they start. Without an answer for their
/// folder, they start in an empty one; with changed files, they do not start without consent.
pub(super) async fn ask_about_start(turn: &mut Turn<'_>, needs: StartNeeds<'_>) -> Result<()> {
    if !question(turn, needs)?.is_empty() {
        // The question of the turn is stored, whatever the answer is.
        turn.question_saved().await?;
        let _asking = ASKING.lock().await;
        let mut question = question(turn, needs)?;
        if !question.is_empty() {
            question.steering = texts_of_turn(turn)?;
            let answer = turn.env.interrupt.or(ask_to_start(turn.view, &question)).await?;
            turn.env.record_start_answer(&question, answer)?;
            if answer == Some(true) {
                apply_consent(turn, &question.steering)?;
                for changed in &question.changed {
                    if let ProgramRole::Server(name) = &changed.role {
                        end_server(turn.servers, name).await;
                    }
                }
            }
        }
    }
    take_answers(turn.servers, &turn.env.configured.paths);
    Ok(())
}

/// Asks again about a model that is a program, because a command of this turn may have changed its files.
pub(super) async fn ask_about_model(turn: &mut Turn<'_>) -> Result<()> {
    if turn.config.command.is_empty() {
        return Ok(());
    }
    ask_about_start(turn, StartNeeds { model: true, ..StartNeeds::default() }).await
}

/// Returns the question about the folders and changed files of these programs.
fn question(turn: &mut Turn<'_>, needs: StartNeeds<'_>) -> Result<StartQuestion> {
    let folders = folder_questions(turn, needs)?;
    let changed =
        changed_of(starting(turn, needs, &folders), (&turn.env.configured.paths, turn.env.store.root()))?;
    Ok(StartQuestion { folders, ..StartQuestion::about_files(changed) })
}

/// Returns the programs as they would start after a yes to these questions.
fn starting(turn: &mut Turn<'_>, needs: StartNeeds<'_>, asked: &[FolderQuestion]) -> Vec<StartingProgram> {
    let folders = match is_asked_about(asked, &turn.servers.folders().work_dir) {
        true => turn.servers.folders().once_trusted(),
        false => turn.servers.folders().clone(),
    };
    let mut programs = if needs.lists { programs_to_start(turn.servers, None, &folders) } else { Vec::new() };
    if !needs.calls.is_empty() {
        programs.extend(programs_to_start(turn.servers, Some(needs.calls), &folders));
    }
    let mut starting: Vec<StartingProgram> =
        programs.into_iter().map(|(name, program)| (ProgramRole::Server(name), program)).collect();
    if needs.model {
        let (configured, root) = (&turn.env.configured, turn.env.store.root());
        let dir = if spec(turn.config).own_tools { root.to_path_buf() } else { configured.cli_dir() };
        starting.extend(model_once_trusted(&configured.paths, turn.config, &dir, asked));
    }
    starting
}

fn folder_questions(turn: &mut Turn<'_>, needs: StartNeeds<'_>) -> Result<Vec<FolderQuestion>> {
    let trust = FolderTrust::new(&turn.env.configured.paths);
    let mut is_server_needed = needs.lists && turn.servers.is_trust_needed(None);
    is_server_needed |= needs.calls.iter().any(|name| turn.servers.is_trust_needed(Some(name)));
    let of_model = model_programs(&turn.env.configured, turn.config, turn.env.store.root());
    let of_model = of_model.map(|programs| FolderPrograms { is_needed: needs.model, ..programs });
    let of_servers = FolderPrograms {
        dir: turn.servers.folders().work_dir.clone(),
        labels: turn.servers.programs(),
        is_needed: is_server_needed,
    };
    let mut questions = questions_per_folder([of_servers].into_iter().chain(of_model), &trust)?;
    questions.retain(|question| !turn.env.is_unanswered(question));
    Ok(questions)
}
