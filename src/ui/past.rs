//! Bubbs printed as they stand in the store, and the conversation so far: answers in the form that their
//! Markdown asks for.

use std::io::Read;

use super::Shown;
use crate::bubb::{Kind, Name};
use crate::conv::{Conv, End, Forest};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::term::{Out, Paint, heading, say};
use crate::turn::Start;

/// Prints the conv that a turn begins at.
pub fn show_past(
    shown: Shown,
    (out, paint): (&mut Out, Paint),
    store: &Store,
    forest: &Forest,
    begin: Start,
) -> Result<()> {
    let Some(ix) = begin.id().and_then(|id| forest.find(id)) else { return Ok(()) };
    let conv = forest.conv(ix);
    warn_incomplete(&conv);
    for ix in conv.path {
        let name = forest.name(ix);
        if shown.all || !name.hidden {
            print_formed(shown, (out, paint), store, &name)?;
        }
    }
    out.flush();
    Ok(())
}

/// Says that a conv which ends without a root is incomplete.
pub fn warn_incomplete(conv: &Conv) {
    match conv.end {
        End::Root => {}
        End::Missing(id) => say(&format!("warning: bubb {id} not found: incomplete conversation")),
        End::Cycle(id) => {
            say(&format!("warning: bubb {id} leads back into its own conv: incomplete conversation"))
        }
    }
}

fn print_formed(shown: Shown, (out, paint): (&mut Out, Paint), store: &Store, name: &Name) -> Result<()> {
    let markdown = if name.kind == Kind::Assistant { shown.markdown(out, paint) } else { None };
    let Some(mut markdown) = markdown else { return print_bubb(store, name, out, paint) };
    let mut formed = heading(name, paint);
    formed.push('\n');
    markdown.push(&store.read(name)?, &mut formed);
    markdown.finish(&mut formed);
    out.trusted(&formed);
    out.trusted(if out.at_line_start() { "\n" } else { "\n\n" });
    Ok(())
}

/// A bubb under its heading.
pub fn print_bubb(store: &Store, name: &Name, out: &mut Out, paint: Paint) -> Result<()> {
    out.trusted(&heading(name, paint));
    out.trusted("\n");
    copy_bubb(store, name, out)?;
    out.trusted(if out.at_line_start() { "\n" } else { "\n\n" });
    Ok(())
}

/// A bubb's bytes, in pieces: it may be larger than memory.
pub fn copy_bubb(store: &Store, name: &Name, out: &mut Out) -> Result<()> {
    let mut file = store.open(name)?;
    let mut buffer = [0; 16 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => out.untrusted(&buffer[..n]),
            Err(error) => {
                let path = store.path_of(name).display().to_string();
                return Err(Error::store(format!("cannot read {path}")).because(error));
            }
        }
        if out.closed() {
            return Ok(());
        }
    }
}
