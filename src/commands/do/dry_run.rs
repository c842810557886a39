//! `--dry-run`: prints the first request. Nothing is written, run, started, downloaded or sent.

use std::sync::Arc;

use super::DoArgs;
use super::document::{DoDocument, DryRunCall, DryRunFields, DryRunMessage, DryRunTool, PrefixFields};
use super::new_conversation::apply_new_setting;
use super::setup::{Setup, read_tail, run_in_turn_env};
use super::turn_input::DoInput;
use super::turn_output::turn_view;
use crate::commands::Context;
use crate::term::one_line;
use crate::ui;
use lepo_base::error::{Error, Result};
use lepo_base::keyword::Keyword;
use lepo_base::media::Media;
use lepo_base::role::Role;
use lepo_model::{ChatMessage, ModelConfig, ToolCall, ToolSpec};
use lepo_net::runtime::current_thread;
use lepo_store::bubb::{plural_in_thousands, thousands};
use lepo_store::store::Store;
use lepo_turn::{FirstRequest, SharedPrefix, StartOptions, TurnRequest, first_request, start};

/// Bytes of text per token, roughly.
const BYTES_OF_TOKEN: usize = 4;

pub fn show_first_request(args: &mut DoArgs, input: DoInput, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    apply_new_setting(args, setup.configured.settings.new, context)?;
    let args = &*args;
    let servers = setup.servers()?;
    let config = setup.configured.choose_offline()?;
    let failed = |error| Error::store("cannot make a temporary directory").because(error);
    let nowhere = tempfile::tempdir().map_err(failed)?;
    let store = match context.find_store()? {
        Some(store) => store,
        None if args.retry || args.tail.is_some() => {
            return Err(Error::usage("there is no store here").hint("ask something first: lepo do QUESTION"));
        }
        None => Store::open_empty(nowhere.path(), &setup.dir_and_servers().0)?,
    };
    let store = Arc::new(store);
    let (forest, tail) = read_tail(args, &store, args.new)?;
    if !args.quiet {
        args.tail.as_deref().map_or(Ok(()), |tail| ui::note_ends(&store, tail))?;
    }
    let start = start(&store, &forest, StartOptions { new: args.new, tail, retry: args.retry })?;
    let runtime = current_thread()?;
    let first = run_in_turn_env(runtime, (setup.configured, Some(servers)), (&store, true), async |env| {
        let insts = ui::insts_with_warnings(env.insts()?);
        let DoInput { question, served, schema, code_only, skill, .. } = input;
        let ask = TurnRequest {
            served,
            schema,
            code_only,
            skill,
            unmasked: args.keeping.unmasked,
            ..TurnRequest::new(start, question, &args.run)
        };
        let mut view = turn_view(context, args.display_options(env.settings()));
        let first = first_request(env, (&config, &insts), &forest, &mut view, ask).await;
        view.finish();
        first
    })?;
    match args.json {
        true => context.out.document(&DoDocument::Request(&document(&first, &config))),
        false => print(&first, &config, context),
    }
    Ok(0)
}

fn print(first: &FirstRequest, config: &ModelConfig, context: &mut Context<'_>) {
    let mut head = vec![format!("model: {}", model_location(config))];
    let fields = first.fields.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>();
    if !fields.is_empty() {
        head.push(format!("fields: {}", fields.join(", ")));
    }
    let mut tools: Vec<String> = first.tools.iter().map(|tool| tool.name.clone()).collect();
    tools.extend(first.not_asked.iter().map(|server| format!("{server} (not asked)")));
    if !tools.is_empty() {
        let forbidden = if first.calls_nothing { ", not to be called" } else { "" };
        head.push(format!("tools: {}{forbidden}", tools.join(", ")));
    }
    if let Some(schema) = &first.schema {
        head.push(format!("schema: {}, {}", schema.name, size(schema.schema.to_string().len())));
    }
    if let Some(SharedPrefix { percent, difference }) = &first.prefix {
        let difference = difference.iter().map(|difference| format!("; differs at {difference}"));
        head.push(format!("prefix: {percent} % of the last request{}", difference.collect::<String>()));
    }
    if first.own_general {
        head.push("general: your own text goes along in every request".to_string());
    }
    let messages = plural_in_thousands(first.messages.len(), "message");
    head.push(format!("total: {messages}, {}", size(all_bytes(first))));
    head.iter().for_each(|line| context.out.line(&one_line(line)));
    for (message, files) in with_files(first) {
        let title = format!("# {}, {}", message.role.as_str(), size(bytes(message)));
        context.out.line("");
        context.out.line(&title);
        context.out.untrusted(message.text.trim_end_matches('\n').as_bytes());
        context.out.line("");
        for call in &message.calls {
            context.out.line(&one_line(&format!("[call {} {}]", call.name, call.arguments)));
        }
        files.iter().for_each(|file| context.out.line(&one_line(&format!("[{file}]"))));
    }
}

