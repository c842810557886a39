//! Runs one command after consent, with the `Shell` of `lepo-tool`, and writes its result as a bubb.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::cleanup;
use super::masking_cut::cut;
use super::opening::output_message;
use super::outcome::ToolUse;
use super::result_text::ResultBuilder;
use super::turn_path::TurnPath;
use super::{CommandOrigin, Masking, Notice, TurnEnv, TurnEvent};
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbName;
use lepo_store::store::{JournalRecord, Store};
use lepo_tool::{
    Access, CleanupReport, CommandExit, CommandOutcome, EnvFilter, GrantedCommand, OutputSink, Policy, Shell,
    TouchedFiles,
};

/// Maximum bytes of a command to repeat in its result.
const MOST_COMMAND: usize = 4 << 10;

/// The result of an executed request, to be written as a bubb.
pub struct ToolResult {
    /// Bytes of the result bubb.
    pub text: Vec<u8>,
    /// Exit code, if the command exited.
    pub exit: Option<i32>,
    /// Duration in milliseconds.
    pub ms: u64,
    /// Whether the command exited before lepo had to end it; otherwise the turn uses no more tools.
    pub ran: bool,
}

/// Runs the commands of a turn.
#[derive(Clone, Copy)]
pub struct CommandRunner<'e> {
    /// The environment of the turn.
    pub env: &'e TurnEnv,
    /// Folders that a sandboxed command may read in addition to those of the settings.
    pub readable: &'e [PathBuf],
}

