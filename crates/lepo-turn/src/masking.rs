//! Prevents secrets on disk: text that a turn writes is masked; text that it processes and displays is not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::{Paths, SecretsMode, Settings};
use crate::notice::{Notice, SecretsFound};
use crate::user_key::{is_no_key, key_path, read_key, user_key};
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_secrets::{
    FoundSecret, KnownValue, MaskKey, MaskStream, Masker, ScreenedBytes, SecretCounts, SecretFinder, Spool,
    Treatment, is_named_secret, is_worth, restore,
};
use lepo_store::bubb::BubbId;
use lepo_tool::mcp::config::{ServerConfig, ServerTarget, ServerVariables, all_servers};

/// Masks everything that a process writes.
pub struct Masking {
    treatment: Treatment,
    masker: Masker,
    state: Mutex<MaskingState>,
}

/// The secrets of a turn so far.
#[derive(Default)]
struct MaskingState {
    tally: SecretCounts,
    sources: Vec<&'static str>,
    /// Whether a text of this turn was sent with its masks.
    is_sent_masked: bool,
    /// The masks of the last answer, each with the text that it replaced.
    truths: Vec<(String, String)>,
    /// Kinds of apparent secrets in the user's own text, until they are reported.
    typed_kinds: Option<String>,
    /// Kinds of apparent secrets in a system prompt, until they are reported.
    prompt_kinds: Option<String>,
    /// Unmasked texts of masked bubbs, for displays that print several answers at their end.
    unmasked_texts: HashMap<BubbId, String>,
}

impl Masking {
    /// Creates the masking of the settings, with the user's key, which is created if missing.
    pub fn new(settings: &Settings, env: &Env, state: &Path) -> Masking {
        Masking::with_key(settings, env, user_key(state).ok())
    }

    /// Creates the masking for existing bubbs. An existing key that cannot be read is an error, because it
    /// proves pending requests.
    pub fn for_stored_text(settings: &Settings, env: &Env, state: &Path) -> Result<Masking> {
        let key = match read_key(state) {
            Ok(key) => Some(key),
            Err(error) if is_no_key(&error) => user_key(state).ok(),
            Err(error) => {
                let path = key_path(state);
                return Err(Error::store(format!("cannot read {}", path.display())).because(error));
            }
        };
        Ok(Masking::with_key(settings, env, key))
    }

    /// Creates the masking with this key. Without a key, masks have no digits.
    pub(crate) fn with_key(settings: &Settings, env: &Env, key: Option<MaskKey>) -> Masking {
        let treatment = match settings.secrets {
            SecretsMode::Mask => Treatment::Mask,
            SecretsMode::Warn => Treatment::Warn,
            SecretsMode::Off => Treatment::Leave,
        };
        let is_on = treatment != Treatment::Leave;
        let values = if is_on { secret_values(env, &settings.models) } else { Vec::new() };
        // Pending requests are proven by the key, even if nothing is masked.
        let masker = Masker::new(Arc::new(SecretFinder::new(values)), key);
        Masking { treatment, masker, state: Mutex::default() }
    }

    /// Creates a masking for secrets with a known format; its masks have no digits.
    pub fn shapes_only() -> Masking {
        Masking { treatment: Treatment::Mask, masker: Masker::for_imports(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, MaskingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, found: &[FoundSecret], source: &'static str) {
        if found.is_empty() {
            return;
        }
        let mut state = self.state();
        found.iter().for_each(|found| state.tally.add(found));
        if !state.sources.contains(&source) {
            state.sources.push(source);
        }
    }

    /// Returns the bytes of a bubb to write.
    pub fn screen<'t>(&self, text: &'t [u8], source: &'static str) -> ScreenedBytes<'t> {
        let (screened, found) = self.masker.screen(text, self.treatment);
        self.note(&found, source);
        screened
    }

    /// Returns the bytes of a file to write; a binary file is not searched.
    pub fn screen_file<'t>(&self, bytes: &'t [u8], source: &'static str) -> ScreenedBytes<'t> {
        let (screened, found) = self.masker.screen_file(bytes, self.treatment);
        self.note(&found, source);
        screened
    }

    /// Returns the bytes of a bubb to write, without counting its secrets, which were counted elsewhere.
    pub fn screen_uncounted<'t>(&self, text: &'t str) -> ScreenedBytes<'t> {
        self.masker.screen(text.as_bytes(), self.treatment).0
    }

