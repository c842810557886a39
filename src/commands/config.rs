//! `lepo config`: lists the settings in force with their sources; reads or sets one; opens the file in an
//! editor.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::stores::KnownStores;
use super::suggest::closest_name;
use super::{Context, complete};
use crate::commands::repo_files::trusted_config;
use crate::commands::user_env::own_paths;
use crate::term::{self, edit, print_status, tty};
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;
use lepo_turn::config::{
    Alias, ConfigImport, SettingRow, SettingSource, Settings, aliases, check_config, replace_config,
    set_setting, setting_lines, setting_names, unset_setting,
};

/// Show and change settings
///
/// Without arguments, lists the settings in effect, one per line: `NAME = VALUE  # FROM`, where FROM is `default`, a
/// file and its line, or an environment variable. On a terminal, the allowed values follow. Keys are never shown,
/// only whether one is set. With NAME, prints that setting, or all that begin with `NAME.`. With VALUE, sets it in
/// the user's config.toml and keeps the comments there. A setting without a value prints nothing and exits with 1.
///
/// `lepo config stores` lists the stores that your lepo has written to; `ls` and `grep` search them with
/// `--everywhere`.
///
/// `[alias]` in that file gives a command with its options a name of your own. An alias cannot have the name of a
/// command.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo config\n  lepo config | grep -v '# default$'\n  \
    lepo config max_rounds\n  lepo config many.participants gpt,qwen\n  \
    lepo config alias.again 'do --retry'                              # then: lepo again -m other\n  \
    lepo config --unset alias.again\n  lepo config stores --forget ~/old\n  lepo config --import ~/.humble-ai-cli/config.json")]
pub struct ConfigArgs {
    /// The setting to print or set
    #[arg(value_name = "NAME", add = complete::setting())]
    name: Option<String>,
    /// The new value; separate the entries of a list with commas
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// Remove the setting from config.toml, restoring its default
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "edit", "import"], add = complete::setting())]
    unset: Option<String>,
    /// Open config.toml in your editor; it is saved only if it is valid
    #[arg(short, long, conflicts_with_all = ["name", "import", "json"])]
    edit: bool,
    /// Import the models, settings and servers of humble-ai-cli's config.json or mcp-servers.json, replacing none;
    /// prints what was added and what was left out
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    import: Option<PathBuf>,
    /// With `stores`: remove the store or project PATH from the list
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::DirPath, conflicts_with_all = ["value", "edit", "import", "unset"])]
    forget: Option<PathBuf>,
    /// Print one JSON document: {"file", "settings": [...]}, with --import {"file", "added": [...], "left_out": [...]}
    #[arg(long)]
    pub json: bool,
}

impl ConfigArgs {
    /// Whether the command lists settings or stores.
    pub fn only_lists(&self) -> bool {
        let writes = self.edit || self.value.is_some() || self.unset.is_some() || self.import.is_some();
        !writes && self.forget.is_none()
    }
}

const NEW_FILE: &str = "\
# Settings of lepo: see `man lepo-config`, and `lepo config` for those in force.
#
# [[models]]
# name = \"gpt\"
# provider = \"openai\"
# model = \"gpt-4o\"
# api_key_env = \"OPENAI_API_KEY\"
# active = true
";

