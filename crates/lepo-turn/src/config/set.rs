//! Sets or removes a setting of the user's file by its name: `http.idle_timeout`, `alias.r`.

use std::path::Path;

use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

use super::edit::{change, put};
use super::file::ConfigFile;
use super::mistake::Mistake;
use super::table::NAMES;
use super::write::replace;
use lepo_base::error::{Error, Result};

/// Sets a setting; creates the file if necessary. The type of the setting decides how the text is read.
///
/// # Errors
/// Exit 2: no such setting, or a value that it cannot have.
pub fn set_setting(path: &Path, name: &str, text: &str) -> Result<()> {
    check(name)?;
    change(path, |document| {
        // An error about a value is more useful than an error about a type; of several type errors, the last
        // is the most specific.
        let mut wrong: Option<Mistake> = None;
        for value in readings(text) {
            let mut tried = document.clone();
            let (table, key) = table_of(&mut tried, name)?;
            put(table, key, value);
            let new = tried.to_string();
            match ConfigFile::read(path, new.as_bytes()) {
                Ok(_) => {
                    *document = tried;
                    return Ok(());
                }
                Err(mistake)
                    if mistake.is_of_type() && wrong.as_ref().is_some_and(|old| !old.is_of_type()) => {}
                Err(mistake) => wrong = Some(mistake),
            }
        }
        Err(wrong.map_or_else(
            || Error::usage(format!("{name} cannot be set")),
            |mistake| mistake.typed_error(text),
        ))
    })
}

/// Removes a setting from the file, which restores its default; returns false if the file does not have it.
pub fn unset_setting(path: &Path, name: &str) -> Result<bool> {
    check(name)?;
    let mut was_there = false;
    change(path, |document| {
        if let Some(without) = without_line(&document.to_string(), name) {
            was_there = true;
            *document = without;
            return Ok(());
        }
        was_there = match name.split_once('.') {
            None => document.remove(name).is_some(),
            Some((table, key)) => {
                let table = document.get_mut(table).and_then(Item::as_table_like_mut);
                table.is_some_and(|table| table.remove(key).is_some())
            }
        };
        Ok(())
    })?;
    Ok(was_there)
}

/// Returns the file without the line of a setting; comments above the line are not the setting's alone, and stay.
/// `None` if the setting has no line of its own, as in an inline table.
fn without_line(text: &str, name: &str) -> Option<DocumentMut> {
    let document = Document::parse(text).ok()?;
    let (table, key) = match name.split_once('.') {
        None => (document.as_table(), name),
        Some((table, key)) => (document.get(table)?.as_table()?, key),
    };
    let (key, value) = table.get_key_value(key)?;
    let (key, value) = (key.span()?, value.as_value()?.span()?);
    let before = text.get(..key.start)?;
    let after = text.get(value.end..)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let (rest, below) = after.split_at_checked(after.find('\n').map_or(after.len(), |at| at + 1))?;
    let (above, indent) = before.split_at_checked(start)?;
    let is_comment = rest.trim().is_empty() || rest.trim_start().starts_with('#');
    // A dotted key, `http.idle_timeout`, has its table before it.
    let dotted = name.split_once('.').map(|(table, _)| format!("{table}."));
    let begins_line = indent.trim().is_empty() || dotted.is_some_and(|dotted| indent.trim() == dotted);
    (begins_line && is_comment).then(|| [above, below].concat().parse().ok())?
}

/// Checks the text of a file that is not written yet.
pub fn check_config(path: &Path, text: &[u8]) -> Result<()> {
    ConfigFile::parse(path, text).map(|_| ())
}

/// Replaces the content of the file atomically; the file is readable by its owner only.
pub fn replace_config(path: &Path, text: &[u8]) -> Result<()> {
    check_config(path, text)?;
    replace(path, text)
}

/// Returns the names of all settings that a file can have.
pub fn setting_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

/// Checks that a file can have a setting of this name.
fn check(name: &str) -> Result<()> {
    let no = |what: String, hint: &str| Err(Error::usage(what).hint(hint));
    if name == "model" {
        return no(
            "the active model cannot be set with `lepo config`".into(),
            "`lepo model use NAME` \
            changes it",
        );
    }
    if name == "models" || name.starts_with("models.") {
        return no(
            "models cannot be set one by one".into(),
            "`lepo config --edit` opens the file, where an entry takes `options = { max_tokens = 1000 }`",
        );
    }
    let is_alias = name.strip_prefix("alias.").is_some_and(|word| !word.is_empty());
    match is_alias || NAMES.contains(&name) {
        true => Ok(()),
        false => no(format!("no setting \"{name}\""), "`lepo config` lists the settings"),
    }
}

