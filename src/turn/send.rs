//! Sending one request, while the question becomes durable; and taking a short answer whole.

use super::transcript::Transcript;
use super::{Event, Front, Report};
use crate::bubb::{Kind, Name};
use crate::error::Result;
use crate::model::{self, Answer, Model, Request};

/// The longest answer of chooser or writer that is read, in bytes.
const PLANNER_LIMIT: usize = 1 << 20;

/// Sends a request. What is still being written becomes durable meanwhile; if that fails, nothing has left.
pub async fn send<'m>(
    model: &'m mut Model,
    front: &mut dyn Front,
    transcript: &mut Transcript,
    request: Request<'_>,
) -> Result<(Result<Answer<'m>>, Vec<(Name, Vec<u8>)>)> {
    front.happens(Event::Waiting);
    let mut notice = |text: &str| front.happens(Event::Say(text));
    tokio::pin! {
        let asked = model.ask(request, &mut notice);
    }
    let saved = tokio::select! {
        biased;
        saved = transcript.saved() => saved?,
        // Not before the gate is open, so it is a failure to connect: the question is kept all the same.
        failed = &mut asked => {
            let saved = transcript.saved().await?;
            return Ok((failed, saved));
        }
    };
    Ok((asked.await, saved))
}

/// Tells of what became durable.
pub fn tell_saved(front: &mut dyn Front, report: &mut Report, saved: Vec<(Name, Vec<u8>)>) {
    for (name, text) in saved {
        if name.kind == Kind::User {
            report.user = Some(name.id);
        }
        front.happens(Event::Bubb(&name, Some(&text)));
    }
}

/// The whole text of a short answer.
pub async fn whole(mut answer: Answer<'_>, front: &mut dyn Front) -> Result<(String, model::Usage)> {
    let (mut text, mut usage) = (String::new(), model::Usage::default());
    while let Some(event) = answer.next().await? {
        match event {
            model::Event::Text(piece) if text.len() + piece.len() <= PLANNER_LIMIT => text.push_str(&piece),
            model::Event::Usage(told) => usage = told,
            model::Event::Notice(words) => front.happens(Event::Say(&words)),
            _ => {}
        }
    }
    Ok((text, usage))
}
