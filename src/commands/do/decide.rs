//! `--approve` and `--deny`: a word on a request that waits, given later, by anybody who may write the store.

use super::Args;
use crate::bubb::BubbId;
use crate::error::{Error, Result};
use crate::turn::Verdict;

/// What the options say. Only a full id will do: a piece of one may come to mean another bubb.
pub fn verdict(args: &Args) -> Result<Option<(BubbId, Verdict)>> {
    let (option, text, verdict) = match (&args.approve, &args.deny) {
        (Some(id), _) => ("--approve", id, Verdict::Approve),
        (None, Some(id)) => ("--deny", id, Verdict::Deny),
        (None, None) => return Ok(None),
    };
    match BubbId::parse(text.as_bytes()) {
        Some(id) => Ok(Some((id, verdict))),
        None => Err(Error::usage(format!("{option} needs the full id of a request, not {text:?}"))
            .hint("`lepo ls --pending` lists the requests that wait")),
    }
}
