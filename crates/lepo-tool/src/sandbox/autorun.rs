//! Files that shells, editors and build tools run automatically.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

/// The occasion on which a file runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AutorunTrigger {
    /// Whether it takes a command of the user; otherwise entering a directory, opening a folder or logging in is
    /// enough.
    pub needs_command: bool,
    /// The occasion as text, to follow "when".
    pub when: &'static str,
}

/// A file or directory that git's settings name, whatever its own name is.
pub const NAMED_BY_GIT: AutorunTrigger =
    AutorunTrigger { needs_command: true, when: "you use git, whose settings name it" };

/// Ends of paths that run without a command, and when. A name that ends in `/` includes everything below it.
const UNASKED: &[(&str, &str)] = &[
    (".envrc", "you enter the directory (direnv)"),
    (".mise.toml", "you enter the directory (mise)"),
    ("mise.toml", "you enter the directory (mise)"),
    (".mise/", "you enter the directory (mise)"),
    ("mise.local.toml", "you enter the directory (mise)"),
    (".tool-versions", "you enter the directory (asdf, mise)"),
    (".autoenv", "you enter the directory (autoenv)"),
    (".vscode/", "you open the folder in VS Code"),
    (".idea/", "you open the folder in a JetBrains editor"),
    (".zed/", "you open the folder in Zed"),
    (".devcontainer/", "you open the folder in a container"),
    (".devcontainer.json", "you open the folder in a container"),
    (".dir-locals.el", "you open a file here in Emacs"),
    (".dir-locals-2.el", "you open a file here in Emacs"),
    (".cursor/", "you open the folder in Cursor"),
    (".bashrc", "you start a shell"),
    (".bash_profile", "you log in"),
    (".profile", "you log in"),
    (".bash_login", "you log in"),
    (".bash_logout", "you log out"),
    (".bash_aliases", "you start a shell"),
    (".zshrc", "you start a shell"),
    (".zshenv", "you start a shell"),
    (".zprofile", "you log in"),
    (".zlogin", "you log in"),
    (".zlogout", "you log out"),
    (".kshrc", "you start a shell"),
    (".cshrc", "you start a shell"),
    (".tcshrc", "you start a shell"),
    ("fish/config.fish", "you start fish"),
    ("fish/conf.d/", "you start fish"),
    ("fish/functions/", "you start fish"),
    ("nushell/config.nu", "you start Nushell"),
    ("nushell/env.nu", "you start Nushell"),
    ("elvish/rc.elv", "you start Elvish"),
    ("xonsh/rc.xsh", "you start xonsh"),
    (".xprofile", "you log in"),
    (".xsession", "you log in"),
    (".xsessionrc", "you log in"),
    (".xinitrc", "you start X"),
    ("autostart/", "you log in"),
    ("systemd/user/", "you log in (systemd)"),
    ("environment.d/", "you log in (systemd)"),
    ("plasma-workspace/env/", "you log in (Plasma)"),
    ("sway/config", "you log in (Sway)"),
    ("i3/config", "you log in (i3)"),
    ("hypr/hyprland.conf", "you log in (Hyprland)"),
    ("Library/LaunchAgents/", "you log in (macOS)"),
    (".ssh/rc", "you log in by ssh"),
    (".venv/bin/activate", "you enter the directory (a shell that activates .venv)"),
    (".helix/", "you open a file here in Helix"),
    (".roo/", "you open the folder in Roo Code"),
    (".kiro/", "you open the folder in Kiro"),
    (".continue/", "you open the folder in Continue"),
    (".eslintrc.js", "you open a file here in an editor with ESLint"),
];