    /// Returns a text as it would be written, without counting.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.masks() { self.masker.mask(text).text } else { Cow::Borrowed(text) }
    }

    /// Returns the bytes of a question to write: text that the user typed remains unmasked.
    pub fn screen_question(&self, text: &str, typed_ranges: &[Range<usize>]) -> ScreenedBytes<'static> {
        if self.treatment == Treatment::Leave {
            return ScreenedBytes::typed(text).into_owned();
        }
        let (mut screened, mut done, mut typed_secrets) =
            (ScreenedBytes::typed("").into_owned(), 0, SecretCounts::default());
        for range in typed_ranges.iter().chain([&(text.len()..text.len())]) {
            let between = text.get(done..range.start).unwrap_or_default();
            screened.push(&self.screen(between.as_bytes(), "what came with the question"));
            let typed_text = text.get(range.clone()).unwrap_or_default();
            self.masker.mask(typed_text).secrets.iter().for_each(|found| typed_secrets.add(found));
            screened.push(&ScreenedBytes::typed(typed_text));
            done = range.end;
        }
        if typed_secrets.count() > 0 {
            self.state().typed_kinds = Some(typed_secrets.kind_list());
        }
        screened
    }

    /// Returns the bytes of a system prompt to write: unmasked, and an apparent secret is noted for a notice.
    pub fn screen_prompt(&self, prompt: &str) -> ScreenedBytes<'static> {
        if self.treatment != Treatment::Leave {
            let mut tally = SecretCounts::default();
            self.masker.mask(prompt).secrets.iter().for_each(|found| tally.add(found));
            if tally.count() > 0 {
                self.state().prompt_kinds = Some(tally.kind_list());
            }
        }
        ScreenedBytes::typed(prompt).into_owned()
    }

    /// Returns, once, the notice that a system prompt contains an apparent secret and is stored unmasked.
    pub fn prompt_secret_notice(&self) -> Option<Notice> {
        self.state().prompt_kinds.take().map(Notice::PromptSecret)
    }

    /// Returns, once, the notice that a question contains an apparent secret and is stored unmasked.
    pub fn typed_secret_notice(&self, question: BubbId) -> Option<Notice> {
        let kinds = self.state().typed_kinds.take()?;
        Some(Notice::TypedSecret(question, kinds))
    }

    /// Creates the masking of a streamed answer.
    pub fn spool(&self) -> Spool {
        Spool::new(&self.masker, self.treatment)
    }

    /// Creates the masking of a text that arrives in pieces; `None` if secrets are not searched.
    fn stream(&self) -> Option<MaskStream> {
        (self.treatment != Treatment::Leave).then(|| MaskStream::new(self.masker.clone()))
    }

    /// Records that a text of this turn is sent with its masks.
    pub fn note_sent_masked(&self) {
        self.state().is_sent_masked = true;
    }

    /// Remembers the unmasked text of a bubb with masks: for a display of several answers, or a request that sends it.
    pub fn note_unmasked(&self, id: BubbId, text: &str) {
        if self.masks() && !self.masker.mask(text).secrets.is_empty() {
            self.state().unmasked_texts.insert(id, text.to_string());
        }
    }

    /// Returns the unmasked text of a masked bubb of this group turn.
    pub fn unmasked_text(&self, id: BubbId) -> Option<String> {
        self.state().unmasked_texts.get(&id).cloned()
    }

    /// Whether masks are written.
    pub fn masks(&self) -> bool {
        self.treatment == Treatment::Mask
    }

    /// Counts the secrets that a stream masked, and saves them for displays of the answer.
    pub fn note_stream(&self, stream: MaskStream, source: &'static str) -> Vec<(String, String)> {
        let mut state = self.state();
        if stream.tally().count() > 0 && !state.sources.contains(&source) {
            state.sources.push(source);
        }
        let (tally, truths) = stream.into_parts();
        state.tally.merge(tally);
        state.truths = if self.masks() { truths } else { Vec::new() };
        state.truths.clone()
    }

    /// Returns the masks of the last answer, each with the text that it replaced.
    pub fn truths(&self) -> Vec<(String, String)> {
        self.state().truths.clone()
    }

    /// Returns the last answer unmasked.
    pub fn restored(&self, text: &str) -> Option<String> {
        let state = self.state();
        (!state.truths.is_empty()).then(|| restore(text, &state.truths))
    }

    /// Masks a text for a separate file. Bytes that are not text remain unchanged, and end a secret. Returns
    /// false if the text has no secret.
    pub fn screen_stream(
        &self,
        mut from: impl Read,
        mut to: impl Write,
        source: &'static str,
    ) -> io::Result<bool> {
        let (Some(mut stream), mut tally) = (self.stream(), SecretCounts::default()) else {
            return Ok(false);
        };
        let (mut buffer, mut rest, mut out) = (vec![0; 64 << 10], Vec::new(), Vec::new());
        loop {
            let n = from.read(&mut buffer)?;
            rest.extend(buffer.get(..n).unwrap_or_default());
            let mut consumed = 0;
            for chunk in rest.utf8_chunks() {
                let (valid, invalid) = (chunk.valid(), chunk.invalid());
                push(&mut stream, valid, &mut out);
                consumed += valid.len();
                // The bytes read so far may end inside of a character.
                if invalid.is_empty() || n > 0 && consumed + invalid.len() == rest.len() && invalid.len() < 4
                {
                    continue;
                }
                tally.merge(end(&mut stream, self, &mut out));
                out.extend(invalid);
                consumed += invalid.len();
            }
            rest.drain(..consumed);
            if n == 0 {
                tally.merge(end(&mut stream, self, &mut out));
            }
            to.write_all(&out)?;
            out.clear();
            if n == 0 {
                break;
            }
        }
        let is_any = tally.count() > 0;
        let mut state = self.state();
        if is_any && !state.sources.contains(&source) {
            state.sources.push(source);
        }
        state.tally.merge(tally);
        Ok(is_any && self.treatment == Treatment::Mask)
    }

    /// Returns the masker of written texts.
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// Returns, once, the notice about the secrets that a turn masked.
    pub fn secrets_notice(&self) -> Option<Notice> {
        let (tally, sources, is_sent_masked) = {
            let mut state = self.state();
            state.truths.clear();
            let is_sent_masked = std::mem::take(&mut state.is_sent_masked);
            (std::mem::take(&mut state.tally), std::mem::take(&mut state.sources), is_sent_masked)
        };
        let count = tally.count();
        if count == 0 {
            return None;
        }
        let kinds = tally.kind_list();
        tracing::info!(count, kinds, "secrets found");
        Some(Notice::Secrets(SecretsFound { count, sources, kinds, masked: self.masks(), is_sent_masked }))
    }
}

