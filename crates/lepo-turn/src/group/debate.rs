//! A debate: in each round all participants are asked whether they want to speak, the orchestrator chooses
//! the speaker, and everybody hears the speech, until the orchestrator ends the debate or the rounds are used
//! up. All of it is a single conv on disk.

use futures_util::future::join_all;

use super::history::{DebateHistory, ORCHESTRATOR, read_history};
use super::participant::{ShortReply, select_before};
use super::prompts::{DebatePrompts, bid_lines};
use super::protocol::{Bid, OrchestratorDecision, decision, select_line, without_decisions};
use super::rules::{DebateRules, FAILURES};
use super::{GroupEvent, GroupTurn, Participant, ends_all};
use crate::outcome::log_failure;
use crate::turn_path::TurnPath;
use crate::{Notice, Outcome, TurnEvent, TurnRequest};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;
use lepo_model::ChatMessage;
use lepo_store::bubb::BubbName;

/// The outcome of a debate.
#[derive(Debug, Default)]
pub struct DebateOutcome {
    /// Like the outcome of any turn; the answer is the conclusion.
    pub outcome: Outcome,
    /// The speeches, in order.
    pub speeches: Vec<Speech>,
    /// Number of started rounds.
    pub rounds: u32,
}

/// A speech of a participant.
#[derive(Debug, Clone)]
pub struct Speech {
    /// Name of the speaker.
    pub name: String,
    /// Bubb of the speech.
    pub bubb: BubbName,
}

/// The decision of a round.
enum RoundDecision {
    /// The participant at this index speaks.
    Speaker(usize),
    /// The debate is over: the reply of the orchestrator, and the conclusion in it.
    Conclusion(ShortReply, String),
    /// The debate is over, and the conclusion must still be requested: no participant wants to speak and none
    /// is named, or END is not followed by text.
    NoConclusion,
}

struct Debate<'d> {
    group: GroupTurn<'d>,
    panel: &'d mut [Participant],
    orchestrator: &'d mut Participant,
    rules: DebateRules,
    path: TurnPath,
    results: DebateOutcome,
}

/// Runs a debate to its end. A later error is in the outcome, together with the speeches so far.
///
/// # Errors
/// Returns the errors that occur before a model is asked.
pub async fn debate(
    group: GroupTurn<'_>,
    panel: &mut [Participant],
    orchestrator: &mut Participant,
    ask: TurnRequest,
) -> Result<DebateOutcome> {
    let (path, tools) = group.open(ask).await?;
    let rules = DebateRules::new(panel.len(), group.env.settings().many_rounds.get());
    let mut results = DebateOutcome::default();
    results.outcome.user = path.question();
    results.outcome.model = Some(orchestrator.name.clone());
    results.outcome.tools = tools;
    let mut debate = Debate { group, panel, orchestrator, rules, path, results };
    let ended = debate.run().await;
    let Debate { path, mut results, rules, .. } = debate;
    results.rounds = rules.round;
    results.outcome.error = ended.err().map(|error| with_resume_hint(error, &path));
    log_failure(results.outcome.model.as_deref(), results.outcome.error.as_ref());
    results.outcome.conv = path.ids().collect();
    Ok(results)
}

/// Adds a hint how to continue an interrupted debate.
fn with_resume_hint(error: Error, path: &TurnPath) -> Error {
    match (error.kind, path.tip()) {
        (ErrorKind::Signal(_) | ErrorKind::Remote, Some(tip)) => {
            let debate = ResumeAction::Debate(tip.to_string());
            error.hint(Hint::from("what was said is kept: ").command(debate).text(" continues"))
        }
        _ => error,
    }
}

