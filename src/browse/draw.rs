//! Draws the screen: the list or the tree on the left, the conversation on the right, a line about keys below. A narrow
//! terminal shows one pane.

use std::ops::Range;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::browser::{Browser, Focus};
use super::keys::{KEYS, KeyAction};
use super::message_pane::{PaneLine, Tone};
use super::rows::ConvRow;
use crate::term::{KeyPress, cut, padded, width};
use lepo_base::role::Role;
use lepo_base::time::SHORT_WIDTH;

/// Minimum columns for two panes next to each other: for the list, and for the tree.
const BOTH: u16 = 60;
const TREE_BOTH: u16 = 100;

/// Minimum lines for a tree with the message below it.
const TREE_ABOVE: u16 = 20;

/// Minimum columns of a list for the number of questions, for the model, and for the id.
const WITH_QUESTIONS: usize = 40;
const WITH_MODEL: usize = 64;
const WITH_ID: usize = 76;

/// Columns of the model.
const MODEL: usize = 12;

/// Minimum columns for the first question before the last one.
const WITH_FIRST: usize = 36;

pub fn draw(browser: &mut Browser<'_>, frame: &mut Frame<'_>) {
    let area = frame.area();
    let screen = frame.buffer_mut();
    let Some(height) = area.height.checked_sub(1).filter(|height| *height > 0) else { return };
    browser.height = usize::from(height);
    let panes = Rect { height, ..area };
    let is_tree = browser.tree.is_some();
    if browser.help {
        help(screen, panes, browser.has_colours);
    } else if is_tree && (BOTH..TREE_BOTH).contains(&area.width) && area.height >= TREE_ABOVE {
        above_each_other(browser, screen, panes);
    } else if area.width >= if is_tree { TREE_BOTH } else { BOTH } {
        let left = (area.width * 2 / 5).clamp(24, 84);
        rows(browser, screen, Rect { width: left - 1, ..panes });
        for y in panes.top()..panes.bottom() {
            screen.set_stringn(left - 1, y, "│", 1, dim(browser.has_colours));
        }
        conv(browser, screen, Rect { x: left + 1, width: area.width - left - 1, ..panes });
    } else if browser.focus == Focus::List {
        rows(browser, screen, panes);
    } else {
        conv(browser, screen, panes);
    }
    status(browser, screen, Rect { y: height, height: 1, ..area });
}

/// Draws the tree, and the message under its cursor below it.
fn above_each_other(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let tree = Rect { height: area.height / 2, ..area };
    rows(browser, screen, tree);
    let line = "─".repeat(usize::from(area.width));
    screen.set_stringn(area.x, tree.bottom(), line, usize::from(area.width), dim(browser.has_colours));
    let below = Rect { y: tree.bottom() + 1, height: area.height - tree.height - 1, ..area };
    conv(browser, screen, below);
    let focused = if browser.focus == Focus::List { tree } else { below };
    browser.height = usize::from(focused.height);
}

/// Draws the rows of the list or of the tree.
fn rows(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let (height, columns) = (usize::from(area.height), usize::from(area.width));
    let (chosen, top) = match &mut browser.tree {
        Some(tree) => (tree.chosen, &mut tree.top),
        None => (browser.chosen, &mut browser.top),
    };
    *top = (*top).clamp((chosen + 1).saturating_sub(height), chosen);
    let top = *top;
    for (index, y) in (top..top + height).zip(area.y..) {
        let text = match &browser.tree {
            Some(tree) => tree.line(index, columns, browser.marked, &browser.shorts),
            None => browser.rows.row_at(index).map(|row| list_line(browser, &row, columns)),
        };
        let Some(text) = text else { break };
        let style = match (index == chosen, browser.focus) {
            (true, Focus::List) => Style::new().add_modifier(Modifier::REVERSED),
            (true, Focus::Conv) => Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            (false, _) => Style::new(),
        };
        screen.set_stringn(area.x, y, padded(&text, columns), columns, style);
    }
}

/// Returns a row of the list: mark, date, then id, model and number of questions as far as they fit, first and last
/// question.
fn list_line(browser: &Browser<'_>, row: &ConvRow, columns: usize) -> String {
    let mark = if browser.marked == Some(row.tail) { "*" } else { " " };
    let mut line = format!("{mark}{:>SHORT_WIDTH$} ", row.when);
    if columns >= WITH_ID {
        line += &format!("{} ", browser.shorts.show(browser.id(row.tail)));
    }
    if columns >= WITH_MODEL {
        line += &format!("{} ", padded(&cut(&row.model, MODEL), MODEL));
    }
    if columns >= WITH_QUESTIONS {
        line += &format!("{:>3} ", row.questions);
    }
    let room = columns.saturating_sub(width(&line));
    match row.first.as_str() {
        first if !first.is_empty() && room >= WITH_FIRST => {
            const BETWEEN: &str = " · ";
            let room = room - width(BETWEEN);
            let first = cut(first, room.saturating_sub(width(&row.last)).max(room / 2));
            line += &format!("{first}{BETWEEN}{}", cut(&row.last, room - width(&first)));
        }
        _ => line += &cut(&row.last, room),
    }
    line
}

