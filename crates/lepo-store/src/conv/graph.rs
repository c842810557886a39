//! Draws the forest with its forks, newest first and roots at the bottom.
//!
//! Each subtree is complete before its parent is drawn, and a branch joins its sibling at once. So lines never cross,
//! and a fork of a hundred answers is two columns wide.

use std::cmp::Reverse;

use super::{Forest, Ix, NearestAncestor};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphRow {
    /// The left part of the line: `*` is the bubb, `|` a line that continues below, `/` a branch that joins.
    pub drawing: String,
    /// The bubb; `None` on a line that has only a drawing.
    pub bubb: Option<Ix>,
}

/// The newest conv is leftmost as long as the drawing then needs at most this many columns.
const COLUMNS: usize = 8;

impl Forest {
    /// Draws these bubbs. Bubbs between them that are not among `bubbs` are contracted.
    pub fn graph(&self, bubbs: &[Ix]) -> Vec<GraphRow> {
        self.graph_within(bubbs, COLUMNS)
    }

    /// Returns the hidden roots that several of these visible bubbs share: without them a tree is drawn as several.
    pub fn hidden_joints(&self, visible: &[Ix]) -> Vec<Ix> {
        let shown = NearestAncestor::new(|forest, ix| !forest.name(ix).hidden);
        let is_first = |&&ix: &&Ix| self.prev(ix).is_none_or(|prev| shown.find(self, prev).is_none());
        let mut outlines = self.outlines();
        let mut roots: Vec<Ix> = visible.iter().filter(is_first).map(|&ix| outlines.value(ix).root).collect();
        roots.sort_unstable();
        let mut joints: Vec<Ix> =
            roots.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        joints.dedup();
        joints.retain(|&root| self.name(root).hidden);
        joints
    }

    fn graph_within(&self, bubbs: &[Ix], columns: usize) -> Vec<GraphRow> {
        let (mut children, mut roots) = self.families(bubbs);
        // Reversing a walk that visits each bubb before its children handles children first.
        let walked = walk(&children, &roots);
        let mut newest: Vec<u32> = (0..self.len() as u32).collect();
        let mut width = vec![1; self.len()];
        for ix in walked.iter().rev().map(|&(ix, _)| ix.at()) {
            let below = &mut children[ix];
            below.sort_unstable_by_key(|child| Reverse(newest[child.at()]));
            let Some(first) = below.first() else { continue };
            newest[ix] = newest[ix].max(newest[first.at()]);
            // Every child but the first is one column to the right of the line that leads to `ix`.
            let taken = |below: &[Ix]| {
                let beside = below.iter().skip(1).map(|child| width[child.at()] + 1).max();
                width[below[0].at()].max(beside.unwrap_or(0))
            };
            if taken(below) > columns
                && let Some(widest) = (0..below.len()).max_by_key(|&i| (width[below[i].at()], Reverse(i)))
            {
                below[..=widest].rotate_right(1);
            }
            width[ix] = taken(below);
        }
        roots.sort_unstable_by_key(|root| Reverse(newest[root.at()]));
        rows(&children, &roots)
    }

    /// Returns the drawn children of each bubb, and the drawn bubbs without a drawn ancestor.
    fn families(&self, bubbs: &[Ix]) -> (Vec<Vec<Ix>>, Vec<Ix>) {
        let mut drawn = vec![false; self.len()];
        for ix in bubbs {
            drawn[ix.at()] = true;
        }
        let above = self.nearest_above(&drawn);
        let (mut children, mut roots) = (vec![Vec::new(); self.len()], Vec::new());
        for ix in self.all().filter(|ix| drawn[ix.at()]) {
            match above[ix.at()] {
                Some(parent) => children[parent.at()].push(ix),
                None => roots.push(ix),
            }
        }
        (children, roots)
    }

    /// Returns the nearest drawn ancestor of each bubb. A circle is cut where a walk meets itself.
    fn nearest_above(&self, drawn: &[bool]) -> Vec<Option<Ix>> {
        #[derive(Clone, Copy, PartialEq)]
        enum AncestorState {
            Unknown,
            Walked,
            Known(Option<Ix>),
        }
        let mut above = vec![AncestorState::Unknown; self.len()];
        let mut walked = Vec::new();
        for start in self.all().rev() {
            let mut at = Some(start);
            let mut found = None;
            while let Some(ix) = at {
                match above[ix.at()] {
                    AncestorState::Unknown => {
                        above[ix.at()] = AncestorState::Walked;
                        walked.push(ix);
                        at = self.prev(ix);
                    }
                    AncestorState::Walked => break,
                    AncestorState::Known(known) => {
                        found = if drawn[ix.at()] { Some(ix) } else { known };
                        break;
                    }
                }
            }
            for ix in walked.drain(..).rev() {
                above[ix.at()] = AncestorState::Known(found);
                found = if drawn[ix.at()] { Some(ix) } else { found };
            }
        }
        let known = |above| if let AncestorState::Known(known) = above { known } else { None };
        above.into_iter().map(known).collect()
    }
}

#[derive(Clone, Copy)]
struct GraphCell {
    column: usize,
    /// Whether the bubb is not its parent's first child, so that its line joins the first child's line below it.
    joins: bool,
    root: bool,
}

