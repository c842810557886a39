//! The implementations of slash commands.

use std::ops::ControlFlow;
use std::path::Path;

use super::around_turn::check_files;
use super::paths::file_of;
use super::session::ReplSession;
use super::slash_spec::{SAVE, SessionStep, without_save};
use super::turn::{find_waiting, turn};
use super::undo::{leave, tails};
use super::window::compact_conversation;
use crate::browse::{BrowserStart, browse};
use crate::term::{Out, Wrap, columns, copy_to_clipboard, edit, one_line, print_status};
use crate::ui;
use crate::ui::{ViewEvent, ViewState, change_title};
use crate::view::Overviews;
use lepo_base::error::{Error, Result, quoted};
use lepo_base::hint::HintTarget;
use lepo_base::keyword::{Keyword, parse_keyword};
use lepo_base::role::Role;
use lepo_net::fetch::is_url;
use lepo_store::bubb::plural_in_thousands;
use lepo_store::conv::ReadScope;
use lepo_store::store::check_branch_name;
use lepo_tool::ToolMode;
use lepo_turn::attach::{FileContent, FileGatherer, NewFile};
use lepo_turn::config::ModelChoice;
use lepo_turn::{
    Body, Branch, Compaction, ContextFile, KEEP, NextTurn, Position, TurnRequest, TurnStart, Verdict,
    claim_request,
};

/// Starts and lists the MCP servers, which then run for the next turn.
pub(super) async fn servers(session: &mut ReplSession<'_>) -> Result<()> {
    let question = session.env.servers_question().await?;
    if !question.is_empty() {
        let answer = session.env.interrupt.or(ui::agree_to_start(question.clone())).await?;
        session.env.record_start_answer(&question, answer)?;
    }
    let starting = session.env.configured.starting.clone();
    let up = async { Ok(ui::show_starts(starting.clone(), session.env.servers()).await) };
    let (mut servers, notices) = session.env.interrupt.or(up).await?;
    ui::print_server_notices(&notices);
    let listing = async {
        let mut notices = ui::show_starts(starting.clone(), servers.start_named(|_| true)).await;
        notices.extend(servers.list_offers().await);
        Ok(notices)
    };
    let notices = session.env.interrupt.or(listing).await?;
    ui::print_server_notices(&notices);
    session.env.catalogue.fill(servers.each());
    session.out.flush();
    let mut out = Out::stdout();
    out.page();
    ui::tool_table(&mut out, servers.each());
    out.finish()?;
    Ok(())
}

/// Attaches a file to the next question; without one, lists the attached files. `none` removes them.
pub(super) async fn attach(session: &mut ReplSession<'_>, path: &str) -> Result<()> {
    match path {
        "" => {}
        "none" => session.files.clear(),
        path => {
            let file = match is_url(path) {
                true => NewFile::fetch(path)?,
                false => NewFile::open(&file_of(path, session.env.configured.paths.home.as_deref()))?,
            };
            session.files.push(file);
            if let Err(error) = check_files(session).await {
                session.files.pop();
                return Err(error);
            }
        }
    }
    match session.files.as_slice() {
        [] => {
            print_status("Nothing is attached; /attach FILE attaches an image or a PDF to the next question.")
        }
        files => {
            let files: Vec<String> = files.iter().map(NewFile::about).collect();
            print_status(&format!("With the next question: {}", files.join(", ")));
        }
    }
    Ok(())
}

pub(super) fn new_conv(session: &mut ReplSession<'_>) -> Result<()> {
    leave(session, None);
    print_status("The next question begins a new conversation.");
    Ok(())
}

