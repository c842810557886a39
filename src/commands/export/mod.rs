//! `lepo export`: writes a conv for other programs and other users.

mod args;
mod files;
mod foreign_formats;
mod handoff;
mod handover;
mod html;
mod native;
mod output;
mod render;
mod tree;

use std::path::Path;

use super::Context;
use super::address_args::find_one;
use super::output_file::{check_folder, check_parent, replace_output};
use super::secret_finder::warn_secrets;
use crate::ui::warn_incomplete;
pub use args::ExportArgs;
use files::Files;
use handover::find_in;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;
use lepo_turn::StoppedAnswers;
use output::OutputPath;
use render::{Export, ExportFormat};

pub fn run_export(args: ExportArgs, context: &mut Context<'_>) -> Result<u8> {
    let format = args.wanted_format()?;
    if args.hidden && format == ExportFormat::Session {
        return Err(Error::usage(
            "-a cannot be used with --format session: a session has no hidden messages",
        ));
    }
    if args.open && format != ExportFormat::Html {
        return Err(Error::usage("--open needs --format html").hint("lepo export --format html --open"));
    }
    if args.all && format != ExportFormat::Html && !format.is_of_others() {
        let many = ExportFormat::list(ExportFormat::holds_many);
        let own = ExportFormat::list(|format| format.is_of_others() && !format.holds_many());
        return Err(Error::usage(format!("--all does not work with --format {}", format.name())).hint(format!(
            "one file holds all conversations with {many}; with {own} each has a file in the folder -o DIR/"
        )));
    }
    if args.bytes.is_some() && format != ExportFormat::Handoff {
        return Err(
            Error::usage("--bytes needs --format handoff").hint("lepo export --format handoff --bytes 24k")
        );
    }
    let store = context.store()?;
    if format == ExportFormat::Handoff {
        return handover::run(&args, &store, context);
    }
    if format == ExportFormat::Html {
        let forest = store.forest()?;
        return html::run(&args, &store, &forest, context);
    }
    let [address] = &args.addresses[..] else {
        return Err(Error::usage("only --format html takes several addresses"));
    };
    if format.is_of_others() {
        return for_others(&args, format, address, &store, context);
    }
    let (forest, found) = find_one(&store, address, &[])?;
    let tip = found.ix;
    let conv = forest.conv(tip);
    warn_incomplete(&conv);
    let stopped = StoppedAnswers::new(&store, &forest);
    let bubbs = match format {
        ExportFormat::Session => forest.finished_turns(&conv.path, |name| stopped.is_shown(name)),
        _ => {
            let path = conv.path.into_iter();
            path.filter(|&ix| args.hidden || stopped.is_shown(&forest.name(ix))).collect()
        }
    };
    if bubbs.is_empty() {
        let hint = match format {
            ExportFormat::Session => {
                let answered = Hint::from("a session holds answered questions only; ");
                answered.bare(ResumeAction::Retry).words(" answers the last")
            }
            _ => Hint::from("all of its messages are hidden; -a exports them too"),
        };
        let tip = forest.name(tip).id;
        return Err(Error::nothing(format!("nothing to export in the conversation of {tip}")).hint(hint));
    }
    let names: Vec<BubbName> = bubbs.into_iter().map(|ix| forest.name(ix)).collect();
    let mut export = Export::new(&store, &forest, names.clone());
    match &args.output {
        None => {
            let bytes = export.bytes(format)?;
            warn_secrets([&*bytes]);
            context.out.untrusted(&bytes);
        }
        Some(output) => {
            let files = Files::collect(&store, &names)?;
            match OutputPath::new(output, false) {
                OutputPath::Folder(dir) => {
                    check_folder(dir)?;
                    let stem = export.stem()?;
                    export.files = files.write(&store, dir, &stem)?;
                    let bytes = export.bytes(format)?;
                    warn_secrets([&*bytes]);
                    let path = output::write_new(dir, &stem, format.extension(), &bytes)?;
                    context.out.path(&path);
                }
                OutputPath::File(file) => {
                    check_parent(file)?;
                    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
                    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                    export.files = files.write(&store, dir.unwrap_or(Path::new(".")), &stem)?;
                    let bytes = export.bytes(format)?;
                    warn_secrets([&*bytes]);
                    replace_output(file, &bytes)?;
                    context.out.path(file);
                }
            }
        }
    }
    Ok(0)
}

fn for_others(
    args: &ExportArgs,
    format: ExportFormat,
    address: &str,
    store: &Store,
    context: &mut Context<'_>,
) -> Result<u8> {
    let forest = store.forest()?;
    let tip = match args.all {
        true => None,
        false => Some(find_in(store, &forest, address)?),
    };
    let trees = tree::trees(store, &forest, tip, args.hidden)?;
    if trees.is_empty() {
        return Err(match forest.is_empty() {
            true => Error::nothing("nothing to export: the store has no messages"),
            false => Error::nothing("nothing to export: all messages are hidden"),
        });
    }
    if format.is_native() {
        let wanted = native::NativeExport {
            format,
            all: args.all,
            hidden: args.hidden,
            output: args.output.as_deref(),
        };
        return native::run(&wanted, &trees, context);
    }
    let documents = foreign_formats::documents(format, &trees, args.all, &context.cwd().to_string_lossy());
    if let Some(file) = args.output.as_deref().filter(|_| documents.len() > 1)
        && names_file(file, format)
    {
        let why =
            format!("{} conversations need a file each with --format {}", documents.len(), format.name());
        let many = ExportFormat::list(ExportFormat::holds_many);
        return Err(
            Error::usage(why).hint(format!("-o DIR/ writes them there; one file holds all with {many}"))
        );
    }
    warn_secrets(documents.iter().map(|(_, text)| text.as_bytes()));
    match args.output.as_deref().map(|output| OutputPath::new(output, documents.len() > 1)) {
        Some(OutputPath::Folder(dir)) => {
            check_folder(dir)?;
            for (stem, text) in documents {
                let path = output::write_new(dir, &stem, format.extension(), text.as_bytes())?;
                context.out.path(&path);
            }
        }
        Some(OutputPath::File(file)) => {
            let text: String = documents.into_iter().map(|(_, text)| text).collect();
            replace_output(file, text.as_bytes())?;
            context.out.path(file);
        }
        None if documents.len() > 1 => {
            return Err(Error::usage(format!("{} sessions need a file each", documents.len()))
                .hint("lepo export --format pi --all -o DIR"));
        }
        None => documents.iter().for_each(|(_, text)| context.out.untrusted(text.as_bytes())),
    }
    Ok(0)
}

/// Whether `-o` names a file: an existing one, or a new name with the format's extension.
fn names_file(output: &Path, format: ExportFormat) -> bool {
    let has_ending = || output.extension().is_some_and(|ending| ending == format.extension());
    matches!(OutputPath::new(output, false), OutputPath::File(_)) && (output.exists() || has_ending())
}
