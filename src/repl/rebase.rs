//! `/rebase`: the conversation as one text in the editor; the session continues at the new end.

use super::session::ReplSession;
use super::undo::leave;
use crate::rebase::{EditableLine, EditedLine, edit_line, notes, why_unchanged, write_edited_line};
use crate::rebase_text::RangeBase;
use crate::term::print_status;
use crate::ui::{ShortIds, notice_lines};
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;
use lepo_store::bubb::plural_in_thousands;
use lepo_turn::Position;

pub(super) fn rebase(session: &mut ReplSession<'_>, address: &str) -> Result<()> {
    if session.conversation.position.pending.is_some() {
        return Err(Error::nothing(
            "a request waits for your consent: the conversation cannot be edited now",
        )
        .hint("/approve or /deny it first"));
    }
    let Position { tip, unanswered, .. } = session.conversation.position;
    let own = unanswered.or(tip).map(|id| id.to_string());
    let address = Some(address.to_string()).filter(|address| !address.is_empty()).or(own);
    let Some(address) = address else { return Err(Error::nothing("there is no conversation to edit yet")) };
    let store = session.store.clone();
    let scope = store.address_scopes(&address)?;
    let forest = store.forest_for(&scope)?;
    let found = store.find_address(&forest, &address)?;
    let line = EditableLine::new(&store, forest, &found, (RangeBase::Own, None), false)?;
    let Some(edited) = edit_line(&line, (&session.env.configured.paths.texts(), ""), |edited| {
        write_edited_line(&store, edited, None, || Ok(()))
    })?
    else {
        print_status("nothing changed");
        why_unchanged().iter().for_each(print_status);
        return Ok(());
    };
    let at = HintTarget::Session;
    for note in notes(&edited, false) {
        print_status(&note.render(at));
    }
    print_typed_secrets(session, &edited);
    leave(session, None);
    session.conversation.position.tip = Some(edited.tail);
    let forest = session.forest()?;
    let count =
        forest.find(edited.tail).map_or(0, |ix| forest.up(ix).filter(|&ix| forest.is_question(ix)).count());
    let short = ShortIds::new(forest.all().map(|ix| forest.name(ix).id)).show(edited.tail);
    print_status(&format!(
        "continuing the edited conversation: {short} ({}); the one before it is unchanged",
        plural_in_thousands(count, "question")
    ));
    Ok(())
}

/// Reports apparent secrets in new text, which is stored as typed.
fn print_typed_secrets(session: &ReplSession<'_>, edited: &EditedLine) {
    let masking = &session.env.masking;
    for copy in edited.own.iter().filter_map(|index| edited.copies.get(*index)) {
        let text = String::from_utf8_lossy(copy.new_text().unwrap_or_default());
        masking.screen_question(&text, std::slice::from_ref(&(0..text.len())));
        if let Some(notice) = masking.typed_secret_notice(copy.name.id) {
            notice_lines(&notice, HintTarget::Session).iter().for_each(print_status);
        }
    }
}
