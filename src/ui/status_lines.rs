//! The two dim lines around an answer: the conversation that it continues, and its usage.

use super::ShortIds;
use crate::term::{clean, cut, excerpt, excerpt_within, width};
use crate::view::{Overview, Overviews};
use lepo_base::time;
use lepo_store::bubb::{model_label, plural_in_thousands, thousands};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{Store, now};
use lepo_turn::Outcome;
use lepo_turn::config::{Money, Prices};

/// Returns `MODEL · continuing ID (3 questions) 2h ago · AGENTS.md (1.2k tokens) "last question" · /help`, or
/// `MODEL · new conversation`, wrapped to a second line at `columns`. `instructions` names the repository's
/// instructions, `help` the command for more information.
pub fn place_line(
    (store, forest): (&Store, &Forest),
    at: Option<Ix>,
    model: &str,
    (instructions, help): (Option<&str>, Option<&str>),
    columns: usize,
) -> String {
    let model = model_label(model);
    let Some(ix) = at else {
        let pieces = [model, "new conversation", instructions.unwrap_or_default(), help.unwrap_or_default()];
        return flow(&pieces, columns);
    };
    let overviews = Overviews::new(store, forest);
    let overview = overviews.overview(ix);
    let (time, now) = (overview.tail.id.time(), now());
    let position = position(forest, &overview);
    let ago = [time::ago(time, now), time::short(time, now)];
    let label = label(store, &overview);
    laid_out(&PlaceLine { model, position, ago, instructions, label, help }, columns)
}

struct PlaceLine<'p> {
    model: &'p str,
    /// `ID (3 questions)`.
    position: String,
    /// `2h ago`, and `2h`.
    ago: [String; 2],
    instructions: Option<&'p str>,
    label: ConvLabel,
    help: Option<&'p str>,
}

fn laid_out(
    PlaceLine { model, position, ago, instructions, label, help }: &PlaceLine<'_>,
    columns: usize,
) -> String {
    const LEAST: usize = 8;
    let model_first = if model.is_empty() { String::new() } else { format!("{model} · ") };
    let [instructions_part, help_part] =
        [instructions, help].map(|part| part.map(|part| format!(" · {part}")).unwrap_or_default());
    let [long, short] = ago;
    for position in
        [format!("continuing {position} {long}"), format!("{position} {long}"), format!("{position} {short}")]
    {
        let line = format!("{model_first}{position}{instructions_part}");
        let room = columns.saturating_sub(width(&line) + width(&help_part) + 3);
        let label = label.within(room);
        if !label.is_empty() && room >= LEAST {
            return format!("{line} \"{label}\"{help_part}");
        }
    }
    let label = label.within(columns.saturating_sub(width(&help_part) + 2));
    let label = if label.is_empty() { label } else { format!("\"{label}\"") };
    let position = format!("{position} {short}");
    flow(&[model, &position, instructions.unwrap_or_default(), &label, help.unwrap_or_default()], columns)
}

