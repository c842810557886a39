//! The tool `note`: writes a message, as `lepo add` does.

use serde_json::json;

use super::arguments::NoteArguments;
use super::context::ServeContext;
use crate::commands::secret_finder::masked;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::conv::ReadScope;
use lepo_tool::mcp::serve::ToolOutput;
use lepo_turn::write_bubb;

/// Adds the note to the first store, which must contain `prev`.
pub fn note(context: &ServeContext, arguments: &NoteArguments) -> Result<ToolOutput> {
    let NoteArguments { text, prev } = arguments;
    let store = context.stores.open(0)?.map(lepo_store::store::Store::alone);
    let store = store
        .ok_or_else(|| Error::nothing(format!("no store {} to write to", context.stores.display_name(0))))?;
    let kept = masked(text.as_bytes(), "a note");
    let name = if prev == "head" {
        let forest = store.forest_for(&[ReadScope::Tip])?;
        write_bubb(&store, (Role::User, false), None, forest.root_time(), &kept)?
    } else {
        let forest = store.forest_for(&store.address_scopes(prev)?)?;
        let prev = store.find_bubb(&forest, prev)?.ix;
        write_bubb(&store, (Role::User, false), Some(forest.name(prev).id), 0, &kept)?
    };
    let id = name.id.to_string();
    Ok(ToolOutput { text: format!("Added {id}."), structured: json!({ "address": id }), is_error: false })
}
