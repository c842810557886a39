//! Completion for each shell: its script, and candidates that need no quoting, so that none can run as code.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use clap_complete::engine::{CompletionCandidate, complete};
use clap_complete::env::{self, EnvCompleter, Shells};

use super::shell_quote::{Quote, QuotingRules, quote_after, unquoted, unsplit};
use crate::term::{BareWord, clean, excerpt_within, width};

/// All shells with a script.
pub const SHELLS: Shells<'static> = Shells(&[&Bash, &Zsh, &Fish, &Elvish]);

/// Columns for a candidate's meaning in bash, which cannot display it separately.
const MEANING: usize = 48;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Returns the arguments of the command line that is being completed; empty outside completion.
pub fn words_of_line() -> &'static [OsString] {
    WORDS.get().map(Vec::as_slice).unwrap_or_default()
}

struct Candidate {
    value: BareWord,
    meaning: Option<String>,
}

/// Returns the candidates that are safe without quotes. All others are omitted: the name may come from a
/// repository.
fn candidates(
    tree: &mut clap::Command,
    words: Vec<OsString>,
    index: usize,
    here: Option<&Path>,
) -> io::Result<Vec<Candidate>> {
    let words = WORDS.get_or_init(|| words).clone();
    let typed = words.get(index).and_then(|word| word.to_str()).unwrap_or_default().to_string();
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for found in complete(tree, words, index, here)? {
        let Some(value) = found.get_value().to_str() else { continue };
        let value = match value.starts_with('-') {
            true if is_file_like_an_option(&found, value, here) => {
                BareWord::parse(&format!("./{value}"), &typed)
            }
            true => BareWord::parse_option(value),
            false => BareWord::parse(value, &typed),
        };
        let Some(value) = value else { continue };
        let meaning = found.get_help().map(|help| help.to_string());
        let meaning = meaning.and_then(|help| help.lines().next().map(|line| clean(line).into_owned()));
        if seen.insert(value.clone()) {
            kept.push(Candidate { value, meaning: meaning.filter(|line| !line.is_empty()) });
        }
    }
    Ok(kept)
}

/// A file whose name begins with `-`.
fn is_file_like_an_option(found: &CompletionCandidate, value: &str, here: Option<&Path>) -> bool {
    let named = || here.unwrap_or(Path::new("")).join(value.trim_end_matches('/')).symlink_metadata();
    found.get_id().is_none() && value.starts_with('-') && named().is_ok()
}

/// Invalid UTF-8 is unchanged.
fn plain_words(words: Vec<OsString>, rules: QuotingRules) -> Vec<OsString> {
    let plain = |word: OsString| match word.to_str() {
        Some(text) => unquoted(text, Quote::None, rules).into(),
        None => word,
    };
    words.into_iter().map(plain).collect()
}

/// Index of the argument to complete, as bash and zsh pass it.
fn index_told() -> usize {
    lepo_base::env::text("_CLAP_COMPLETE_INDEX").and_then(|told| told.parse().ok()).unwrap_or_default()
}

/// Bash. A list of several candidates contains their meanings: readline inserts only the common prefix, which
/// ends before those.
struct Bash;

