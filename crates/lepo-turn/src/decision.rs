//! Finds and checks a pending request for `--approve` and `--deny`.

use super::Masking;
use super::body::Body;
use super::unmask::unmasked_text_of;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{ConvEnd, Forest, RequestState};
use lepo_store::store::Store;
use lepo_tool::{ConsentReply, ToolRequest};

/// The decision, or that the user must decide now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// `--approve`.
    Approve,
    /// `--approve` with `--unheld`: also if no sandbox can enforce its access.
    ApproveUnheld,
    /// `--deny`.
    Deny,
    /// The display of the turn asks again.
    Ask,
}

/// A decision, with the exact request.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Bubb of the request.
    pub name: BubbName,
    /// The request, as checked.
    pub request: ToolRequest,
    /// The decision.
    pub verdict: Verdict,
    /// The unmasked text of the request, if its bubb has masks.
    pub truth: Option<String>,
}

impl Verdict {
    pub(super) fn reply(self) -> ConsentReply {
        match self {
            Verdict::Approve | Verdict::ApproveUnheld => ConsentReply::Yes,
            Verdict::Deny => ConsentReply::No,
            Verdict::Ask => ConsentReply::NoTerminal,
        }
    }
}

impl Decision {
    /// Finds the request of this id, which must be pending and unedited. The bubbs before it may be from
    /// another tool, with other ids.
    pub fn on(
        (store, masking): (&Store, &Masking),
        forest: &Forest,
        id: BubbId,
        verdict: Verdict,
    ) -> Result<Decision> {
        let lists = "`lepo ls --pending` lists the requests that wait";
        // A request in another user's store is theirs to decide, though a conversation may continue theirs.
        let ix = forest
            .find(id)
            .filter(|&ix| forest.store_of(ix).is_none())
            .ok_or_else(|| Error::usage(format!("no message {id} in this store")).hint(lists))?;
        let name = forest.name(ix);
        // Its bytes are read once, so that the request that runs is the checked one.
        let bytes = store.read_unedited(&name)?;
        let found =
            std::str::from_utf8(&bytes).ok().and_then(|text| Body::read_named(&name, text).into_request());
        let request =
            found.ok_or_else(|| Error::usage(format!("message {id} is not a request")).hint(lists))?;
        let because = match forest.request_state(ix) {
            RequestState::Pending => store.journal().is_copy(id).then(|| "it is a copy".to_string()),
            RequestState::Visible => Some("it is visible, so it is an ordinary message".to_string()),
            RequestState::Answered(by) => Some(format!("{} is its result", forest.name(by).id)),
            RequestState::Overtaken(by) => {
                Some(format!("{}, which is newer, continues from its question", forest.name(by).id))
            }
        };
        if let Some(because) = because {
            return Err(Error::usage(format!("request {id} is not pending: {because}")).hint(lists));
        }
        let conv = forest.conv(ix);
        if conv.end != ConvEnd::Root {
            return Err(Error::usage(format!("the conversation of request {id} is incomplete"))
                .hint("`lepo fsck` names what is missing"));
        }
        // A refusal does not need the unmasked text.
        let text = std::str::from_utf8(&bytes).ok().filter(|_| verdict != Verdict::Deny);
        let truth = text.map(|text| unmasked_text_of(store, masking, id, text)).transpose()?.flatten();
        let request = match &truth {
            None => request,
            Some(text) => Body::read_named(&name, text)
                .into_request()
                .ok_or_else(|| Error::usage(format!("message {id} is not a request")).hint(lists))?,
        };
        Ok(Decision { name, request, verdict, truth })
    }
}
