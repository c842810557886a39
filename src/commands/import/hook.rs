//! `--on-end`: the import that a tool's hook runs at the end of a session.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::args::ImportArgs;
use super::hooked_tool::HookedTool;
use super::importer::Importer;
use super::log_watch::LogWatch;
use super::sources::{self, SourceGroup};
use super::stop::StopSignal;
use crate::commands::Context;
use crate::term::Color;
use lepo_base::error::Result;
use lepo_base::worktree::Worktree;
use lepo_import::{SourceFormat, SourceReader, directory_of};

/// How long a hook waits for the end of a turn to be written.
const PATIENCE: Duration = Duration::from_secs(10);

/// The event that a tool writes to a hook's stdin.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SessionEvent {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
}

impl SessionEvent {
    /// Reads the first value of stdin and does not wait for its end, because some tools leave it open. Any other value is ignored.
    fn read() -> SessionEvent {
        if io::stdin().is_terminal() {
            return SessionEvent::default();
        }
        let mut values =
            serde_json::Deserializer::from_reader(io::stdin().lock()).into_iter::<SessionEvent>();
        values.next().and_then(|event| event.ok()).unwrap_or_default()
    }
}

/// Imports a tool's sessions about this repository after one of them has ended. Without a store it does nothing.
pub fn run_on_end(tool: HookedTool, args: &ImportArgs, context: &mut Context<'_>) -> Result<u8> {
    let (format, stop) = (tool.format(), StopSignal::listen()?);
    let event = if tool.writes_event() { SessionEvent::read() } else { SessionEvent::default() };
    let transcript = event.transcript_path.filter(|path| path.is_file());
    let recorded = transcript.as_ref().and_then(|path| directory_of(format, path)).map(PathBuf::from);
    let dir = [recorded, event.cwd].into_iter().flatten().find(|dir| dir.is_dir());
    let dir = dir.unwrap_or_else(|| context.cwd().to_path_buf());
    let (at, name, dirs) = match context.save_to() {
        // A store that is not the repository's own takes the sessions of the directory where one ended.
        Some(store) => {
            let store = context.cwd().join(store);
            let (Some(parent), Some(name)) = (store.parent(), store.file_name()) else { return Ok(0) };
            let root = Worktree::containing(&dir).map_or_else(|| dir.clone(), |tree| tree.root);
            (parent.to_path_buf(), Some(PathBuf::from(name)), Some(root))
        }
        None => (dir, None, None),
    };
    let color = Color::Never;
    let context = Context::elsewhere(at, name, color, context.out);
    if context.save_to().is_none() && context.find_store()?.is_none() {
        return Ok(0);
    }
    let dirs = match dirs {
        Some(root) => vec![root.canonicalize().unwrap_or(root)],
        None => sources::directories(&context)?,
    };
    let is_ended = |path: &Path| match (&transcript, &event.session_id) {
        (Some(transcript), _) => is_same(path, transcript),
        (None, Some(id)) => is_log_of(path, id),
        (None, None) => false,
    };
    let import = || -> Result<u64> {
        let dirs = [&dirs[..], &sources::remembered_dirs(format, &context)?].concat();
        let mut chosen = match sources::own_groups(format.as_str()) {
            Ok(chosen) => sources::about(chosen, &dirs),
            Err(_) => Vec::new(),
        };
        let ended = sources::logs_of(&chosen).into_iter().map(|(_, path)| path).find(|path| is_ended(path));
        if let (None, Some(path)) = (&ended, &transcript) {
            let paths = vec![path.clone()];
            chosen.push(SourceGroup { format, paths, about: Vec::new(), is_own: false });
        }
        if chosen.is_empty() {
            return Ok(0);
        }
        let importer = Importer::new(args, &stop)?.automatic(ended.or(transcript.clone()));
        Ok(importer.run(chosen, SourceReader::default(), &context)?.report.withheld)
    };
    match tool {
        HookedTool::Codex => import_until_written(&import, &stop)?,
        _ => _ = import()?,
    }
    Ok(0)
}

/// Imports until nothing is withheld: Codex calls lepo before it writes the end of the turn.
fn import_until_written(import: &dyn Fn() -> Result<u64>, stop: &StopSignal) -> Result<()> {
    let mut folders = sources::folders_on_this_machine();
    folders.retain(|folder| folder.format == SourceFormat::Codex);
    let (mut watch, _) = LogWatch::start(folders, stop)?;
    let until = Instant::now() + PATIENCE;
    while import()? > 0 {
        let rest = until.saturating_duration_since(Instant::now());
        if watch.wait(Some(rest))?.is_empty() {
            break;
        }
        stop.check()?;
    }
    Ok(())
}

/// Whether a log has the name of this session: its id, or for Gemini CLI `session-TIME-` and the first eight characters
/// (`chatRecordingService.ts` of gemini-cli).
fn is_log_of(path: &Path, id: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let short = stem.starts_with("session-").then(|| stem.rsplit_once('-')).flatten().map(|(_, short)| short);
    stem == id || short.is_some_and(|short| short.len() == 8 && id.starts_with(short))
}

fn is_same(path: &Path, other: &Path) -> bool {
    path == other || path.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}
