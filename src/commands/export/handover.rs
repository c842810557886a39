//! Collects the messages and commands of a hand-over from the store.

use std::collections::HashSet;

use super::args::ExportArgs;
use super::handoff::{HandoffCommand, HandoffConversation, HandoffMessage, text};
use super::output::OutputPath;
use super::render::ExportFormat;
use super::{output, render};
use crate::commands::Context;
use crate::commands::address_args::find_one;
use crate::commands::output_file::{check_folder, replace_output};
use crate::commands::secret_finder::masker;
use crate::term::{StatusLine, print_status};
use crate::ui::{read_request, warn_incomplete};
use crate::view::Overviews;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{model_label, words};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;
use lepo_tool::ToolRequest;
use lepo_turn::StoppedAnswers;

/// Default limit of the text, in bytes.
const BYTES: usize = 24 << 10;

pub fn run(args: &ExportArgs, store: &Store, context: &mut Context<'_>) -> Result<u8> {
    let [address] = &args.addresses[..] else {
        return Err(Error::usage("only --format html takes several addresses"));
    };
    let forest = store.forest()?;
    let tip = find_in(store, &forest, address)?;
    let conv = forest.conv(tip);
    warn_incomplete(&conv);
    let told = gather(store, &forest, &conv.path)?;
    if told.messages.is_empty() {
        return Err(Error::nothing("nothing to hand over: all messages are hidden"));
    }
    let most = args.bytes.unwrap_or(BYTES);
    let (document, left) = text(&told, most).map_err(|needed| {
        Error::usage(format!("--bytes {most} is too small: the last question needs {needed}"))
    })?;
    if left > 0 {
        print_status(&StatusLine::note(format!(
            "the last answer is cut: {left} bytes left out; --bytes takes more"
        )));
    }
    match args.output.as_deref().map(|output| OutputPath::new(output, false)) {
        None => context.out.untrusted(document.as_bytes()),
        Some(OutputPath::Folder(dir)) => {
            check_folder(dir)?;
            let stem = output::stem(&render::local(forest.name(tip).id), &words(&told.title));
            let extension = ExportFormat::Handoff.extension();
            let path = output::write_new(dir, &stem, extension, document.as_bytes())?;
            context.out.path(&path);
        }
        Some(OutputPath::File(file)) => {
            replace_output(file, document.as_bytes())?;
            context.out.path(file);
        }
    }
    Ok(0)
}

/// Reads the messages and commands of a path, masked.
fn gather(store: &Store, forest: &Forest, path: &[Ix]) -> Result<HandoffConversation> {
    let (facts, masker) = (store.journal().facts(), masker());
    let mask = |text: &str| masker.mask(text).text.replace('\0', "\u{FFFD}");
    let (mut messages, mut ran) = (Vec::new(), Vec::new());
    let stopped = StoppedAnswers::new(store, forest);
    for name in path.iter().map(|&ix| forest.name(ix)).filter(|name| stopped.is_shown(name)) {
        let text = store.text(&name)?;
        let fact = facts.get(&name.id);
        let heading = match name.kind {
            Role::User => "User".to_string(),
            Role::System => "Context".to_string(),
            Role::Tool => "Tool".to_string(),
            Role::Assistant => match fact.and_then(|fact| fact.model.as_deref()) {
                Some(model) => format!("Assistant ({})", model_label(model)),
                None => "Assistant".to_string(),
            },
        };
        let heading = if stopped.contains(name.id) { format!("{heading} (stopped)") } else { heading };
        if let (Role::System, Some(rest)) = (name.kind, text.strip_prefix("$ ")) {
            let command = rest.lines().next().unwrap_or_default();
            ran.push((
                name.id,
                HandoffCommand { command: mask(command), exit: fact.and_then(|fact| fact.exit) },
            ));
        }
        messages.push(HandoffMessage { is_question: name.kind == Role::User, heading, text: mask(&text) });
    }
    // Requests and results are hidden branches of the path.
    let mut seen: HashSet<Ix> = path.iter().copied().collect();
    let hidden = |ix: Ix| forest.children(ix).filter(|child| forest.name(*child).hidden).collect::<Vec<_>>();
    let mut left: Vec<Ix> = path.iter().flat_map(|&ix| hidden(ix)).collect();
    while let Some(ix) = left.pop() {
        if !seen.insert(ix) {
            continue;
        }
        let below = hidden(ix);
        let name = forest.name(ix);
        if let Some(ToolRequest::Command(request)) = read_request(store, &name) {
            let result = below.iter().map(|&ix| forest.name(ix)).find(|name| name.kind == Role::Tool);
            let exit = result.and_then(|result| facts.get(&result.id)?.exit);
            ran.push((name.id, HandoffCommand { command: mask(&request.command), exit }));
        }
        left.extend(below);
    }
    ran.sort_by_key(|(id, _)| *id);
    let overviews = Overviews::new(store, forest);
    let title = path.last().and_then(|&tip| overviews.overview(tip).title());
    let first = || {
        messages.iter().find(|message| message.is_question).map(|message| words(&message.text).into_owned())
    };
    let title = title.map(mask).or_else(first).unwrap_or_default();
    Ok(HandoffConversation { title, messages, ran: ran.into_iter().map(|(_, ran)| ran).collect() })
}

/// Resolves an address in a forest that contains all bubbs.
pub fn find_in(store: &Store, forest: &Forest, address: &str) -> Result<Ix> {
    let (found_in, found) = find_one(store, address, &[])?;
    let id = found_in.name(found.ix).id;
    forest.find(id).ok_or_else(|| Error::nothing(format!("message {id} no longer exists")))
}
