//! `lepo prompt`: reusable questions, and skills.

mod check;
pub mod ls;

use std::fs::DirBuilder;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::secret_finder::report_apparent_secret;
use super::text_source::TextSource;
use super::{Context, complete};
use crate::term::{edit, print_status};
use lepo_base::error::{Error, Result, quoted};
use lepo_store::store::Store;
use lepo_turn::PromptLibrary;
use lepo_turn::config::{Paths, RepoFile, Trust, check_prompt_name};
use lepo_turn::skills::Skills;

const LONG_ABOUT: &str = "\
List, show and edit saved prompts; list, show and check skills

A prompt is a file NAME.md in _prompts/ of the store or of the configuration folder. Prompts of a store are \
used only after `lepo trust`. `lepo do -T NAME WORDS...` asks a prompt, as does /NAME in a session:

    $1 to $9   one of the words
    $*         all of them
    $stdin     the text on stdin

Words that are not used are added after the text. A first line `model: NAME` names the model to ask.

A skill is a folder NAME with a SKILL.md, in skills/ of the configuration folder, ~/.agents/skills, \
~/.claude/skills, or .agents/skills and .claude/skills of the git repository; those of a repository are used \
only after `lepo trust`. `lepo do -T NAME` and /NAME ask with a skill. Models with tools of their own see \
names and descriptions, and ask for the rest. `allowed-tools` in a skill grants nothing.";