/// Ends of paths, and the command that runs them. `*` matches the first part of a file name.
const BY_COMMAND: &[(&str, &str)] = &[
    (".exrc", "you start vi here"),
    (".vimrc", "you start Vim here, if exrc is set"),
    (".nvimrc", "you start Neovim here"),
    (".nvim.lua", "you start Neovim here"),
    ("nvim/init.lua", "you start Neovim"),
    ("nvim/init.vim", "you start Neovim"),
    ("nvim/plugin/", "you start Neovim"),
    (".vim/plugin/", "you start Vim"),
    (".emacs", "you start Emacs"),
    (".emacs.d/", "you start Emacs"),
    ("emacs/init.el", "you start Emacs"),
    (".tmux.conf", "you start tmux"),
    ("tmux/tmux.conf", "you start tmux"),
    (".screenrc", "you start screen"),
    (".ssh/config", "you use ssh"),
    (".claude/", "you start Claude Code here"),
    (".gemini/", "you start Gemini CLI here"),
    (".codex/", "you start Codex here"),
    (".mcp.json", "you start an AI tool here"),
    (".gdbinit", "you start gdb here"),
    (".lldbinit", "you start lldb here"),
    (".pdbrc", "you debug Python here"),
    (".irbrc", "you start irb here"),
    (".pryrc", "you start pry here"),
    (".ghci", "you start GHCi here"),
    (".Rprofile", "you start R here"),
    (".octaverc", "you start Octave here"),
    (".husky/", "you commit (husky)"),
    (".githooks/", "you commit, if git looks for hooks there"),
    (".pre-commit-config.yaml", "you commit (pre-commit)"),
    ("lefthook.yml", "you commit (lefthook)"),
    (".lintstagedrc", "you commit (lint-staged)"),
    (".gitattributes", "you use git, if a filter of yours is named in it"),
    (".gitmodules", "you update submodules"),
    (".cargo/config.toml", "you run cargo"),
    (".cargo/config", "you run cargo"),
    ("rust-toolchain.toml", "you run cargo"),
    ("build.rs", "you run cargo build"),
    ("Makefile", "you run make"),
    ("makefile", "you run make"),
    ("GNUmakefile", "you run make"),
    ("justfile", "you run just"),
    ("Justfile", "you run just"),
    ("Taskfile.yml", "you run task"),
    ("Rakefile", "you run rake"),
    ("CMakeLists.txt", "you run cmake"),
    ("configure", "you run ./configure"),
    ("package.json", "you run npm"),
    (".npmrc", "you run npm"),
    ("node_modules/.bin/", "you run npm"),
    (".yarnrc.yml", "you run yarn"),
    (".yarn/", "you run yarn"),
    (".pnpmfile.cjs", "you run pnpm"),
    ("conftest.py", "you run pytest"),
    ("pytest.ini", "you run pytest"),
    ("noxfile.py", "you run nox"),
    ("tox.ini", "you run tox"),
    ("setup.py", "you run pip install"),
    ("setup.cfg", "you run pip install"),
    ("sitecustomize.py", "you run python"),
    ("usercustomize.py", "you run python"),
    ("pyproject.toml", "you build the Python package"),
    ("build.gradle", "you run gradle"),
    ("build.gradle.kts", "you run gradle"),
    ("gradlew", "you run ./gradlew"),
    ("mvnw", "you run ./mvnw"),
    (".mvn/", "you run mvn"),
    (".bazelrc", "you run bazel"),
    ("flake.nix", "you run nix"),
    ("shell.nix", "you run nix-shell"),
    ("Dockerfile", "you run docker build"),
    ("docker-compose.yml", "you run docker compose"),
    ("compose.yaml", "you run docker compose"),
    (".github/workflows/", "you push (GitHub)"),
    (".gitlab-ci.yml", "you push (GitLab)"),
    (".circleci/", "you push (CircleCI)"),
    ("Jenkinsfile", "you push (Jenkins)"),
    (".aider.conf.yml", "you start aider here"),
    ("opencode.json", "you start opencode here"),
    (".opencode/", "you start opencode here"),
    (".hg/hgrc", "you use Mercurial"),
    (".jj/", "you use jj"),
    ("*.config.js", "you run the tool it configures (Vite, webpack, ESLint)"),
    ("*.config.cjs", "you run the tool it configures (Vite, webpack, ESLint)"),
    ("*.config.mjs", "you run the tool it configures (Vite, webpack, ESLint)"),
    ("*.config.ts", "you run the tool it configures (Vite, webpack, ESLint)"),
    ("*.pth", "you run python, if it is where packages are"),
    ("Gemfile", "you run bundle"),
    ("Vagrantfile", "you run vagrant"),
    ("Directory.Build.props", "you run dotnet build"),
];

/// Returns the names in the tables that are whole paths, each with its occasion; a folder ends in `/`.
pub(super) fn named_files() -> impl Iterator<Item = (&'static str, AutorunTrigger)> {
    let all = UNASKED.iter().chain(BY_COMMAND).enumerate();
    let named = all.filter(|(_, (name, _))| !name.starts_with('*'));
    named.map(|(index, (name, when))| (*name, AutorunTrigger { needs_command: index >= UNASKED.len(), when }))
}