impl<'e> CommandRunner<'e> {
    /// Creates a runner without further readable folders.
    pub fn new(env: &'e TurnEnv) -> CommandRunner<'e> {
        CommandRunner { env, readable: &[] }
    }

    /// Runs the user's own command, without consent and sandbox, and writes its output as a visible bubb at the end
    /// of `path`.
    pub async fn run(
        &self,
        path: &mut TurnPath,
        command: &str,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<ToolUse> {
        let carried = self.carry_out_own(command, CommandOrigin::RunOption, on_event).await?;
        self.store_own(path, command, &carried, on_event)
    }

    /// Executes the command for [`CommandRunner::run`], and writes nothing.
    pub async fn carry_out_own(
        &self,
        command: &str,
        by: CommandOrigin,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<ToolResult> {
        on_event(TurnEvent::CommandStarted(command));
        let carried = self.carry_out(GrantedCommand::by_user(command), by, on_event).await?;
        match carried.exit {
            Some(0) => {}
            Some(code) => on_event(TurnEvent::Notice(&Notice::ExitCode(code))),
            None => on_event(TurnEvent::Notice(&Notice::NoExit)),
        }
        Ok(carried)
    }

    /// Writes the result for [`CommandRunner::run`].
    pub fn store_own(
        &self,
        path: &mut TurnPath,
        command: &str,
        carried: &ToolResult,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<ToolUse> {
        let (name, _) = path.add_new(&output_message(&self.env.masking, &carried.text))?;
        on_event(TurnEvent::Bubb(&name, Some(&carried.text)));
        self.journal(&name, "command", carried);
        Ok(ToolUse {
            bubb: name.id,
            kind: "run",
            request: serde_json::json!({ "command": command }),
            result: Some(name.id),
            exit: carried.exit,
        })
    }

    /// Runs a command in the working directory after consent, and returns the text of its result. Output is reported
    /// as it arrives.
    pub async fn carry_out(
        &self,
        granted: GrantedCommand,
        by: CommandOrigin,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<ToolResult> {
        let settings = self.env.settings();
        let access = granted.request().access.as_str();
        tracing::debug!(access, command = granted.request().command, "command");
        if granted.request().access != Access::Read && by == CommandOrigin::Model {
            self.env.note_programs()?;
        }
        let read_only = [&*settings.sandbox_read_only, self.readable].concat();
        let policy = Policy {
            dir: self.env.store.root(),
            start: self.env.store.root(),
            store: &self.env.store.path(),
            own_paths: &self.env.own_paths,
            read_only: &read_only,
            writable: &[],
            programs: &self.env.programs,
            touched: &TouchedFiles::in_state(&self.env.configured.paths.state),
        };
        let keys = settings.keys();
        let variables =
            EnvFilter { hidden: settings.key_variables(), keys: &keys, passed: &settings.sandbox_env };
        let shell = Shell { policy, variables, timeout: settings.command_timeout };
        let report = Arc::default();
        let limit = (settings.output_limit.get() as usize, &*self.env.masking);
        let mut live = |stream, bytes: &[u8]| on_event(TurnEvent::CommandOutput(by, stream, bytes));
        let run = carry_out(&self.env.store, shell, granted, limit, &mut live, &report);
        let carried = self.env.interrupt.or(run).await;
        let report = std::mem::take(&mut *report.lock().unwrap_or_else(PoisonError::into_inner));
        for left in cleanup::items("the command", &report) {
            on_event(TurnEvent::Notice(&Notice::Cleanup(left)));
        }
        let (carried, left) = carried?;
        tracing::info!(access, exit = carried.exit, ms = carried.ms, "command ran");
        if left > 0 {
            on_event(TurnEvent::Notice(&Notice::ProcessesLeft(left)));
        }
        Ok(carried)
    }

    /// Records duration and exit code in the journal.
    pub fn journal(&self, name: &BubbName, what: &str, carried: &ToolResult) {
        self.env.store.journal().add(JournalRecord {
            bubb: Some(name.id),
            what: what.into(),
            ms: Some(carried.ms),
            exit: carried.exit,
            ..JournalRecord::default()
        });
    }
}

/// Runs a command after consent. Returns the text of its result, and the number of its processes that could not be
/// ended. `limit` is in bytes, for each stream.
async fn carry_out(
    store: &Store,
    shell: Shell<'_>,
    granted: GrantedCommand,
    limit: (usize, &Masking),
    live: &mut OutputSink<'_>,
    report: &Arc<Mutex<CleanupReport>>,
) -> Result<(ToolResult, usize)> {
    let command = granted.request().command.clone();
    let scratch = [store.scratch_file()?, store.scratch_file()?];
    let failed = |error: io::Error| Error::store("cannot keep the output of the command").because(error);
    let mut outcome = shell.run(granted, scratch, live, report).await.map_err(failed)?;
    let report = cleanup::for_model(&report.lock().unwrap_or_else(PoisonError::into_inner));
    let text = result_text(store, &command, &mut outcome, &report, limit)?;
    let carried = ToolResult {
        text,
        exit: match outcome.ending {
            CommandExit::Exit(code) => Some(code),
            _ => None,
        },
        ms: outcome.took.as_millis() as u64,
        ran: matches!(outcome.ending, CommandExit::Exit(_) | CommandExit::Signal(_)),
    };
    Ok((carried, outcome.processes_left))
}

/// Returns the command, its exit, stdout and stderr; then a line for each stream that is complete only in `_blobs`,
/// because it is too long or not text.
fn result_text(
    store: &Store,
    command: &str,
    outcome: &mut CommandOutcome,
    report: &str,
    (limit, masking): (usize, &Masking),
) -> Result<Vec<u8>> {
    let head = format!("$ {}\n{}\n", shortened(command, masking), ending_text(&outcome.ending));
    let mut result = ResultBuilder::new(head.into_bytes(), masking);
    if outcome.processes_left > 0 {
        let left = format!("processes of it that could not be ended: {}\n", outcome.processes_left);
        result.text.extend(left.bytes());
    }
    result.text.extend(report.bytes());
    for (label, captured) in [("stdout", &mut outcome.stdout), ("stderr", &mut outcome.stderr)] {
        if !captured.is_empty() {
            result.text.extend(format!("{label}:\n").bytes());
            result.add_stream(store, captured, limit)?;
        }
    }
    Ok(result.into_bytes())
}

/// Returns at most [`MOST_COMMAND`] bytes of the command; the bubb of the request has all of it.
fn shortened(command: &str, masking: &Masking) -> String {
    let (shown, rest) = cut(masking, command, MOST_COMMAND);
    match rest.len() {
        0 => shown.to_string(),
        missing => format!("{shown}\n[… {missing} bytes left out …]"),
    }
}

fn ending_text(ending: &CommandExit) -> String {
    match ending {
        CommandExit::Exit(code) => format!("exit code: {code}"),
        CommandExit::Signal(number) => format!("ended by signal {number}"),
        CommandExit::TimedOut(limit) => format!("ended after its time limit of {} s", limit.as_secs()),
        CommandExit::Flooded(limit) => format!("ended after it had printed {} MiB", limit >> 20),
        CommandExit::KeeperEnded => "ended together with the process of lepo that keeps it; \
            what it left in a session of its own may still run"
            .to_string(),
        CommandExit::NotStarted(why) => format!("could not be started: {why}"),
    }
}
