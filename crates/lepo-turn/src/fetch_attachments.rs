//! Fetches the resources and the prompt of MCP servers for a question. All of them are fetched before
//! anything is written.

use super::attach::{FileContent, NewFile, store_file, store_files};
use super::folders::{StartNeeds, ask_about_start};
use super::question::{Question, fenced};
use super::result_text::{ResultBuilder, blob_line};
use super::server_attachments::{ResourceAddress, ServerContent, ServerPrompt};
use super::servers::{FrontCaller, naming_starts, servers_ready};
use super::turn::Turn;
use super::{Masking, Notice, TurnEvent};
use lepo_base::error::{Error, Result};
use lepo_base::hint::Hint;
use lepo_base::role::Role;
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_tool::mcp::{
    PromptMessage, ResourceContent, ResultBlock, fill_prompt, listed_prompt, read_resource, wake_server,
};

/// Fetches the resources and the prompt from their servers. Writes nothing but blobs.
///
/// If a prompt lacks a single argument, the text of the question becomes this argument, and `question`
/// becomes `None`.
pub(super) async fn fetch(
    turn: &mut Turn<'_>,
    served: &ServerContent,
    question: &mut Option<Question>,
) -> Result<Vec<(Role, String)>> {
    if served.is_empty() {
        return Ok(Vec::new());
    }
    if turn.env.settings().tool_call_mode == ToolMode::Off {
        return Err(Error::usage("tools are off, including MCP servers")
            .hint("--tools manual, or `tool_call_mode` in config.toml, turns them on"));
    }
    let calls = served.resources.iter().map(|address| address.server.as_str());
    let calls: Vec<&str> = calls.chain(served.prompt.iter().map(|prompt| prompt.server.as_str())).collect();
    ask_about_start(turn, StartNeeds { lists: true, calls: &calls, model: false }).await?;
    servers_ready(turn).await?;
    for server in &calls {
        let waking = naming_starts(
            &mut *turn.view,
            turn.env.configured.starting.clone(),
            Box::pin(wake_server(turn.servers, server)),
        );
        turn.env.interrupt.or(waking).await?;
    }
    let (store, limit) = (turn.env.store.clone(), turn.env.settings().output_limit.get() as usize);
    let mut opening = Vec::new();
    for address in &served.resources {
        let Turn { env, servers, view, .. } = turn;
        let mut caller = FrontCaller { view: &mut **view, server: &address.server };
        let reading = read_resource(servers, &address.server, &address.uri, &mut caller);
        let contents = env.interrupt.or(reading).await?;
        let bytes: usize = contents.iter().map(|content| content.bytes.len()).sum();
        turn.view.on_event(TurnEvent::Notice(&Notice::ResourceRead(address.to_string(), bytes)));
        let text = resource_text(&store, address, contents, (limit, &turn.env.masking))?;
        opening.push((Role::System, text));
    }
    if let Some(prompt) = &served.prompt {
        let messages = prompt_messages(turn, prompt, question).await?;
        for message in messages {
            opening.push(message_text(turn, &store, &prompt.server, message, limit)?);
        }
    }
    Ok(opening)
}

async fn prompt_messages(
    turn: &mut Turn<'_>,
    request: &ServerPrompt,
    question: &mut Option<Question>,
) -> Result<Vec<PromptMessage>> {
    let Turn { env, servers, view, .. } = turn;
    let mut caller = FrontCaller { view: &mut **view, server: &request.server };
    let filling = async {
        let prompt = listed_prompt(servers, &request.server, &request.name).await?;
        let mut named = request.named.clone();
        let missing = prompt.missing(&named, &request.args);
        if let ([name], Some(words)) = (missing.as_slice(), question.as_ref().and_then(Question::text_alone))
        {
            named.push((name.to_string(), words.to_string()));
            *question = None;
        }
        let arguments = prompt.arguments(&named, &request.args).map_err(|why| {
            let error = Error::usage(why);
            match missing.first() {
                Some(name) => {
                    error.hint(Hint::default().either(format!("--arg {name}=…"), format!("{name}=…")))
                }
                None => error,
            }
        })?;
        fill_prompt(servers, &request.server, &request.name, arguments, &mut caller).await
    };
    env.interrupt.or(filling).await
}

/// Converts a message of a prompt to a bubb; an image of the user is attached like a file of a question.
fn message_text(
    turn: &Turn<'_>,
    store: &Store,
    server: &str,
    message: PromptMessage,
    limit: usize,
) -> Result<(Role, String)> {
    let role = if message.by_assistant { Role::Assistant } else { Role::User };
    let text = match message.block {
        ResultBlock::Text(text) => capped(store, &text, (limit, &turn.env.masking))?,
        ResultBlock::Bytes(what, bytes) => match NewFile::of_bytes(&what, bytes)? {
            FileContent::Media(file) if role == Role::User => {
                turn.env.configured.check_files(std::slice::from_ref(&file), turn.config)?;
                let text = format!("[{what} of server {server}]");
                store_files(store, Question { text, files: vec![file], ..Question::default() })?
            }
            FileContent::Media(file) => format!("[{what}]\n{}", store_file(&file, store)?.line()),
            FileContent::Other(bytes) => {
                format!("[{what}]\n{}", blob_line(store, &turn.env.masking, &bytes)?)
            }
        },
    };
    Ok((role, text))
}

/// Formats the contents of a resource, each text in a fence, then a line for each blob.
fn resource_text(
    store: &Store,
    address: &ResourceAddress,
    contents: Vec<ResourceContent>,
    (limit, masking): (usize, &Masking),
) -> Result<String> {
    let (mut parts, mut blobs) = (Vec::new(), Vec::new());
    for content in contents {
        let name = match content.uri == address.uri {
            true => address.to_string(),
            false => format!("{address} ({})", content.uri),
        };
        let mime = content.mime.map(|mime| format!(", {mime}")).unwrap_or_default();
        match String::from_utf8(content.bytes) {
            Ok(text) if content.is_text => {
                let mut capped = ResultBuilder::new(Vec::new(), masking);
                capped.add_capped(store, &text, limit)?;
                parts.push(fenced(
                    &format!("{name}{mime}"),
                    display_text(&capped).trim_end_matches(['\n', '\r']),
                ));
                blobs.append(&mut capped.blobs);
            }
            bytes => {
                let bytes = bytes.map_or_else(|error| error.into_bytes(), String::into_bytes);
                parts.push(format!("{name}{mime}"));
                blobs.push(blob_line(store, masking, &bytes)?);
            }
        }
    }
    let mut text = parts.join("\n\n");
    for line in blobs {
        text.push('\n');
        text.push_str(&line);
    }
    Ok(text)
}

/// Returns a text unchanged, or its start and end, followed by the line of a blob with the whole text.
fn capped(store: &Store, text: &str, (limit, masking): (usize, &Masking)) -> Result<String> {
    let mut capped = ResultBuilder::new(Vec::new(), masking);
    capped.add_capped(store, text, limit)?;
    Ok(match capped.blobs.as_slice() {
        [] => text.to_string(),
        lines => format!("{}\n{}", display_text(&capped).trim_end_matches('\n'), lines.join("\n")),
    })
}

fn display_text(text: &ResultBuilder) -> String {
    String::from_utf8_lossy(&text.text).into_owned()
}
