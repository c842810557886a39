//! Turns parent ids into indices: the result is a forest, whatever the source contains.

use std::collections::HashMap;

pub struct Link<'a> {
    pub id: &'a str,
    pub parent: Option<&'a str>,
}

/// Returns the index of each message's parent. A message whose parent is missing gets the result of `lost`; in a cycle,
/// the message with the least id becomes a root.
pub fn parents(links: &[Link<'_>], lost: impl Fn(usize) -> Option<usize>) -> Vec<Option<usize>> {
    let mut indices: HashMap<&str, usize> = HashMap::with_capacity(links.len());
    for (index, link) in links.iter().enumerate() {
        indices.entry(link.id).or_insert(index);
    }
    let mut parents: Vec<Option<usize>> = links
        .iter()
        .enumerate()
        .map(|(index, link)| match link.parent {
            None => None,
            Some(parent) => {
                indices.get(parent).copied().or_else(|| lost(index)).filter(|&found| found != index)
            }
        })
        .collect();
    cut_circles(&mut parents, |index| links[index].id);
    parents
}

/// Makes a root of the least member of each cycle.
pub fn cut_circles<'a>(parents: &mut [Option<usize>], id: impl Fn(usize) -> &'a str) {
    // The walk that visited each node first; a walk that meets itself has found a cycle.
    let mut walks = vec![usize::MAX; parents.len()];
    for from in 0..parents.len() {
        let mut at = from;
        while walks[at] == usize::MAX {
            walks[at] = from;
            match parents[at] {
                Some(parent) => at = parent,
                None => break,
            }
        }
        if walks[at] != from || parents[at].is_none() {
            continue;
        }
        let (mut least, mut member) = (at, parents[at]);
        while let Some(next) = member.filter(|&next| next != at) {
            if (id(next), next) < (id(least), least) {
                least = next;
            }
            member = parents[next];
        }
        parents[least] = None;
    }
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests {
    use super::*;

    #[test]
    fn every_source_gives_a_forest() {
        for (source, expected) in [
            ("", ""),
            ("a- ba ca", "- 0 0"),
            ("ca ba a-", "2 2 -"),
            ("ba", "-"),
            ("aa", "-"),
            ("ab ba", "- 0"),
            ("ba ab", "1 -"),
            ("xc ca ab bc", "1 2 - 1"),
            ("a- aa ba", "- 0 0"),
        ] {
            let links: Vec<Link<'_>> = source
                .split_whitespace()
                .map(|link| Link { id: &link[..1], parent: Some(&link[1..]).filter(|parent| *parent != "-") })
                .collect();
            let parents: Vec<String> = parents(&links, |_| None)
                .into_iter()
                .map(|parent| parent.map_or("-".into(), |parent| parent.to_string()))
                .collect();
            assert_eq!(parents.join(" "), expected, "{source}");
        }
    }

    #[test]
    fn a_circle_of_a_hundred_thousand_is_cut_once() {
        let mut parents: Vec<Option<usize>> = (0..100_000).map(|index| Some((index + 1) % 100_000)).collect();
        cut_circles(&mut parents, |_| "");
        assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), 1);
    }
}
