//! A person's word on a request that waits, given later, elsewhere: found, and checked.

use super::transcript::request;
use crate::bubb::{BubbId, Name};
use crate::conv::{End, Forest, Standing};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::tool::{Reply, ToolRequest};

/// The two decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// `--approve`
    Approve,
    /// `--approve` with `--unheld`: also where nothing holds it to its access.
    ApproveUnheld,
    /// `--deny`
    Deny,
}

/// The word, and the exact request it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The request's bubb.
    pub name: Name,
    /// The request, as checked.
    pub request: ToolRequest,
    /// The decision.
    pub verdict: Verdict,
}

impl Verdict {
    pub(super) fn reply(self) -> Reply {
        match self {
            Verdict::Approve | Verdict::ApproveUnheld => Reply::Yes,
            Verdict::Deny => Reply::No,
        }
    }
}

impl Decision {
    /// The request of this id, which must be pending and unedited. What led to it may be another tool's, with
    /// ids of its own.
    pub fn on(store: &Store, forest: &Forest, id: BubbId, verdict: Verdict) -> Result<Decision> {
        let lists = "`lepo ls --pending` lists the requests that wait";
        let ix = forest
            .find(id)
            .ok_or_else(|| Error::usage(format!("no bubb of this store is {id}")).hint(lists))?;
        let name = forest.name(ix);
        // Its bytes are read once: what is checked is what runs.
        let bytes = store.read_unedited(&name)?;
        let found = std::str::from_utf8(&bytes).ok().and_then(|text| request(name.kind, name.hidden, text));
        let request = found.ok_or_else(|| Error::usage(format!("bubb {id} is no request")).hint(lists))?;
        let because = match forest.standing(ix) {
            Standing::Pending => None,
            Standing::Visible => Some("it is visible, so nobody asked for it".to_string()),
            Standing::Answered(by) => Some(format!("{} came of it", forest.name(by).id)),
            Standing::Overtaken(by) => {
                Some(format!("{}, which is newer, goes on from its question", forest.name(by).id))
            }
        };
        if let Some(because) = because {
            return Err(Error::usage(format!("request {id} is not pending: {because}")).hint(lists));
        }
        let conv = forest.conv(ix);
        if conv.end != End::Root {
            return Err(Error::usage(format!("request {id} has no whole conv to its root behind it"))
                .hint("`lepo fsck` tells what is missing"));
        }
        Ok(Decision { name, request, verdict })
    }
}
