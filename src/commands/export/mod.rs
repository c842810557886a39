//! `lepo export`: writes a conv for other programs and other users.

mod args;
mod files;
mod foreign_formats;
mod format;
mod handoff;
mod html;
mod native;
mod output;
mod render;
mod tree;

use std::path::Path;

use super::output_file::{check_folder, replace_output};
use super::secret_finder::warn_secrets;
use super::{Context, open};
pub use args::ExportArgs;
use format::{ExportFormat, FileScope};
use lepo_base::error::{Error, Result};
use output::{Document, OutputPath};

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
    if args.all && format.scope() == FileScope::One {
        let many = ExportFormat::list(|format| format.scope() == FileScope::All);
        let own = ExportFormat::list(|format| format.scope() == FileScope::Each);
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
    let documents = match format {
        ExportFormat::Markdown | ExportFormat::Json | ExportFormat::Session => {
            render::documents(&args, format, &store)?
        }
        ExportFormat::Html => html::documents(&args, &store)?,
        ExportFormat::Handoff => handoff::documents(&args, &store)?,
        ExportFormat::Messages | ExportFormat::Chatgpt | ExportFormat::Openwebui | ExportFormat::Pi => {
            foreign_formats::documents(&args, format, &store, context.cwd())?
        }
        ExportFormat::ClaudeCode | ExportFormat::Codex => return native::run(&args, format, &store, context),
    };
    deliver(documents, format, &args, context)?;
    Ok(0)
}

/// Writes the documents where `-o` says, else to stdout.
fn deliver(
    documents: Vec<Document>,
    format: ExportFormat,
    args: &ExportArgs,
    context: &mut Context<'_>,
) -> Result<()> {
    let (count, output) = (documents.len(), args.output.as_deref());
    if output.is_some_and(|output| count > 1 && names_file(output, format)) {
        let why = format!("{count} conversations need a file each with --format {}", format.name());
        let many = ExportFormat::list(|format| format.scope() == FileScope::All);
        return Err(
            Error::usage(why).hint(format!("-o DIR/ writes them there; one file holds all with {many}"))
        );
    }
    // A handoff is masked already.
    if format != ExportFormat::Handoff {
        warn_secrets(documents.iter().map(|document| &document.text[..]));
    }
    match output.map(|output| OutputPath::new(output, count > 1)) {
        None if count > 1 => {
            return Err(Error::usage(format!("{count} sessions need a file each"))
                .hint(format!("lepo export --format {} --all -o DIR", format.name())));
        }
        None if args.open => {
            for document in documents {
                let file = open::temporary(&document.text)?;
                context.out.path(&file);
                open::in_browser(&file)?;
            }
        }
        None => documents.iter().for_each(|document| context.out.untrusted(&document.text)),
        Some(OutputPath::Folder(dir)) if format == ExportFormat::Html => {
            return Err(Error::usage(format!("{} is a directory", dir.display()))
                .hint("with --format html, -o names the file: -o conversations.html"));
        }
        Some(OutputPath::Folder(dir)) => {
            check_folder(dir)?;
            for Document { stem, text } in documents {
                let path = output::write_new(dir, &stem, format.extension(), &text)?;
                context.out.path(&path);
            }
        }
        Some(OutputPath::File(file)) => {
            // Never several, which would be in a folder.
            documents.iter().try_for_each(|document| replace_output(file, &document.text))?;
            context.out.path(file);
            if args.open {
                open::in_browser(file)?;
            }
        }
    }
    Ok(())
}

/// Whether `-o` names a file: an existing one, or a new name with the format's extension.
fn names_file(output: &Path, format: ExportFormat) -> bool {
    let has_ending = || output.extension().is_some_and(|ending| ending == format.extension());
    matches!(OutputPath::new(output, false), OutputPath::File(_)) && (output.exists() || has_ending())
}
