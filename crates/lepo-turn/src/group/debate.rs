//! A debate: in each round all participants are asked whether they want to speak, the orchestrator chooses
//! the speaker, and everybody hears the speech, until the orchestrator ends the debate or the rounds are used
//! up. All of it is a single conv on disk.

use futures_util::future::join_all;

use super::history::{DebateHistory, ORCHESTRATOR, past};
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

/// The outcome of a round.
enum Floor {
    Given(usize),
    Ended(ShortReply, String),
    /// The debate is over, and the conclusion must still be requested: no participant wants to speak and none
    /// is named, or END is not followed by text.
    Over,
}

struct Debate<'d> {
    group: GroupTurn<'d>,
    panel: &'d mut [Participant],
    orchestrator: &'d mut Participant,
    rules: DebateRules,
    path: TurnPath,
    debated: DebateOutcome,
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
    let mut debated = DebateOutcome::default();
    debated.outcome.user = path.question();
    debated.outcome.model = Some(orchestrator.name.clone());
    debated.outcome.tools = tools;
    let mut debate = Debate { group, panel, orchestrator, rules, path, debated };
    let ended = debate.go().await;
    let Debate { path, mut debated, rules, .. } = debate;
    debated.rounds = rules.round;
    debated.outcome.error = ended.err().map(|error| goes_on(error, &path));
    log_failure(debated.outcome.model.as_deref(), debated.outcome.error.as_ref());
    debated.outcome.conv = path.ids().collect();
    Ok(debated)
}

/// Adds a hint how to continue an interrupted debate.
fn goes_on(error: Error, path: &TurnPath) -> Error {
    match (error.kind, path.tip()) {
        (ErrorKind::Signal(_) | ErrorKind::Remote, Some(tip)) => {
            let debate = ResumeAction::Debate(tip.to_string());
            error.hint(Hint::from("what was said is kept: ").command(debate).words(" continues"))
        }
        _ => error,
    }
}

