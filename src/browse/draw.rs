//! Draws the screen: the list on the left, the conversation on the right, a line about keys below. A narrow
//! terminal shows one pane.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::browser::{Browser, Focus};
use super::keys::KEYS;
use super::message_pane::{PaneLine, Tone};
use crate::term::{cut, width};
use lepo_base::time::SHORT_WIDTH;
use lepo_search::Pattern;
use lepo_store::bubb::Kind;

const BOTH: u16 = 60;

pub fn draw(browser: &mut Browser<'_>, frame: &mut Frame<'_>) {
    let area = frame.area();
    let screen = frame.buffer_mut();
    let Some(height) = area.height.checked_sub(1).filter(|height| *height > 0) else { return };
    browser.height = usize::from(height);
    let panes = Rect { height, ..area };
    if browser.help {
        help(screen, panes, browser.colours);
    } else if area.width >= BOTH {
        let left = (area.width * 2 / 5).clamp(24, 46);
        list(browser, screen, Rect { width: left - 1, ..panes });
        for y in panes.top()..panes.bottom() {
            screen.set_stringn(left - 1, y, "│", 1, dim(browser.colours));
        }
        conv(browser, screen, Rect { x: left + 1, width: area.width - left - 1, ..panes });
    } else if browser.focus == Focus::List {
        list(browser, screen, panes);
    } else {
        conv(browser, screen, panes);
    }
    status(browser, screen, Rect { y: height, height: 1, ..area });
}

fn list(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let height = usize::from(area.height);
    if browser.chosen < browser.top {
        browser.top = browser.chosen;
    } else if browser.chosen >= browser.top + height {
        browser.top = browser.chosen + 1 - height;
    }
    let columns = usize::from(area.width);
    for i in 0..height {
        let at = browser.top + i;
        let Some(row) = browser.rows.row_at(at) else { break };
        let y = area.y + i as u16;
        let mark = if browser.marked == Some(row.tail) { "*" } else { " " };
        let room = columns.saturating_sub(SHORT_WIDTH + 2);
        let text = format!("{mark}{:>SHORT_WIDTH$} {}", row.when, cut(&row.words, room));
        let style = match (at == browser.chosen, browser.focus) {
            (true, Focus::List) => Style::new().add_modifier(Modifier::REVERSED),
            (true, Focus::Conv) => Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            (false, _) => Style::new(),
        };
        let padded = format!("{text}{}", " ".repeat(columns.saturating_sub(width(&text))));
        screen.set_stringn(area.x, y, padded, columns, style);
    }
}

fn conv(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let colours = browser.colours;
    let columns = usize::from(area.width);
    let lines = match browser.pane() {
        Some(reading) => {
            reading.set_columns(columns);
            reading.pane(usize::from(area.height))
        }
        None => Vec::new(),
    };
    for (y, line) in (area.y..).zip(&lines) {
        screen.set_stringn(area.x, y, &line.text, columns, tone(line, colours));
        if let (Some(pattern), Tone::Body) = (&browser.pattern, line.tone) {
            marks(pattern, line, screen, Rect { y, height: 1, ..area });
        }
    }
}

fn marks(pattern: &Pattern, line: &PaneLine, screen: &mut Buffer, area: Rect) {
    for found in pattern.lines(line.text.as_bytes()) {
        for range in found.matches {
            let before = line.text.get(..range.start).map(width).unwrap_or_default();
            let marked = line.text.get(range).map(width).unwrap_or_default();
            let x = area.x.saturating_add(before as u16);
            let part = Rect { x, width: marked as u16, ..area };
            screen.set_style(part.intersection(area), Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

fn status(browser: &mut Browser<'_>, screen: &mut Buffer, area: Rect) {
    let columns = usize::from(area.width);
    if let Some(typed) = &browser.typed {
        screen.set_stringn(area.x, area.y, format!("/{typed}▏"), columns, Style::new());
        return;
    }
    let tail = browser.tail().map(|tail| browser.id(tail).to_string()).unwrap_or_default();
    let text = match browser.said.as_str() {
        "" if columns >= BOTH.into() => format!("{tail}  Enter open  c continue  / find  ? keys  q leave"),
        "" => "? keys  q leave".to_string(),
        said => said.to_string(),
    };
    screen.set_stringn(area.x, area.y, cut(&text, columns), columns, dim(browser.colours));
}

/// Columns of a key and its meaning; the help uses as many columns as fit.
const HELP: usize = 38;

fn help(screen: &mut Buffer, area: Rect, colours: bool) {
    let height = usize::from(area.height);
    let wide = usize::from(area.width);
    // If two columns do not fit, the keys common to all pagers are omitted.
    let is_small = KEYS.len() > height && wide < 2 * HELP;
    let told: Vec<_> = KEYS.iter().filter(|(.., action)| !(is_small && action.is_of_pagers())).collect();
    let per_column = if is_small { height } else { told.len().div_ceil(told.len().div_ceil(height).max(1)) };
    let columns = told.len().div_ceil(per_column.max(1));
    let room = wide / columns.max(1);
    for (i, (_, name, meaning, _)) in told.into_iter().enumerate() {
        let x = area.x + (i / per_column * room) as u16;
        let y = area.y + (i % per_column) as u16;
        screen.set_stringn(x, y, name, room, Style::new().add_modifier(Modifier::BOLD));
        let told = cut(meaning, room.saturating_sub(8));
        screen.set_stringn(x + 6, y, told, room.saturating_sub(7), dim(colours));
    }
}

fn tone(line: &PaneLine, colours: bool) -> Style {
    let of = |color| if colours { Style::new().fg(color) } else { Style::new() };
    match line.tone {
        Tone::Head(Kind::User) => of(Color::Cyan).add_modifier(Modifier::BOLD),
        Tone::Head(Kind::Assistant) => of(Color::Green).add_modifier(Modifier::BOLD),
        Tone::Head(Kind::System | Kind::Tool) => of(Color::Yellow).add_modifier(Modifier::BOLD),
        Tone::Body => Style::new(),
        Tone::Added => of(Color::Green),
        Tone::Removed => of(Color::Red),
        Tone::Dim => dim(colours),
    }
}

fn dim(colours: bool) -> Style {
    if colours { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
}
