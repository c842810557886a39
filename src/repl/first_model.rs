//! Offers to add a model at the first question, if no model can answer it.

use super::confirm::confirm;
use super::session::ReplSession;
use crate::term::print_status;
use crate::ui::{PartialModel, add_model};
use lepo_base::error::{ExitKind, Result};

/// Offers to add a model, once a session, if none is configured and none was found.
pub(super) async fn offer_model(session: &mut ReplSession<'_>) -> Result<()> {
    const QUESTION: &str = "No model is configured. Add one now? (Y/n): ";
    let settings = session.env.settings();
    let may_lack = session.model.is_none() && settings.models.is_empty() && settings.chosen().is_none();
    if session.offered_model || !may_lack || !session.reader.edits() {
        return Ok(());
    }
    if session.env.interrupt.or(session.env.configured.choose()).await.is_ok() {
        return Ok(());
    }
    session.offered_model = true;
    if !confirm(session, QUESTION).await? {
        return Ok(());
    }
    let configured = &session.env.configured;
    let adding = add_model(PartialModel::default(), true, &configured.settings, &configured.paths);
    match session.env.interrupt.or(adding).await {
        Ok(Some(name)) => session.env.use_model(&name),
        Ok(None) => Ok(()),
        Err(error) if matches!(error.kind, ExitKind::Signal(_)) => {
            print_status("nothing was added");
            session.env.interrupt.reset();
            Ok(())
        }
        Err(error) => {
            super::complain::complain(&error);
            Ok(())
        }
    }
}
