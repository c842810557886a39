//! The conversation so far, printed like it was: answers in the form that their Markdown asks for.

use crate::bubb::{Kind, Name};
use crate::commands::{Context, show, warn_incomplete};
use crate::conv::Forest;
use crate::error::Result;
use crate::repl::Shown;
use crate::store::Store;
use crate::term::heading;
use crate::turn::Start;

/// Prints the conv that a turn begins at.
pub fn show(
    shown: Shown,
    context: &mut Context<'_>,
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
            bubb(shown, context, store, &name)?;
        }
    }
    context.out.flush();
    Ok(())
}

fn bubb(shown: Shown, context: &mut Context<'_>, store: &Store, name: &Name) -> Result<()> {
    let (out, paint) = (&mut *context.out, context.paint);
    let markdown = if name.kind == Kind::Assistant { shown.markdown(out, paint) } else { None };
    let Some(mut markdown) = markdown else { return show::bubb(store, name, out, paint) };
    let mut formed = heading(name, paint);
    formed.push('\n');
    markdown.push(&store.read(name)?, &mut formed);
    markdown.finish(&mut formed);
    out.trusted(&formed);
    out.trusted(if out.at_line_start() { "\n" } else { "\n\n" });
    Ok(())
}
