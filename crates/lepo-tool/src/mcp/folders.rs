//! The folder in which the program of a server starts.

use std::path::{Path, PathBuf};

use crate::NamedProgram;
use crate::mcp::config::{EntryOrigin, ServerConfig, ServerTarget};
use lepo_base::search_path::may_exist;
use lepo_process::StartFolder;

/// The `cwd` of a server that always starts in an empty folder.
const NONE: &str = "none";

/// The folders in which servers start.
#[derive(Debug, Clone)]
pub struct ServerFolders {
    /// The folder that the servers work for.
    pub work_dir: PathBuf,
    /// For the user's own servers without a `cwd`: the worktree if it is trusted, or else an empty folder.
    pub own_start: StartFolder,
    /// For a repository's servers, which count only once their definition is trusted.
    pub repository: StartFolder,
    /// An empty folder.
    pub empty: StartFolder,
}

/// Folders that suit only remote servers.
impl Default for ServerFolders {
    fn default() -> ServerFolders {
        let root = Path::new("/");
        let root = StartFolder::absolute(root).unwrap_or_else(|| StartFolder::empty(root));
        ServerFolders { work_dir: "/".into(), own_start: root.clone(), repository: root.clone(), empty: root }
    }
}

impl ServerFolders {
    /// Returns the folder in which a server starts; `None` for an address.
    ///
    /// # Errors
    /// If the folder is in a worktree that is not trusted; the text says so.
    pub fn start_of(&self, config: &ServerConfig) -> Result<Option<StartFolder>, String> {
        let ServerTarget::Program { cwd, .. } = &config.target else { return Ok(None) };
        let own = match config.details.origin {
            EntryOrigin::User => &self.own_start,
            EntryOrigin::Repository => &self.repository,
        };
        let Some(cwd) = cwd else { return Ok(Some(own.clone())) };
        if cwd.as_os_str() == NONE {
            return Ok(Some(self.empty.clone()));
        }
        if let Some(absolute) = StartFolder::absolute(cwd) {
            return Ok(Some(absolute));
        }
        let below = own.join(cwd);
        let refused = || {
            format!(
                "its `cwd` is in {}, which is not trusted; `lepo trust` trusts it",
                self.work_dir.display()
            )
        };
        below.map(Some).ok_or_else(refused)
    }

    /// Returns the folder to report as the root to a program that starts in `start`. A program that starts in the work
    /// tree knows it already, and some (the filesystem server) use roots instead of the folders in their arguments.
    pub fn root_for(&self, start: &StartFolder) -> Option<PathBuf> {
        let starts_inside = start.path().is_some_and(|dir| dir.starts_with(&self.work_dir));
        (!starts_inside).then(|| self.work_dir.clone())
    }

    /// Returns the program of a server with its start folder; the root of the file system replaces an empty folder.
    pub fn program(&self, config: &ServerConfig) -> Option<NamedProgram> {
        let ServerTarget::Program { command, args, env, .. } = &config.target else { return None };
        let start = self.start_of(config).ok().flatten();
        let dir = start.as_ref().and_then(StartFolder::path).unwrap_or(Path::new("/"));
        Some(NamedProgram { env: env.clone(), ..NamedProgram::new(command, args, dir) })
    }

    /// Returns the folders as they will be once the worktree is trusted.
    pub fn once_trusted(&self) -> ServerFolders {
        ServerFolders { own_start: self.repository.clone(), ..self.clone() }
    }

    /// Whether a user's server starts elsewhere as long as the worktree is not trusted. Without
    /// its program it starts nowhere.
    pub fn depends_on_trust(&self, config: &ServerConfig) -> bool {
        let ServerTarget::Program { command, env, cwd, .. } = &config.target else { return false };
        let is_own = config.details.origin == EntryOrigin::User;
        let is_below = cwd.as_ref().is_none_or(|cwd| cwd.is_relative() && cwd.as_os_str() != NONE);
        let is_there = || env.iter().any(|(name, _)| name == "PATH") || may_exist(command);
        is_own && is_below && is_there()
    }

    /// Whether a server does not start in its folder because the worktree is not trusted.
    pub fn lacks_trust(&self, config: &ServerConfig) -> bool {
        self.own_start.is_empty() && self.depends_on_trust(config)
    }

