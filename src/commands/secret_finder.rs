//! Secret finders and maskers for commands: known formats, and the secret values of this machine.

use std::sync::Arc;

use crate::commands::user_env::{UserEnv, own_paths, own_settings};
use crate::term::{StatusLine, print_status};
use crate::ui::notice_lines;
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::hint::HintTarget;
use lepo_secrets::{Masker, ScreenedBytes, SecretCounts, SecretFinder};
use lepo_turn::config::SecretsMode;
use lepo_turn::{Masking, key_if_there, secret_values};

/// Without readable settings only known formats are found.
pub fn finder() -> SecretFinder {
    let models = own_settings().map(|settings| settings.models).unwrap_or_default();
    SecretFinder::new(secret_values(&Env::from_process(), &models))
}

/// Returns the masker for output that may be shared. Masks have digits only if the user has a key
/// already; none is created.
pub fn masker() -> Masker {
    let key = own_paths().ok().and_then(|paths| key_if_there(&paths.state));
    Masker::new(Arc::new(finder()), key)
}

/// Returns the masker for stored text: it finds everything that `fsck --secrets` does, whatever the setting
/// `secrets` is. An error if the settings or the key cannot be read: with others it would find less.
pub fn masker_of_written() -> Result<Masker> {
    let user = UserEnv::read()?;
    let mut settings = user.settings(None)?;
    settings.secrets = SecretsMode::Mask;
    Ok(Masking::for_stored_text(&settings, &user.env, &user.paths.state)?.masker().clone())
}

/// Warns about secrets in output: their number and kinds.
pub fn warn_secrets<'t>(texts: impl IntoIterator<Item = &'t [u8]>) {
    let (finder, mut tally) = (finder(), SecretCounts::default());
    for text in texts {
        finder.find(text).iter().for_each(|found| tally.add(found));
    }
    match tally.count() {
        0 => {}
        1 => print_status(&StatusLine::warning(format!(
            "the output contains 1 secret ({})",
            tally.kind_list()
        ))),
        count => print_status(&StatusLine::warning(format!(
            "the output contains {count} secrets ({})",
            tally.kind_list()
        ))),
    }
}

/// Reports that a text of the user's contains an apparent secret and is stored unmasked, with a command that
/// removes it; silent if the setting `secrets` is `off`.
pub fn report_apparent_secret(words: &[u8], what: &str, remedy: &str) {
    report_apparent_secrets([(words, remedy.to_string())], what);
}

/// Like [`report_apparent_secret`], for several texts, each with its command.
pub fn report_apparent_secrets<'t>(texts: impl IntoIterator<Item = (&'t [u8], String)>, what: &str) {
    if !reports_apparent_secrets() {
        return;
    }
    let finder = finder();
    for (text, remedy) in texts {
        let mut tally = SecretCounts::default();
        finder.find(text).iter().for_each(|found| tally.add(found));
        if tally.count() > 0 {
            let kinds = tally.kind_list();
            print_status(&format!(
                "{what} has what looks like a secret ({kinds}); it is stored as typed. To remove it: {remedy}"
            ));
        }
    }
}

/// Whether the user wants to hear of secrets in text of the user's own.
pub fn reports_apparent_secrets() -> bool {
    own_settings().map_or(true, |settings| settings.secrets != SecretsMode::Off)
}

/// Masks the bytes of a file or of stdin as the settings require, and reports that.
pub fn masked<'t>(bytes: &'t [u8], source: &'static str) -> ScreenedBytes<'t> {
    let masking = masking_of_settings();
    let kept = masking.screen(bytes, source);
    report_masked(&masking);
    kept
}

/// Masks several texts of one source, and reports that once.
pub struct TextMasker {
    masking: Masking,
    source: &'static str,
}

impl TextMasker {
    pub fn new(source: &'static str) -> TextMasker {
        TextMasker { masking: masking_of_settings(), source }
    }

    pub fn mask(&self, text: &[u8]) -> Vec<u8> {
        self.masking.screen(text, self.source).bytes().to_vec()
    }

    pub fn report(&self) {
        report_masked(&self.masking);
    }
}

fn masking_of_settings() -> Masking {
    // A broken configuration is reported by other commands.
    match UserEnv::read().and_then(|user| Ok((user.settings(None)?, user))) {
        Ok((settings, UserEnv { env, paths })) => Masking::new(&settings, &env, &paths.state),
        Err(_) => Masking::shapes_only(),
    }
}

fn report_masked(masking: &Masking) {
    if let Some(notice) = masking.secrets_notice() {
        notice_lines(&notice, HintTarget::SHELL).iter().for_each(print_status);
    }
}
