//! Tests that need what a machine may not have. `LEPO_TESTS=all` makes a skip a failure, so that nothing goes untested
//! in silence; `LEPO_TESTS_WITHOUT=tmux,landlock` lists what cannot be had all the same.

/// Tells that a test is skipped for lack of `what`, a word that `LEPO_TESTS_WITHOUT` may list; fails where all tests
/// are to run.
pub fn skipped(what: &str, why: impl std::fmt::Display) {
    let listed = std::env::var("LEPO_TESTS_WITHOUT").unwrap_or_default();
    let may = listed.split(',').any(|word| word.trim() == what);
    let all = std::env::var("LEPO_TESTS").is_ok_and(|tests| tests == "all");
    assert!(may || !all, "a test would be skipped for lack of {what}: {why}");
    eprintln!("skipped: {why}");
}