impl Debate<'_> {
    async fn run(&mut self) -> Result<()> {
        self.count_past_speeches();
        while self.rules.begin_round() {
            let bids = self.ask_for_the_floor().await?;
            let decision = match bids.as_slice() {
                [] => None,
                bids => Some(self.decide(bids).await?),
            };
            match decision {
                Some(RoundDecision::Speaker(index)) => self.hear_speech(index).await?,
                Some(RoundDecision::Conclusion(reply, summary)) => return self.conclude(&reply, &summary),
                Some(RoundDecision::NoConclusion) => return self.sum_up().await,
                // No participant replied.
                None => {}
            }
            for index in self.rules.end_round() {
                let name = &self.panel[index].name;
                self.note(&Notice::ParticipantOut(name.clone(), FAILURES));
            }
        }
        if self.rules.present().is_empty() && self.results.speeches.is_empty() {
            return Err(Error::remote("no participants are left, and none has spoken"));
        }
        if self.rules.round == self.group.env.settings().many_rounds.get() {
            let rounds = self.rules.round;
            self.note(&Notice::LastRound(rounds, self.orchestrator.name.clone()));
        }
        self.sum_up().await
    }

    /// Counts the speeches of a continued debate, so that each participant gets its turn.
    fn count_past_speeches(&mut self) {
        let Some(past) = read_history(&self.path.messages) else { return };
        for (name, _) in &past.heard {
            if let Some(index) = self.panel.iter().position(|participant| participant.name == *name) {
                self.rules.speak(index);
            }
        }
    }

    /// Asks all participants at once whether they want to speak; their replies become a single hidden bubb.
    async fn ask_for_the_floor(&mut self) -> Result<Vec<(usize, Bid)>> {
        let group = self.group;
        let present = self.rules.present();
        let names: Vec<&str> = present.iter().map(|&index| self.panel[index].name.as_str()).collect();
        group.view.on_event(GroupEvent::Floor(self.rules.round, &names));
        let prompt = DebatePrompts::new(group.insts, &names, &self.history()).floor();
        let under = self.path.tip();
        let participants = self.panel.iter_mut().enumerate().filter(|(index, _)| present.contains(index));
        let prompt = &prompt;
        let replies = participants.map(|(index, participant)| async move {
            let reply = participant.ask_short(prompt, under, group).await;
            match &reply {
                Ok(brief) => {
                    participant.journal(group, "floor", None, brief);
                    group.view.on_event(GroupEvent::Wants(&participant.name, parse_bid(brief)));
                }
                Err(error) => group.view.on_event(GroupEvent::Failed(&participant.name, error)),
            }
            (index, reply)
        });
        let mut bids = Vec::new();
        for (index, reply) in join_all(replies).await {
            match reply {
                Ok(brief) => {
                    let bid = parse_bid(&brief);
                    self.rules.bid(index, bid);
                    bids.push((index, bid));
                }
                Err(error) if ends_all(&error) => return Err(error),
                Err(error) => self.record_failure(index, &error),
            }
        }
        if !bids.is_empty() {
            let lines = self.bids_text(&bids);
            group.add(&mut self.path, Role::System, true, &lines)?;
        }
        Ok(bids)
    }

    /// Records a failure: the participant misses the round; if it cannot be asked at all, it leaves the debate.
    fn record_failure(&mut self, index: usize, error: &Error) {
        self.rules.fail(index);
        let participant = &self.panel[index];
        if participant.is_lost_by(error) {
            let name = participant.name.clone();
            self.rules.remove(index);
            self.note(&Notice::ParticipantUnavailable(name));
        }
    }

    /// Asks the orchestrator for its decision; if two replies cannot be parsed, the participant that has
    /// spoken least speaks next.
    async fn decide(&mut self, bids: &[(usize, Bid)]) -> Result<RoundDecision> {
        for again in [false, true] {
            let mut lines = self.bids_text(bids);
            let unheard = self.names(&self.rules.unheard());
            if !unheard.is_empty() {
                lines.push_str(&format!("\n\nAsked before and were not chosen: {}", unheard.join(", ")));
            }
            let present = self.rules.present();
            let names = self.names(&present);
            let prompt =
                DebatePrompts::new(self.group.insts, &names, &self.history()).decision(&lines, again);
            let reply = self.judge(&prompt).await?;
            let names = self.names(&present);
            match decision(&reply.visible_text(), &names) {
                Some((text, OrchestratorDecision::Select(selected))) => {
                    self.narrate(&text);
                    return Ok(RoundDecision::Speaker(present[selected]));
                }
                Some((text, OrchestratorDecision::End(summary))) => {
                    self.narrate(&text);
                    return Ok(if summary.is_empty() {
                        RoundDecision::NoConclusion
                    } else {
                        RoundDecision::Conclusion(reply, summary)
                    });
                }
                None => {
                    let name = &self.orchestrator.name;
                    self.note(&Notice::NoDecision(name.clone()));
                }
            }
        }
        Ok(self.rules.least_heard(bids).map_or(RoundDecision::NoConclusion, RoundDecision::Speaker))
    }

    /// Requests a reply of the orchestrator, and stores it as a hidden bubb.
    async fn judge(&mut self, prompt: &str) -> Result<ShortReply> {
        let group = self.group;
        for _ in 0..FAILURES {
            group.view.on_event(GroupEvent::Judging(&self.orchestrator.name));
            match self.orchestrator.ask_short(prompt, self.path.tip(), group).await {
                Ok(reply) => {
                    group.add(&mut self.path, Role::System, true, &reply.text)?;
                    self.orchestrator.journal(group, "orchestrator", self.path.tip(), &reply);
                    return Ok(reply);
                }
                Err(error) if ends_all(&error) => return Err(error),
                Err(error) => group.view.on_event(GroupEvent::Failed(&self.orchestrator.name, &error)),
            }
        }
        Err(Error::remote(format!("the orchestrator {} failed {FAILURES} times", self.orchestrator.name)))
    }

    /// Asks a participant for its speech. If it fails, the debate continues without the speech.
    async fn hear_speech(&mut self, index: usize) -> Result<()> {
        let group = self.group;
        let names = self.names(&self.rules.present());
        let prompt = DebatePrompts::new(group.insts, &names, &self.history()).speech();
        let (participant, under) = (&mut self.panel[index], self.path.tip());
        group.view.on_event(GroupEvent::Chosen(&participant.name));
        match participant.speak(&[ChatMessage::new(Role::User, prompt)], None, under, group).await {
            Ok(answered) => {
                for bubb in select_before(&answered, under).iter().chain([&answered.name]) {
                    self.path.append(bubb)?;
                }
                self.rules.speak(index);
                self.results.speeches.push(Speech { name: participant.name.clone(), bubb: answered.name });
            }
            Err(error) if ends_all(&error) => return Err(error),
            Err(error) => {
                let error = error.without_retry();
                group.view.on_event(GroupEvent::Failed(&participant.name, &error));
                self.record_failure(index, &error);
            }
        }
        Ok(())
    }

    /// Asks the orchestrator for the conclusion, after the last round or if no participant wants to speak.
    async fn sum_up(&mut self) -> Result<()> {
        let present = self.rules.present();
        let prompt = DebatePrompts::new(self.group.insts, &self.names(&present), &self.history()).summary();
        let mut reply = self.judge(&prompt).await?;
        if parse_conclusion(&reply).is_none() {
            reply = self.judge(&prompt).await?;
        }
        if let Some((text, summary)) = parse_conclusion(&reply) {
            self.narrate(&text);
            return self.conclude(&reply, &summary);
        }
        // The prompt asks for nothing else, so the whole reply is the summary, except lines with a name or a
        // bare END.
        let Some(summary) = without_decisions(&reply.visible_text()) else {
            let name = &self.orchestrator.name;
            return Err(Error::remote(format!("{name} gave no conclusion after being asked twice")));
        };
        self.group.add(&mut self.path, Role::System, true, &select_line(ORCHESTRATOR))?;
        self.conclude(&reply, &summary)
    }

    fn conclude(&mut self, reply: &ShortReply, summary: &str) -> Result<()> {
        let name = self.path.add(Role::Assistant, false, summary.as_bytes())?;
        self.group.env.masking.note_unmasked(name.id, summary);
        self.group.view.on_event(GroupEvent::Concluded(summary));
        self.group.emit(TurnEvent::Bubb(&name, Some(summary.as_bytes())));
        self.orchestrator.journal(self.group, "answer", Some(name.id), reply);
        self.results.outcome.answer = Some(reply.to_finished_answer(name));
        Ok(())
    }

    fn narrate(&self, text: &str) {
        if !text.is_empty() {
            self.group.view.on_event(GroupEvent::Narration(text));
        }
    }

    fn note(&self, notice: &Notice) {
        self.group.emit(TurnEvent::Notice(notice));
    }

    /// Returns the debate so far. Its path always has a question, so it is never the default.
    fn history(&self) -> DebateHistory<'_> {
        read_history(&self.path.messages).unwrap_or_default()
    }

    fn names(&self, indexes: &[usize]) -> Vec<&str> {
        indexes.iter().map(|&index| self.panel[index].name.as_str()).collect()
    }

    fn bids_text(&self, bids: &[(usize, Bid)]) -> String {
        bid_lines(bids.iter().map(|&(index, bid)| (self.panel[index].name.as_str(), bid)))
    }
}

/// Returns the text before END in a reply, and the conclusion after it.
fn parse_conclusion(reply: &ShortReply) -> Option<(String, String)> {
    match decision(&reply.visible_text(), &[])? {
        (text, OrchestratorDecision::End(summary)) if !summary.is_empty() => Some((text, summary)),
        _ => None,
    }
}

/// Parses a bid; an invalid one is a pass.
fn parse_bid(reply: &ShortReply) -> Bid {
    Bid::read(&reply.visible_text()).unwrap_or(Bid::Pass)
}
