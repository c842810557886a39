//! The differences between frontends, each by a turn with a view that notes what it is shown, and a server that answers from a
//! list.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::attach::FileContent;
use crate::config::{Flags, Paths};
use crate::{
    Configuration, Interrupt, Notice, QuestionPart, TurnEvent, TurnRequest, execute_turn, join_parts,
};
use lepo_base::env::Env;
use lepo_base::role::Role;
use lepo_model::Provider;
use lepo_net::runtime::current_thread;

/// Answers each request for text with the next reply; `None` refuses it. Other requests are refused.
fn serve(mut replies: Vec<Option<&'static str>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") && reader.read_until(b'\n', &mut head).unwrap() > 0 {}
            let head = String::from_utf8(head).unwrap().to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            reader.read_exact(&mut body).unwrap();
            let reply =
                if head.starts_with("post") && !replies.is_empty() { replies.remove(0) } else { None };
            let answer = match reply {
                None => {
                    "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_string()
                }
                Some(text) => {
                    let chunk = |delta, end| {
                        let choice = serde_json::json!({ "index": 0, "delta": delta, "finish_reason": end });
                        format!("data: {}\n\n", serde_json::json!({ "choices": [choice] }))
                    };
                    let chunks = [
                        chunk(serde_json::json!({ "content": text }), None),
                        chunk(serde_json::json!({}), Some("stop")),
                    ];
                    let head =
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                    format!("{head}{}data: [DONE]\n\n", chunks.concat())
                }
            };
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    url
}

/// Notes whether a summary was announced, and the text of answers.
#[derive(Default)]
struct ScriptedView {
    compacts: bool,
    text: String,
}

impl View for ScriptedView {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        match event {
            TurnEvent::Notice(Notice::Compacts) => self.compacts = true,
            TurnEvent::Text(text) => self.text += text,
            _ => {}
        }
    }

    fn shows_partial_text(&self) -> bool {
        true
    }
}

struct Scene {
    _home: tempfile::TempDir,
    env: TurnEnv,
    config: ModelConfig,
    room: ScriptedView,
    turn: ScriptedView,
}

impl Scene {
    fn new(replies: Vec<Option<&'static str>>) -> Scene {
        let home = tempfile::tempdir().unwrap();
        let variables = Env::from_pairs(&[("HOME", home.path().to_str().unwrap())]);
        let paths = Paths::from_env(&variables).unwrap();
        std::fs::create_dir_all(&paths.config).unwrap();
        std::fs::write(paths.config_file(), "compact = \"auto\"\n").unwrap();
        let configured = Configuration::load(paths, &variables, None, Flags::default()).unwrap();
        let work = home.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let store = Arc::new(Store::make(&work, Path::new(".lepo"), "").unwrap().0);
        let mut config = ModelConfig::new("m", Provider::Openai);
        (config.model, config.base_url) = ("m".into(), serve(replies));
        let env = TurnEnv::without_servers(configured, store, Interrupt::by_hand());
        Scene { _home: home, env, config, room: ScriptedView::default(), turn: ScriptedView::default() }
    }

    /// Writes a conversation of three questions, which fills the model's window; returns its end.
    fn full_conversation(&mut self) -> BubbId {
        self.config.context = Some(10);
        let mut end = None;
        for text in ["one", "two", "three"] {
            for role in [Role::User, Role::Assistant] {
                end = Some(
                    self.env.store.create_bubb(role, false, end, 0, text.repeat(20).as_bytes()).unwrap().id,
                );
            }
        }
        end.unwrap()
    }

    /// Asks as each frontend does.
    async fn ask(&mut self, conversation: &mut Conversation) -> Result<Outcome> {
        let Scene { env, config, room, turn, .. } = self;
        let mut next = conversation.next_turn(&env.store, false)?;
        if let Err(error) = conversation.make_room(env, config, &mut next, 5, room).await {
            conversation.store_question(env, question(), FailedStep::Room)?;
            return Err(error);
        }
        let request = TurnRequest::new(next.start, Some(question()), &[]);
        match execute_turn(env, config, &env.insts()?.0, &next.forest, turn, request).await {
            Ok(outcome) => {
                conversation.follow(&env.store, next.start, &outcome)?;
                Ok(outcome)
            }
            Err(error) => {
                conversation.store_question(env, question(), FailedStep::Begin)?;
                Err(error)
            }
        }
    }

    fn stored_question(&self) -> Option<BubbId> {
        let forest = self.env.store.forest().unwrap();
        let asked = |name: &BubbName| self.env.store.text(name).unwrap() == "again";
        forest.all().map(|ix| forest.name(ix)).find(asked).map(|name| name.id)
    }
}

fn question() -> Question {
    let content = FileContent::Other(b"again".to_vec());
    let part = QuestionPart { from: "the question".into(), content, is_fenced: false, is_typed: true };
    join_parts(vec![part], Vec::new(), Vec::new()).unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    current_thread().unwrap().block_on(work)
}

const FRONTS: [Rules; 3] = [Rules::DO, Rules::SESSION, Rules::EDITOR];

