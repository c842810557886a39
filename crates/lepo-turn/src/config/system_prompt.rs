//! The system prompt of new convs: a file of the user. lepo creates it on first use, so that the user has a
//! file to edit, and never changes it.

use super::write::create;
use crate::config::Paths;
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;

/// The exact text of a new `system_prompt.txt`.
pub const DEFAULT_SYSTEM_PROMPT: &str = include_str!("default-system-prompt.txt");

/// Replaces the default text if no MCP servers are configured, because the default is written for agents with
/// tools.
pub const SHORT_SYSTEM_PROMPT: &str =
    "You are a helpful assistant in a terminal. Be brief and exact; use Markdown sparingly.";

/// Whether the user has not written a system prompt.
pub fn is_as_made(prompt: &str) -> bool {
    let prompt = prompt.trim();
    prompt == DEFAULT_SYSTEM_PROMPT.trim() || prompt == SHORT_SYSTEM_PROMPT
}

/// Returns the system prompt in effect: the file byte for byte, or a short prompt if the file has the default
/// text and no servers are configured. `None` if the file is blank: no system prompt.
///
/// Creates the file (0600, its directory 0700) if it is missing, if this is possible, and unless
/// `writes_nothing`. Never changes an existing file. Exit 2 if it cannot be read, or is not UTF-8.
pub fn system_prompt(paths: &Paths, with_servers: bool, writes_nothing: bool) -> Result<Option<String>> {
    let path = paths.system_prompt_file();
    let bytes = match read_if_there(&path)? {
        Some(bytes) => bytes,
        None if writes_nothing => DEFAULT_SYSTEM_PROMPT.into(),
        None => match create(&path, DEFAULT_SYSTEM_PROMPT.as_bytes()) {
            // Read it back: another process may have created the file first, with another text.
            Ok(()) => read_if_there(&path)?.unwrap_or_default(),
            // The configuration is read-only: use the default, without a file to edit.
            Err(_) => DEFAULT_SYSTEM_PROMPT.into(),
        },
    };
    match String::from_utf8(bytes) {
        Ok(text) if text == DEFAULT_SYSTEM_PROMPT && !with_servers => {
            Ok(Some(SHORT_SYSTEM_PROMPT.to_string()))
        }
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Error::usage(format!("{}: not UTF-8 at byte {at}", path.display()))
                .hint("save it as UTF-8 text, or remove it to get the default"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::env::Env;

    #[test]
    fn made_once_then_the_users() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("lepo");
        let env = [("HOME", "/"), ("LEPO_CONFIG_HOME", folder.to_str().unwrap())];
        let paths = Paths::from_env(&Env::from_pairs(&env)).unwrap();
        let file = paths.system_prompt_file();

        assert_eq!(system_prompt(&paths, false, true).unwrap().as_deref(), Some(SHORT_SYSTEM_PROMPT));
        assert!(!file.exists());
        for (with_servers, prompt) in [(true, DEFAULT_SYSTEM_PROMPT), (false, SHORT_SYSTEM_PROMPT)] {
            let first = system_prompt(&paths, with_servers, false).unwrap();
            assert_eq!(first.as_deref(), Some(prompt));
            assert!(is_as_made(prompt));
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), DEFAULT_SYSTEM_PROMPT);

        let table: [(&[u8], Option<&str>); 3] = [(b"Mine.\n", Some("Mine.\n")), (b"", None), (b" \n", None)];
        for (bytes, prompt) in table {
            std::fs::write(&file, bytes).unwrap();
            for with_servers in [true, false] {
                assert_eq!(system_prompt(&paths, with_servers, false).unwrap().as_deref(), prompt);
            }
            assert_eq!(std::fs::read(&file).unwrap(), bytes);
        }

        // If the file cannot be created, the default applies.
        let env = [("HOME", "/"), ("LEPO_CONFIG_HOME", "/proc/lepo")];
        let nowhere = Paths::from_env(&Env::from_pairs(&env)).unwrap();
        assert_eq!(system_prompt(&nowhere, true, false).unwrap().as_deref(), Some(DEFAULT_SYSTEM_PROMPT));

        std::fs::write(&file, b"ab\xff").unwrap();
        let error = system_prompt(&paths, true, false).unwrap_err();
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.message.ends_with("system_prompt.txt: not UTF-8 at byte 2"));
    }
}
