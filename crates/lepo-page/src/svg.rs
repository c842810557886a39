//! The forest at the left of the page: a list of links to messages, next to a drawing as SVG. The file has each text
//! only once: the page's script copies the start of each message into its link, and marks the displayed conversation.
//! Without the script the links have no use, because no other conversation can be displayed.

use std::fmt::Write;

use super::escape::escape;
use super::outline::{OutlineRow, nearest, outline};
use super::page::{Page, PageMessage};
use lepo_base::role::Role;

/// Height of a row in pixels, in page.css and forest.js too.
const ROW_HEIGHT: usize = 30;
/// Width of a column in pixels.
const COLUMN_WIDTH: usize = 14;
/// Offset of the first column in pixels.
const LEFT_MARGIN: usize = 16;
/// Index of the last column; everything farther right is drawn on it too.
const LAST_COLUMN: usize = 12;
/// Rows of each list: a browser lays out only the visible lists.
const LIST_ROWS: usize = 100;
/// Rows per SVG (a single tree is never split): browsers paint several small SVGs faster than one huge one.
const SVG_ROWS: usize = 200;

/// Decides which messages have a row: questions, siblings at a fork, speakers, messages after them, and hidden messages
/// that end a conversation. An only answer shares the row of its question.
fn has_row(messages: &[PageMessage]) -> Vec<bool> {
    let mut children = vec![0; messages.len()];
    for prev in messages.iter().filter_map(|message| message.prev) {
        children[prev] += 1;
    }
    let row = |(i, message): (usize, &PageMessage)| {
        let one_of_several = message.prev.is_some_and(|prev| children[prev] > 1);
        let follows_question = message.prev.is_some_and(|prev| messages[prev].role == Role::User);
        let is_unusual = match message.hidden {
            true => children[i] != 1,
            false => message.role != Role::Assistant || message.speaker.is_some() || !follows_question,
        };
        one_of_several || is_unusual
    };
    messages.iter().enumerate().map(row).collect()
}

/// Appends the forest to the page.
pub fn write_forest(page: &Page, html: &mut String) {
    let messages = &page.messages;
    let prev: Vec<Option<usize>> = messages.iter().map(|message| message.prev).collect();
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_unstable_by_key(|&i| messages[i].id);
    let mut age = vec![0; messages.len()];
    for (i, &node) in order.iter().enumerate() {
        age[node] = i;
    }
    let has_row = has_row(messages);
    let rows = outline(&prev, &has_row, &age);
    let above = nearest(&prev, &has_row);
    let mut marks = vec![RowMark::default(); messages.len()];
    for (i, up) in above.iter().enumerate() {
        let Some(up) = up else { continue };
        marks[*up].branches.extend(messages[i].branches.iter().map(String::as_str));
        marks[*up].is_tail |= page.is_tail[i];
    }
    let mut from = 0;
    while from < rows.len() {
        let mut to = (from + SVG_ROWS).min(rows.len());
        while to < rows.len() && rows[to].parent.is_some() {
            to += 1;
        }
        write_svg(page, &rows, from..to, &marks, html);
        from = to;
    }
}

/// The marks of a row, in addition to its text.
#[derive(Debug, Clone, Default)]
struct RowMark<'p> {
    branches: Vec<&'p str>,
    /// Whether a conversation ends here.
    is_tail: bool,
}

/// Appends the drawing of some rows, and their lists.
fn write_svg(
    page: &Page,
    rows: &[OutlineRow],
    range: std::ops::Range<usize>,
    marks: &[RowMark<'_>],
    html: &mut String,
) {
    let first = range.start;
    let drawn = &rows[range];
    let columns = drawn.iter().map(|row| row.column.min(LAST_COLUMN)).max().unwrap_or_default() + 1;
    let (width, height) = (LEFT_MARGIN + columns * COLUMN_WIDTH, drawn.len() * ROW_HEIGHT);
    let (mut lines, mut tails) = (String::new(), String::new());
    let mut dots: Vec<(String, String)> = Vec::new();
    for (i, row) in drawn.iter().enumerate() {
        let (x, y) = point(row, i);
        if let Some(parent) = row.parent.and_then(|parent| parent.checked_sub(first)) {
            let (px, py) = point(&drawn[parent], parent);
            let line = if px == x {
                format!("M{px} {py}V{y}")
            } else {
                format!("M{px} {py}V{}q0 15 {} 15", y - 15, x - px)
            };
            lines += &line;
        }
        let dot = format!("M{x} {y}h0");
        if marks[row.node].is_tail {
            tails += &dot;
        }
        let class = class(page, &page.messages[row.node]);
        match dots.iter_mut().find(|(name, _)| *name == class) {
            Some((_, path)) => *path += &dot,
            None => dots.push((class, dot)),
        }
    }
    let _ = write!(
        html,
        "<div class=tree><svg aria-hidden=true width={width} height={height}><path class=line d=\"{lines}\"/>\
         <path class=on /><path class=tail d=\"{tails}\"/>"
    );
    dots.sort_unstable();
    for (class, path) in dots {
        let _ = write!(html, "<path class=\"dot {class}\" d=\"{path}\"/>");
    }
    html.push_str("</svg>");
    for group in drawn.chunks(LIST_ROWS) {
        html.push_str(if group.len() == LIST_ROWS { "<ol class=g>" } else { "<ol>" });
        for row in group {
            write_item(page, row, &marks[row.node], html);
        }
        html.push_str("</ol>");
    }
    html.push_str("</div>");
}

/// Returns the coordinates of a row's dot.
fn point(row: &OutlineRow, line: usize) -> (usize, usize) {
    (LEFT_MARGIN + row.column.min(LAST_COLUMN) * COLUMN_WIDTH, line * ROW_HEIGHT + ROW_HEIGHT / 2)
}

/// Returns the CSS class of a dot, which sets its colour.
fn class(page: &Page, message: &PageMessage) -> String {
    match (&message.speaker, message.role) {
        _ if message.hidden => "h".into(),
        (Some(name), _) => format!("c{}", page.colour(name)),
        (None, kind) => kind.letter().into(),
    }
}

/// Appends the link of a row.
fn write_item(page: &Page, row: &OutlineRow, mark: &RowMark<'_>, html: &mut String) {
    let message = &page.messages[row.node];
    let class = match (row.column.min(LAST_COLUMN), row.parent) {
        (0, Some(_)) => String::new(),
        (_, None) => " class=r".into(),
        (column, Some(_)) => format!(" class=p{column}"),
    };
    let _ = write!(html, "<li{class}><a href=#{}>", message.id);
    for branch in &mark.branches {
        html.push_str("<i>");
        escape(branch, html);
        html.push_str("</i> ");
    }
    let who = message.speaker.as_deref().or(match message.role {
        Role::User => None,
        _ => message.model.as_deref().or(Some(message.who())),
    });
    if let Some(who) = who {
        let colour = message.speaker.as_deref().map(|name| format!(" class=c{}", page.colour(name)));
        let _ = write!(html, "<b{}>", colour.unwrap_or_default());
        escape(who, html);
        html.push_str("</b> ");
    }
    html.push_str("</a>");
}
