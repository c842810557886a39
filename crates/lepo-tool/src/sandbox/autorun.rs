//! Files that shells, editors and build tools run by themselves.

use std::path::Path;

/// The end of a path, and when what is in it runs. A name that ends in `/` stands for all files below it.
const KNOWN: &[(&str, &str)] = &[
    (".envrc", "you enter the directory (direnv)"),
    (".mise.toml", "you enter the directory (mise)"),
    ("mise.toml", "you enter the directory (mise)"),
    (".tool-versions", "you enter the directory (asdf, mise)"),
    (".autoenv", "you enter the directory (autoenv)"),
    (".vscode/", "you open the folder in VS Code"),
    (".idea/", "you open the folder in a JetBrains editor"),
    (".zed/", "you open the folder in Zed"),
    (".devcontainer/", "you open the folder in a container"),
    (".devcontainer.json", "you open the folder in a container"),
    (".exrc", "you start vi here"),
    (".vimrc", "you start Vim here, if exrc is set"),
    (".nvimrc", "you start Neovim here"),
    (".nvim.lua", "you start Neovim here"),
    (".dir-locals.el", "you open a file here in Emacs"),
    (".dir-locals-2.el", "you open a file here in Emacs"),
    (".claude/", "you start Claude Code here"),
    (".cursor/", "you open the folder in Cursor"),
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
    (".yarnrc.yml", "you run yarn"),
    (".pnpmfile.cjs", "you run pnpm"),
    ("conftest.py", "you run pytest"),
    ("noxfile.py", "you run nox"),
    ("tox.ini", "you run tox"),
    ("setup.py", "you run pip install"),
    ("sitecustomize.py", "you run python"),
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
    (".bashrc", "you start a shell"),
    (".bash_profile", "you log in"),
    (".profile", "you log in"),
    (".zshrc", "you start a shell"),
    (".zshenv", "you start a shell"),
];

/// The occasion at which a file runs by itself: `path` is relative to the working directory.
pub fn runs_when(path: &Path) -> Option<&'static str> {
    let matches = |known: &str| match known.strip_suffix('/') {
        Some(dir) => {
            let parts: Vec<_> = dir.split('/').collect();
            let above: Vec<_> = path.parent().into_iter().flat_map(Path::components).collect();
            above.windows(parts.len()).any(|window| {
                window.iter().zip(&parts).all(|(component, part)| component.as_os_str() == *part)
            })
        }
        None => path.ends_with(known),
    };
    KNOWN.iter().find(|(known, _)| matches(known)).map(|(_, when)| *when)
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
            (".Rprofile", Some("you start R here")),
            (".cursor/mcp.json", Some("you open the folder in Cursor")),
            ("src/main.rs", None),
        ] {
            assert_eq!(runs_when(Path::new(path)), when, "{path}");
        }
    }
}