/// List, show and edit saved prompts; list, show and check skills
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo prompt ls\n  lepo prompt add review 'Review this change.'\n  lepo prompt edit review\n  \
    lepo prompt show review\n  lepo prompt check .agents/skills\n  git diff | lepo do -T review",
    long_about = LONG_ABOUT
)]
pub struct PromptArgs {
    #[command(subcommand)]
    verb: Option<PromptCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum PromptCommand {
    /// List prompts and skills: name, place (user, store, a folder of skills, or not trusted), and first words
    Ls {
        /// Print one JSON document: {"prompts": [...], "skills": [...]}
        #[arg(long)]
        json: bool,
    },
    /// Print the prompt or skill that `do -T NAME` uses
    Show {
        /// The name of the prompt or the skill
        #[arg(value_name = "NAME", add = complete::prompt())]
        name: String,
    },
    /// Check skills against the published rules: prints FOLDER: WHY for each fault, and exits with 1
    ///
    /// DIR is a skill or a folder of skills; the default is the skill in this folder, or else all skills found.
    Check {
        /// A skill, or a folder of skills
        #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
    /// Add a prompt, with this text or the text on stdin
    Add {
        /// The name of the prompt
        #[arg(value_name = "NAME")]
        name: String,
        /// The text; `-` reads it from stdin
        #[arg(value_name = "TEXT", required = true)]
        text: Vec<String>,
        /// Add it to the store, not to the configuration folder
        #[arg(long)]
        here: bool,
    },
    /// Remove a prompt
    Rm {
        /// The name of the prompt
        #[arg(value_name = "NAME", add = complete::prompt())]
        name: String,
        /// Remove it from the store, not from the configuration folder
        #[arg(long)]
        here: bool,
    },
    /// Create or change a prompt in your editor
    Edit {
        /// The name of the prompt
        #[arg(value_name = "NAME", add = complete::prompt())]
        name: String,
        /// Create the prompt in the store, not in the configuration folder
        #[arg(long)]
        here: bool,
    },
}

impl PromptArgs {
    pub fn only_prints(&self) -> bool {
        !matches!(
            self.verb,
            Some(PromptCommand::Edit { .. } | PromptCommand::Add { .. } | PromptCommand::Rm { .. })
        )
    }

    /// Whether the command lists prompts.
    pub fn only_lists(&self) -> bool {
        matches!(self.verb, None | Some(PromptCommand::Ls { .. }))
    }

    /// Whether a failure is also printed as a document.
    pub fn wants_json(&self) -> bool {
        matches!(self.verb, Some(PromptCommand::Ls { json: true }))
    }
}

/// Runs the subcommand; lists without one.
pub fn run_prompt(args: PromptArgs, context: &mut Context<'_>) -> Result<u8> {
    let user = context.user_env()?;
    let paths = &user.paths;
    let store = context.find_store()?;
    let prompts = PromptLibrary { store: store.as_ref(), paths };
    match args.verb.unwrap_or(PromptCommand::Ls { json: false }) {
        PromptCommand::Ls { json } => ls::list(&prompts.list()?, &skills(paths, context)?, json, context),
        PromptCommand::Check { dir } => check::check(dir.as_deref(), paths, context),
        PromptCommand::Show { name } => match prompts.counting(&name)? {
            Some((_, bytes)) => {
                context.out.untrusted(&bytes);
                Ok(0)
            }
            None => {
                let path = prompts.user_path(&name);
                let unknown = Error::nothing(format!("no prompt {name}: there is no {}", path.display()))
                    .hint(format!("`lepo prompt edit {}` makes one", quoted(&name)));
                let skill = skills(paths, context)?.get(&name, unknown)?;
                context.out.untrusted(&skill.file.bytes);
                Ok(0)
            }
        },
        PromptCommand::Add { name, text, here } => {
            check_prompt_name(&name)?;
            let path = if here { prompts.store_path(&name)? } else { prompts.user_path(&name) };
            if path.symlink_metadata().is_ok() {
                return Err(Error::usage(format!(
                    "a prompt named {name} already exists: {}",
                    path.display()
                ))
                .hint(format!("`lepo prompt edit {}` changes it", quoted(&name))));
            }
            let text = text_of(&text)?;
            report_apparent_secret(&text, "the prompt", &format!("lepo prompt edit {}", quoted(&name)));
            write(&path, text, store.as_ref(), paths)?;
            context.out.path(&path);
            Ok(0)
        }
        PromptCommand::Rm { name, here } => {
            check_prompt_name(&name)?;
            let path = if here { prompts.store_path(&name)? } else { prompts.user_path(&name) };
            match std::fs::remove_file(&path) {
                Ok(()) => print_status(&format!("removed {}", path.display())),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let error = Error::nothing(format!("no prompt {name}: there is no {}", path.display()));
                    let is_of_store = !here && prompts.store_path(&name).is_ok_and(|path| path.is_file());
                    return Err(match is_of_store {
                        true => error
                            .hint(format!("`lepo prompt rm --here {}` removes the store's", quoted(&name))),
                        false => error,
                    });
                }
                Err(error) => {
                    return Err(Error::store(format!("cannot remove {}", path.display())).because(error));
                }
            }
            Ok(0)
        }
        PromptCommand::Edit { name, here } => {
            let (path, bytes) = match here {
                true => {
                    let path = prompts.store_path(&name)?;
                    let bytes = std::fs::read(&path).ok();
                    (path, bytes)
                }
                false => prompts.raw(&name)?,
            };
            let edited = edit(bytes.as_deref().unwrap_or_default(), ".md")?;
            if edited.is_empty() || bytes.as_ref() == Some(&edited) {
                let what = format!("{} did not change: nothing was written", path.display());
                return Err(Error::nothing(what));
            }
            write(&path, edited, store.as_ref(), paths)?;
            context.out.path(&path);
            Ok(0)
        }
    }
}

/// Returns the skills found; empty if the setting `skills` is off.
fn skills(paths: &Paths, context: &Context<'_>) -> Result<Skills> {
    let settings = context.user_env()?.settings(None)?;
    if settings.skills { Skills::read(context.cwd(), paths) } else { Ok(Skills::default()) }
}

/// Joins the arguments to a text that ends with a newline; for `-`, reads stdin.
fn text_of(words: &[String]) -> Result<Vec<u8>> {
    let mut text = words.join(" ").into_bytes();
    if words == ["-"] {
        text = TextSource::Stdin.read()?;
    }
    if text.trim_ascii().is_empty() {
        return Err(Error::usage("the prompt is empty").hint("lepo prompt add NAME TEXT, or - for stdin"));
    }
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    Ok(text)
}

/// Writes a prompt atomically. A prompt that the user writes into the store is trusted.
fn write(path: &Path, text: Vec<u8>, store: Option<&Store>, paths: &Paths) -> Result<()> {
    let failed = |error| Error::store(format!("cannot write {}", path.display())).because(error);
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    let in_store =
        store.and_then(|store| store.path().canonicalize().ok()).is_some_and(|dir| path.starts_with(dir));
    if in_store {
        Trust::new(paths).save(&[RepoFile { path: path.to_path_buf(), bytes: text }])?;
    }
    Ok(())
}
