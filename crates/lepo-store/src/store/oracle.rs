//! The oracle of the folders: a forest split over them in any way answers like the whole forest in one folder.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::day_folders::counts_in;
use super::{STORE, Store, now};
use crate::bubb::{BubbId, BubbName, Day};
use crate::conv::{AddressSpec, Forest, Ix, ReadScope, RequestState, SiblingTails, TailScope};
use lepo_base::role::Role;

/// Pseudo-random numbers that are equal in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// Waits until midnight is not near, for tests of days that ended a certain number of hours ago.
pub(super) fn away_from_midnight() {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    while now() % DAY > DAY - 30_000 {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

pub(super) fn store(dir: &TempDir) -> Store {
    Store::make(dir.path(), Path::new(STORE), "").unwrap().0
}

/// Generates hidden and visible bubbs over the forty days before `now`; every third forest has links that only
/// hand-edited names can have, every fifth one has bubbs dated ahead.
pub(super) fn names(now: u64, dice: &mut Dice, round: usize) -> Vec<BubbName> {
    let count = 1 + dice.roll(40);
    let day = 24 * 60 * 60 * 1000;
    let mut times: Vec<u64> =
        (0..count).map(|_| now - 40 * day + dice.roll(39 * day as usize) as u64).collect();
    if round.is_multiple_of(5) {
        times.iter_mut().filter(|_| dice.roll(5) == 0).for_each(|time| *time += 60 * day);
    }
    times.sort_unstable();
    let id = |i: usize| BubbId::new(times[i], Role::User, false, None, &[i as u8; 32].into());
    (0..count)
        .map(|i| {
            let by_hand = round.is_multiple_of(3) && dice.roll(8) == 0;
            let prev = match dice.roll(10) {
                0 => None,
                1 => {
                    Some(BubbId::new(times[i].saturating_sub(day), Role::Tool, true, None, &[200; 32].into()))
                }
                _ if by_hand => Some(id(dice.roll(count))),
                _ if i == 0 => None,
                _ => Some(id(i - 1 - dice.roll(i.min(6)))),
            };
            BubbName { id: id(i), role: Role::ALL[dice.roll(4)], hidden: dice.roll(2) == 0, prev }
        })
        .collect()
}

pub(super) fn write(folder: &Path, name: &BubbName, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name.to_string()), text).unwrap();
}

/// Writes each name where it counts, and copies of some where they do not.
pub(super) fn split(dice: &mut Dice, names: &[BubbName], lepo: &Path) {
    let old = lepo.join("_old");
    for name in names {
        let own = Day::from_id(name.id);
        let may_move = counts_in(own, name);
        if !may_move || dice.roll(4) == 0 {
            write(lepo, name, "");
        }
        if may_move && (!lepo.join(name.to_string()).exists() || dice.roll(10) == 0) {
            write(&old.join(own.to_string()), name, "");
        }
        match dice.roll(12) {
            0 => write(&old, name, ""),
            1 => write(&old.join(own.month()), name, ""),
            2 => write(&old.join(own.next().to_string()), name, ""),
            3 => write(&old.join("2020-1/3"), name, ""),
            4 => write(&old.join("elsewhere"), name, ""),
            5 if !may_move => write(&old.join(own.to_string()), name, ""),
            _ => {}
        }
    }
}

struct Answers<'f>(&'f Forest);

impl Answers<'_> {
    fn names(&self, ixs: &[Ix]) -> Vec<BubbName> {
        ixs.iter().map(|&ix| self.0.name(ix)).collect()
    }

    fn conv(&self, ix: Ix) -> String {
        let conv = self.0.conv(ix);
        let question = self.0.last_question(ix).map(|ix| self.0.name(ix));
        let height = self.0.heights().value(ix);
        format!("{:?} {:?} {question:?} {height}", self.names(&conv.path), conv.end)
    }

    fn tails(&self, count: usize, include_spent: bool) -> String {
        let tails: Vec<Ix> = self.0.newest_first(include_spent).take(count).collect();
        tails.iter().map(|&tail| self.conv(tail) + "\n").collect()
    }

    /// Returns the newest tails as `ls` prints them, each with the question that it may share.
    fn completions_text(&self, count: usize, include_spent: bool) -> String {
        let tails = SiblingTails::new(self.0, self.0.newest_first(include_spent)).take(count);
        let name = |ix: Ix| self.0.name(ix);
        tails
            .map(|(tail, asked, shared)| format!("{} {:?} {shared}\n", name(tail), asked.map(name)))
            .collect()
    }

    fn tip(&self) -> String {
        format!("{:?} {}", self.0.newest().map(|ix| self.0.name(ix)), self.0.root_time() / 1000)
    }

    fn path(&self, id: BubbId) -> Option<String> {
        self.0.find(id).map(|ix| self.conv(ix))
    }

    fn request_state(&self, id: BubbId) -> Option<String> {
        let name = |ix: Ix| self.0.name(ix);
        self.0.find(id).map(|ix| match self.0.request_state(ix) {
            RequestState::Pending => "pending".into(),
            RequestState::Visible => "visible".into(),
            RequestState::Answered(by) => format!("answered by {}", name(by)),
            RequestState::Overtaken(by) => format!("overtaken by {}", name(by)),
        })
    }

    fn left_at(&self, id: BubbId) -> Option<BubbName> {
        self.0.find(id).and_then(|ix| self.0.question_left_at(ix)).map(|ix| self.0.name(ix))
    }

    fn resolved_text(&self, text: &str) -> String {
        match AddressSpec::parse(text).unwrap().resolve(self.0, &|_| Ok(None)) {
            Ok(found) => format!("{:?}", self.names(found.bubbs())),
            Err(error) => error.to_string(),
        }
    }
}