fn document<'d>(first: &'d FirstRequest, config: &'d ModelConfig) -> DryRunFields<'d> {
    let call = |call: &'d ToolCall| DryRunCall { name: &call.name, arguments: &call.arguments };
    let message = |(message, files): (&'d ChatMessage, Vec<String>)| DryRunMessage {
        role: message.role.into(),
        text: &message.text,
        bytes: bytes(message),
        tokens: tokens(bytes(message)),
        calls: message.calls.iter().map(call).collect(),
        files,
    };
    let tool = |tool: &'d ToolSpec| DryRunTool {
        name: &tool.name,
        description: &tool.description,
        schema: &tool.schema,
    };
    let prefix = first.prefix.as_ref();
    DryRunFields {
        model: &config.name,
        provider: config.provider.as_str(),
        fields: &first.fields,
        messages: with_files(first).map(message).collect(),
        tools: first.tools.iter().map(tool).collect(),
        not_asked: &first.not_asked,
        prefix: prefix
            .map(|prefix| PrefixFields { percent: prefix.percent, difference: prefix.difference.as_deref() }),
        own_general: first.own_general,
        schema: first.schema.as_ref().map(|schema| &schema.schema),
        bytes: all_bytes(first),
        tokens: tokens(all_bytes(first)),
    }
}

fn file_label(media: Media, name: &str, len: u64) -> String {
    format!("{} {name}, {}", media.mime(), plural_in_thousands(len as usize, "byte"))
}

/// Pairs the messages with their files; new files belong to the last question.
fn with_files(first: &FirstRequest) -> impl Iterator<Item = (&ChatMessage, Vec<String>)> {
    let question_index = first.messages.iter().rposition(|message| message.role == Role::User);
    first.messages.iter().enumerate().map(move |(at, message)| {
        let labels = message.files.iter().map(|file| file_label(file.media, &file.name, file.len));
        let new = first.files.iter().filter(|_| Some(at) == question_index);
        let new = new.map(|file| file_label(file.media, &file.name, file.len));
        (message, labels.chain(new).collect())
    })
}

/// Formats the name of the model and its server or program.
fn model_location(config: &ModelConfig) -> String {
    let ModelConfig { name, model, .. } = config;
    let provider = config.provider.as_str();
    let at = match config.command.first() {
        Some(program) => program.clone(),
        None => config.base_url.clone(),
    };
    let parts = [format!("{provider} {model}"), at];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    format!("{name} ({})", parts.join(", "))
}

fn bytes(message: &ChatMessage) -> usize {
    let calls = message.calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
    message.text.len() + calls.sum::<usize>()
}

fn all_bytes(first: &FirstRequest) -> usize {
    let messages: usize = first.messages.iter().map(bytes).sum();
    let tools = first.tools.iter();
    let tools = tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len());
    let schema = first.schema.as_ref().map_or(0, |schema| schema.schema.to_string().len());
    messages + tools.sum::<usize>() + schema
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_OF_TOKEN)
}

fn size(bytes: usize) -> String {
    let size = plural_in_thousands(bytes, "byte");
    format!("{size}, about {} tokens", thousands(tokens(bytes) as u64))
}
