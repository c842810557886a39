//! Plans the line that an edited text means.

use std::collections::{HashMap, HashSet};

use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;
use lepo_store::conv::Ix;
use lepo_store::store::{CopyParent, EditedCopy, PlannedCopy, plan_edited_copies};

use super::choose::{is_request, is_request_bytes, may_be_request, with_sides};
use super::line_messages::EditableLine;
use crate::rebase_text::{EditedMessage, RangeBase};

/// A planned line.
pub struct EditedLine {
    pub copies: Vec<PlannedCopy>,
    pub tail: BubbId,
    /// Requests that would wait for consent.
    pub left_out: Vec<LeftOut>,
    /// Requests without their result, and results without their request.
    pub dropped: Vec<BubbId>,
    /// Set if an answer follows the first change; the id of the message before that change.
    pub outdated: Option<Option<BubbId>>,
    /// Copies of new and changed text.
    pub own: Vec<usize>,
}

pub enum LeftOut {
    Message(BubbId),
    /// A new message, by the line of its mark.
    Line(usize),
}

/// Plans the line of `edited`; `None` if the text did not change and nothing else was asked for.
pub fn plan_edited_line(line: &EditableLine<'_>, edited: Vec<EditedMessage>) -> Result<Option<EditedLine>> {
    let is_same =
        |(index, message): (usize, &EditedMessage)| message.original == Some(index) && message.text.is_none();
    let is_unchanged = edited.len() == line.path.len() && edited.iter().enumerate().all(is_same);
    if is_unchanged && line.range.base == RangeBase::Own {
        return Ok(None);
    }
    let (edited, dropped) = with_whole_pairs(line, edited)?;
    let (edited, left_out) = without_requests(line, edited)?;
    let Some(last) = edited.len().checked_sub(1) else {
        return Err(Error::nothing("no message is left: nothing was made"));
    };
    let same = edited.iter().enumerate().take_while(|(index, message)| is_same((*index, message))).count();
    // If only the end was cut, the last message is made again, so that the new line is the newest.
    let kept = if line.range.base == RangeBase::Own { same.min(last) } else { 0 };
    let base = match line.range.base {
        RangeBase::Own => line.own_base(),
        RangeBase::Root => None,
        RangeBase::Onto(id) => Some(id),
    };
    if line.range.base == RangeBase::Own && kept == 0 && line.is_incomplete() {
        return Err(Error::usage(
            "the conversation is incomplete, and its first message changed: there is nothing for it to follow",
        )
        .hint("--root makes a conversation of its own"));
    }
    let sides = if line.range.all { sides_of_each(line) } else { HashMap::new() };
    let mut plan = LinePlan { line, entries: Vec::new(), left_out, sides };
    let mut under = match kept.checked_sub(1) {
        Some(before) => CopyParent::Existing(Some(line.name(before).id)),
        None => CopyParent::Base,
    };
    let mut main = Vec::new();
    for (index, message) in edited.iter().enumerate().skip(kept) {
        let mut not_before = if index == last && !is_unchanged { line.range.last.time() + 1 } else { 0 };
        if index == 0 && base.is_none() && message.original.is_none() {
            // Before what it precedes, and never now: the same text makes the same messages.
            not_before = not_before.max(line.name(0).id.time().saturating_sub(1));
        }
        main.push(plan.entries.len());
        under = plan.add(message, under, not_before)?;
    }
    let LinePlan { entries, left_out, .. } = plan;
    let own = (0..entries.len()).filter(|at| entries[*at].text.is_some()).collect();
    let copies = plan_edited_copies(line.store, base, entries)?;
    let id_of = |index: usize| match index.checked_sub(kept) {
        Some(at) => main.get(at).and_then(|at| copies.get(*at)).map(|copy| copy.name.id),
        None => Some(line.name(index).id),
    };
    let is_old_answer = |message: &EditedMessage| {
        message.role == Role::Assistant
            && !message.hidden
            && message.original.is_some()
            && message.text.is_none()
    };
    let has_old_answer = edited.iter().skip(same).any(is_old_answer);
    let outdated = (has_old_answer && !is_unchanged).then(|| same.checked_sub(1).map_or(base, id_of));
    let Some(tail) = id_of(last) else { return Err(Error::nothing("no message is left: nothing was made")) };
    Ok(Some(EditedLine { copies, tail, left_out, dropped, outdated, own }))
}

