//! Open WebUI's `webui.db`: a row of `chat` has the fields of an exported chat.

use lepo_import::{History, open_webui};
use rusqlite::Connection;

use super::each::FormatSink;
use super::rows::{or_null, text};

pub fn read(database: &Connection, each: &mut FormatSink<'_>) -> rusqlite::Result<()> {
    let created = or_null(database, "chat", "created_at");
    let mut query = database.prepare(&format!("select id, title, chat, {created} from chat order by id"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let quoted = |column: &str| serde_json::Value::from(text(row, column)).to_string();
        let created = text(row, "created_at").filter(|time| time.parse::<f64>().is_ok());
        let document = format!(
            "{{\"id\":{},\"title\":{},\"created_at\":{},\"chat\":{}}}",
            quoted("id"),
            quoted("title"),
            created.unwrap_or_else(|| "null".into()),
            text(row, "chat").unwrap_or_else(|| "null".into()),
        );
        // A chat without messages is passed on too, so that the importer counts it.
        let id = text(row, "id").unwrap_or_default();
        let conversation = open_webui(&document).unwrap_or(History { id, ..History::default() });
        if !each("openwebui", &conversation) {
            break;
        }
    }
    Ok(())
}
