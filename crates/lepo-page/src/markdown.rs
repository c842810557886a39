//! Renders Markdown as HTML with the elements of this file and of MathML only: raw HTML is text, images are links, and no
//! element has an id, a style or an unchecked URL.

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::escape::{escape, escape_attribute};
use super::formulas::TextFormulas;
use super::mathml::MathMlWriter;
use lepo_base::formula_sense::DelimitedFormula;

/// Appends the HTML of a Markdown text.
pub fn markdown(text: &str, html: &mut String) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let formulas = TextFormulas::parse(text);
    let (cells, ends) = (Vec::new(), Vec::new());
    let mut writer = HtmlWriter {
        html,
        formulas: &formulas,
        mathml: None,
        cells,
        cell: 0,
        in_head: false,
        in_code: false,
        links: 0,
        ends,
    };
    for event in Parser::new_ext(&formulas.text, options) {
        writer.event(event);
    }
}

struct HtmlWriter<'h> {
    html: &'h mut String,
    formulas: &'h TextFormulas,
    /// Made for the first formula.
    mathml: Option<MathMlWriter>,
    /// The column alignments of the current table.
    cells: Vec<Alignment>,
    /// The column of the next cell.
    cell: usize,
    in_head: bool,
    /// Whether the text is a block of code or of HTML.
    in_code: bool,
    /// Number of open `a` elements, which must not be nested.
    links: usize,
    /// End tags of the open links and images, the innermost last.
    ends: Vec<&'static str>,
}