/// Drops a result without its request and a request without its result. An error if both exist, but not once and
/// side by side.
fn with_whole_pairs(
    line: &EditableLine<'_>,
    edited: Vec<EditedMessage>,
) -> Result<(Vec<EditedMessage>, Vec<BubbId>)> {
    let pairs = pairs(line)?;
    let mut indices: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, message) in edited.iter().enumerate() {
        indices.entry(message.original.unwrap_or(usize::MAX)).or_default().push(index);
    }
    let count = |index: usize| indices.get(&index).map_or(0, Vec::len);
    let mut cut: HashSet<usize> = HashSet::new();
    let mut dropped = Vec::new();
    for &(request, result) in &pairs {
        for index in [request, result] {
            if let Some([_, second, ..]) = indices.get(&index).map(Vec::as_slice) {
                return Err(Error::usage(format!(
                    "line {}: a request and its result cannot appear twice",
                    edited[*second].line
                )));
            }
        }
        let single = match (count(request), count(result)) {
            (1, 0) => request,
            (0, 1) => result,
            _ => continue,
        };
        cut.insert(single);
        dropped.push(line.name(single).id);
    }
    let edited: Vec<EditedMessage> = edited
        .into_iter()
        .filter(|message| message.original.is_none_or(|index| !cut.contains(&index)))
        .collect();
    let indices: HashMap<usize, usize> =
        edited.iter().enumerate().filter_map(|(index, message)| Some((message.original?, index))).collect();
    for (request, result) in pairs {
        let (Some(&above), Some(&below)) = (indices.get(&request), indices.get(&result)) else { continue };
        if below != above + 1 {
            return Err(Error::usage(format!(
                "line {}: the result of a request must directly follow the request",
                edited[below].line
            )));
        }
    }
    Ok((edited, dropped))
}

/// Returns each request of the line with its result, by index.
fn pairs(line: &EditableLine<'_>) -> Result<Vec<(usize, usize)>> {
    let mut pairs = Vec::new();
    for result in 1..line.path.len() {
        let request = result - 1;
        let is_free = pairs.last().is_none_or(|(_, taken)| *taken != request);
        if is_free && line.name(result).hidden && is_request(line.store, &line.name(request), None)? {
            pairs.push((request, result));
        }
    }
    Ok(pairs)
}

/// Removes requests that would wait for consent: new ones, and those at the end.
fn without_requests(
    line: &EditableLine<'_>,
    edited: Vec<EditedMessage>,
) -> Result<(Vec<EditedMessage>, Vec<LeftOut>)> {
    let mut left_out = Vec::new();
    let mut rest = Vec::with_capacity(edited.len());
    for message in edited {
        let is_new = message.original.is_none() && may_be_request(message.role, message.hidden);
        match &message.text {
            Some(text) if is_new && is_request_bytes(text) => left_out.push(LeftOut::Line(message.line)),
            _ => rest.push(message),
        }
    }
    while let Some(last) = rest.last() {
        let Some(index) = last.original else { break };
        let name = line.name(index);
        if !is_request(line.store, &name, last.text.as_deref())? {
            break;
        }
        left_out.push(LeftOut::Message(name.id));
        rest.pop();
    }
    Ok((rest, left_out))
}

/// Returns the side branches of each message, parents first.
fn sides_of_each(line: &EditableLine<'_>) -> HashMap<Ix, Vec<Ix>> {
    let on_path: HashSet<Ix> = line.path.iter().copied().collect();
    let mut sides: HashMap<Ix, Vec<Ix>> = HashMap::new();
    let mut message = None;
    for ix in with_sides(&line.forest, &line.path, true) {
        match message {
            _ if on_path.contains(&ix) => message = Some(ix),
            Some(message) => sides.entry(message).or_default().push(ix),
            None => {}
        }
    }
    sides
}

struct LinePlan<'l, 's> {
    line: &'l EditableLine<'s>,
    entries: Vec<EditedCopy>,
    left_out: Vec<LeftOut>,
    sides: HashMap<Ix, Vec<Ix>>,
}

impl LinePlan<'_, '_> {
    /// Adds a message with its side branches; returns the parent of what follows it.
    fn add(&mut self, message: &EditedMessage, under: CopyParent, not_before: u64) -> Result<CopyParent> {
        let index = self.entries.len();
        self.entries.push(EditedCopy {
            original: message.original.map(|index| self.line.name(index)),
            role: message.role,
            hidden: message.hidden,
            text: message.text.clone(),
            under,
            not_before,
        });
        let Some(ix) = message.original.map(|index| self.line.path[index]) else {
            return Ok(CopyParent::Copy(index));
        };
        let sides = self.sides.get(&ix).cloned().unwrap_or_default();
        let mut indices = HashMap::from([(ix, index)]);
        for side in self.without_waiting(sides)? {
            let above = self.line.forest.up(side).skip(1).find_map(|above| indices.get(&above).copied());
            indices.insert(side, self.entries.len());
            let name = self.line.forest.name(side);
            self.entries.push(EditedCopy {
                original: Some(name),
                role: name.role,
                hidden: name.hidden,
                text: None,
                under: CopyParent::Copy(above.unwrap_or(index)),
                not_before: 0,
            });
        }
        Ok(CopyParent::Copy(index))
    }

    /// Removes from side branches the requests that nothing follows.
    fn without_waiting(&mut self, sides: Vec<Ix>) -> Result<Vec<Ix>> {
        let mut followed: HashSet<Ix> = HashSet::new();
        let mut rest = Vec::with_capacity(sides.len());
        for side in sides.into_iter().rev() {
            let name = self.line.forest.name(side);
            if !followed.contains(&side) && is_request(self.line.store, &name, None)? {
                self.left_out.push(LeftOut::Message(name.id));
                continue;
            }
            followed.extend(self.line.forest.prev(side));
            rest.push(side);
        }
        rest.reverse();
        Ok(rest)
    }
}