/// Ends of file names, and the other names by their first component, each with its index in the two tables.
struct AutorunTable {
    ends: Vec<(&'static str, usize)>,
    names: HashMap<&'static OsStr, Vec<NameRest>>,
}

/// A name after its first component: the other components, whether everything below is included, and its index.
type NameRest = (Vec<&'static OsStr>, bool, usize);

/// Built once, because a working directory has many files.
static TABLE: LazyLock<AutorunTable> = LazyLock::new(|| {
    let mut table = AutorunTable { ends: Vec::new(), names: HashMap::new() };
    for (index, (known, _)) in UNASKED.iter().chain(BY_COMMAND).enumerate() {
        if let Some(end) = known.strip_prefix('*') {
            table.ends.push((end, index));
            continue;
        }
        let mut parts = known.trim_end_matches('/').split('/').map(OsStr::new);
        let Some(first) = parts.next() else { continue };
        table.names.entry(first).or_default().push((parts.collect(), known.ends_with('/'), index));
    }
    table
});

/// Returns the occasion on which a file runs automatically. `path` is relative to the working directory, and not a
/// directory.
pub fn runs_when(path: &Path) -> Option<AutorunTrigger> {
    let table = &*TABLE;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_end = |end: &str| name.len() > end.len() && name.ends_with(end.as_bytes());
    let ends = table.ends.iter().filter(|(end, _)| is_end(end)).map(|(_, index)| *index);
    let mut components = path.components();
    let mut found: Option<usize> = ends.min();
    while let Some(component) = components.next() {
        for (parts, is_dir, index) in table.names.get(component.as_os_str()).into_iter().flatten() {
            let mut rest = components.clone();
            let matched =
                parts.iter().zip(rest.by_ref()).take_while(|(part, it)| it.as_os_str() == **part).count();
            // At the end of the path, a link that replaces one of the directories brings everything below it.
            let is_it = match matched == parts.len() {
                true => *is_dir || components.clone().count() == parts.len(),
                false => components.clone().count() == matched,
            };
            if is_it {
                found = Some(found.map_or(*index, |found| found.min(*index)));
            }
        }
    }
    let index = found?;
    let (_, when) = UNASKED.iter().chain(BY_COMMAND).nth(index)?;
    Some(AutorunTrigger { needs_command: index >= UNASKED.len(), when })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_or_by_a_directory_above_it() {
        for (path, when) in [
            (".envrc", Some("you enter the directory (direnv)")),
            ("sub/.envrc", Some("you enter the directory (direnv)")),
            ("x.envrc", None),
            (".vscode/tasks.json", Some("you open the folder in VS Code")),
            ("a/.vscode/deep/x", Some("you open the folder in VS Code")),
            ("vscode/tasks.json", None),
            (".husky/_/pre-commit", Some("you commit (husky)")),
            (".cargo/config.toml", Some("you run cargo")),
            ("config.toml", None),
            (".github/workflows/ci.yml", Some("you push (GitHub)")),
            (".github/ci.yml", None),
            ("Makefile", Some("you run make")),
            (".vscode", Some("you open the folder in VS Code")),
            ("a/.github", Some("you push (GitHub)")),
            (".cargo", Some("you run cargo")),
            ("x/vite.config.js", Some("you run the tool it configures (Vite, webpack, ESLint)")),
            (".config.js", None),
            ("lib/x.pth", Some("you run python, if it is where packages are")),
            ("node_modules/.bin/tsc", Some("you run npm")),
            ("node_modules/x/index.js", None),
            (".jj/repo/config.toml", Some("you use jj")),
            (".hg/hgrc", Some("you use Mercurial")),
            (".hg/store/x", None),
            (".Rprofile", Some("you start R here")),
            (".cursor/mcp.json", Some("you open the folder in Cursor")),
            ("fish/config.fish", Some("you start fish")),
            (".config/fish/conf.d/x.fish", Some("you start fish")),
            ("fish/completions/x.fish", None),
            ("autostart/x.desktop", Some("you log in")),
            (".config/systemd/user/default.target.wants/x.service", Some("you log in (systemd)")),
            ("systemd/system/x.service", None),
            (".ssh/config", Some("you use ssh")),
            ("src/main.rs", None),
        ] {
            assert_eq!(runs_when(Path::new(path)).map(|occasion| occasion.when), when, "{path}");
        }
    }

    #[test]
    fn what_needs_no_command_is_known_as_that() {
        for (path, needs_command) in [
            (".envrc", false),
            (".vscode/tasks.json", false),
            (".bashrc", false),
            ("Makefile", true),
            (".jj/x", true),
        ] {
            assert_eq!(runs_when(Path::new(path)).unwrap().needs_command, needs_command, "{path}");
        }
    }
}