#[test]
fn a_question_whose_turn_never_began_is_kept_by_the_rules() {
    for (rules, at_begin, at_room) in
        FRONTS.iter().zip([false, true, true]).zip([false, false, true]).map(|((r, a), b)| (*r, a, b))
    {
        let mut scene = Scene::new(Vec::new());
        scene.env.configured.flags.sends_nothing = true;
        let mut conversation = Conversation::new(Position::default(), rules);
        assert!(run(scene.ask(&mut conversation)).is_err());
        assert_eq!(scene.stored_question().is_some(), at_begin, "{rules:?}");
        let next = conversation.next_turn(&scene.env.store, true).map(|next| next.start);
        assert_eq!(next.ok(), scene.stored_question().map(TurnStart::Again), "{rules:?}");

        let mut scene = Scene::new(vec![None]);
        let end = scene.full_conversation();
        let mut conversation = Conversation::new(Position::at(Some(end)), rules);
        assert!(run(scene.ask(&mut conversation)).is_err());
        assert_eq!(scene.stored_question().is_some(), at_room, "{rules:?}");
        assert!(scene.room.compacts && !scene.turn.compacts, "{rules:?}");
    }
}

#[test]
fn the_next_question_goes_past_one_that_got_nothing_or_behind_it() {
    for rules in FRONTS {
        let mut scene = Scene::new(vec![None, Some("yes")]);
        let mut conversation = Conversation::new(Position::default(), rules);
        let outcome = run(scene.ask(&mut conversation)).unwrap();
        assert!(outcome.is_unanswered && outcome.error.is_some(), "{outcome:?}");
        let asked = outcome.user.unwrap();
        let store = &scene.env.store;
        let before = *outcome.conv.iter().rev().find(|id| **id != asked).unwrap();
        let expected = TurnStart::Under(if rules == Rules::EDITOR { asked } else { before });
        assert_eq!(conversation.next_turn(store, false).unwrap().start, expected, "{rules:?}");
        assert_eq!(conversation.next_turn(store, true).unwrap().start, TurnStart::Again(asked), "{rules:?}");
        let answer = run(scene.ask(&mut conversation)).unwrap().answer.unwrap();
        assert_eq!(scene.turn.text, "yes");
        assert_eq!(conversation.position, Position::at(Some(answer.name.id)), "{rules:?}");
    }
}

#[test]
fn a_branch_moves_to_the_answer_or_is_left_once_room_was_made() {
    for (rules, moves) in FRONTS.into_iter().zip([true, false, false]) {
        let mut scene = Scene::new(vec![Some("the summary"), Some("yes")]);
        let end = scene.full_conversation();
        let store = scene.env.store.clone();
        store.make_branch("b", end).unwrap();
        let branch = Some(Branch { name: "b".into(), at: end });
        let position = Position { branch: branch.clone(), ..Position::at(Some(end)) };
        let mut conversation = Conversation::new(position, rules);
        let mut next = conversation.next_turn(&store, false).unwrap();
        run(conversation.make_room(&scene.env, &scene.config, &mut next, 5, &mut scene.room)).unwrap();
        let TurnStart::Under(summary) = next.start else { panic!("{rules:?}") };
        assert!(summary != end && scene.room.compacts, "{rules:?}");
        let tip = if rules == Rules::SESSION { summary } else { end };
        let expected = Position { branch: branch.filter(|_| moves), ..Position::at(Some(tip)) };
        assert_eq!(conversation.position, expected, "{rules:?}");

        scene.config.context = None;
        let request = TurnRequest::new(next.start, Some(question()), &[]);
        let insts = scene.env.insts().unwrap().0;
        let turn = execute_turn(&scene.env, &scene.config, &insts, &next.forest, &mut scene.turn, request);
        let outcome = run(turn).unwrap();
        let moved = conversation.follow(&store, next.start, &outcome).unwrap();
        let answer = outcome.answer.unwrap().name.id;
        assert_eq!(moved, if moves { BranchMove::Moved } else { BranchMove::None }, "{rules:?}");
        assert_eq!(store.branch("b").unwrap(), Some(if moves { answer } else { end }), "{rules:?}");
        assert_eq!(conversation.position.tip, Some(answer), "{rules:?}");
        assert_eq!(scene.turn.text, "yes");
    }
}

#[test]
fn a_branch_that_another_process_moved_is_left() {
    let mut scene = Scene::new(vec![Some("yes")]);
    let end = scene.full_conversation();
    scene.config.context = None;
    let store = scene.env.store.clone();
    let elsewhere = store.create_bubb(Role::User, false, Some(end), 0, b"elsewhere").unwrap().id;
    store.make_branch("b", elsewhere).unwrap();
    let branch = Some(Branch { name: "b".into(), at: end });
    let mut position = Position { branch, ..Position::at(Some(end)) };
    assert_eq!(position.move_branch(&store, end).unwrap(), BranchMove::Left("b".into()));
    assert_eq!(position.branch, None);
    assert_eq!(store.branch("b").unwrap(), Some(elsewhere));
}

#[test]
fn a_conversation_whose_last_message_is_gone_ends_or_begins() {
    for (rules, begins) in FRONTS.into_iter().zip([false, true, false]) {
        let scene = Scene::new(Vec::new());
        let store = &scene.env.store;
        let name = store.create_bubb(Role::User, false, None, 0, b"one").unwrap();
        let conversation = Conversation::new(Position::at(Some(name.id)), rules);
        assert_eq!(conversation.next_turn(store, false).unwrap().start, TurnStart::Under(name.id));
        store.remove_bubbs(&[name], &[]).unwrap();
        let next = conversation.next_turn(store, false).map(|next| next.start);
        assert_eq!(next.ok(), begins.then_some(TurnStart::New), "{rules:?}");
        assert!(conversation.next_turn(store, true).is_err(), "{rules:?}");
    }
}
