//! What a person may not expect of a turn, said on stderr: where it goes, and what stays when it fails.

use crate::bubb::BubbId;
use crate::commands::line;
use crate::conv::{Forest, Standing};
use crate::error::{Error, Kind};
use crate::store::{Store, now};
use crate::term::say;
use crate::turn::Start;

/// Of a place that nobody chose: it is dated ahead, and will be chosen again; or a request waited there.
pub fn of_place(store: &Store, forest: &Forest, begin: Start) {
    let (Start::Under(from), Some(newest)) = (begin, forest.newest()) else { return };
    let name = forest.name(newest);
    if forest.is_ahead(newest, now()) {
        say(&format!(
            "warning: {}, the newest tail, is dated more than a day ahead; --tail goes on elsewhere",
            name.id
        ));
    }
    let waited = || forest.standing(newest) == Standing::Pending && line::request(store, &name).is_some();
    if from != name.id && waited() {
        say(&format!("note: request {} waits no longer", name.id));
    }
}

/// What is to be gone on with later is gone on with by the model that was named, not by the active one.
pub fn by_the_same_model(mut error: Error, model: Option<&String>) -> Error {
    if let (Kind::Pending, Some(model), Some(hint)) = (&error.kind, model, &error.hint) {
        let model = shlex::try_quote(model).unwrap_or(model.into());
        error.hint = Some(hint.replace("`lepo do --", &format!("`lepo do -m {model} --")));
    }
    error
}

/// A failure with what to do about the question, which is kept: asked once more it would stand there twice.
pub fn what_is_kept(mut error: Error, question: Option<BubbId>) -> Error {
    let hint = error.hint.take().unwrap_or_default();
    if question.is_none() || error.kind != Kind::Remote || hint.contains("--retry") {
        error.hint = Some(hint).filter(|hint| !hint.is_empty());
        return error;
    }
    let between = if hint.is_empty() { "" } else { "; " };
    error.hint(format!("{hint}{between}the question is kept: `lepo do --retry` answers it"))
}
