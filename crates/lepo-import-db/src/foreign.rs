//! Databases of tools that are not supported, so that an error can name the tool.

use rusqlite::Connection;

use super::rows::has_column;

/// Columns that are a tool's own.
type OwnColumns = &'static [(&'static str, &'static str)];

/// The tools: a name, and a table with a column for each mark.
const TOOLS: &[(&str, OwnColumns)] = &[
    ("Copilot CLI", &[("turns", "user_message"), ("turns", "assistant_response")]),
    ("Goose", &[("sessions", "working_dir"), ("messages", "content_json")]),
    ("Crush", &[("sessions", "parent_session_id"), ("messages", "parts")]),
    ("Zed", &[("threads", "data_type"), ("threads", "data")]),
    ("Cursor", &[("cursorDiskKV", "key")]),
    ("VS Code", &[("ItemTable", "key")]),
    ("Messages of macOS", &[("chat", "guid"), ("handle", "id")]),
];

/// Returns the tool whose database this is, if it is a tool without support.
pub fn tool(database: &Connection) -> Option<&'static str> {
    let has_all =
        |columns: OwnColumns| columns.iter().all(|(table, column)| has_column(database, table, column));
    TOOLS.iter().find(|(_, columns)| has_all(columns)).map(|(name, _)| *name)
}