impl Debate<'_> {
    async fn go(&mut self) -> Result<()> {
        self.count_past_speeches();
        while self.rules.begin_round() {
            let bids = self.ask_for_the_floor().await?;
            let floor = match bids.as_slice() {
                [] => None,
                bids => Some(self.decide(bids).await?),
            };
            match floor {
                Some(Floor::Given(who)) => self.speech(who).await?,
                Some(Floor::Ended(reply, summary)) => return self.conclude(&reply, &summary),
                Some(Floor::Over) => return self.sum_up().await,
                // All failed.
                None => {}
            }
            for who in self.rules.end_round() {
                let name = &self.panel[who].name;
                self.note(&Notice::Out(name.clone(), FAILURES));
            }
        }
        if self.rules.present().is_empty() && self.debated.speeches.is_empty() {
            return Err(Error::remote("no participants are left, and none has spoken"));
        }
        if self.rules.round == self.group.env.settings().many_rounds.get() {
            let rounds = self.rules.round;
            self.note(&Notice::LastRound(rounds, self.orchestrator.name.clone()));
        }
        self.sum_up().await
    }

    /// In a continued debate, some participants have spoken already.
    fn count_past_speeches(&mut self) {
        let Some(past) = past(&self.path.messages) else { return };
        for (name, _) in &past.heard {
            if let Some(who) = self.panel.iter().position(|participant| participant.name == *name) {
                self.rules.speak(who);
            }
        }
    }

    /// Asks all participants at once whether they want to speak; their replies become a single hidden bubb.
    async fn ask_for_the_floor(&mut self) -> Result<Vec<(usize, Bid)>> {
        let group = self.group;
        let present = self.rules.present();
        let names: Vec<&str> = present.iter().map(|&who| self.panel[who].name.as_str()).collect();
        group.view.on_event(GroupEvent::Floor(self.rules.round, &names));
        let prompt = DebatePrompts::new(group.insts, &names, &self.past()).floor();
        let under = self.path.tip();
        let asked = self.panel.iter_mut().enumerate().filter(|(who, _)| present.contains(who));
        let prompt = &prompt;
        let asked = asked.map(|(who, participant)| async move {
            let reply = participant.brief(prompt, under, group).await;
            match &reply {
                Ok(brief) => {
                    participant.journal(group, "floor", None, brief);
                    group.view.on_event(GroupEvent::Wants(&participant.name, bid(brief)));
                }
                Err(error) => group.view.on_event(GroupEvent::Failed(&participant.name, error)),
            }
            (who, reply)
        });
        let mut bids = Vec::new();
        for (who, reply) in join_all(asked).await {
            match reply {
                Ok(brief) => {
                    let bid = bid(&brief);
                    self.rules.bid(who, bid);
                    bids.push((who, bid));
                }
                Err(error) if ends_all(&error) => return Err(error),
                Err(error) => self.fails(who, &error),
            }
        }
        if !bids.is_empty() {
            let lines = self.lines(&bids);
            group.add(&mut self.path, Role::System, true, &lines)?;
        }
        Ok(bids)
    }

    /// Handles a failure: the participant misses the round, or is out if it cannot be asked at all.
    fn fails(&mut self, who: usize, error: &Error) {
        self.rules.fail(who);
        let participant = &self.panel[who];
        if participant.is_lost_by(error) {
            let name = participant.name.clone();
            self.rules.remove(who);
            self.note(&Notice::OutUnasked(name));
        }
    }

    /// Asks the orchestrator for its decision; if two replies cannot be parsed, the participant that has
    /// spoken least speaks next.
    async fn decide(&mut self, bids: &[(usize, Bid)]) -> Result<Floor> {
        for again in [false, true] {
            let mut lines = self.lines(bids);
            let unheard = self.names(&self.rules.unheard());
            if !unheard.is_empty() {
                lines.push_str(&format!("\n\nAsked before and were not chosen: {}", unheard.join(", ")));
            }
            let present = self.rules.present();
            let names = self.names(&present);
            let prompt = DebatePrompts::new(self.group.insts, &names, &self.past()).decision(&lines, again);
            let reply = self.judge(&prompt).await?;
            let names = self.names(&present);
            match decision(&reply.visible_text(), &names) {
                Some((words, OrchestratorDecision::Select(place))) => {
                    self.narrate(&words);
                    return Ok(Floor::Given(present[place]));
                }
                Some((words, OrchestratorDecision::End(summary))) => {
                    self.narrate(&words);
                    return Ok(if summary.is_empty() { Floor::Over } else { Floor::Ended(reply, summary) });
                }
                None => {
                    let name = &self.orchestrator.name;
                    self.note(&Notice::NoDecision(name.clone()));
                }
            }
        }
        Ok(self.rules.least_heard(bids).map_or(Floor::Over, Floor::Given))
    }

    /// Requests a reply of the orchestrator, and stores it as a hidden bubb.
    async fn judge(&mut self, prompt: &str) -> Result<ShortReply> {
        let group = self.group;
        for _ in 0..FAILURES {
            group.view.on_event(GroupEvent::Judging(&self.orchestrator.name));
            match self.orchestrator.brief(prompt, self.path.tip(), group).await {
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

    async fn speech(&mut self, who: usize) -> Result<()> {
        let group = self.group;
        let names = self.names(&self.rules.present());
        let prompt = DebatePrompts::new(group.insts, &names, &self.past()).speech();
        let (participant, under) = (&mut self.panel[who], self.path.tip());
        group.view.on_event(GroupEvent::Chosen(&participant.name));
        match participant.speak(&[ChatMessage::new(Role::User, prompt)], None, under, group).await {
            Ok(answered) => {
                for bubb in select_before(&answered, under).iter().chain([&answered.name]) {
                    self.path.append(bubb)?;
                }
                self.rules.speak(who);
                self.debated.speeches.push(Speech { name: participant.name.clone(), bubb: answered.name });
            }
            Err(error) if ends_all(&error) => return Err(error),
            Err(error) => {
                let error = error.without_retry();
                group.view.on_event(GroupEvent::Failed(&participant.name, &error));
                self.fails(who, &error);
            }
        }
        Ok(())
    }

    /// Asks the orchestrator for the conclusion, after the last round or if no participant wants to speak.
    async fn sum_up(&mut self) -> Result<()> {
        let present = self.rules.present();
        let prompt = DebatePrompts::new(self.group.insts, &self.names(&present), &self.past()).summary();
        let mut reply = self.judge(&prompt).await?;
        if conclusion(&reply).is_none() {
            reply = self.judge(&prompt).await?;
        }
        if let Some((words, summary)) = conclusion(&reply) {
            self.narrate(&words);
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
        self.group.env.masking.note_given(name.id, summary);
        self.group.view.on_event(GroupEvent::Concluded(summary));
        self.group.emit(TurnEvent::Bubb(&name, Some(summary.as_bytes())));
        self.orchestrator.journal(self.group, "answer", Some(name.id), reply);
        self.debated.outcome.answer = Some(reply.answered(name));
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

    /// A debate always has a question.
    fn past(&self) -> DebateHistory<'_> {
        past(&self.path.messages).unwrap_or_default()
    }

    fn names(&self, those: &[usize]) -> Vec<&str> {
        those.iter().map(|&who| self.panel[who].name.as_str()).collect()
    }

    fn lines(&self, bids: &[(usize, Bid)]) -> String {
        bid_lines(bids.iter().map(|&(who, bid)| (self.panel[who].name.as_str(), bid)))
    }
}

/// Returns the text before END in a reply, and the conclusion after it.
fn conclusion(reply: &ShortReply) -> Option<(String, String)> {
    match decision(&reply.visible_text(), &[])? {
        (words, OrchestratorDecision::End(summary)) if !summary.is_empty() => Some((words, summary)),
        _ => None,
    }
}

/// Parses a bid; an invalid one is a pass.
fn bid(reply: &ShortReply) -> Bid {
    Bid::read(&reply.visible_text()).unwrap_or(Bid::Pass)
}