fn push(stream: &mut MaskStream, text: &str, out: &mut Vec<u8>) {
    let mut masked = String::new();
    stream.push(text, &mut masked);
    out.extend(masked.into_bytes());
}

/// Ends a stream and starts another; returns the findings of the first.
fn end(stream: &mut MaskStream, masking: &Masking, out: &mut Vec<u8>) -> SecretCounts {
    let mut masked = String::new();
    stream.finish(&mut masked);
    out.extend(masked.into_bytes());
    std::mem::replace(stream, MaskStream::new(masking.masker.clone())).into_parts().0
}

/// Returns the values to search for in any format: of variables with a secret's name, configured keys, and the
/// user's entries for MCP servers. Excludes paths of existing files.
pub fn secret_values(env: &Env, models: &[ModelConfig]) -> Vec<KnownValue> {
    let named = env.all().filter(|(name, value)| is_named_secret(name) && is_worth(value));
    let named = named.map(|(name, value)| KnownValue::of_variable(format!("the value of {name}"), value));
    let keys = models.iter().filter_map(|model| {
        let key = model.key.value.as_ref()?;
        Some(KnownValue::of_config(format!("the key of model {}", model.name), key.reveal()))
    });
    let served = server_values(env).into_iter().filter(|value| is_worth(&value.text));
    keys.chain(served).chain(named).filter(|value| !Path::new(&value.text).exists()).collect()
}

/// Returns values in the user's `mcp.json` whose variables or headers have a secret's name.
fn server_values(env: &Env) -> Vec<KnownValue> {
    let Ok(paths) = Paths::from_env(env) else { return Vec::new() };
    let variables = ServerVariables { env, own_names: &[], keys: &[] };
    // An invalid file is reported where it is used.
    let servers = all_servers(&paths.mcp_file(), None, Some(&variables)).unwrap_or_default();
    let mut values = Vec::new();
    for ServerConfig { name: server, target, .. } in &servers {
        let named = match target {
            ServerTarget::Program { env, .. } => env,
            ServerTarget::Remote { headers, .. } => headers,
        };
        for (name, value) in named.iter().filter(|(name, _)| is_secret_entry(name)) {
            // The value after a scheme, as in `Bearer …`, is the secret.
            let value_text = value.reveal();
            let text = value_text.rsplit(' ').next().unwrap_or(value_text);
            values.push(KnownValue::of_config(format!("{name} of server {server}"), text));
        }
    }
    values
}

/// Whether a variable or header of a server has a secret's name: `API_KEY`, `Authorization`, `X-Auth-Token`,
/// `Cookie`.
fn is_secret_entry(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    is_named_secret(&name)
        || ["AUTHORIZATION", "COOKIE", "TOKEN", "SECRET", "PASSWORD", "KEY"].contains(&name.as_str())
        || name.ends_with("_AUTHORIZATION")
        || name.ends_with("_AUTH")
}
