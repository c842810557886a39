//! The MCP servers of a turn: waits until they are ready, and passes their events to the display.

use std::future::Future;
use std::pin::Pin;

use super::event::ask_form;
use super::former_tools::list_tools_of_failed;
use super::turn::Turn;
use super::{Notice, TurnEvent, View};
use crate::config::{FolderTrust, work_folder};
use lepo_base::error::{Error, Result, quoted};
use lepo_tool::mcp::{ElicitationHandler, ElicitationResult, ServerNotice, ServerQuestion, StartingNames};

/// Passes a server's questions and progress to the display of the turn.
pub(super) struct FrontCaller<'f> {
    /// The display.
    pub view: &'f mut dyn View,
    /// Name of the server.
    pub server: &'f str,
}

impl ElicitationHandler for FrontCaller<'_> {
    fn on_progress(&mut self, text: &str) {
        self.view.on_event(TurnEvent::Progress(text));
    }

    async fn elicit(&mut self, question: ServerQuestion) -> ElicitationResult {
        let answering: Pin<Box<dyn Future<Output = ElicitationResult> + '_>> =
            ask_form(self.view, self.server, question);
        answering.await
    }
}

/// Fails without a terminal if a sign-in has expired: a script must not receive an answer without the data of
/// its server.
pub(super) fn sign_ins_hold(turn: &mut Turn<'_>) -> Result<()> {
    let signs_in = turn.view.person().is_some_and(|person| person.signs_in());
    let over = turn.servers.each().iter().find(|server| server.sign_in_is_over);
    match over.filter(|_| !signs_in) {
        None => Ok(()),
        Some(server) => {
            let name = &server.config.name;
            Err(Error::remote(format!("the sign-in to MCP server {name} has expired"))
                .hint(format!("`lepo mcp login {}` signs in again", quoted(name))))
        }
    }
}

/// Whether the user has answered that programs may not run files of the servers' folder.
fn is_folder_refused(turn: &Turn<'_>) -> bool {
    let folder = work_folder(&turn.servers.folders().work_dir);
    let trust = FolderTrust::new(&turn.env.configured.paths);
    folder.is_ok_and(|folder| trust.answer(&folder).is_ok_and(|answer| answer == Some(false)))
}

/// Joins the notices about servers that may have failed for lack of a folder into one, without the reasons that the
/// servers gave: the user knows why.
fn without_reasons(notices: Vec<ServerNotice>) -> Vec<ServerNotice> {
    let mut without: Vec<String> = Vec::new();
    let mut folder = None;
    for notice in &notices {
        if let ServerNotice::KeptOut(name, dir) = notice {
            without.push(name.clone());
            folder = Some(dir.clone());
        }
    }
    let Some(folder) = folder else { return notices };
    without.sort();
    let is_joined = |notice: &ServerNotice| match notice {
        ServerNotice::CannotBeUsed(name, _) => without.contains(name),
        notice => matches!(notice, ServerNotice::KeptOut(..)),
    };
    let mut left: Vec<ServerNotice> = notices.into_iter().filter(|notice| !is_joined(notice)).collect();
    left.push(ServerNotice::LacksFolder(without, folder));
    left
}

/// Waits for `work`, in which servers may start. While one takes long, the display names it. `work` is on the heap: within
/// the future of the turn, its size would count several times on the stack of a debug build.
pub(super) async fn naming_starts<T>(
    view: &mut dyn View,
    starting: StartingNames,
    mut work: Pin<Box<impl Future<Output = T>>>,
) -> T {
    let mut is_named = false;
    let name_them = |names: &[String]| {
        view.on_event(TurnEvent::ServersStarting(names));
        is_named = !names.is_empty();
    };
    let done = starting.watch(work.as_mut(), name_them).await;
    if is_named {
        view.on_event(TurnEvent::ServersStarting(&[]));
    }
    done
}

/// Waits until the tools of each server are known or the server has failed, and reports notices about them.
pub(super) async fn servers_ready(turn: &mut Turn<'_>) -> Result<()> {
    let servers = &mut *turn.servers;
    let ready =
        naming_starts(&mut *turn.view, turn.env.configured.starting.clone(), Box::pin(servers.ready()));
    let notices = turn.env.interrupt.or(async { Ok(ready.await) }).await?;
    let notices = match is_folder_refused(turn) {
        true => without_reasons(notices),
        false => notices,
    };
    for notice in notices {
        turn.view.on_event(TurnEvent::Notice(&Notice::Server(notice)));
    }
    sign_ins_hold(turn)?;
    list_tools_of_failed(turn);
    for server in turn.servers.each() {
        turn.env.pins.first_sight(server)?;
    }
    Ok(())
}
