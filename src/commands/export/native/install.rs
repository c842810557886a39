//! Builds the command that installs exported sessions for another tool. The command replaces no file: an existing
//! session may have been continued.

use std::path::{Path, PathBuf};

use super::super::format::ExportFormat;
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};

/// A file to install in the folder of another tool.
pub struct SessionFile {
    /// The session's id in that tool.
    pub id: String,
    pub name: String,
    /// Folder where the tool searches for it, relative to the tool's own.
    pub folder: String,
    pub text: String,
}

pub struct SessionHome(PathBuf);

impl SessionHome {
    /// Reads it from the environment; a relative path is below the working directory.
    pub fn from_env(format: ExportFormat, cwd: &Path) -> Result<SessionHome> {
        let (variable, folder) = match format {
            ExportFormat::Codex => ("CODEX_HOME", ".codex"),
            _ => ("CLAUDE_CONFIG_DIR", ".claude"),
        };
        let env = Env::from_process();
        let set = env.get(variable).map(PathBuf::from);
        let home = || env.get("HOME").map(|home| Path::new(home).join(folder));
        let path = set.or_else(home).ok_or_else(|| Error::usage("HOME is not set"))?;
        Ok(SessionHome(cwd.join(path)))
    }

    /// Refuses to write into the tool's own folder.
    pub fn check_own_folder(&self, dir: &Path) -> Result<()> {
        let whole = |path: &Path| {
            // A folder that does not exist yet is resolved by its nearest existing ancestor.
            let there = path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
            let (above, real) = there?;
            Some(real.join(path.strip_prefix(above).ok()?))
        };
        let dir_here = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        let is_inside = match (whole(&dir_here), whole(&self.0)) {
            (Some(dir), Some(own)) => dir.starts_with(own),
            _ => false,
        };
        match is_inside {
            false => Ok(()),
            true => Err(Error::usage(format!("{} belongs to another tool", dir.display())).hint(
                "name a folder of your own; the last line of the output is the command that installs it",
            )),
        }
    }

    fn folder(&self, session: &SessionFile) -> PathBuf {
        self.0.join(&session.folder)
    }

    pub fn install_files(&self, paths: &[PathBuf], written: &[SessionFile]) -> String {
        let mut folders: Vec<(PathBuf, Vec<&Path>)> = Vec::new();
        for (path, session) in paths.iter().zip(written) {
            let folder = self.folder(session);
            match folders.iter_mut().find(|(known, _)| *known == folder) {
                Some((_, files)) => files.push(path),
                None => folders.push((folder, vec![path])),
            }
        }
        let mut parts =
            vec![format!("mkdir -p {}", shell_words(folders.iter().map(|(folder, _)| folder.as_path())))];
        for (folder, files) in &folders {
            parts.push(format!("cp -n {} {}", shell_words(files.iter().copied()), shell_word(folder)));
        }
        parts.join(" && ")
    }

    /// Returns the command that installs a session from the output of `command`.
    pub fn install_pipe(&self, command: &str, session: &SessionFile) -> String {
        let folder = self.folder(session);
        let file = shell_word(&folder.join(&session.name));
        format!("mkdir -p {} && {command} | cp -n /dev/stdin {file}", shell_word(&folder))
    }
}

/// Returns the command that writes the session again.
pub fn export_command(format: ExportFormat, id: &str, hidden: bool, store: Option<&Path>) -> String {
    let store = store.map(|store| format!(" -s {}", shell_word(store))).unwrap_or_default();
    let hidden = if hidden { " -a" } else { "" };
    format!("lepo{store} export {id} --format {}{hidden}", format.name())
}

fn shell_words<'p>(paths: impl Iterator<Item = &'p Path>) -> String {
    paths.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// Quotes a path for a shell. A leading `-` would make it an option.
fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    match shlex::try_quote(&text) {
        Ok(quoted) => quoted.into_owned(),
        // A path contains no NUL byte.
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_makes_the_folders_and_replaces_nothing() {
        let session = |folder: &str, name: &str| SessionFile {
            id: String::new(),
            name: name.into(),
            folder: folder.into(),
            text: String::new(),
        };
        let home = SessionHome("/home/a b/.codex".into());
        let written = [session("s/1", "x"), session("s/2", "y"), session("s/1", "z")];
        let paths = ["out/x".into(), "-o/y".into(), "out/z".into()];
        assert_eq!(
            home.install_files(&paths, &written),
            r"mkdir -p '/home/a b/.codex/s/1' '/home/a b/.codex/s/2' && cp -n out/x out/z '/home/a b/.codex/s/1' && cp -n ./-o/y '/home/a b/.codex/s/2'"
        );
        assert_eq!(
            home.install_pipe("lepo x", &written[0]),
            r"mkdir -p '/home/a b/.codex/s/1' && lepo x | cp -n /dev/stdin '/home/a b/.codex/s/1/x'"
        );
        assert_eq!(
            export_command(ExportFormat::ClaudeCode, "ID", true, Some(Path::new("/a b"))),
            r"lepo -s '/a b' export ID --format claude-code -a"
        );
    }
}
