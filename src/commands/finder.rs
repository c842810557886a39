//! The finder of secrets for commands that look at what is written: shapes, and the values that this machine keeps as
//! secrets.

use std::sync::Arc;

use crate::term::{Line, say};
use crate::ui::notice_lines;
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::hint::At;
use lepo_secrets::{Finder, Kept, Masker, Tally};
use lepo_turn::config::{Flags, Paths, SecretsMode, load_settings};
use lepo_turn::{Masking, key_if_there, secret_values};

/// Without settings that can be read it looks for shapes alone.
pub fn finder() -> Finder {
    let env = Env::from_process();
    let settings =
        Paths::from_env(&env).and_then(|paths| load_settings(&paths, &env, None, &Flags::default()));
    Finder::new(secret_values(&env, &settings.map(|settings| settings.models).unwrap_or_default()))
}

/// The masks of what is given away: with digits where the user has a key already; nothing is made for them.
pub fn masker() -> Masker {
    let key = Paths::from_env(&Env::from_process()).ok().and_then(|paths| key_if_there(&paths.state));
    Masker::new(Arc::new(finder()), key)
}

/// The masker of what is written already: it looks for all that `fsck --secrets` finds, whatever the settings say of what is
/// being written. An error where settings or the key cannot be read: with others it would find less.
pub fn masker_of_written() -> Result<Masker> {
    let env = Env::from_process();
    let paths = Paths::from_env(&env)?;
    let mut settings = load_settings(&paths, &env, None, &Flags::default())?;
    settings.secrets = SecretsMode::Mask;
    Ok(Masking::of_written(&settings, &env, &paths.state)?.masker().clone())
}

/// Says how many secrets are in what is given away, and of which kinds.
pub fn tell_secrets<'t>(texts: impl IntoIterator<Item = &'t [u8]>) {
    let (finder, mut tally) = (finder(), Tally::default());
    for text in texts {
        finder.find(text).iter().for_each(|found| tally.add(found));
    }
    match tally.count() {
        0 => {}
        1 => say(&Line::warning(format!("1 secret is in it ({})", tally.words()))),
        count => say(&Line::warning(format!("{count} secrets are in it ({})", tally.words()))),
    }
}

/// Says that words of the user's hold what looks like a secret, and are kept as typed, with a command that takes it out. Not
/// where the settings leave secrets alone.
pub fn tell_typed(words: &[u8], what: &str, remedy: &str) {
    let env = Env::from_process();
    let loaded = Paths::from_env(&env).and_then(|paths| load_settings(&paths, &env, None, &Flags::default()));
    if loaded.is_ok_and(|settings| settings.secrets == SecretsMode::Off) {
        return;
    }
    let mut tally = Tally::default();
    finder().find(words).iter().for_each(|found| tally.add(found));
    if tally.count() > 0 {
        let kinds = tally.words();
        say(&format!(
            "{what} has what looks like a secret ({kinds}); it is kept as typed. Take it out: {remedy}"
        ));
    }
}

/// Bytes of a file or of stdin as they are written: with masks, as the user's settings say; which is said.
pub fn masked<'t>(bytes: &'t [u8], source: &'static str) -> Kept<'t> {
    let env = Env::from_process();
    // A configuration that is wrong is told of by other commands.
    let paths = Paths::from_env(&env);
    let loaded = paths.and_then(|paths| Ok((load_settings(&paths, &env, None, &Flags::default())?, paths)));
    let masking = match &loaded {
        Ok((settings, paths)) => Masking::new(settings, &env, &paths.state),
        Err(_) => Masking::of_shapes(),
    };
    let kept = masking.kept(bytes, source);
    if let Some(told) = masking.told() {
        notice_lines(&told, At::SHELL).iter().for_each(say);
    }
    kept
}