fn tails(count: usize, spent: bool, siblings: bool) -> ReadScope {
    ReadScope::Tails(TailScope { count, include_spent: spent, siblings, ..TailScope::default() })
}

#[test]
fn a_forest_split_over_folders_answers_as_the_whole_in_one() {
    let mut dice = Dice(11);
    for round in 0..30 {
        let (whole, parts) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (one, many) = (store(&whole), store(&parts));
        let names = names(now(), &mut dice, round);
        names.iter().for_each(|name| write(&whole.path().join(STORE), name, ""));
        split(&mut dice, &names, &parts.path().join(STORE));
        let all = one.forest().unwrap();
        let whole = Answers(&all);
        let read = |wanted: &[ReadScope]| many.forest_for(wanted).unwrap();
        let case = |wanted: &[ReadScope]| format!("round {round}, {wanted:?}");

        assert_eq!(many.names().unwrap(), one.names().unwrap(), "round {round}");
        let tip = [ReadScope::Tip];
        assert_eq!(Answers(&read(&tip)).tip(), whole.tip(), "{}", case(&tip));
        for count in [0, 1, 2, 5, 100] {
            let wanted = [ReadScope::newest(count)];
            let forest = read(&wanted);
            assert_eq!(Answers(&forest).tails(count, false), whole.tails(count, false), "{}", case(&wanted));
            if count > 0 {
                assert_eq!(Answers(&forest).tip(), whole.tip(), "{}", case(&wanted));
            }
            let wanted = [tails(count, true, false)];
            let leaves = Answers(&read(&wanted)).tails(count, true);
            assert_eq!(leaves, whole.tails(count, true), "{}", case(&wanted));
        }
        // `ls -n N` prints the first rows of `ls`, with the answers that distinguish tails.
        for include_spent in [false, true] {
            let all = whole.completions_text(usize::MAX, include_spent);
            for count in [1, 3] {
                let wanted = [tails(count, include_spent, true)];
                let actual = Answers(&read(&wanted)).completions_text(count, include_spent);
                let first: String = all.split_inclusive('\n').take(count).collect();
                assert_eq!(actual, first, "{}", case(&wanted));
            }
        }
        for _ in 0..6 {
            let name = names[dice.roll(names.len())];
            let id = name.id.to_string();
            let other = names[dice.roll(names.len())].id;
            let wanted = [ReadScope::Ids(vec![name.id, other])];
            let forest = read(&wanted);
            assert_eq!(Answers(&forest).path(name.id), whole.path(name.id), "{}", case(&wanted));
            assert_eq!(Answers(&forest).path(other), whole.path(other), "{}", case(&wanted));
            let wanted = [ReadScope::Since { id: name.id, judged: true }];
            assert_eq!(
                Answers(&read(&wanted)).request_state(name.id),
                whole.request_state(name.id),
                "{}",
                case(&wanted)
            );
            let wanted = [ReadScope::Since { id: name.id, judged: false }];
            assert_eq!(Answers(&read(&wanted)).left_at(name.id), whole.left_at(name.id), "{}", case(&wanted));
            let digits = 1 + dice.roll(26);
            let (begin, end) = (id.get(..digits).unwrap(), id.get(26 - digits..).unwrap());
            for text in [begin, end, &id, "@", "@^", &format!("{other}..{id}"), &format!("x/{name}"), "none"]
            {
                let wanted = AddressSpec::parse(text).unwrap().read_scopes(&|_| Ok(None)).unwrap();
                assert_eq!(
                    Answers(&read(&wanted)).resolved_text(text),
                    whole.resolved_text(text),
                    "{text}: {}",
                    case(&wanted)
                );
            }
            for begun in ["", "0", begin, &begin.to_ascii_lowercase(), "@", "x"] {
                let offers = |store: &Store| store.address_completions(begun, 3).unwrap();
                assert_eq!(offers(&many), offers(&one), "round {round}, {begun:?}");
            }
        }
    }
}