/// Joins the nonempty parts with dots, on as many lines as they need.
fn flow(parts: &[&str], columns: usize) -> String {
    const BETWEEN: &str = " · ";
    let mut lines: Vec<String> = Vec::new();
    for part in parts.iter().filter(|part| !part.is_empty()).map(|part| cut(part, columns)) {
        match lines.last_mut() {
            Some(line) if width(line) + width(BETWEEN) + width(&part) <= columns => {
                line.push_str(BETWEEN);
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines.join("\n")
}

/// Returns `ID (3 questions): LABEL`; the label is the title, or the excerpt of the last question that `lepo ls` prints.
pub fn named_position(store: &Store, forest: &Forest, tail: Ix) -> String {
    let overviews = Overviews::new(store, forest);
    let overview = overviews.overview(tail);
    format!("{}: {}", position(forest, &overview), label(store, &overview).short)
}

fn position(forest: &Forest, overview: &Overview<'_>) -> String {
    let length = plural_in_thousands(overview.questions as usize, "question");
    let id = ShortIds::new(forest.all().map(|ix| forest.name(ix).id)).show(overview.tail.id);
    format!("{id} ({length})")
}

struct ConvLabel {
    /// The title, or the excerpt of the last question.
    short: String,
    /// The title, or the last question.
    full: String,
}

impl ConvLabel {
    /// Returns the label cut to `columns`.
    fn within(&self, columns: usize) -> String {
        let short = clean(&self.short);
        if width(&short) <= columns { short.into_owned() } else { excerpt_within(&self.full, columns) }
    }
}

fn label(store: &Store, overview: &Overview<'_>) -> ConvLabel {
    if let Some(title) = overview.title() {
        return ConvLabel { short: title.to_string(), full: title.to_string() };
    }
    let full = overview.last.and_then(|name| store.excerpt_text(&name).ok()).unwrap_or_default();
    ConvLabel { short: excerpt(&full), full }
}

/// Returns `MODEL · 3,000 in, 2,800 cached · 120 out · 4.2 s`, without the parts that are unknown.
pub fn usage_line(outcome: &Outcome, prices: &Prices) -> String {
    let mut parts: Vec<String> = outcome.model.iter().map(|model| model_label(model).to_string()).collect();
    if let Some(answer) = &outcome.answer {
        let cached = answer.usage.cached.filter(|&cached| cached > 0);
        let cached = cached.map(|cached| format!(", {} cached", thousands(cached))).unwrap_or_default();
        parts.extend(answer.usage.input.map(|input| format!("{} in{cached}", thousands(input))));
        parts.extend(answer.usage.output.map(|output| format!("{} out", thousands(output))));
        parts.extend(answer.usage.web.map(|web| format!("{web} web")));
        let usage = answer.usage;
        let price = outcome.model.as_deref().and_then(|model| prices.price_of(model, None));
        let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
        let cost =
            price.map(|price| price.cost(input, usage.cached.unwrap_or(0), output)).filter(|cost| *cost > 0);
        parts.extend(cost.map(|cost| format!("cost {}", Money::of_units(cost))));
        parts.push(format!("{}.{} s", answer.ms / 1000, answer.ms % 1000 / 100));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_and_words_stand_in_one_line_or_in_two() {
        let position = |label: &str, instructions| PlaceLine {
            model: "gpt-4o",
            position: "PE8NM48X (2 questions)".into(),
            ago: ["2h ago".into(), "2h".into()],
            instructions,
            label: ConvLabel { short: excerpt(label), full: label.into() },
            help: Some("/help"),
        };
        for (label, instructions, columns, shown) in [
            ("수도", None, 80, "gpt-4o · continuing PE8NM48X (2 questions) 2h ago \"수도\" · /help"),
            ("수도", None, 60, "gpt-4o · PE8NM48X (2 questions) 2h ago \"수도\" · /help"),
            ("수도", None, 40, "gpt-4o · PE8NM48X (2 questions) 2h\n\"수도\" · /help"),
            (
                "서울과 부산의 인구 변화에 대하여",
                None,
                40,
                "gpt-4o · PE8NM48X (2 questions) 2h\n\"서울과 부산의 인구 변화에...\" · /help",
            ),
            (
                "수도",
                Some("AGENTS.md (1.2k tokens)"),
                40,
                "gpt-4o · PE8NM48X (2 questions) 2h\nAGENTS.md (1.2k tokens) · \"수도\" · /help",
            ),
            ("", None, 80, "gpt-4o · PE8NM48X (2 questions) 2h · /help"),
            ("수도", None, 20, "gpt-4o\nPE8NM48X (2 quest...\n\"수도\" · /help"),
        ] {
            let laid = laid_out(&position(label, instructions), columns);
            assert_eq!(laid, shown, "{columns}");
            assert!(laid.lines().all(|line| width(line) <= columns), "{laid}");
        }
        let model = "claude-opus-4-한국어-긴-이름";
        assert_eq!(
            flow(&[model, "new conversation", "", "/help"], 40),
            format!("{model}\nnew conversation · /help")
        );
    }
}
