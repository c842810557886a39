//! Reads rows leniently, because SQLite does not enforce the types of columns.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

pub fn has_table(database: &Connection, name: &str) -> bool {
    let query = "select 1 from sqlite_master where type = 'table' and name = ?1";
    database.query_row(query, [name], |_| Ok(())).is_ok()
}

pub fn has_column(database: &Connection, table: &str, name: &str) -> bool {
    let query = "select 1 from pragma_table_info(?1) where name = ?2";
    database.query_row(query, [table, name], |_| Ok(())).is_ok()
}

/// Returns the name of a column, or a null of that name if the table lacks it.
pub fn or_null<'n>(database: &Connection, table: &str, name: &'n str) -> std::borrow::Cow<'n, str> {
    match has_column(database, table, name) {
        true => name.into(),
        false => format!("null as {name}").into(),
    }
}

/// Returns a column as text; `None` for null.
pub fn text(row: &Row<'_>, column: &str) -> Option<String> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null => None,
    }
}

/// Returns a column as text; `None` if it is null or empty.
pub fn non_empty(row: &Row<'_>, column: &str) -> Option<String> {
    text(row, column).filter(|text| !text.is_empty())
}

/// Returns a column as a non-negative integer.
pub fn count(row: &Row<'_>, column: &str) -> Option<u64> {
    match row.get_ref(column).ok()? {
        ValueRef::Integer(number) => u64::try_from(number).ok(),
        ValueRef::Real(number) if number >= 0.0 => Some(number as u64),
        _ => None,
    }
}

pub fn bytes(row: &Row<'_>, column: &str) -> Option<Vec<u8>> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        _ => None,
    }
}