#[test]
fn so_many_of_a_list_are_the_first_of_the_whole_list() {
    let (mut dice, mut told_wrong) = (Dice(23), 0);
    let day = 24 * 60 * 60 * 1000;
    // Starting at midnight makes the days equal at any hour.
    let today = now() / day * day;
    for round in 0..20 {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        // A few questions, with answers on many days.
        let id = |time: u64, number: u8| BubbId::new(time, Role::User, false, None, &[number; 32].into());
        let asked: Vec<BubbName> = (0..4)
            .map(|i| id(today - 30 * day + dice.roll(10 * day as usize) as u64, i))
            .map(|id| BubbName { id, role: Role::User, hidden: false, prev: None })
            .collect();
        let answer = |dice: &mut Dice, i: u8| {
            let question = asked[dice.roll(asked.len())].id;
            let id = id(question.time() + 1 + dice.roll(20 * day as usize) as u64, i);
            BubbName { id, role: Role::Assistant, hidden: dice.roll(5) == 0, prev: Some(question) }
        };
        let names: Vec<BubbName> =
            asked.iter().copied().chain((4..14).map(|i| answer(&mut dice, i))).collect();
        for name in &names {
            write(&lepo.join("_old").join(Day::from_id(name.id).to_string()), name, "");
        }
        let all = store.forest().unwrap();
        let shown = |wanted: ReadScope, count: usize, include_spent: bool| {
            Answers(&store.forest_for(&[wanted]).unwrap()).completions_text(count, include_spent)
        };
        for include_spent in [false, true] {
            let whole = Answers(&all).completions_text(usize::MAX, include_spent);
            for count in 1..6 {
                let first: String = whole.split_inclusive('\n').take(count).collect();
                assert_eq!(
                    shown(tails(count, include_spent, true), count, include_spent),
                    first,
                    "round {round}, {count}"
                );
                told_wrong +=
                    usize::from(shown(ReadScope::newest(count), count, false) != first && !include_spent);
            }
        }
    }
    assert!(told_wrong > 10, "what else answers a question is not read with the newest tails: {told_wrong}");
}

#[test]
fn a_file_is_found_wherever_it_is() {
    let dir = TempDir::new().unwrap();
    let (store, lepo) = (store(&dir), dir.path().join(STORE));
    let mut dice = Dice(5);
    let mut names = names(now(), &mut dice, 1);
    names.retain(|name| counts_in(Day::from_id(name.id), name));
    for name in &names {
        write(&lepo, name, &name.id.to_string());
    }
    let check = |store: &Store| {
        for name in &names {
            assert_eq!(store.text(name).unwrap(), name.id.to_string());
            assert_eq!(store.glance(name).unwrap(), name.id.to_string());
            assert!(dir.path().join(store.bubb_path(name)).is_file(), "{name}");
        }
    };
    check(&store);
    // The files move while names read before are in use.
    store.forest().unwrap();
    for (moved, name) in names.iter().enumerate() {
        let day = lepo.join("_old").join(Day::from_id(name.id).to_string());
        fs::create_dir_all(&day).unwrap();
        fs::rename(lepo.join(name.to_string()), day.join(name.to_string())).unwrap();
        assert_eq!(store.text(name).unwrap(), name.id.to_string());
        if moved % 4 == 0 {
            store.forest().unwrap();
            check(&store);
        }
    }
    store.forest().unwrap();
    check(&store);
    // A file written under its old name again counts.
    write(&lepo, &names[0], "by hand");
    store.forest().unwrap();
    assert_eq!(store.text(&names[0]).unwrap(), "by hand");
    store.remove_bubbs(&names, &[]).unwrap();
    assert!(store.names().unwrap().is_empty());
    assert!(store.text(&names[0]).is_err());
}