impl HtmlWriter<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if !self.in_code => self.text(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.verbatim(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.verbatim(&text),
            Event::FootnoteReference(name) => {
                self.html.push_str("<sup>");
                self.verbatim(&name);
                self.html.push_str("</sup>");
            }
            Event::Code(code) => {
                self.html.push_str("<code>");
                self.verbatim(&code);
                self.html.push_str("</code>");
            }
            // The style displays it as a line break, as the model or the user wrote it.
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(done) => self.html.push_str(match done {
                true => "<b class=box role=img aria-label=done>☑</b> ",
                false => "<b class=box role=img aria-label=open>☐</b> ",
            }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.html.push_str("<p>"),
            Tag::Heading { level, .. } => self.html.push_str(&format!("<h{}>", below(level))),
            Tag::BlockQuote(_) => self.html.push_str("<blockquote>"),
            Tag::CodeBlock(kind) => self.code_block(kind),
            // Its text is escaped, and its line breaks remain.
            Tag::HtmlBlock => {
                self.in_code = true;
                self.html.push_str("<pre class=raw>");
            }
            Tag::List(None) => self.html.push_str("<ul>"),
            Tag::List(Some(1)) => self.html.push_str("<ol>"),
            Tag::List(Some(first)) => self.html.push_str(&format!("<ol start={first}>")),
            Tag::Item => self.html.push_str("<li>"),
            Tag::Table(alignments) => {
                self.cells = alignments;
                self.html.push_str("<div class=tw><table>");
            }
            Tag::TableHead => {
                (self.in_head, self.cell) = (true, 0);
                self.html.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.cell = 0;
                self.html.push_str("<tr>");
            }
            Tag::TableCell => self.start_cell(),
            Tag::Emphasis => self.html.push_str("<em>"),
            Tag::Strong => self.html.push_str("<strong>"),
            Tag::Strikethrough => self.html.push_str("<del>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url, ""),
            Tag::Image { dest_url, .. } => self.link(&dest_url, " class=img"),
            Tag::FootnoteDefinition(name) => {
                self.html.push_str("<div class=note><sup>");
                self.verbatim(&name);
                self.html.push_str("</sup> ");
            }
            // Not enabled in the parser.
            Tag::Superscript
            | Tag::Subscript
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.html.push_str("</p>"),
            TagEnd::Heading(level) => self.html.push_str(&format!("</h{}>", below(level))),
            TagEnd::BlockQuote(_) => self.html.push_str("</blockquote>"),
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.html.push_str("</code></pre>");
            }
            TagEnd::HtmlBlock => {
                self.in_code = false;
                self.html.push_str("</pre>");
            }
            TagEnd::List(ordered) => self.html.push_str(if ordered { "</ol>" } else { "</ul>" }),
            TagEnd::Item => self.html.push_str("</li>"),
            TagEnd::Table => self.html.push_str("</table></div>"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.html.push_str("</thead>");
            }
            TagEnd::TableRow => {}
            TagEnd::TableCell => {}
            TagEnd::Emphasis => self.html.push_str("</em>"),
            TagEnd::Strong => self.html.push_str("</strong>"),
            TagEnd::Strikethrough => self.html.push_str("</del>"),
            TagEnd::Link | TagEnd::Image => {
                let end = self.ends.pop().unwrap_or_default();
                self.links -= usize::from(end == "</a>");
                self.html.push_str(end);
            }
            TagEnd::FootnoteDefinition => self.html.push_str("</div>"),
            TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Appends text in which formulas are set.
    fn text(&mut self, text: &str) {
        if self.formulas.is_empty() {
            return escape(text, self.html);
        }
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            let Some(formula) = self.formulas.get(c) else { continue };
            escape(text.get(plain..at).unwrap_or_default(), self.html);
            plain = at + c.len_utf8();
            let delimited = DelimitedFormula::parse(&formula.source).filter(|_| formula.is_meant);
            let mathml = self.mathml.get_or_insert_with(MathMlWriter::new);
            let is_set = delimited
                .is_some_and(|formula| mathml.write(formula.inner.trim(), formula.is_display(), self.html));
            if !is_set {
                escape(&formula.source, self.html);
            }
        }
        escape(text.get(plain..).unwrap_or_default(), self.html);
    }

    /// Appends text as it was before formulas were taken out.
    fn verbatim(&mut self, text: &str) {
        escape(&self.formulas.restore(text), self.html);
    }

    fn code_block(&mut self, kind: CodeBlockKind<'_>) {
        self.in_code = true;
        let language = match &kind {
            CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        match language {
            "" => self.html.push_str("<pre><code>"),
            language => {
                self.html.push_str("<pre data-l=\"");
                escape_attribute(&self.formulas.restore(language), self.html);
                self.html.push_str("\"><code>");
            }
        }
    }

    fn start_cell(&mut self) {
        let class = match self.cells.get(self.cell) {
            Some(Alignment::Right) => " class=ar",
            Some(Alignment::Center) => " class=ac",
            _ => "",
        };
        self.cell += 1;
        self.html.push_str(if self.in_head { "<th" } else { "<td" });
        self.html.push_str(class);
        self.html.push('>');
    }

    fn link(&mut self, address: &CowStr<'_>, class: &str) {
        let address = self.formulas.restore(address);
        let end = match safe_link(&address) {
            Some(address) if self.links == 0 => {
                self.html.push_str("<a href=\"");
                escape_attribute(address, self.html);
                self.html.push_str("\" rel=noopener");
                self.html.push_str(class);
                self.html.push('>');
                self.links += 1;
                "</a>"
            }
            _ if !class.is_empty() => {
                self.html.push_str("<span class=img>");
                "</span>"
            }
            _ => "",
        };
        self.ends.push(end);
    }
}

/// Lowers a heading's level, because the page and the message have headings too.
fn below(level: HeadingLevel) -> usize {
    (level as usize + 2).min(6)
}

/// Returns the URL if it is a web or mail address; anything else (scripts, data, files, relative URLs) is not linked.
fn safe_link(address: &str) -> Option<&str> {
    let has =
        |scheme: &str| address.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let known = ["https://", "http://", "mailto:"].into_iter().any(has);
    // A browser drops tabs and newlines within a URL, and spaces around it.
    let odd = address.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\');
    (known && !odd).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_these_elements() {
        for (text, html) in [
            (
                "# A\n\n*b* **c** ~~d~~ `<e>`",
                "<h3>A</h3><p><em>b</em> <strong>c</strong> <del>d</del> <code>&lt;e></code></p>",
            ),
            ("###### deep", "<h6>deep</h6>"),
            ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
            ("7. a", "<ol start=7><li>a</li></ol>"),
            (
                "- [x] a\n- [ ] b",
                "<ul><li><b class=box role=img aria-label=done>☑</b> a</li><li><b class=box role=img aria-label=open>☐</b> b</li></ul>",
            ),
            ("```rust ignore\n<a>\n```", "<pre data-l=\"rust\"><code>&lt;a>\n</code></pre>"),
            ("```\"><script>\nx\n```", "<pre data-l=\"&quot;&gt;&lt;script&gt;\"><code>x\n</code></pre>"),
            ("    x", "<pre><code>x</code></pre>"),
            (
                "|a|b|c|\n|:-|-:|:-:|\n|1|2|3|",
                "<div class=tw><table><thead><tr><th>a<th class=ar>b<th class=ac>c</thead><tr><td>1<td class=ar>2<td class=ac>3</table></div>",
            ),
            ("a\nb  \nc", "<p>a\nb<br>c</p>"),
            ("> q\n\n---", "<blockquote><p>q</p></blockquote><hr>"),
        ] {
            let mut made = String::new();
            markdown(text, &mut made);
            assert_eq!(made, html, "{text}");
        }
    }

    #[test]
    fn what_could_act_is_text() {
        for (text, html) in [
            ("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x>b&lt;/b></p>"),
            ("<script>x</script>", "<pre class=raw>&lt;script>x&lt;/script></pre>"),
            ("[a](https://x.org)", "<p><a href=\"https://x.org\" rel=noopener>a</a></p>"),
            ("[a](javascript:x)", "<p>a</p>"),
            (
                "[a](https://x.org/\"onclick=y)",
                "<p><a href=\"https://x.org/&quot;onclick=y\" rel=noopener>a</a></p>",
            ),
            (
                "![a](https://x.org/i.png)",
                "<p><a href=\"https://x.org/i.png\" rel=noopener class=img>a</a></p>",
            ),
            ("![a](data:image/svg+xml,x)", "<p><span class=img>a</span></p>"),
            (
                "[![a](https://x.org/i.png)](https://y.org)",
                "<p><a href=\"https://y.org\" rel=noopener><span class=img>a</span></a></p>",
            ),
            ("<javascript:alert(1)>", "<p>javascript:alert(1)</p>"),
            ("<https://x.org>", "<p><a href=\"https://x.org\" rel=noopener>https://x.org</a></p>"),
            ("&lt;script&gt;", "<p>&lt;script></p>"),
            ("a[^1]\n\n[^1]: x", "<p>a<sup>1</sup></p><div class=note><sup>1</sup> <p>x</p></div>"),
        ] {
            let mut made = String::new();
            markdown(text, &mut made);
            assert_eq!(made, html, "{text}");
        }
    }

    #[test]
    fn formulas_are_set_and_the_rest_stays_as_written() {
        let x = "<span class=m title=\"x_1\"><math><msub><mi>x</mi><mn>1</mn></msub></math></span>";
        for (text, html) in [
            ("a $x_1$ *b*", format!("<p>a {x} <em>b</em></p>")),
            ("**$x_1$**", format!("<p><strong>{x}</strong></p>")),
            ("|a|\n|-|\n|$x_1$|", format!("<div class=tw><table><thead><tr><th>a</thead><tr><td>{x}</table></div>")),
            ("`$x_1$`", "<p><code>$x_1$</code></p>".to_string()),
            ("    $x_1$", "<pre><code>$x_1$</code></pre>".to_string()),
            ("```\n$x_1$\n```", "<pre><code>$x_1$\n</code></pre>".to_string()),
            ("from $5 to $10 _x_", "<p>from $5 to $10 <em>x</em></p>".to_string()),
            ("\\(a*b*c\\) \\[1\\] s/\\(a\\)/", "<p>\\(a*b*c\\) \\[1\\] s/\\(a\\)/</p>".replace(
                "\\(a*b*c\\)",
                "<span class=m title=\"a*b*c\"><math><mi>a</mi><mo lspace=\"0.2222em\" rspace=\"0.2222em\">∗</mo><mi>b</mi><mo lspace=\"0.2222em\" rspace=\"0.2222em\">∗</mo><mi>c</mi></math></span>",
            )),
            ("$\\href{javascript:x}{<b>}$", "<p>$\\href{javascript:x}{&lt;b>}$</p>".to_string()),
            ("[a](https://x.org/$x_1$)", "<p><a href=\"https://x.org/$x_1$\" rel=noopener>a</a></p>".to_string()),
            ("<b $x_1$>", format!("<p>&lt;b {x}></p>")),
        ] {
            let mut made = String::new();
            markdown(text, &mut made);
            assert_eq!(made, html, "{text}");
        }
    }

    #[test]
    fn only_the_web_and_mail_are_linked() {
        for (address, good) in [
            ("https://example.org/?q=1#a", true),
            ("HTTP://example.org", true),
            ("mailto:a@example.org", true),
            ("https://예시.한국/길", true),
            ("javascript:alert(1)", false),
            ("JaVaScRiPt:alert(1)", false),
            ("java\nscript:alert(1)", false),
            ("\u{1}javascript:alert(1)", false),
            ("data:text/html,<script>alert(1)</script>", false),
            ("vbscript:x", false),
            ("blob:https://example.org/x", false),
            ("file:///etc/passwd", false),
            ("//example.org/x", false),
            ("/etc/passwd", false),
            ("#top", false),
            ("https:/\\example.org", false),
            ("https://a\tb", false),
            ("", false),
        ] {
            assert_eq!(safe_link(address).is_some(), good, "{address:?}");
        }
    }
}