/// Lists the models by number and asks for one; 0 means the current one.
pub(super) async fn set_model(session: &mut ReplSession<'_>, name: &str) -> Result<()> {
    let configured = &session.env.configured;
    let models = ui::listed_models(&configured.settings, &configured.paths);
    let is_listing = name.is_empty();
    for (i, model) in models.iter().enumerate().filter(|_| is_listing) {
        let mut line = String::new();
        let mut wrap = Wrap::new(columns);
        wrap.mark(&format!("{:>3}  ", i + 1), "     ", &mut line);
        wrap.push(&format!("{}{}", model.line(), model.state()), &mut line);
        wrap.finish(&mut line);
        print_status(&line);
    }
    let mut name = name.to_string();
    let chosen = loop {
        if is_listing {
            const QUESTION: &str = "Number (0 keeps the current one): ";
            name = session.reader.answer(QUESTION, &session.env.interrupt).await?.unwrap_or_default();
        }
        let name = name.trim();
        let found = match name.parse::<usize>() {
            _ if matches!(name, "" | "0") => {
                print_status("The model was not changed.");
                return Ok(());
            }
            Ok(number) => models.get(number.wrapping_sub(1)),
            Err(_) => models.iter().find(|model| model.name == name),
        };
        match found {
            Some(model) => break model,
            None if is_listing => print_status(&format!("no model {name} in this list")),
            None => return Err(Error::usage(format!("no model {name}")).hint("/set-model lists them")),
        }
    };
    ui::activate_model(&session.env.configured.settings, &session.env.configured.paths, &chosen.name)?;
    session.env.use_model(&chosen.name)?;
    (session.model, session.chosen) = (None, None);
    print_status(&format!("{} is the default model now; /model switches for one session", chosen.name));
    Ok(())
}

/// Prints the model of this session, or changes it.
pub(super) async fn use_model(session: &mut ReplSession<'_>, name: &str) -> Result<()> {
    if name.is_empty() {
        let name = session.model().await?.name;
        let models = session.env.settings().models.iter().map(|model| model.name.as_str());
        let names: Vec<&str> = models.filter(|other| *other != name).collect();
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        print_status(&format!("model is {name}; /model NAME switches for this session{names}"));
        return Ok(());
    }
    let before = session.env.settings().choose().ok();
    session.env.use_model(name)?;
    if let Err(error) = session.env.settings().choose() {
        if let Some(ModelChoice::Model(before)) = before {
            session.env.use_model(&before.name)?;
        }
        return Err(error);
    }
    session.model = None;
    session.chosen = Some(name.to_string());
    print_status(&format!("switched to {name} for this session"));
    Ok(())
}

/// Copies the last answer of the session to the clipboard of the terminal.
pub(super) fn copy(session: &mut ReplSession<'_>) -> Result<()> {
    let ids = tails(session);
    let forest = session.store.forest_for(&[ReadScope::Ids(ids.clone())])?;
    let answer = ids.into_iter().filter_map(|id| forest.find(id)).find_map(|ix| {
        let mut up = forest.up(ix).map(|ix| forest.name(ix));
        up.find(|name| !name.hidden && name.role == Role::Assistant)
    });
    let Some(answer) = answer else { return Err(Error::nothing("no answer to copy yet")) };
    let text = session.store.text(&answer)?;
    copy_to_clipboard(&text);
    print_status(&format!("copied {} characters, if the terminal allows it", text.chars().count()));
    Ok(())
}

/// Attaches a file, or the text files of a folder, to the next question.
pub(super) fn file(session: &mut ReplSession<'_>, path: &str) -> Result<()> {
    let path = file_of(path, session.env.configured.paths.home.as_deref());
    send_along(session, &path, "the next question")
}

/// Attaches a file, or the text files of a folder, to `question`, with a note.
pub(super) fn send_along(session: &mut ReplSession<'_>, path: &Path, question: &str) -> Result<()> {
    let mut gathering = FileGatherer::default();
    for ContextFile { path, content } in gathering.add_path(path)? {
        match content {
            FileContent::Media(file) => {
                print_status(&one_line(&format!("{} goes with {question}", file.name)));
                session.files.push(file);
            }
            FileContent::Other(bytes) => {
                if std::str::from_utf8(&bytes).is_err() {
                    return Err(Error::usage(format!("{path} is not text")));
                }
                let size = plural_in_thousands(bytes.len(), "byte");
                print_status(&one_line(&format!("{path} ({size}) goes with {question}")));
                session.contexts.push((path, bytes));
            }
        }
    }
    gathering
        .notes()
        .iter()
        .flat_map(|note| ui::notice_lines(note, HintTarget::Session))
        .for_each(|line| print_status(&line));
    Ok(())
}