    /// Returns the folder that identifies the lists and pins of a server; `None` for an address. All empty folders are
    /// equal.
    pub fn identity_folder(&self, config: &ServerConfig) -> Option<PathBuf> {
        let ServerTarget::Program { cwd, .. } = &config.target else { return None };
        let start = self.start_of(config).ok().flatten();
        let path = start.as_ref().and_then(StartFolder::path);
        Some(match (path, cwd) {
            (Some(path), _) => path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
            (None, Some(cwd)) => cwd.clone(),
            (None, None) => NONE.into(),
        })
    }
}

/// Names a program in a question: by its file name, and whether it runs a module.
pub fn program_label(command: &str, args: &[String]) -> String {
    let name = Path::new(command).file_name().unwrap_or(command.as_ref()).to_string_lossy().into_owned();
    match args.first() {
        Some(first) if first == "-m" => format!("{name} -m"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(fields: &str, origin: EntryOrigin) -> ServerConfig {
        let text = format!(r#"{{"mcpServers":{{"s":{fields}}}}}"#);
        let mut config = crate::mcp::config::parse("m".as_ref(), text.as_bytes()).unwrap().remove(0);
        config.details.origin = origin;
        config
    }

    #[test]
    fn a_server_starts_where_the_user_said_and_in_the_worktree_only_by_trust() {
        let (work, state) = (Path::new("/no-such-work"), Path::new("/state"));
        let (trusted, empty) = (StartFolder::trusted(work), StartFolder::empty(state));
        let folders = |is_trusted: bool| ServerFolders {
            work_dir: work.into(),
            own_start: if is_trusted { trusted.clone() } else { empty.clone() },
            repository: trusted.clone(),
            empty: empty.clone(),
        };
        let in_work = |path: &str| Ok(Some(StartFolder::trusted(&work.join(path))));
        let (own, repository) = (EntryOrigin::User, EntryOrigin::Repository);
        let refused =
            || Err("its `cwd` is in /no-such-work, which is not trusted; `lepo trust` trusts it".to_string());
        for (cwd, origin, untrusted, trusts, kept) in [
            ("", own, Ok(Some(empty.clone())), Ok(Some(trusted.clone())), "none"),
            (r#","cwd":"sub""#, own, refused(), in_work("sub"), "sub"),
            (r#","cwd":"./none""#, own, refused(), in_work("./none"), "./none"),
            (r#","cwd":"none""#, own, Ok(Some(empty.clone())), Ok(Some(empty.clone())), "none"),
            (
                r#","cwd":"/a""#,
                own,
                Ok(StartFolder::absolute("/a".as_ref())),
                Ok(StartFolder::absolute("/a".as_ref())),
                "/a",
            ),
            ("", repository, Ok(Some(trusted.clone())), Ok(Some(trusted.clone())), "/no-such-work"),
            (r#","cwd":"sub""#, repository, in_work("sub"), in_work("sub"), "/no-such-work/sub"),
            (r#","cwd":"none""#, repository, Ok(Some(empty.clone())), Ok(Some(empty.clone())), "none"),
        ] {
            let config = config(&format!(r#"{{"command":"sh"{cwd}}}"#), origin);
            let start = |is_trusted| folders(is_trusted).start_of(&config);
            assert_eq!((start(false), start(true)), (untrusted, trusts), "{cwd} {origin:?}");
            assert_eq!(folders(false).identity_folder(&config), Some(kept.into()), "{cwd} {origin:?}");
            let differs = start(false) != start(true);
            assert_eq!(folders(true).depends_on_trust(&config), differs, "{cwd} {origin:?}");
            assert_eq!(
                (folders(false).lacks_trust(&config), folders(true).lacks_trust(&config)),
                (differs, false)
            );
        }
        let remote = config(r#"{"url":"http://h/"}"#, own);
        assert_eq!(
            (folders(false).start_of(&remote), folders(false).identity_folder(&remote)),
            (Ok(None), None)
        );
    }

    #[test]
    fn a_program_is_named_by_its_file_and_by_running_a_module() {
        for (command, args, label) in [
            ("npx", &["-y", "x"][..], "npx"),
            ("/usr/bin/python3", &["-m", "x"], "python3 -m"),
            ("python3", &["tools/server.py"], "python3"),
            ("./run", &[], "run"),
        ] {
            let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
            assert_eq!(program_label(command, &args), label);
        }
    }
}
