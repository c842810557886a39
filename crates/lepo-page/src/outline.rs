//! The layout of the forest: roots at the top, the side branches of each fork drawn as a whole one column to the right,
//! before the conversation continues below. Lines never cross.

use std::cmp::Reverse;

/// A row of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutlineRow {
    /// The message.
    pub node: usize,
    /// Column of the conversation, from the left.
    pub column: usize,
    /// Row of the previous message; `None` for a root.
    pub parent: Option<usize>,
}

/// The newest conversation is drawn straight down, unless that needs more columns than this.
const COLUMNS: usize = 6;

/// Lays out the messages that have a row. `prev` contains for each message the index of an earlier one, `age` grows
/// with time. A message without a row is part of the row above it.
pub fn outline(prev: &[Option<usize>], has_row: &[bool], age: &[usize]) -> Vec<OutlineRow> {
    let above = nearest(prev, has_row);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); prev.len()];
    let (mut newest, mut width) = (age.to_vec(), vec![1; prev.len()]);
    let mut roots = Vec::new();
    // A child comes after its parent, so in reverse order all descendants of a message are known before it.
    for node in (0..prev.len()).rev() {
        if let Some(up) = prev[node] {
            newest[up] = newest[up].max(newest[node]);
        }
    }
    for node in (0..prev.len()).rev().filter(|&node| has_row[node]) {
        let below = &mut children[node];
        below.sort_unstable_by_key(|&child| Reverse(newest[child]));
        let taken = |below: &[usize]| {
            let beside = below.iter().skip(1).map(|&child| width[child] + 1).max();
            below.first().map_or(1, |&first| width[first].max(beside.unwrap_or(0)))
        };
        if taken(below) > COLUMNS
            && let Some(widest) = (0..below.len()).max_by_key(|&i| (width[below[i]], Reverse(i)))
        {
            below[..=widest].rotate_right(1);
        }
        width[node] = taken(below);
        match prev[node].and_then(|up| above[up]) {
            Some(up) => children[up].push(node),
            None => roots.push(node),
        }
    }
    roots.sort_unstable_by_key(|&root| newest[root]);
    let mut waiting: Vec<OutlineRow> =
        roots.into_iter().map(|node| OutlineRow { node, column: 0, parent: None }).collect();
    let mut rows = Vec::new();
    while let Some(row) = waiting.pop() {
        let at = rows.len();
        rows.push(row);
        // The last element pushed is drawn next: the oldest side branch first, the main line last.
        for (i, &node) in children[row.node].iter().enumerate() {
            waiting.push(OutlineRow { node, column: row.column + usize::from(i > 0), parent: Some(at) });
        }
    }
    rows
}

/// Returns for each message its nearest ancestor that has a row, or the message itself.
pub fn nearest(prev: &[Option<usize>], has_row: &[bool]) -> Vec<Option<usize>> {
    let mut above: Vec<Option<usize>> = Vec::with_capacity(prev.len());
    for node in 0..prev.len() {
        above.push(if has_row[node] { Some(node) } else { prev[node].and_then(|up| above[up]) });
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a layout. `parents` are letters, `-` for a root; each message is named by its index.
    fn drawn(parents: &str, rowless: &str) -> String {
        let letter = |node: usize| char::from(b'A' + node as u8);
        let prev: Vec<Option<usize>> =
            parents.bytes().map(|byte| (byte != b'-').then(|| usize::from(byte - b'A'))).collect();
        let has_row: Vec<bool> = (0..prev.len()).map(|node| !rowless.contains(letter(node))).collect();
        let age: Vec<usize> = (0..prev.len()).collect();
        let rows = outline(&prev, &has_row, &age);
        let line = |row: &OutlineRow| {
            let parent =
                row.parent.map(|parent| format!("<{}", letter(rows[parent].node))).unwrap_or_default();
            format!("{}{}{parent}", ".".repeat(row.column), letter(row.node))
        };
        rows.iter().map(line).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn forks_and_roots() {
        for (parents, rowless, drawing) in [
            ("", "", ""),
            ("-", "", "A"),
            ("-AB", "", "A B<A C<B"),
            // the newer answer goes straight down, the older one is a side branch
            ("-AA", "", "A .B<A C<A"),
            ("-AAB", "", "A .C<A B<A D<B"),
            ("-AAAA", "", "A .B<A .C<A .D<A E<A"),
            // a fork within a side branch
            ("-ABBA", "", "A .B<A ..C<B .D<B E<A"),
            // the newest tree first
            ("--A", "", "A C<A B"),
            // without rows
            ("-ABC", "BD", "A C<A"),
            ("-ABB", "B", "A .C<A D<A"),
        ] {
            assert_eq!(drawn(parents, rowless), drawing, "{parents} {rowless}");
        }
    }

    #[test]
    fn a_comb_stays_narrow() {
        // Each message has an old branch that forks again, and a new one that ends.
        let prev: Vec<Option<usize>> =
            (0..20_001).map(|i: usize| i.checked_sub(1).map(|i| i / 2 * 2)).collect();
        let age: Vec<usize> = (0..prev.len()).map(|i| prev.len() - i).collect();
        let rows = outline(&prev, &vec![true; prev.len()], &age);
        assert_eq!(rows.len(), prev.len());
        assert!(rows.iter().all(|row| row.column <= COLUMNS + 2));
    }
}