/// Prints the system prompt of this conversation, or starts a new one with another system prompt.
pub(super) fn system_prompt(session: &mut ReplSession<'_>, text: &str) -> Result<()> {
    if !text.is_empty() {
        leave(session, Some(text));
        print_status("The next question begins a new conversation with this system prompt.");
        return Ok(());
    }
    let forest = session.forest()?;
    let root = session.tip().and_then(|id| forest.find(id)).and_then(|ix| forest.up(ix).last());
    let name = root.map(|root| forest.name(root)).filter(|name| name.role == Role::System);
    let text = match name {
        Some(name) => Some(session.store.text(&name)?)
            .filter(|text| !Body::read_named(&name, text).is_of_repository())
            .unwrap_or_default(),
        None if session.tip().is_some() => String::new(),
        None => session.env.system_prompt()?.unwrap_or_default(),
    };
    print_status(if text.is_empty() { "no system prompt" } else { &text });
    Ok(())
}

/// Prints the tool mode of this session, or changes it; with `--save` the default, too.
pub(super) fn set_tool_mode(session: &mut ReplSession<'_>, text: &str) -> Result<()> {
    let Some(mode) = parse_keyword(without_save(text), ToolMode::LASTING) else {
        let mode = session.env.settings().tool_call_mode.as_str();
        print_status(&format!("tool mode is {mode}; /set-tool-mode auto|manual changes it"));
        return Ok(());
    };
    let save = text.contains(SAVE);
    session.env.use_tool_mode(mode, save)?;
    let until = if save { "from now on, everywhere" } else { "in this session; --save makes it the default" };
    print_status(&format!("tool mode is {} {until}", mode.as_str()));
    Ok(())
}

pub(super) fn tail(session: &mut ReplSession<'_>, address: &str) -> Result<()> {
    let number = address.parse::<usize>().ok().filter(|_| address.len() < 3);
    let number_id =
        number.and_then(|number| session.numbered.get(number.checked_sub(1)?)).map(|id| id.to_string());
    let address = number_id.as_deref().unwrap_or(address);
    let forest = session.store.forest_at(false, Some(address))?;
    let found = session.store.find_bubb(&forest, address)?;
    let id = forest.name(found.ix).id;
    session.undo_steps.clear();
    let branch = found.by_branch.then(|| Branch { name: address.to_string(), at: id });
    session.conversation.position = Position { branch, ..Position::at(Some(id)) };
    let position = ui::named_position(&session.store, &forest, found.ix);
    print_status(&one_line(&format!("continuing {position}")));
    find_waiting(session, forest.name(found.ix))
}

/// Opens the tree at the session's position; the session continues where Enter was pressed.
pub(super) fn tree(session: &mut ReplSession<'_>) -> Result<()> {
    let Position { tip, pending, unanswered, .. } = session.conversation.position;
    if pending.is_some() {
        return Err(Error::nothing("a request waits for your consent: the session cannot move now")
            .hint("/approve or /deny it first"));
    }
    let Some(at) = unanswered.or(tip) else {
        return Err(Error::nothing("there is no conversation to look at yet"));
    };
    if !session.is_on_terminal() {
        return Err(Error::usage("/tree needs a terminal").hint("`lepo log --graph` prints the tree"));
    }
    let mut chosen = None;
    let mut go_on = |id| {
        chosen = Some(id);
        Ok(ControlFlow::Break(()))
    };
    let math = Some(session.display.math).filter(|_| !session.display.plain);
    let start = BrowserStart { tree_at: Some(at), paint: session.paint, math, go_on: &mut go_on };
    browse(&session.store, start)?;
    match chosen {
        Some(id) => tail(session, &id.to_string()),
        None => {
            print_status("the session continues where it was");
            Ok(())
        }
    }
}

/// Continues from a summary of the conversation, which excludes its last turns.
pub(super) async fn compact(session: &mut ReplSession<'_>, instruction: &str) -> Result<()> {
    let NextTurn { forest, start: TurnStart::Under(tail) } = session.next_turn(false)? else {
        return Err(Error::nothing("there is nothing to summarise yet"));
    };
    let instruction = Some(instruction.trim()).filter(|text| !text.is_empty());
    let id = compact_conversation(session, &forest, Compaction { tail, keep: KEEP, instruction }).await?;
    let forest = session.forest()?;
    let id = ui::ShortIds::new(forest.all().map(|ix| forest.name(ix).id)).show(id);
    print_status(&format!("continuing from a summary: {id}; the conversation before it is unchanged"));
    Ok(())
}

