//! The charts of token use: columns by day, bars by model.

use std::fmt::Write;

use super::escape::{escape, escaped};
use lepo_store::bubb::thousands;

/// The figures of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// The total, in one line.
    pub about: String,
    /// Tokens by day, the oldest first.
    pub days: Vec<Bar>,
    /// Tokens by model, the largest first.
    pub models: Vec<Bar>,
}

/// A column or a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// The day or the model.
    pub label: String,
    /// Tokens of requests, without those in the provider's cache.
    pub input: u64,
    /// Tokens of requests that were in the provider's cache.
    pub cached: u64,
    /// Tokens of answers.
    pub output: u64,
}

impl Bar {
    fn total(&self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.output)
    }

    /// Describes the numbers for screen readers.
    fn description(&self) -> String {
        let Bar { label, input, cached, output } = self;
        let cached = if *cached > 0 { format!(", {} cached", thousands(*cached)) } else { String::new() };
        format!("{label}: {} in{cached}, {} out", thousands(*input), thousands(*output))
    }
}

/// Maximum number of days in a chart, the newest.
const DAYS: usize = 60;
/// Maximum number of models in a chart.
const MODELS: usize = 12;
/// Width and height of the chart of days, in SVG units.
const WIDTH: u64 = 720;
const HEIGHT: u64 = 120;

/// Appends the charts, collapsed.
pub fn figures(figures: &Figures, html: &mut String) {
    html.push_str("<details id=figures><summary><b>Figures</b> ");
    escape(&figures.about, html);
    html.push_str("</summary><p class=key><span class=fi>in</span> <span class=fc>in, cached</span> <span class=fo>out</span></p>");
    if figures.days.len() > 1 {
        days(&figures.days, html);
    }
    models(&figures.models, html);
    html.push_str("</details>");
}

fn days(all: &[Bar], html: &mut String) {
    let days = all.split_at(all.len().saturating_sub(DAYS)).1;
    let most = days.iter().map(Bar::total).max().unwrap_or(1).max(1);
    let step = WIDTH / days.len().max(1) as u64;
    let wide = (step * 7 / 10).clamp(1, 36);
    let _ = write!(
        html,
        "<figure><figcaption>Tokens by day (UTC)</figcaption><svg role=img aria-label=\"Tokens by day\" viewBox=\"0 0 {WIDTH} {}\">",
        HEIGHT + 18
    );
    for (i, day) in days.iter().enumerate() {
        let x = i as u64 * step;
        let mut bottom = HEIGHT;
        let _ = write!(html, "<g><title>{}</title>", escaped(&day.description()));
        for (class, tokens) in [("fi", day.input), ("fc", day.cached), ("fo", day.output)] {
            let high = share(tokens, most, HEIGHT);
            bottom -= high;
            if high > 0 {
                let _ = write!(html, "<rect class={class} x={x} y={bottom} width={wide} height={high} />");
            }
        }
        html.push_str("</g>");
    }
    let y = HEIGHT + 14;
    if let (Some(first), Some(last)) = (days.first(), days.last()) {
        let end = (days.len() as u64 - 1) * step + wide;
        let _ = write!(html, "<text x=0 y={y}>{}</text>", escaped(&first.label));
        let _ = write!(html, "<text class=end x={} y={y}>{}</text>", end.max(150), escaped(&last.label));
    }
    html.push_str("</svg></figure>");
}

fn models(all: &[Bar], html: &mut String) {
    let most = all.iter().map(Bar::total).max().unwrap_or(1).max(1);
    html.push_str("<figure><figcaption>Tokens by model</figcaption><table class=bars>");
    for model in all.iter().take(MODELS) {
        let _ = write!(
            html,
            "<tr><th scope=row>{}<td><svg role=img aria-label=\"{}\" viewBox=\"0 0 400 12\" preserveAspectRatio=none>",
            escaped(&model.label),
            escaped(&model.description())
        );
        let mut x = 0;
        for (class, tokens) in [("fi", model.input), ("fc", model.cached), ("fo", model.output)] {
            let wide = share(tokens, most, 400);
            if wide > 0 {
                let _ = write!(html, "<rect class={class} x={x} y=0 width={wide} height=12 />");
            }
            x += wide;
        }
        let _ = write!(html, "</svg><td class=ar>{}", thousands(model.total()));
    }
    html.push_str("</table></figure>");
}

/// Returns a part of `whole` in units of a chart; at least one unit, so that any nonzero part is visible.
fn share(part: u64, whole: u64, units: u64) -> u64 {
    let exact = u128::from(part) * u128::from(units) / u128::from(whole.max(1));
    (exact as u64).max(u64::from(part > 0)).min(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_a_part_for_each_kind_of_tokens() {
        let bar = |label: &str, input, cached, output| Bar { label: label.into(), input, cached, output };
        let shown = Figures {
            about: "1 answer <b>".into(),
            days: vec![bar("2026-11-21", 50, 0, 50), bar("2026-11-22", 1, 0, 0)],
            models: vec![bar("\"><script>", 100, 300, 0)],
        };
        let mut html = String::new();
        figures(&shown, &mut html);
        assert!(html.contains("1 answer &lt;b>"), "{html}");
        assert!(
            html.contains(
                "<rect class=fi x=0 y=60 width=36 height=60 /><rect class=fo x=0 y=0 width=36 height=60 />"
            ),
            "{html}"
        );
        assert!(html.contains("<rect class=fi x=360 y=119 width=36 height=1 />"), "{html}");
        assert!(
            html.contains(
                "<rect class=fi x=0 y=0 width=100 height=12 /><rect class=fc x=100 y=0 width=300 height=12 />"
            ),
            "{html}"
        );
        assert!(html.contains("100 in, 300 cached, 0 out") && !html.contains("<script>"), "{html}");
        let mut one = String::new();
        figures(&Figures { days: shown.days[..1].to_vec(), ..shown.clone() }, &mut one);
        assert!(!one.contains("by day"), "one day is no chart");
    }
}
