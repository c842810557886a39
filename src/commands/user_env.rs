//! The user's environment, lepo's folders in it, and the settings, for commands outside of a turn.

use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_turn::TrustedFile;
use lepo_turn::config::{Flags, Paths, Settings, load_settings};

/// The environment of the process.
pub struct UserEnv {
    pub env: Env,
    pub paths: Paths,
}

impl UserEnv {
    /// Fails without a home directory.
    pub fn read() -> Result<UserEnv> {
        let env = Env::from_process();
        Ok(UserEnv { paths: Paths::from_env(&env)?, env })
    }

    /// Returns the user's settings, and those in this file of the repository.
    pub fn settings(&self, repo: Option<TrustedFile>) -> Result<Settings> {
        load_settings(&self.paths, &self.env, repo, &Flags::default())
    }
}

/// Returns lepo's folders.
pub fn own_paths() -> Result<Paths> {
    Paths::from_env(&Env::from_process())
}

/// Returns the user's own settings.
pub fn own_settings() -> Result<Settings> {
    UserEnv::read()?.settings(None)
}
