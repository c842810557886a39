//! `assert_eq!` of these tests: if a text of several lines is compared, alone or within a value, a failure shows the lines
//! that differ. It has the name of the standard one, so that no test needs to choose.

use std::fmt::{Arguments, Debug};

use similar::TextDiff;

macro_rules! assert_eq {
    ($left:expr, $right:expr $(,)?) => {
        assert_eq!($left, $right, "")
    };
    ($left:expr, $right:expr, $($context:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left == *right) {
                    $crate::common::difference::fail(&left, &right, format_args!($($context)+));
                }
            }
        }
    };
}

/// Fails with both values, or with the lines that differ if there are several.
#[track_caller]
pub fn fail(left: &dyn Debug, right: &dyn Debug, context: Arguments<'_>) -> ! {
    panic!("left and right differ: {context}\n{}", describe(left, right))
}

fn describe(left: &dyn Debug, right: &dyn Debug) -> String {
    let (left, right) = (lines(left), lines(right));
    if left.lines().count().max(right.lines().count()) < 3 {
        return format!(" left: {left}\nright: {right}");
    }
    let diff = TextDiff::from_lines(&left, &right);
    diff.unified_diff().context_radius(5).header("left", "right").to_string()
}

/// Returns a value as `Debug` prints it, with the lines of its texts as lines.
fn lines(value: &dyn Debug) -> String {
    format!("{value:#?}").replace("\\n", "\n").replace("\\\"", "\"") + "\n"
}

#[test]
fn a_difference_shows_the_lines_around_it_and_no_others() {
    let text = |middle: &str| format!("{}{middle}\n{}", "above\n".repeat(20), "below\n".repeat(20));
    let shown = describe(&(0, text("one \"word\"")), &(0, text("two words")));
    assert!(shown.contains("\n above\n-one \"word\"\n+two words\n below\n"), "{shown}");
    std::assert_eq!(shown.lines().count(), 2 + 1 + 10 + 2, "{shown}");
    std::assert_eq!(describe(&"one", &"two"), " left: \"one\"\n\nright: \"two\"\n");
}

#[test]
fn a_failure_names_its_context_and_its_place() {
    let failed = std::panic::catch_unwind(|| assert_eq!("a\nb\nc", "a\nB\nc", "{} of {}", 1, 2));
    let failed = failed.unwrap_err();
    let text = failed.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("left and right differ: 1 of 2\n--- left\n+++ right\n"), "{text}");
    assert!(text.contains("\n-b\n+B\n"), "{text}");
}
