//! Toolchains in the home directory, which a sandboxed command does not see otherwise.
//!
//! Only the parts of cargo that builds need are visible: its directory also contains the user's registry tokens.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Each toolchain: the variable that moves it, its usual path, and its visible parts.
const KNOWN: &[(&str, &str, &[&str])] = &[
    ("CARGO_HOME", ".cargo", &["bin", "config.toml", "env", "git", "registry"]),
    ("RUSTUP_HOME", ".rustup", &[""]),
    ("PYENV_ROOT", ".pyenv", &[""]),
    ("NVM_DIR", ".nvm", &[""]),
];

/// Returns the paths of toolchains that may exist.
pub fn toolchains(home: &Path, env: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let shown = |&(variable, usual, parts): &(&str, &str, &[&'static str])| {
        let root = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let root = root.unwrap_or_else(|| home.join(usual));
        parts.iter().map(move |part| root.join(part)).collect::<Vec<_>>()
    };
    KNOWN.iter().flat_map(shown).filter(|path| !holds_tokens(path)).collect()
}

/// Cargo's settings are one of two files that may contain tokens of registries.
fn holds_tokens(path: &Path) -> bool {
    path.ends_with("config.toml")
        && std::fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"token").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_settings_are_shown_unless_they_hold_a_token() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cargo")).unwrap();
        let file = home.path().join(".cargo/config.toml");
        for (text, shown) in [("[build]\njobs = 1", true), ("[registry]\ntoken = 'x'", false)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(toolchains(home.path(), |_| None).contains(&file), shown, "{text}");
        }
    }

    #[test]
    fn tokens_stay_hidden_and_variables_count() {
        let env = |name: &str| (name == "NVM_DIR").then(|| "/opt/nvm".into());
        let found = toolchains(Path::new("/home/u"), env);
        for (path, shown) in [
            ("/home/u/.cargo/bin", true),
            ("/home/u/.cargo/credentials.toml", false),
            ("/home/u/.cargo", false),
            ("/home/u/.rustup", true),
            ("/opt/nvm", true),
            ("/home/u/.nvm", false),
        ] {
            assert_eq!(found.iter().any(|found| found == Path::new(path)), shown, "{path}");
        }
    }
}