/// `commands` are the names that no alias may have.
pub fn run_config(args: ConfigArgs, commands: &[&str], context: &mut Context<'_>) -> Result<u8> {
    let user = context.user_env()?;
    let paths = &user.paths;
    let file = paths.config_file();
    if args.name.as_deref() == Some("stores") && args.value.is_none() {
        return stores(&KnownStores::at(paths), &args, context);
    }
    if args.forget.is_some() {
        return Err(Error::usage("--forget needs `lepo config stores`"));
    }
    if let Some(import_file) = &args.import {
        import(ConfigImport::make(paths, import_file)?, args.json, context)?;
        return Ok(0);
    }
    if args.edit {
        return edit_file(&file);
    }
    if let Some(name) = &args.unset {
        return match unset_setting(&file, name)? {
            true => Ok(0),
            false => Err(Error::nothing(format!("{name} is not set in {}", file.display()))),
        };
    }
    if let (Some(name), Some(value)) = (&args.name, &args.value) {
        let word = name.strip_prefix("alias.").unwrap_or_default();
        if commands.contains(&word) {
            return Err(Error::usage(format!("an alias cannot be \"{word}\": that is a command"))
                .hint("choose another word"));
        }
        set_setting(&file, name, value).map_err(suggest_setting(name))?;
    }
    let settings = user.settings(trusted_config(context, paths)?)?;
    match (&args.name, &args.value) {
        (None, _) => show(&settings, commands, args.json, context),
        (Some(name), None) => return show_one(&settings, name, args.json, context),
        (Some(name), Some(_)) => warn_if_overridden(&settings, &file, name),
    }
    Ok(0)
}

/// Lists the stores of `--everywhere`, or removes one from the list.
fn stores(stores: &KnownStores, args: &ConfigArgs, context: &mut Context<'_>) -> Result<u8> {
    if let Some(path) = &args.forget {
        stores.forget(path)?;
        return Ok(0);
    }
    let paths = stores.paths()?;
    if args.json {
        let stores = paths.iter();
        let stores = stores.map(|path| StoreFields { path: path.to_string_lossy(), exists: path.is_dir() });
        let stores = stores.collect();
        context.out.document(&ConfigDocument::Stores { stores });
    } else if context.out.is_terminal() {
        paths.iter().for_each(|path| context.out.line(&stores.project(path)));
    } else {
        paths.iter().for_each(|path| context.out.path(path));
    }
    Ok(0)
}

/// Warns if another source overrides a setting just written to `file`.
fn warn_if_overridden(settings: &Settings, file: &Path, name: &str) {
    let wins = match settings.source(name) {
        SettingSource::File { path, .. } if **path == *file => return,
        SettingSource::Default => return,
        source => source,
    };
    print_status(&term::StatusLine::note(format!(
        "written to {}, but {wins} sets {name} too, and takes precedence",
        file.display()
    )));
}

fn show_one(settings: &Settings, name: &str, as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let lines = setting_lines(settings);
    if let Some(line) = lines.iter().find(|line| line.name == name) {
        let has_none = line.value.is_empty() && line.source == SettingSource::Default;
        match as_json {
            true => context.out.document(&ConfigDocument::Setting(SettingFields::new(line))),
            false if has_none => {}
            false => context.out.line(&line.value),
        }
        if let Some(allowed) = line.allowed.as_ref().filter(|_| !as_json && context.out.is_terminal()) {
            context.out.flush();
            context.print_hint(format!("allowed: {allowed}"));
        }
        return Ok(u8::from(has_none));
    }
    let section = format!("{name}.");
    let below: Vec<&SettingRow> = lines.iter().filter(|line| line.name.starts_with(&section)).collect();
    if below.is_empty() {
        let error = Error::usage(format!("no setting \"{name}\"")).hint("`lepo config` lists the settings");
        return Err(suggest_setting(name)(error));
    }
    match as_json {
        true => {
            let settings = below.into_iter().map(SettingFields::new).collect();
            context.out.document(&ConfigDocument::Settings { file: None, settings });
        }
        false => below.into_iter().for_each(|line| print(line, "", context)),
    }
    Ok(0)
}