/// Returns all bubbs, parents before children, the last root and the last child first.
fn walk(children: &[Vec<Ix>], roots: &[Ix]) -> Vec<(Ix, GraphCell)> {
    let root = |&ix: &Ix| (ix, GraphCell { column: 0, joins: false, root: true });
    let mut waiting: Vec<(Ix, GraphCell)> = roots.iter().map(root).collect();
    let mut walked = Vec::new();
    while let Some((ix, cell)) = waiting.pop() {
        walked.push((ix, cell));
        for (i, &child) in children[ix.at()].iter().enumerate() {
            let column = cell.column + usize::from(i > 0);
            waiting.push((child, GraphCell { column, joins: i > 0, root: false }));
        }
    }
    walked
}

fn rows(children: &[Vec<Ix>], roots: &[Ix]) -> Vec<GraphRow> {
    let mut rows = Vec::new();
    let mut below_a_root = false;
    for (ix, cell) in walk(children, roots).into_iter().rev() {
        if std::mem::replace(&mut below_a_root, cell.root) {
            rows.push(GraphRow { drawing: String::new(), bubb: None });
        }
        rows.push(GraphRow { drawing: "| ".repeat(cell.column) + "*", bubb: Some(ix) });
        if cell.joins {
            rows.push(GraphRow { drawing: "| ".repeat(cell.column - 1) + "|/", bubb: None });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn drawn(store: &str, columns: usize, hidden: bool) -> String {
        let forest = fixture::forest(store);
        let bubbs: Vec<Ix> = forest.all().filter(|&ix| hidden || !forest.name(ix).hidden).collect();
        let line = |row: GraphRow| match row.bubb {
            Some(ix) => format!("{} {}", row.drawing, fixture::letters(&forest, &[ix])),
            None => row.drawing,
        };
        forest.graph_within(&bubbs, columns).into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn forks_and_roots() {
        for (store, drawing) in [
            ("", ""),
            ("A u0 head", "* A"),
            ("A u0 head / B a0 A / C u0 B", "* C\n* B\n* A"),
            // two answers, the newer conv on the left
            ("A u0 head / B a0 A / C a0 A", "* C\n| * B\n|/\n* A"),
            ("A u0 head / B a0 A / C a0 A / D u0 B", "* D\n* B\n| * C\n|/\n* A"),
            // many answers need only two columns
            ("A u0 head / B a0 A / C a0 A / D a0 A / E a0 A", "* E\n| * D\n|/\n| * C\n|/\n| * B\n|/\n* A"),
            // a fork within a fork
            (
                "A u0 head / B a0 A / C u0 B / D u0 B / E a0 A / F a0 D",
                "* F\n* D\n| * C\n|/\n* B\n| * E\n|/\n* A",
            ),
            ("A u0 head / B a0 A / C u0 B / D u0 B / E a0 A", "* E\n| * D\n| | * C\n| |/\n| * B\n|/\n* A"),
            // separate convs
            ("A u0 head / B u0 head / C a0 A", "* C\n* A\n\n* B"),
            // a missing prev
            ("B u0 A / C a0 B / D u0 head", "* D\n\n* C\n* B"),
            // dated by hand: a child older than its prev is drawn above it all the same
            ("A u0 C / C u0 head / B a0 C", "* B\n| * A\n|/\n* C"),
            // circles are cut open, and no bubb is lost
            ("A u0 B / B u0 A", "* B\n* A"),
            ("A u0 A / B u0 A", "* B\n* A"),
            ("A u0 C / B u0 A / C u0 B / D a0 C / E u0 head", "* E\n\n* D\n* C\n* B\n* A"),
        ] {
            assert_eq!(drawn(store, COLUMNS, false), drawing, "{store}");
        }
    }

    #[test]
    fn hidden_bubbs_are_contracted_away() {
        let store = "A s1 head / B u0 A / C s1 B / D a0 C / E s1 B / F a0 E / G a1 D";
        assert_eq!(drawn(store, COLUMNS, false), "* F\n| * D\n|/\n* B");
        assert_eq!(drawn(store, COLUMNS, true), "* G\n* D\n* C\n| * F\n| * E\n|/\n* B\n* A");
    }

    #[test]
    fn what_would_be_too_wide_puts_its_widest_branch_first() {
        // A comb, in which each older bubb was forked later.
        let comb = "A u0 head / B u0 A / C u0 B / D u0 C / E u0 C / F u0 B / G u0 A";
        let newest_first = "* G\n| * F\n| | * E\n| | | * D\n| | |/\n| | * C\n| |/\n| * B\n|/\n* A";
        let narrow = "* E\n| * D\n|/\n* C\n| * F\n|/\n* B\n| * G\n|/\n* A";
        assert_eq!(drawn(comb, 4, false), newest_first);
        assert_eq!(drawn(comb, 2, false), narrow);
    }

    #[test]
    fn a_conv_of_a_hundred_thousand_is_no_trouble() {
        let forest = fixture::chain(100_000);
        let all: Vec<Ix> = forest.all().collect();
        assert_eq!(forest.graph(&all).len(), 100_000);
    }
}
