//! The position and the usage of a session: its first line, `/tokens`, `/ls`.

use super::find::{COLUMNS, most_listed};
use super::session::{ReplSession, SessionTokens};
use crate::term::{Table, columns, excerpt_within, print_status, print_status_dim, width};
use crate::ui::{self, ShortIds};
use crate::view::Overviews;
use lepo_base::error::Result;
use lepo_base::time;
use lepo_store::bubb::{BubbName, plural_in_thousands, thousands};
use lepo_store::conv::{Ix, ReadScope};
use lepo_store::store::now;

/// Prints the first line: the model, and the conversation that it continues.
pub(super) async fn print_place(session: &mut ReplSession<'_>) -> Result<()> {
    let forest = session.forest()?;
    if session.model.is_none() {
        // If no model can be chosen, the first question reports why.
        let _ = session.model().await;
    }
    let model = session.model.as_ref().map_or("no model", |model| model.name.as_str());
    let at = session.tip().and_then(|id| forest.find(id));
    let instructions = session.model.as_ref().and_then(|model| session.env.configured.instructions(model));
    let instructions = instructions.and_then(|found| found.about());
    let store_and_forest = (&*session.store, &forest);
    let line =
        ui::place_line(store_and_forest, at, model, (instructions.as_deref(), Some("/help")), columns());
    print_status_dim(&line, session.paint);
    if let Some(question) = session.conversation.position.unanswered.and_then(|id| forest.find(id)) {
        let question_text = ui::text_or_warn(&session.store, &forest.name(question)).unwrap_or_default();
        let question_text =
            excerpt_within(&question_text, columns().saturating_sub("not answered: \"\" · /retry".len()));
        print_status_dim(&format!("not answered: \"{question_text}\" · /retry"), session.paint);
    }
    Ok(())
}

/// Prints the tokens of the session, and of the last answer of this conversation.
pub(super) fn tokens(session: &ReplSession<'_>) -> Result<()> {
    let SessionTokens { answers, input, output } = session.tokens;
    let answers = if answers == 1 { "1 answer".to_string() } else { format!("{answers} answers") };
    print_status(&format!(
        "this session: {answers}, {} tokens in, {} out",
        thousands(input),
        thousands(output)
    ));
    let forest = session.forest()?;
    let facts = session.store.journal().index();
    let at = session.tip().and_then(|id| forest.find(id));
    let last = at.and_then(|ix| {
        let mut up = forest.up(ix);
        up.find_map(|ix| facts.get(forest.name(ix).id).filter(|fact| fact.input.is_some()))
    });
    match last {
        Some(fact) => {
            let (input, output) = (fact.input.unwrap_or_default(), fact.output.unwrap_or_default());
            print_status(&format!("this conversation: {} tokens", thousands(input + output)));
        }
        None => print_status("this conversation: not known"),
    }
    Ok(())
}

/// Lists the newest conversations, including other users', numbered for `/tail`.
pub(super) fn list(session: &mut ReplSession<'_>) -> Result<()> {
    let most = most_listed();
    let peers = session.store.peers();
    let scope = if peers.is_empty() { ReadScope::newest(most) } else { ReadScope::All { peers: true } };
    let forest = session.store.forest_for(&[scope])?;
    let own = session.store.own_newest().unwrap_or_default();
    let (tails, now) = (forest.listed_tails(false, own).take(most).collect::<Vec<Ix>>(), now());
    let shorts = ShortIds::new(forest.all().map(|ix| forest.name(ix).id));
    let overviews = Overviews::new(&session.store, &forest);
    let current = session.tip().and_then(|id| forest.find(id));
    let (mut rows, mut texts) = (Vec::new(), Vec::new());
    for (index, &tail) in tails.iter().enumerate() {
        let mark = if current == Some(tail) { '*' } else { ' ' };
        let overview = overviews.overview(tail);
        let text_of = |name: BubbName| ui::text_or_warn(&session.store, &name);
        let from = overview.owner.map(|clone| format!("{clone}/")).unwrap_or_default();
        let id = overview.tail.id;
        rows.push([
            format!("{}{mark}", index + 1),
            from + &shorts.show(id),
            plural_in_thousands(overview.questions as usize, "question"),
            time::short(id.time(), now),
        ]);
        let title = overview.title().map(str::to_string).or_else(|| overview.opening().and_then(text_of));
        texts.push((title, overview.last.and_then(text_of).unwrap_or_default()));
    }
    let table = Table::new(&COLUMNS, 1, &rows, Some(columns()));
    for (cells, (title, question)) in rows.iter().zip(&texts) {
        print_status(&table.row(cells, |room| titled(title.as_deref(), question, room)));
    }
    session.numbered = tails.iter().map(|&ix| forest.name(ix).id).collect();
    print_status(if tails.is_empty() { "no conversations yet" } else { "/tail NUMBER continues one" });
    Ok(())
}

/// Returns the title of a conversation and its last question, within `room` columns; without a title, the question.
fn titled(title: Option<&str>, question: &str, room: usize) -> String {
    const BETWEEN: &str = " · ";
    const LEAST: usize = 8;
    let Some(title) = title else { return excerpt_within(question, room) };
    let title_text = excerpt_within(title, room);
    let remaining = room.saturating_sub(width(BETWEEN));
    let question = excerpt_within(question, remaining);
    let title_width = width(&title_text).min((remaining / 2).max(remaining.saturating_sub(width(&question))));
    match remaining - title_width {
        room if question.is_empty() || room < LEAST.min(width(&question)) => title_text,
        room => format!("{}{BETWEEN}{}", excerpt_within(title, title_width), excerpt_within(&question, room)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_and_a_question_share_a_line() {
        for (title, question, room, shown) in [
            (None, "서울의 인구는?", 20, "서울의 인구는?"),
            (Some("수도"), "서울의 인구는?", 30, "수도 · 서울의 인구는?"),
            (Some("수도"), "서울의 인구는 얼마나 될까?", 20, "수도 · 서울의 인..."),
            (Some("한국의 수도에 대하여"), "인구는?", 20, "한국의... · 인구는?"),
            (Some("한국의 수도에 대하여"), "서울의 인구는 얼마나?", 24, "한국의... · 서울의..."),
            (Some("한국의 수도"), "서울의 인구는?", 12, "한국의 수도"),
            (Some("수도"), "", 12, "수도"),
        ] {
            assert_eq!(titled(title, question, room), shown, "{title:?} {question} {room}");
            assert!(width(&titled(title, question, room)) <= room);
        }
    }
}