pub(super) fn show(session: &mut ReplSession<'_>) -> Result<()> {
    let NextTurn { forest, start } = session.next_turn(false)?;
    ui::show_past(session.display, (session.out, session.paint), &session.store, &forest, start)
}

pub(super) fn name_branch(session: &mut ReplSession<'_>, name: &str) -> Result<()> {
    check_branch_name(name)?;
    let at = session.tip().ok_or_else(|| {
        Error::nothing("there is nothing to name yet").hint("ask something first: a branch names a message")
    })?;
    if !ui::make_branch(&session.store, name, at)? {
        return Err(Error::nothing(format!("branch {name} already exists"))
            .hint(format!("/tail {name} continues from it; `lepo branch -f {}` moves it", quoted(name))));
    }
    print_status(&format!("branch {name} now follows this conversation"));
    session.conversation.position.branch = Some(Branch { name: name.to_string(), at });
    Ok(())
}

/// Returns a question from the user's editor, printed as if typed.
pub(super) fn edit_question(text: &str) -> Result<SessionStep> {
    let edited = edit(text.as_bytes(), ".md").and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| Error::usage("it is not UTF-8").because(error))
    });
    let text = edited?;
    if text.trim().is_empty() {
        print_status("Nothing was asked.");
        return Ok(SessionStep::Prompt);
    }
    let text = text.trim_end_matches(['\n', '\r']);
    print_status(&format!("> {}", text.replace('\n', "\n  ")));
    Ok(SessionStep::Turn(Some(text.to_string())))
}

/// Sets the title of the conversation; without a text, prints it.
pub(super) fn title(session: &mut ReplSession<'_>, text: &str) -> Result<()> {
    let forest = session.forest()?;
    let at = session
        .tip()
        .and_then(|id| forest.find(id))
        .ok_or_else(|| Error::nothing("there is nothing to name yet").hint("ask something first"))?;
    let overviews = Overviews::new(&session.store, &forest);
    let overview = overviews.overview(at);
    if !text.is_empty() {
        change_title(&session.store, overview.root, text)?;
    }
    // Titles are read here, after the change.
    match overview.title() {
        Some(title) => print_status(&one_line(&format!("title: {title}"))),
        None => print_status("no title; to set one: /title WORDS"),
    }
    Ok(())
}

/// The minimum length of the part of an id that identifies a request.
const LEAST_OF_ID: usize = 4;

/// Runs or refuses the pending request, and continues its turn.
pub(super) async fn decide(session: &mut ReplSession<'_>, verdict: Verdict) -> Result<ViewState> {
    let id = session.conversation.position.pending.ok_or_else(|| {
        Error::nothing("no request is pending here")
            .hint("/ls lists the conversations, /tail ID continues at a pending request")
    })?;
    // Without a model the request still waits.
    session.model().await?;
    let store = session.store.clone();
    let (_claim, next, decision) = claim_request((&store, &session.env.masking), id, verdict)?;
    session.conversation.position.pending = None;
    let state = ViewState::Idle.after(ViewEvent::Entered);
    let ask = TurnRequest { decision: Some(decision), ..TurnRequest::new(next.start, None, &session.runs) };
    turn(session, state, &next.forest, ask).await
}

/// Returns the decision on the pending request, which `named` may identify by its id or one end of it.
pub(super) fn decision(session: &ReplSession<'_>, named: &str, verdict: Verdict) -> Result<SessionStep> {
    let (named, id) =
        (named.to_ascii_uppercase(), session.conversation.position.pending.map(|id| id.to_string()));
    let is_meant = |id: &String| {
        let is_part = named.len() >= LEAST_OF_ID && (id.starts_with(&named) || id.ends_with(&named));
        named.is_empty() || is_part
    };
    match id {
        Some(id) if !is_meant(&id) => Err(Error::usage(format!("the pending request here is {id}"))
            .hint("/tail ID continues at another one")),
        _ => Ok(SessionStep::Decide(verdict)),
    }
}
