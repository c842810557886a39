//! Tidying preserves every query result and every bubb while other processes read and write.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::STORE;
use super::day_folders::counts_in;
use super::dir::now;
use super::handle::Store;
use super::oracle::{Dice, away_from_midnight, names, store, write};
use crate::bubb::{BubbId, BubbName, ContentHash, Day};
use lepo_base::role::Role;

const DAY: u64 = 24 * 60 * 60 * 1000;

fn in_lepo(lepo: &Path) -> Vec<BubbName> {
    let files = fs::read_dir(lepo).unwrap().map(|entry| entry.unwrap().file_name());
    files.filter_map(|file| BubbName::parse(file.as_encoded_bytes())).collect()
}

#[test]
fn a_tidied_store_is_the_same_and_a_misplaced_bubb_counts_again() {
    away_from_midnight();
    let mut dice = Dice(3);
    for round in 0..20 {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        let names = names(now(), &mut dice, round);
        let mut hidden = Vec::new();
        for name in &names {
            let day = Day::from_id(name.id);
            let wrong = ["_old", "_old/2020-01/02", "_old/x/y/z"][dice.roll(3)];
            match dice.roll(8) {
                0 => {
                    write(&lepo.join(wrong), name, "text");
                    hidden.push(*name);
                }
                1 if counts_in(day, name) => write(&lepo.join("_old").join(day.to_string()), name, "text"),
                2 if counts_in(day, name) => {
                    // The files that a killed process leaves.
                    write(&lepo.join("_old").join(day.to_string()), name, "text");
                    write(&lepo, name, "text");
                }
                _ => write(&lepo, name, "text"),
            }
        }
        let mut before = store.names().unwrap();
        assert_eq!(before.len() + hidden.len(), names.len(), "round {round}");
        before.extend(&hidden);
        before.sort_unstable();
        let keep = dice.roll(10);
        let stays =
            |name: &BubbName| !counts_in(Day::from_id(name.id), name) || name.id.time() + 2 * DAY > now();
        let young: Vec<BubbName> = in_lepo(&lepo).into_iter().filter(stays).collect();
        let plan = store.plan_tidy(keep).unwrap();
        let tidied = store.tidy_by_plan(&plan, &mut |_| ()).unwrap();
        assert_eq!((tidied.righted, tidied.conflicting), (hidden.len(), 0), "round {round}");
        let mut after = store.names().unwrap();
        after.sort_unstable();
        assert_eq!(after, before, "round {round}");
        for name in &after {
            assert_eq!(store.text(name).unwrap(), "text");
        }
        let conflicting = in_lepo(&lepo);
        assert!(young.iter().all(|name| conflicting.contains(name)), "round {round}");
        let again = store.plan_tidy(keep).unwrap();
        assert!(again.misplaced.is_empty(), "round {round}: {again:?}");
        let misplaced = |found: &super::Finding| found.what == super::FindingKind::Misplaced;
        assert!(!store.check(&mut |_, _| ()).unwrap().iter().any(misplaced), "round {round}");
    }
}

#[test]
fn whole_days_move_oldest_first_and_never_young_ones() {
    away_from_midnight();
    let dir = TempDir::new().unwrap();
    let (store, lepo) = (store(&dir), dir.path().join(STORE));
    let name = |age: u64, nonce: u8| {
        let id = BubbId::new(
            now() / DAY * DAY - age * DAY + u64::from(nonce),
            Role::User,
            false,
            None,
            &[nonce; 32].into(),
        );
        BubbName { id, role: Role::User, hidden: false, prev: None }
    };
    for age in 0..10 {
        (0..10).for_each(|nonce| write(&lepo, &name(age, nonce), ""));
    }
    let days = |store: &Store, keep: usize| store.plan_tidy(keep).unwrap().days.len();
    for (keep, moving) in [(200, 0), (100, 0), (99, 1), (90, 1), (89, 2), (0, 7)] {
        assert_eq!(days(&store, keep), moving, "{keep}");
    }
    assert!(!store.is_untidy(50), "nothing was read yet");
    store.forest().unwrap();
    assert!(store.is_untidy(99) && !store.is_untidy(100));
    assert_eq!(store.tidy_some(100).unwrap().moved, 50);
    let oldest = store.recent_names().unwrap().into_iter().min().unwrap();
    assert_eq!(Day::from_id(oldest.id), Day::from_id(name(4, 0).id));
    assert_eq!(store.names().unwrap().len(), 100);
}