/// Returns the TOML values that a text may mean: a string, a number, `true` or `false`, an inline table, or a list.
fn readings(text: &str) -> Vec<Value> {
    let items = text.trim_matches(['[', ']']).split(',').map(|item| item.trim().trim_matches('"'));
    let list: Array = items.filter(|item| !item.is_empty()).collect();
    let is_bare =
        |value: &Value| value.is_inline_table() || value.is_bool() || value.is_integer() || value.is_float();
    let bare: Option<Value> = text.trim().parse().ok().filter(is_bare);
    let is_list = bare.is_none() && (text.contains(',') || text.trim_start().starts_with('['));
    let mut readings = vec![Value::from(list), Value::from(text)];
    readings.extend(bare);
    if is_list {
        readings.rotate_left(1);
    }
    readings
}

/// Returns the table of a setting, created if necessary, and the setting's key.
fn table_of<'d, 'n>(
    document: &'d mut DocumentMut,
    name: &'n str,
) -> Result<(&'d mut dyn TableLike, &'n str)> {
    let Some((table, key)) = name.split_once('.') else { return Ok((document.as_table_mut(), name)) };
    let item = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    match item.as_table_like_mut() {
        Some(table) => Ok((table, key)),
        None => {
            Err(Error::usage(format!("`{table}` is not a table")).hint("`lepo config --edit` opens the file"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::HintTarget;

    #[test]
    fn a_text_is_taken_for_the_type_of_its_setting() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        for (name, text, written) in [
            ("max_rounds", "5", "max_rounds = 5\n"),
            ("http.idle_timeout", "2.5", "[http]\nidle_timeout = 2.5\n"),
            ("term.usage", "false", "[term]\nusage = false\n"),
            ("log_level", "debug", "log_level = \"debug\"\n"),
            ("many.participants", "a, b", "[many]\nparticipants = [\"a\", \"b\"]\n"),
            ("many.participants", "[\"a\"]", "[many]\nparticipants = [\"a\"]\n"),
            ("many.participants", "a", "[many]\nparticipants = [\"a\"]\n"),
            ("many.orchestrator", "7", "[many]\norchestrator = \"7\"\n"),
            ("alias.r", "do --retry", "[alias]\nr = \"do --retry\"\n"),
        ] {
            let _ = std::fs::remove_file(&path);
            set_setting(&path, name, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), written, "{name}");
            assert!(unset_setting(&path, name).unwrap() && !unset_setting(&path, name).unwrap(), "{name}");
        }
    }

    #[test]
    fn comments_stay_and_what_is_wrong_is_not_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        let text = "# mine\nmax_rounds = 3 # few\n";
        std::fs::write(&path, text).unwrap();
        for (name, value, expected) in [
            ("max_rounds", "0", "`max_rounds` is out of range"),
            ("max_rounds", "many", "`max_rounds` cannot be \"many\""),
            ("log_level", "loud", "`log_level` cannot be \"loud\""),
            ("term.usage", "3", "`usage` in [term] cannot be \"3\""),
            ("colour", "1", "no setting \"colour\""),
            ("http.colour", "1", "no setting \"http.colour\""),
            ("model", "gpt", "the active model cannot be set with `lepo config`"),
            ("models.gpt", "x", "models cannot be set one by one"),
            ("term.usage", "is a TOML x", "`usage` in [term] cannot be \"is a TOML x\""),
            ("sandbox.read_only", "a: b", "`read_only` in [sandbox] has a relative path"),
            ("alias.a b", "ls", "an alias cannot be \"a b\""),
            ("alias.r", "'", "alias \"r\" cannot be taken apart"),
        ] {
            let error = set_setting(&path, name, value).unwrap_err();
            assert_eq!((error.kind.exit_code(), error.message.as_str()), (2, expected), "{name}");
            let hint = error.hint_for(HintTarget::SHELL).unwrap();
            assert!(!hint.contains("quotes") || name == "alias.r", "{name}: {hint}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        set_setting(&path, "max_rounds", "7").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "# mine\nmax_rounds = 7 # few\n");
        for (before, name, after) in [
            ("# mine\nmax_rounds = 7 # few\n", "max_rounds", "# mine\n"),
            ("# 내 것\n\n  max_rounds = 7", "max_rounds", "# 내 것\n\n"),
            ("[http]\n# slow\nidle_timeout = 3\n# end\n", "http.idle_timeout", "[http]\n# slow\n# end\n"),
            ("http = { idle_timeout = 3 }\n# end\n", "http.idle_timeout", "http = {}\n# end\n"),
            (
                "# a\n[many]\nparticipants = [ # two\n  \"a\",\n  \"b\" ]\n",
                "many.participants",
                "# a\n[many]\n",
            ),
            ("# a\nhttp.idle_timeout = 3\nmax_rounds = 2\n", "http.idle_timeout", "# a\nmax_rounds = 2\n"),
        ] {
            std::fs::write(&path, before).unwrap();
            assert!(unset_setting(&path, name).unwrap(), "{before}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{before}");
        }
    }
}
