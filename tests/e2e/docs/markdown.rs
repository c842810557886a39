//! Sections of the manual written by hand, in `docs/manual/`: Markdown in, requests of roff out. Code is bold, names
//! of files and values are in italics, and a definition list is a list of terms.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::roff::escaped;

/// Returns the sections of a Markdown text. Panics on Markdown without a row here, so that no text is lost silently.
pub fn markdown_sections(markdown: &str) -> String {
    let mut roff = String::new();
    let (mut heading, mut is_code, mut is_head, mut is_first) = (None, false, false, true);
    let mut is_in_list = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_DEFINITION_LIST) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                roff += if level == HeadingLevel::H1 { ".SH \"" } else { ".SS \"" };
                heading = Some(level);
            }
            Event::End(TagEnd::Heading(_)) => {
                roff += "\"\n";
                (heading, is_first) = (None, true);
            }
            Event::Start(Tag::Paragraph) if !is_first => roff += if is_in_list { ".IP\n" } else { ".PP\n" },
            // A long term stands above its text, so that a narrow window has room for that.
            Event::Start(Tag::DefinitionListTitle) => roff += ".TP 8n\n",
            Event::Start(Tag::DefinitionListDefinition) => (is_first, is_in_list) = (true, true),
            Event::Start(Tag::CodeBlock(_)) => {
                roff += if is_first { ".nf\n.RS 6n\n" } else { ".nf\n.sp\n.RS 6n\n" };
                is_code = true;
            }
            Event::End(TagEnd::CodeBlock) => {
                roff += ".RE\n.fi\n";
                (is_code, is_first) = (false, false);
            }
            Event::Start(Tag::Table(columns)) => {
                let space = if is_first { "" } else { ".PP\n" };
                roff += &format!("{space}.TS\n{}.\n", vec!["l"; columns.len()].join(" "));
            }
            Event::End(TagEnd::Table) => {
                roff += ".TE\n";
                is_first = false;
            }
            Event::Start(Tag::TableHead) => is_head = true,
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                roff.truncate(roff.trim_end_matches('\t').len());
                roff += "\n";
                is_head = false;
            }
            Event::Start(Tag::TableCell) if is_head => roff += "\\fB",
            Event::End(TagEnd::TableCell) => roff += if is_head { "\\fR\t" } else { "\t" },
            Event::Start(Tag::Emphasis) => roff += "\\fI",
            Event::End(TagEnd::Emphasis) => roff += "\\fR",
            Event::Start(Tag::Strong) => roff += "\\fB",
            Event::End(TagEnd::Strong) => roff += "\\fR",
            Event::Code(code) => roff += &format!("\\fB{}\\fR", code_escaped(&code)),
            Event::Text(text) if is_code => roff += &format!("{}\n", code_escaped(&text)),
            Event::Text(text) if heading == Some(HeadingLevel::H1) => roff += &escaped(&text.to_uppercase()),
            Event::Text(text) => roff += &prose(&text, roff.ends_with('\n')),
            Event::SoftBreak | Event::End(TagEnd::DefinitionListTitle) => roff += "\n",
            Event::End(TagEnd::Paragraph | TagEnd::DefinitionListDefinition) => {
                if !roff.ends_with('\n') {
                    roff += "\n";
                }
                is_first = false;
            }
            Event::End(TagEnd::DefinitionList) => is_in_list = false,
            Event::Start(Tag::Paragraph | Tag::DefinitionList | Tag::TableRow | Tag::TableCell) => {}
            other => panic!("the manual has no request of roff for {other:?}"),
        }
    }
    roff
}

/// Returns text in which only the begin of a line can be taken for a request.
fn prose(text: &str, is_line_start: bool) -> String {
    let text = text.replace('‘', "\u{e000}").replace('’', "\u{e001}");
    let text = escaped(&text).replace('\u{e000}', "\\(oq").replace('\u{e001}', "\\(cq");
    match text.strip_prefix("\\&") {
        Some(rest) if !is_line_start => rest.to_string(),
        _ => text,
    }
}

/// Returns code that can be copied: an apostrophe is a quote of the shell on every device.
fn code_escaped(code: &str) -> String {
    escaped(code).replace('\'', "\\(aq")
}

#[test]
fn markdown_becomes_sections_lists_tables_and_code() {
    let text = "# Two words\n\nRun `a -b`, see *_x/*.\n.git too, ‘@’.\n\n`/t` *ADDR*\n: Go.\n  On.\n\n\
                `/u`\n: Up.\n\n  Higher.\n\nAfter.\n\n    lepo 'a\\b'\n\n## Of files\n\n| A | B |\n|---|---|\n| c | `d` |\n";
    assert_eq!(
        markdown_sections(text),
        ".SH \"TWO WORDS\"\nRun \\fBa \\-b\\fR, see \\fI_x/\\fR.\n\\&.git too, \\(oq@\\(cq.\n\
         .TP 8n\n\\fB/t\\fR \\fIADDR\\fR\nGo.\nOn.\n.TP 8n\n\\fB/u\\fR\nUp.\n.IP\nHigher.\n.PP\nAfter.\n\
         .nf\n.sp\n.RS 6n\nlepo \\(aqa\\eb\\(aq\n.RE\n.fi\n\
         .SS \"Of files\"\n.TS\nl l.\n\\fBA\\fR\t\\fBB\\fR\nc\t\\fBd\\fR\n.TE\n"
    );
}