#[test]
fn what_is_in_both_with_other_bytes_stays() {
    let dir = TempDir::new().unwrap();
    let (store, lepo) = (store(&dir), dir.path().join(STORE));
    let id = BubbId::new(1_763_034_245_000, Role::User, false, None, &[1; 32].into());
    let name = BubbName { id, role: Role::User, hidden: false, prev: None };
    write(&lepo, &name, "by hand");
    write(&lepo.join("_old/2025-11/13"), &name, "as it was");
    let tidied = store.tidy_by_plan(&store.plan_tidy(0).unwrap(), &mut |_| ()).unwrap();
    assert_eq!((tidied.moved, tidied.conflicting), (0, 1));
    assert_eq!(store.text(&name).unwrap(), "by hand");
    assert_eq!(fs::read(lepo.join("_old/2025-11/13").join(name.to_string())).unwrap(), b"as it was");
}

#[test]
fn two_tidyings_and_many_readers_and_writers_miss_nothing() {
    let dir = TempDir::new().unwrap();
    let (first, lepo) = (store(&dir), dir.path().join(STORE));
    let mut dice = Dice(9);
    let mut known = Vec::new();
    for nonce in 0..1500u64 {
        let time = now() - (3 + nonce % 30) * DAY + dice.roll(1000) as u64;
        let mut content = [0; 32];
        content[..8].copy_from_slice(&nonce.to_be_bytes());
        let id = BubbId::new(time, Role::User, false, None, &content.into());
        let name = BubbName { id, role: Role::User, hidden: false, prev: None };
        write(&lepo, &name, "old");
        known.push(name);
    }
    known.sort_unstable();
    let open = || Store::at(dir.path(), Path::new(STORE)).unwrap().unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let tidiers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let store = open();
                    for keep in (0..1500).rev().step_by(100) {
                        store.tidy_by_plan(&store.plan_tidy(keep).unwrap(), &mut |_| ()).unwrap();
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let over = &over;
                scope.spawn(move || {
                    let store = open();
                    let mut made = Vec::new();
                    while !over.load(Ordering::Relaxed) || made.len() < 5 {
                        let text = format!("{writer} {}", made.len());
                        made.push(store.create_bubb(Role::User, false, None, 0, text.as_bytes()).unwrap());
                    }
                    made
                })
            })
            .collect();
        let (over, known) = (&over, &known);
        for _ in 0..3 {
            scope.spawn(move || {
                let store = open();
                while !over.load(Ordering::Relaxed) {
                    let names = store.names().unwrap();
                    let missed = known.iter().filter(|name| names.binary_search(name).is_err()).count();
                    assert_eq!(missed, 0);
                    for name in known.iter().step_by(97) {
                        assert_eq!(store.read_bubb(name).unwrap(), b"old");
                    }
                }
            });
        }
        tidiers.into_iter().for_each(|tidier| tidier.join().unwrap());
        over.store(true, Ordering::Relaxed);
        let written: Vec<BubbName> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        let names = first.names().unwrap();
        assert_eq!(names.len(), known.len() + written.len());
        assert!(written.iter().all(|name| names.binary_search(name).is_ok()));
    });
    // Only bubbs from before are checked, because the writers add more, on a slow machine very many.
    let conflicting = in_lepo(&lepo);
    assert!(known.iter().any(|name| !conflicting.contains(name)));
}

#[test]
fn many_blobs_get_folders_and_are_found() {
    let dir = TempDir::new().unwrap();
    let (store, lepo) = (store(&dir), dir.path().join(STORE));
    let kept = store.write_blob(&mut &b"one"[..]).unwrap();
    assert!(lepo.join("_blobs").join(kept.hash.to_string()).is_file());
    for number in 0..10_001u32 {
        fs::write(lepo.join(format!("_blobs/{number:064x}")), "").unwrap();
    }
    let other = store.write_blob(&mut &b"two"[..]).unwrap();
    let in_folder = |hash: &ContentHash| {
        let hash = hash.to_string();
        lepo.join("_blobs").join(format!("{hash:.2}")).join(hash)
    };
    assert!(in_folder(&other.hash).is_file());
    assert_eq!(store.plan_tidy(0).unwrap().blobs, 10_002);
    assert_eq!(store.tidy_by_plan(&store.plan_tidy(0).unwrap(), &mut |_| ()).unwrap().blobs, 10_002);
    for blob in [&kept, &other] {
        assert!(in_folder(&blob.hash).is_file());
        assert!(store.open_blob(&blob.hash).unwrap().is_some());
        assert!(dir.path().join(store.blob_path(&blob.hash)).is_file());
    }
    store.remove_bubbs(&[], std::slice::from_ref(&kept.hash)).unwrap();
    assert!(store.open_blob(&kept.hash).unwrap().is_none());
}
