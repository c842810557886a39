//! lepo's own directories, outside of repositories: the XDG base directories, or the folder
//! `LEPO_CONFIG_HOME` that contains the whole configuration (tests, experiments).

use std::path::PathBuf;

use lepo_base::env::Env;
use lepo_base::error::{Error, Result};

/// The three directories. Computing a path creates nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// `config.toml`, `mcp.json` and `system_prompt.txt`.
    pub config: PathBuf,
    /// Logs, recorded trust, and learned facts about models.
    pub state: PathBuf,
    /// The embedded model's weights.
    pub data: PathBuf,
    /// The home directory, if there is one: it replaces `~/` in the configuration.
    pub home: Option<PathBuf>,
}

impl Paths {
    /// Reads `LEPO_CONFIG_HOME`, `XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_DATA_HOME` and `HOME`.
    ///
    /// A relative XDG value is ignored, as the XDG Base Directory Specification (0.8) demands. Exit 2 if no
    /// variable determines a directory.
    pub fn from_env(env: &Env) -> Result<Paths> {
        let home = absolute(env, "HOME");
        let base = |variable: &str, below_home: &str| match absolute(env, variable) {
            Some(base) => Ok(base.join("lepo")),
            None => match &home {
                Some(home) => Ok(home.join(below_home).join("lepo")),
                None => Err(Error::usage("no home directory: HOME is not set to an absolute path")
                    .hint(format!("set HOME, or {variable} to a directory for lepo's files"))),
            },
        };
        let config = match env.get("LEPO_CONFIG_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => base("XDG_CONFIG_HOME", ".config")?,
        };
        let state = base("XDG_STATE_HOME", ".local/state")?;
        let data = base("XDG_DATA_HOME", ".local/share")?;
        Ok(Paths { config, state, data, home })
    }

    /// Returns the path of the user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the path of the user's MCP servers.
    pub fn mcp_file(&self) -> PathBuf {
        self.config.join("mcp.json")
    }

    /// Returns the path of the system prompt of new convs.
    pub fn system_prompt_file(&self) -> PathBuf {
        self.config.join("system_prompt.txt")
    }

    /// Returns the folder of `application-lepo-YYYY-MM-DD.log`.
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Returns the folder of sign-ins to MCP servers.
    pub fn sign_ins(&self) -> PathBuf {
        self.state.join("mcp-auth")
    }

    /// Returns the folder of cached tool lists of MCP servers.
    pub fn tool_lists(&self) -> PathBuf {
        self.state.join("mcp-tools")
    }

    /// Returns the folder of edited conversations that could not be used.
    pub fn texts(&self) -> PathBuf {
        self.state.join("texts")
    }

    /// Returns the folder of temporary stores.
    pub fn scratch_stores(&self) -> PathBuf {
        self.state.join("unkept")
    }

    /// Returns the folder of keyed hashes of removed messages, with a file for each store.
    pub fn removals(&self) -> PathBuf {
        self.state.join("removed")
    }

    /// Returns the folder of the embedded model's weights.
    pub fn models(&self) -> PathBuf {
        self.data.join("models")
    }

    /// Returns the folder of the user's own prompts.
    pub fn prompts(&self) -> PathBuf {
        self.config.join("_prompts")
    }
}

fn absolute(env: &Env, variable: &str) -> Option<PathBuf> {
    env.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::HintTarget;

    type Vars<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn each_directory_has_one_source() {
        let table: [(Vars, &str, &str, &str); 5] = [
            (&[("HOME", "/h")], "/h/.config/lepo", "/h/.local/state/lepo", "/h/.local/share/lepo"),
            (
                &[
                    ("HOME", "/h"),
                    ("XDG_CONFIG_HOME", "/c"),
                    ("XDG_STATE_HOME", "/s"),
                    ("XDG_DATA_HOME", "/d"),
                ],
                "/c/lepo",
                "/s/lepo",
                "/d/lepo",
            ),
            (
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "c"), ("XDG_STATE_HOME", "./s"), ("XDG_DATA_HOME", "")],
                "/h/.config/lepo",
                "/h/.local/state/lepo",
                "/h/.local/share/lepo",
            ),
            (
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("LEPO_CONFIG_HOME", "/mine")],
                "/mine",
                "/h/.local/state/lepo",
                "/h/.local/share/lepo",
            ),
            (
                &[("LEPO_CONFIG_HOME", "/mine"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "/d")],
                "/mine",
                "/s/lepo",
                "/d/lepo",
            ),
        ];
        for (variables, config, state, data) in table {
            let paths = Paths::from_env(&Env::from_pairs(variables)).unwrap();
            let got = [&paths.config, &paths.state, &paths.data].map(|path| path.to_str().unwrap());
            assert_eq!(got, [config, state, data], "{variables:?}");
        }
    }

    #[test]
    fn without_a_home_it_says_what_to_set() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "relative")]] {
            let error = Paths::from_env(&Env::from_pairs(variables)).unwrap_err();
            assert_eq!(error.kind.exit_code(), 2);
            assert!(error.hint_for(HintTarget::SHELL).unwrap().contains("XDG_CONFIG_HOME"));
        }
    }
}
