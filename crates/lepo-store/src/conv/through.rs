//! Finds the tails whose conv contains any of several bubbs.

use super::{Forest, Ix};

impl Forest {
    /// Returns the tails whose conv contains a bubb of `named`.
    pub fn tails_through(&self, tails: &[Ix], named: &[Ix]) -> Vec<Ix> {
        // For each visited bubb, whether it or an ancestor is in `named`.
        let mut known = vec![None; self.len()];
        for ix in named {
            known[ix.at()] = Some(true);
        }
        let mut walked = Vec::new();
        let mut through = |&tail: &Ix| {
            walked.clear();
            let mut found = false;
            for ix in self.up(tail) {
                if let Some(known) = known[ix.at()] {
                    found = known;
                    break;
                }
                walked.push(ix);
            }
            for ix in &walked {
                known[ix.at()] = Some(found);
            }
            found
        };
        tails.iter().copied().filter(|tail| through(tail)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, id};

    #[test]
    fn tails_through_a_bubb_are_those_whose_conv_has_it() {
        for (store, named, tails) in [
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "B", "DC"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "C", "C"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "EC", "EC"),
            ("A s1 head / B u0 A / C a0 B / D a0 B / E u0 head", "", ""),
            ("A u0 B / B u0 A / C a0 B / D a0 A / E u0 head", "B", "DC"),
        ] {
            let forest = fixture::forest(store);
            let named: Vec<_> = named.chars().filter_map(|c| forest.find(id(&c.to_string()))).collect();
            let through = forest.tails_through(&forest.tails(false), &named);
            assert_eq!(fixture::letters(&forest, &through), tails, "{store}");
        }
    }
}