#[test]
fn links_lead_nowhere() {
    let dir = TempDir::new().unwrap();
    let (store, lepo) = (store(&dir), dir.path().join(STORE));
    let id = BubbId::new(1_700_000_000_000, Role::User, false, None, &[1; 32].into());
    let name = BubbName { id, role: Role::User, hidden: false, prev: None };
    let day = Day::from_id(id);
    let elsewhere = dir.path().join("elsewhere");
    write(&elsewhere.join(day.to_string()), &name, "outside");
    write(&elsewhere, &name, "outside");
    let link = |to: PathBuf, at: PathBuf| std::os::unix::fs::symlink(to, at);
    let nothing = || {
        assert!(store.names().unwrap().is_empty());
        assert!(store.forest_for(&[ReadScope::Ids(vec![id])]).unwrap().is_empty());
        assert!(store.read_bubb(&name).is_err());
    };
    // `_old` itself, a month, a day, a file
    link(elsewhere.clone(), lepo.join("_old")).unwrap();
    nothing();
    fs::remove_file(lepo.join("_old")).unwrap();
    fs::create_dir(lepo.join("_old")).unwrap();
    link(elsewhere.join(day.month()), lepo.join("_old").join(day.month())).unwrap();
    nothing();
    fs::remove_file(lepo.join("_old").join(day.month())).unwrap();
    fs::create_dir(lepo.join("_old").join(day.month())).unwrap();
    link(elsewhere.join(day.to_string()), lepo.join("_old").join(day.to_string())).unwrap();
    nothing();
    fs::remove_file(lepo.join("_old").join(day.to_string())).unwrap();
    fs::create_dir(lepo.join("_old").join(day.to_string())).unwrap();
    link(elsewhere.join(name.to_string()), lepo.join("_old").join(day.to_string()).join(name.to_string()))
        .unwrap();
    nothing();
}

#[test]
fn fsck_tells_what_is_misplaced_and_what_stands_twice() {
    use super::FindingKind::{Duplicate, Foreign, Misplaced};
    let dir = TempDir::new().unwrap();
    let (store, lepo) = (store(&dir), dir.path().join(STORE));
    let time = 1_763_034_245_000;
    let text = |text: &str| crate::bubb::ContentHash::from_content(text.as_bytes());
    let id = |time, prev, content| BubbId::new(time, Role::User, false, prev, &text(content));
    let name = |id, prev| BubbName { id, role: Role::User, hidden: false, prev };
    let root = id(time, None, "root");
    let child = name(id(time + 1, Some(root), "child"), Some(root));
    let root = name(root, None);
    write(&lepo.join("_old/2025-11/13"), &root, "root");
    write(&lepo.join("_old/2025-11/13"), &child, "child");
    let found = |store: &Store| -> Vec<(super::FindingKind, String)> {
        let found = store.check(&mut |_, _| ()).unwrap();
        found.into_iter().map(|finding| (finding.what, finding.name)).collect()
    };
    assert_eq!(found(&store), []);
    // An interrupted tidying leaves equal files in both.
    write(&lepo, &root, "root");
    assert_eq!(found(&store), []);
    let by_hand = id(time + 2, None, "loop");
    let by_hand = name(by_hand, Some(by_hand));
    for folder in ["_old", "_old/2025-11", "_old/2025-11/14", "_old/2025-11/13/x", "_old/x"] {
        write(&lepo.join(folder), &child, "child");
        assert_eq!(found(&store), [(Misplaced, format!("{folder}/{child}"))]);
        fs::remove_file(lepo.join(folder).join(child.to_string())).unwrap();
    }
    write(&lepo.join("_old/2025-11/13"), &by_hand, "loop");
    assert_eq!(found(&store), [(Misplaced, format!("_old/2025-11/13/{by_hand}"))]);
    fs::remove_file(lepo.join("_old/2025-11/13").join(by_hand.to_string())).unwrap();
    fs::write(lepo.join("_old/notes"), "").unwrap();
    assert_eq!(found(&store), [(Foreign, "_old/notes".into())]);
    fs::remove_file(lepo.join("_old/notes")).unwrap();
    std::os::unix::fs::symlink("2025-11", lepo.join("_old/2025-12")).unwrap();
    assert_eq!(found(&store), [(Misplaced, "_old/2025-12".into())]);
    fs::remove_file(lepo.join("_old/2025-12")).unwrap();
    // Overwritten under its old name: that file counts, and both are reported.
    write(&lepo, &child, "other words");
    let names =
        [(Duplicate, format!("_old/2025-11/13/{child}")), (super::FindingKind::Edited, child.to_string())];
    assert_eq!(found(&store), {
        let mut names = names;
        names.sort_by(|a, b| a.1.cmp(&b.1));
        names
    });
}