const BASH: &str = r#"
_clap_complete_lepo() {
    local words=() line="${COMP_LINE:0:COMP_POINT}" rest="${COMP_LINE}" raw="" cut="" told i
    # Colons part words, too: a name with one is put together, and what stands before its last one stays on the line.
    for (( i = 0; i <= COMP_CWORD; i++ )); do
        raw="${COMP_WORDS[i]}"
        if [[ i -gt 0 && "$rest" != [[:space:]]* && ( "$raw" == :* || "${COMP_WORDS[i-1]}" == *: ) ]]; then
            words[${#words[@]}-1]+="$raw"
        else
            words+=("$raw")
        fi
        rest="${rest#"${rest%%[![:space:]]*}"}"
        rest="${rest#"$raw"}"
    done
    local last=$(( ${#words[@]} - 1 ))
    if [[ "${BASH_VERSINFO[0]}" -ge 4 && "$raw" != *: ]]; then
        words[last]="${words[last]%"$raw"}$2"
    fi
    if [[ "$COMP_WORDBREAKS" == *:* && "${words[last]}" == *:* && "${words[last]}" != "$2" ]]; then
        cut="${words[last]%"${words[last]##*:}"}"
    fi
    words+=("${COMP_WORDS[@]:COMP_CWORD+1}")
    COMPREPLY=()
    told=$( \
        _CLAP_COMPLETE_INDEX="${last}" \
        _CLAP_COMPLETE_COMP_TYPE="${COMP_TYPE}" \
        _CLAP_COMPLETE_LINE="${line}" \
        VAR="bash" \
        lepo -- "${words[@]}" 2>/dev/null \
    ) || return
    [[ -n "$told" ]] || return 0
    # Split without an expansion: a candidate is no pattern of file names.
    IFS=$'\013' read -r -d '' -a COMPREPLY <<< "$told"
    last=$(( ${#COMPREPLY[@]} - 1 ))
    COMPREPLY[last]="${COMPREPLY[last]%$'\n'}"
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    COMPREPLY=("${COMPREPLY[@]#"${cut//:/\\:}"}")
    if [[ "${COMPREPLY-}" =~ [=/:]$ ]]; then
        compopt -o nospace 2> /dev/null
    else
        compopt +o nospace 2> /dev/null
    fi
    return 0
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _clap_complete_lepo lepo
else
    complete -o nospace -o bashdefault -F _clap_complete_lepo lepo
fi
"#;

impl Bash {
    /// Formats the candidates for the last argument; `line` is the text before the cursor.
    fn bash_output(found: &[Candidate], raw: &str, line: &str, sort: &str) -> String {
        let quote = quote_after(line.strip_suffix(raw).unwrap_or_default());
        let unsplit = |word: &BareWord| unsplit(word.as_str(), quote);
        let found: Vec<(String, Option<&str>)> =
            found.iter().map(|one| (unsplit(&one.value), one.meaning.as_deref())).collect();
        // Tab and lists of several kinds. Other modes, such as menu completion and inserting all, put each
        // candidate on the line verbatim.
        let is_list = matches!(sort, "9" | "33" | "63" | "64");
        let bare = !is_list || found.len() < 2;
        let widest = found.iter().map(|(value, _)| width(value)).max().unwrap_or_default();
        let rows = found.iter().map(|(value, meaning)| {
            let meaning = meaning.map(|line| excerpt_within(line, MEANING)).filter(|line| !line.is_empty());
            match meaning.filter(|_| !bare) {
                Some(meaning) => format!("{value}{}  ({meaning})", " ".repeat(widest - width(value))),
                None => value.clone(),
            }
        });
        rows.collect::<Vec<_>>().join("\u{b}")
    }
}

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        env::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Bash.is(name)
    }

    fn write_registration(&self, var: &str, _: &str, _: &str, _: &str, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{}", BASH.replace("VAR", var))
    }

    fn write_complete(
        &self,
        tree: &mut clap::Command,
        args: Vec<OsString>,
        here: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let told = |name: &str| lepo_base::env::text(name).unwrap_or_default();
        let index = index_told();
        let raw = args.get(index).and_then(|word| word.to_str()).unwrap_or_default().to_string();
        let line = told("_CLAP_COMPLETE_LINE");
        let mut words = plain_words(args, QuotingRules::Posix);
        if let Some(word) = words.get_mut(index) {
            let quote = quote_after(line.strip_suffix(&raw).unwrap_or_default());
            *word = unquoted(&raw, quote, QuotingRules::Posix).into();
        }
        let found = candidates(tree, words, index, here)?;
        write!(to, "{}", Bash::bash_output(&found, &raw, &line, &told("_CLAP_COMPLETE_COMP_TYPE")))
    }
}

/// Zsh. Its completion system may not be loaded yet; and the script may be in its `fpath`, where it runs as
/// the completer itself.
struct Zsh;

/// End of clap's script, and its replacement.
const COMPDEF: &str = "compdef _clap_dynamic_completer_lepo lepo";
const REGISTER: &str = "\
# Together in a line, those that mean the same would be sorted, and all others with them.
zstyle ':completion:*:*:lepo:*' list-grouped false
if [[ \"${funcstack[1]}\" == _lepo ]]; then
    _clap_dynamic_completer_lepo \"$@\"
else
    if ! (( ${+functions[compdef]} )); then
        autoload -Uz compinit && compinit -i
    fi
    compdef _clap_dynamic_completer_lepo lepo
fi";

impl EnvCompleter for Zsh {
    fn name(&self) -> &'static str {
        env::Zsh.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Zsh.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let mut script = Vec::new();
        env::Zsh.write_registration(var, name, bin, completer, &mut script)?;
        let script = String::from_utf8_lossy(&script).replace(COMPDEF, REGISTER);
        to.write_all(script.as_bytes())
    }

    fn write_complete(
        &self,
        tree: &mut clap::Command,
        args: Vec<OsString>,
        here: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let index = index_told();
        let mut words = plain_words(args, QuotingRules::Posix);
        if words.len() == index {
            words.push(OsString::new());
        }
        let escaped = |text: &str| text.replace('\\', "\\\\");
        for (i, one) in candidates(tree, words, index, here)?.iter().enumerate() {
            let between = if i == 0 { "" } else { "\n" };
            write!(to, "{between}{}", escaped(one.value.as_str()).replace(':', "\\:"))?;
            if let Some(meaning) = &one.meaning {
                write!(to, ":{}", escaped(meaning))?;
            }
        }
        Ok(())
    }
}

/// Fish passes the last argument with its quotes.
struct Fish;

impl EnvCompleter for Fish {
    fn name(&self) -> &'static str {
        env::Fish.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Fish.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        env::Fish.write_registration(var, name, bin, completer, to)
    }

    fn write_complete(
        &self,
        tree: &mut clap::Command,
        mut args: Vec<OsString>,
        here: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let last = args.pop().map(|word| plain_words(vec![word], QuotingRules::Fish)).unwrap_or_default();
        args.extend(last);
        write_lines(&candidates_of_last(tree, args, here)?, to)
    }
}

/// Elvish inserts arguments verbatim.
struct Elvish;

impl EnvCompleter for Elvish {
    fn name(&self) -> &'static str {
        env::Elvish.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Elvish.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        env::Elvish.write_registration(var, name, bin, completer, to)
    }

    fn write_complete(
        &self,
        tree: &mut clap::Command,
        args: Vec<OsString>,
        here: Option<&Path>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let found = candidates(tree, args, index_told(), here)?;
        let values: Vec<&str> = found.iter().map(|one| one.value.as_str()).collect();
        write!(to, "{}", values.join("\n"))
    }
}

fn candidates_of_last(
    tree: &mut clap::Command,
    words: Vec<OsString>,
    here: Option<&Path>,
) -> io::Result<Vec<Candidate>> {
    let index = words.len().saturating_sub(1);
    candidates(tree, words, index, here)
}

/// Writes a candidate per line, with its meaning after a tab.
fn write_lines(found: &[Candidate], to: &mut dyn Write) -> io::Result<()> {
    for Candidate { value, meaning } in found {
        let value = value.as_str();
        match meaning {
            Some(meaning) => writeln!(to, "{value}\t{meaning}")?,
            None => writeln!(to, "{value}")?,
        }
    }
    Ok(())
}
