//! The columns of `lepo ls` on a terminal, and what fits of them.

use crate::term::{Paint, clean, cut, width};

/// On a narrower terminal an entry takes two lines.
const ONE_LINE: usize = 64;

/// The least room for excerpts in an entry of one line; tokens, then the model, make way.
const LEAST: usize = 24;

/// The facts about one conversation, cleaned.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    pub id: String,
    /// `3 questions`.
    pub length: String,
    pub when: String,
    pub model: String,
    pub tokens: String,
    pub branches: String,
    pub title: String,
    /// A row before has the same title: it tells less than the last question.
    pub is_fork: bool,
    /// The first question, then the last if that is another one, then an answer where another tail has the same
    /// last question.
    pub questions: Vec<String>,
}

/// The widths of the columns of a block of entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Widths {
    id: usize,
    length: usize,
    when: usize,
    model: usize,
    tokens: usize,
}

impl Widths {
    /// Wide enough for all of these.
    pub fn of(entries: &[Entry], columns: usize) -> Widths {
        let most = if columns < 100 { 12 } else { 20 };
        let widest = |of: fn(&Entry) -> usize| entries.iter().map(of).max().unwrap_or_default();
        Widths {
            id: widest(|entry| entry.id.len()),
            length: widest(|entry| entry.length.len()),
            when: widest(|entry| width(&entry.when)),
            model: widest(|entry| width(&entry.model)).min(most),
            tokens: widest(|entry| entry.tokens.len()),
        }
    }

    fn taken(self) -> usize {
        let column = |width: usize| if width > 0 { width + 1 } else { 0 };
        self.id + 1 + self.length + 1 + self.when + 1 + column(self.model) + column(self.tokens)
    }
}

/// An entry as it is shown, with a newline at its end.
pub fn lay_out(entry: &Entry, mut widths: Widths, columns: usize, paint: Paint) -> String {
    let branches = if entry.branches.is_empty() { String::new() } else { format!("{} ", entry.branches) };
    if columns < ONE_LINE {
        let length = &entry.length;
        let mut room = columns.saturating_sub(entry.id.len() + 1 + length.len());
        let mut line = format!("{} {length}", paint.yellow(&entry.id));
        for (text, painted) in [
            (&entry.when, paint.dim(&entry.when)),
            (&entry.branches, paint.cyan(&entry.branches)),
            (&entry.model, paint.dim(&entry.model)),
        ] {
            let takes = width(text) + 1;
            if !text.is_empty() && takes <= room {
                room -= takes;
                line += &format!(" {painted}");
            }
        }
        let excerpts = excerpts(entry, columns.saturating_sub(4), paint);
        let below = if excerpts.is_empty() { String::new() } else { format!("    {excerpts}\n") };
        return format!("{line}\n{below}");
    }
    let taken = |widths: Widths| widths.taken() + width(&branches);
    // Branches are of few rows: for them alone no column of the others ends.
    if widths.taken() + LEAST > columns || taken(widths) + LEAST / 2 > columns {
        widths.tokens = 0;
    }
    if widths.taken() + LEAST > columns || taken(widths) + LEAST / 2 > columns {
        widths.model = 0;
    }
    let mut line =
        format!("{}{}", paint.yellow(&entry.id), " ".repeat(widths.id.saturating_sub(entry.id.len())));
    line += &format!(" {}", padded(&entry.length, widths.length));
    line += &format!(" {}", paint.dim(&padded(&entry.when, widths.when)));
    if widths.model > 0 {
        line += &format!(" {}", paint.dim(&padded(&cut(&entry.model, widths.model), widths.model)));
    }
    if widths.tokens > 0 {
        line += &format!(" {}", paint.dim(&format!("{:>1$}", entry.tokens, widths.tokens)));
    }
    line += &format!(" {}", paint.cyan(&branches));
    line += &excerpts(entry, columns.saturating_sub(taken(widths)), paint);
    format!("{}\n", line.trim_end())
}

/// A text in a column of this width.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The title, the first and the last question, in a line that has room for so many columns.
fn excerpts(entry: &Entry, room: usize, paint: Paint) -> String {
    const BETWEEN: &str = " · ";
    let mut parts: Vec<&str> = Vec::new();
    parts.extend((!entry.title.is_empty()).then_some(entry.title.as_str()));
    parts.extend(entry.questions.iter().map(String::as_str));
    // If there is no room for all, the title comes first, then the last question.
    let mut is_titled = !entry.title.is_empty();
    while parts.len() > 1 && is_cramped(&parts, room, width(BETWEEN)) {
        if is_titled && entry.is_fork && parts.len() == 2 {
            parts.remove(0);
            is_titled = false;
            break;
        }
        let least = if is_titled { 1 } else { parts.len() - 2 };
        parts.remove(least);
    }
    let room = room.saturating_sub(width(BETWEEN) * parts.len().saturating_sub(1));
    let shares = shares(&parts.iter().map(|part| width(part)).collect::<Vec<_>>(), room);
    let shown = parts.iter().zip(shares).enumerate().map(|(i, (part, share))| {
        let part = cut(part, share);
        if i == 0 && is_titled { paint.bold(&part) } else { part }
    });
    shown.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&paint.dim(BETWEEN))
}