/// Opens the editor repeatedly, until lepo can parse the file or the user cancels.
fn edit_file(file: &Path) -> Result<u8> {
    let old = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => NEW_FILE.into(),
        Err(error) => return Err(Error::usage(format!("cannot read {}", file.display())).because(error)),
    };
    let mut text = old.clone();
    loop {
        text = edit(&text, ".toml")?;
        if text == old {
            return Err(Error::nothing(format!("{} did not change: nothing was written", file.display())));
        }
        let Err(error) = check_config(file, &text) else { break };
        print_status(&format!("error: {}", error.chain()));
        error.hint_for(HintTarget::SHELL).iter().for_each(|hint| print_status(&format!("hint: {hint}")));
        let again = tty().map(|mut tty| tty.confirm("Edit it again? (y/N) ")).transpose()?;
        if again != Some(true) {
            return Err(Error::usage(format!("{} was not changed", file.display())));
        }
    }
    replace_config(file, &text)?;
    Ok(0)
}

pub fn known_aliases() -> Result<Vec<Alias>> {
    aliases(&own_paths()?)
}

/// Adds a hint at the setting that an unknown name resembles.
fn suggest_setting(name: &str) -> impl FnOnce(Error) -> Error {
    move |error| {
        let is_unknown = error.message.starts_with("no setting");
        match closest_name(name, setting_names()).filter(|_| is_unknown) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        }
    }
}

/// A single document: all settings, a section of them, or one; the result of --import; or the stores of --everywhere.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ConfigDocument<'d> {
    Settings {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        file: Option<Cow<'d, str>>,
        settings: Vec<SettingFields<'d>>,
    },
    Setting(SettingFields<'d>),
    Import {
        file: String,
        added: &'d [String],
        left_out: &'d [String],
    },
    Stores {
        stores: Vec<StoreFields<'d>>,
    },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "setting")]
pub struct SettingFields<'d> {
    name: &'d str,
    value: &'d str,
    /// The source of the value.
    source: String,
    /// The allowed values, `|` between them, or the bounds of a number; null where neither can be listed.
    allowed: Option<&'d str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct StoreFields<'d> {
    path: Cow<'d, str>,
    exists: bool,
}

impl<'d> SettingFields<'d> {
    fn new(row: &'d SettingRow) -> SettingFields<'d> {
        let SettingRow { name, value, source, allowed } = row;
        SettingFields { name, value, source: source.to_string(), allowed: allowed.as_deref() }
    }
}

fn print(line: &SettingRow, note: &str, context: &mut Context<'_>) {
    context.out.untrusted(format!("{} = {}", line.name, line.value).as_bytes());
    context.out.trusted(&context.paint.dim("  # "));
    let allowed = line.allowed.as_ref().filter(|_| context.out.is_terminal());
    let allowed = allowed.map(|allowed| format!("; allowed: {allowed}")).unwrap_or_default();
    context.out.line(&format!("{}{note}{allowed}", line.source));
}

fn show(settings: &Settings, commands: &[&str], as_json: bool, context: &mut Context<'_>) {
    let lines = setting_lines(settings);
    if as_json {
        let (file, rows) = (settings.file.to_string_lossy(), lines.iter().map(SettingFields::new).collect());
        return context.out.document(&ConfigDocument::Settings { file: Some(file), settings: rows });
    }
    for line in &lines {
        let taken = line.name.strip_prefix("alias.").is_some_and(|word| commands.contains(&word));
        print(line, if taken { ", ignored: a command has that name" } else { "" }, context);
    }
}

fn import(plan: ConfigImport, as_json: bool, context: &mut Context<'_>) -> Result<()> {
    let target = plan.target.display().to_string();
    if !as_json {
        for what in &plan.added {
            context.out.line(&format!("add {what}"));
        }
        for what in &plan.left_out {
            print_status(&format!("left out: {what}"));
        }
        context.out.flush();
    }
    plan.apply()?;
    if as_json {
        let (added, left_out) = (&plan.added, &plan.left_out);
        context.out.document(&ConfigDocument::Import { file: target, added, left_out });
    } else {
        match plan.added.len() {
            0 => print_status(&format!("nothing was added to {target}")),
            _ => print_status(&format!("written to {target}")),
        }
    }
    Ok(())
}