fn conv(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let has_colours = browser.has_colours;
    let columns = usize::from(area.width);
    let lines = match browser.pane() {
        Some(reading) => {
            reading.set_columns(columns);
            reading.pane(usize::from(area.height))
        }
        None => Vec::new(),
    };
    for (y, line) in (area.y..).zip(&lines) {
        screen.set_stringn(area.x, y, &line.text, columns, tone(line, has_colours));
        let row = Rect { y, height: 1, ..area };
        for (range, style) in &line.styles {
            set_style(*style, range.clone(), line, screen, row);
        }
        if let (Some(pattern), Tone::Body) = (&browser.pattern, line.tone) {
            let reversed = Style::new().add_modifier(Modifier::REVERSED);
            let found = pattern.lines(line.text.as_bytes());
            let matches = found.into_iter().flat_map(|found| found.matches);
            matches.into_iter().for_each(|range| set_style(reversed, range, line, screen, row));
        }
    }
}

/// Adds a style to a byte range of a line, which is drawn in `row`.
fn set_style(style: Style, range: Range<usize>, line: &PaneLine, screen: &mut Buffer, row: Rect) {
    let before = line.text.get(..range.start).map(width).unwrap_or_default();
    let columns = line.text.get(range).map(width).unwrap_or_default();
    let x = row.x.saturating_add(before as u16);
    screen.set_style(Rect { x, width: columns as u16, ..row }.intersection(row), style);
}

fn status(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let columns = usize::from(area.width);
    if let Some(typed) = &browser.input {
        screen.set_stringn(area.x, area.y, format!("/{typed}▏"), columns, Style::new());
        return;
    }
    let id = browser.cursor().map(|ix| browser.id(ix).to_string()).unwrap_or_default();
    let text = match browser.status.as_str() {
        "" if columns >= BOTH.into() && browser.tree.is_some() && browser.focus == Focus::Conv => {
            format!("{id}  ↓ ↑ read  h tree  Enter continue  ? keys  q leave")
        }
        "" if columns >= BOTH.into() && browser.tree.is_some() => {
            format!("{id}  Enter continue  l read  f fold  t list  ? keys")
        }
        "" if columns >= BOTH.into() => format!("{id}  Enter continue  l open  t tree  ? keys  q leave"),
        "" => "? keys  q leave".to_string(),
        other => other.to_string(),
    };
    screen.set_stringn(area.x, area.y, cut(&text, columns), columns, dim(browser.has_colours));
}

/// Columns of a key and its meaning; the help uses as many columns as fit.
const HELP: usize = 38;

fn help(screen: &mut Buffer, area: Rect, has_colours: bool) {
    let height = usize::from(area.height);
    let wide = usize::from(area.width);
    // If two columns do not fit, the keys common to all pagers are omitted.
    let is_small = KEYS.len() > height && wide < 2 * HELP;
    let is_of_pagers = |keys: &[(KeyPress, KeyAction)]| keys.iter().all(|(_, action)| action.is_of_pagers());
    let rows: Vec<_> = KEYS.iter().filter(|(keys, ..)| !(is_small && is_of_pagers(keys))).collect();
    let per_column = if is_small { height } else { rows.len().div_ceil(rows.len().div_ceil(height).max(1)) };
    let columns = rows.len().div_ceil(per_column.max(1));
    let room = wide / columns.max(1);
    for (i, (_, name, meaning)) in rows.into_iter().enumerate() {
        let x = area.x + (i / per_column * room) as u16;
        let y = area.y + (i % per_column) as u16;
        screen.set_stringn(x, y, name, room, Style::new().add_modifier(Modifier::BOLD));
        let shortened = cut(meaning, room.saturating_sub(8));
        screen.set_stringn(x + 6, y, shortened, room.saturating_sub(7), dim(has_colours));
    }
}

fn tone(line: &PaneLine, has_colours: bool) -> Style {
    let coloured = |color| if has_colours { Style::new().fg(color) } else { Style::new() };
    match line.tone {
        Tone::Head(Role::User) => coloured(Color::Cyan).add_modifier(Modifier::BOLD),
        Tone::Head(Role::Assistant) => coloured(Color::Green).add_modifier(Modifier::BOLD),
        Tone::Head(Role::System | Role::Tool) => coloured(Color::Yellow).add_modifier(Modifier::BOLD),
        Tone::Body => Style::new(),
        Tone::Added => coloured(Color::Green),
        Tone::Removed => coloured(Color::Red),
        Tone::Dim => dim(has_colours),
    }
}

fn dim(has_colours: bool) -> Style {
    if has_colours { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
}
