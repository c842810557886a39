//! `lepo-import-db DATABASE`: prints the conversations of llm, opencode or Open WebUI in an SQLite database, a line of
//! JSON each, for `lepo import`.
//!
//! A separate program, so that `lepo` links no database. The database is only read, with its write-ahead log.

mod each;
mod foreign;
mod llm;
mod opencode;
mod rows;
mod webui;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use lepo_import::{History, line};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error: this is a bug in lepo-import-db: {}", panic.payload_as_str().unwrap_or("unknown"));
    }));
    let Some(path) = std::env::args_os().nth(1).filter(|path| path != "--help" && path != "-h") else {
        println!(
            "lepo-import-db DATABASE: print the conversations in a database, for `lepo import DATABASE`"
        );
        return ExitCode::SUCCESS;
    };
    match read(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot read {}: {error}", path.to_string_lossy());
            ExitCode::from(2)
        }
    }
}

fn read(path: &std::ffi::OsStr) -> Result<(), Box<dyn std::error::Error>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(std::time::Duration::from_secs(5))?;
    // A transaction reads a consistent snapshot while the database's program continues to write.
    database.execute_batch("begin")?;
    // Later queries take an error, as of a locked database, for a missing table.
    database.query_row("select 1 from sqlite_master", [], |_| Ok(())).optional()?;
    let mut out = BufWriter::with_capacity(1 << 18, std::io::stdout().lock());
    let mut each =
        |format: &str, conversation: &History| writeln!(out, "{}", line(format, conversation)).is_ok();
    let has = |table: &str| rows::has_table(&database, table);
    let has_column = |table: &str, column: &str| rows::has_column(&database, table, column);
    if has_column("responses", "prompt") || (has("turns") && has("threads")) {
        llm::read(&database, &mut each)?;
    } else if (has("session") && has("part")) || (has("session_v2") && has("session_message")) {
        opencode::read(&database, &mut each)?;
    } else if has_column("chat", "chat") {
        webui::read(&database, &mut each)?;
    } else if let Some(tool) = foreign::tool(&database) {
        return Err(format!("it is a database of {tool}, which lepo cannot read").into());
    } else {
        return Err("it is not a database of llm, opencode or Open WebUI".into());
    }
    out.flush()?;
    Ok(())
}
