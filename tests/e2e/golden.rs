//! Recordings of whole scenes: what was shown, what left for the model, and what the store has then, by every front and on
//! every wire. A rebuild of the middle changes none of it. `LEPO_WRITE_GOLDEN=1` records anew.

mod compare;
mod plain;
mod record;
mod scenes;
mod stage;
mod wire;

use std::sync::Mutex;
use std::thread;

use record::{Part, Recording};
use stage::{FRONTS, Front, Stage};
use wire::Wire;

/// Stages that play at the same time.
const AT_ONCE: usize = 4;

/// A front and a wire.
type Cast = (Front, Wire);

/// Every front with each of these wires.
fn fronts(wires: &[Wire]) -> Vec<Cast> {
    FRONTS.iter().flat_map(|front| wires.iter().map(|wire| (*front, *wire))).collect()
}

/// `lepo do` with each of these wires.
fn only_do(wires: &[Wire]) -> Vec<Cast> {
    wires.iter().map(|wire| (Front::Do, *wire)).collect()
}

/// Plays a scene with each front and wire, and compares all of it with the recording of this name.
fn record(scene: &str, casts: &[Cast], play: impl Fn(Cast) -> Stage + Sync) {
    let parts: Vec<Mutex<Option<Part>>> = casts.iter().map(|_| Mutex::new(None)).collect();
    let next = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(casts.len()) {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some((front, wire)) = casts.get(at).copied() else { return };
                    let mut stage = play((front, wire));
                    stage.leave();
                    let title = format!("{}, {}", front.name(), wire.name());
                    *parts[at].lock().unwrap() = Some(Part::read(&title, &stage));
                }
            });
        }
    });
    let mut recording = Recording::default();
    for part in parts {
        recording.add(&part.into_inner().unwrap().unwrap());
    }
    compare::compare(scene, &recording.into_text());
}

#[test]
fn every_recording_is_of_a_scene() {
    if std::env::var_os("LEPO_WRITE_GOLDEN").is_some() {
        return;
    }
    let scenes: String = ["several", "tools", "turns"]
        .map(|file| {
            let file = format!("tests/e2e/golden/scenes/{file}.rs");
            std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
        })
        .concat();
    let mut count = 0;
    for entry in std::fs::read_dir(compare::folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let scene = name.strip_suffix(".txt").unwrap_or_else(|| panic!("{name} is no recording"));
        assert!(scenes.contains(&format!("\nfn golden_{scene}()")), "{name} is of no scene");
        count += 1;
    }
    assert_eq!(count, scenes.matches("\nfn golden_").count());
}