/// Whether one of these would be cut to less than a few words.
fn is_cramped(parts: &[&str], room: usize, between: usize) -> bool {
    const FEW: usize = 12;
    let needs: Vec<usize> = parts.iter().map(|part| width(part)).collect();
    let room = room.saturating_sub(between * parts.len().saturating_sub(1));
    needs.iter().zip(shares(&needs, room)).any(|(need, share)| share < FEW.min(*need))
}

/// Divides a room: each gets what it needs, and those that need more share the rest evenly.
fn shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&i| needs[i]);
    let (mut left, mut shares) = (room, vec![0; needs.len()]);
    for (done, &i) in order.iter().enumerate() {
        shares[i] = needs[i].min(left / (needs.len() - done));
        left -= shares[i];
    }
    shares
}

/// `950`, `3.1k`, `128k`, `1.2M`.
pub fn short_count(count: u64) -> String {
    let of = |unit: u64, letter: char| match count / unit {
        whole @ 0..10 => format!("{whole}.{}{letter}", count % unit * 10 / unit),
        whole => format!("{whole}{letter}"),
    };
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => of(1000, 'k'),
        _ => of(1_000_000, 'M'),
    }
}

/// Tokens against the window they are in, where that is known: `3.1k/128k`.
pub fn tokens_of(tokens: u64, window: Option<u64>, count: fn(u64) -> String) -> String {
    match window {
        Some(window) => format!("{}/{}", count(tokens), count(window)),
        None => count(tokens),
    }
}

/// `[main, try]`, cleaned; nothing for none.
pub fn bracketed(branches: &[String]) -> String {
    match branches {
        [] => String::new(),
        names => clean(&format!("[{}]", names.join(", "))).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    fn entry() -> Entry {
        Entry {
            id: "X1Y3Z5A0".into(),
            length: "12 questions".into(),
            when: "2h".into(),
            model: "gpt-4o".into(),
            tokens: "3.1k/128k".into(),
            branches: "[main]".into(),
            title: String::new(),
            is_fork: false,
            questions: vec!["How do I parse a date?".into(), "and what of the time zones?".into()],
        }
    }

    #[test]
    fn an_entry_uses_the_width_there_is() {
        let paint = Paint::new(Color::Never, true, |_| None);
        let shown = |entry: &Entry, columns: usize| {
            let laid = lay_out(entry, Widths::of(std::slice::from_ref(entry), columns), columns, paint);
            assert!(laid.lines().all(|line| width(line) <= columns), "{laid}");
            laid
        };
        let id = "X1Y3Z5A0";
        for (columns, line) in [
            (
                120,
                "12 questions 2h gpt-4o 3.1k/128k [main] How do I parse a date? · and what of the time zones?\n",
            ),
            (80, "12 questions 2h gpt-4o 3.1k/128k [main] How do I pa... · and what of...\n"),
            (40, "12 questions 2h [main] gpt-4o\n    How do I pars... · and what of th...\n"),
        ] {
            assert_eq!(shown(&entry(), columns), format!("{id} {line}"), "{columns}");
        }
        let titled = Entry { title: "Dates".into(), branches: String::new(), ..entry() };
        assert!(shown(&titled, 120).contains(" Dates · How do I parse"));
        let titled = Entry { title: "A long title of dates".into(), ..titled };
        let fork = Entry { is_fork: true, ..titled.clone() };
        assert!(shown(&titled, 66).ends_with(" A long title of dates\n"), "{}", shown(&titled, 66));
        assert!(shown(&fork, 66).ends_with(" and what of the time...\n"), "{}", shown(&fork, 66));
        assert!(shown(&fork, 120).contains(" A long title"));
        let korean = Entry {
            questions: vec!["날짜를 어떻게 읽나요? 그리고 시간대는 어떻게 하나요?".into()],
            ..entry()
        };
        for columns in [34, 40, 64, 80, 200] {
            shown(&korean, columns);
        }
        assert_eq!(shown(&Entry { questions: Vec::new(), ..entry() }, 40).lines().count(), 1);
    }

    #[test]
    fn what_needs_little_leaves_room_for_the_others() {
        for (needs, room, given) in [
            (vec![5, 50], 30, vec![5, 25]),
            (vec![50, 5], 30, vec![25, 5]),
            (vec![50, 50], 31, vec![15, 16]),
            (vec![3, 3], 30, vec![3, 3]),
            (vec![], 30, vec![]),
        ] {
            assert_eq!(shares(&needs, room), given);
        }
    }

    #[test]
    fn counts_are_short() {
        for (count, text) in
            [(0, "0"), (999, "999"), (3100, "3.1k"), (9999, "9.9k"), (128_000, "128k"), (1_250_000, "1.2M")]
        {
            assert_eq!(short_count(count), text);
        }
    }
}
