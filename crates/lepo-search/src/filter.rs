//! Selects the bubbs to search, by their names alone.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};

/// Conditions on a bubb's name.
#[derive(Debug, Clone)]
pub struct Filter {
    /// The kinds to search; empty for all.
    pub kinds: Vec<Role>,
    /// Whether to include hidden bubbs.
    pub hidden: bool,
    /// Range of the id's time, in milliseconds since 1970.
    pub times: RangeInclusive<u64>,
    /// Only these bubbs.
    pub only: Option<HashSet<BubbId>>,
}

impl Filter {
    /// Creates the filter that every visible bubb passes.
    pub fn visible() -> Filter {
        Filter { kinds: Vec::new(), hidden: false, times: 0..=u64::MAX, only: None }
    }

    /// Whether a bubb of this name is to be searched.
    pub fn matches(&self, name: &BubbName) -> bool {
        (self.hidden || !name.hidden)
            && (self.kinds.is_empty() || self.kinds.contains(&name.role))
            && self.times.contains(&name.id.time())
            && self.only.as_ref().is_none_or(|only| only.contains(&name.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_must_hold() {
        let name = |hidden, role| {
            let id = BubbId::new(1000, role, hidden, None, &[0; 32].into());
            BubbName { id, role, hidden, prev: None }
        };
        let all = Filter::visible();
        let question = name(false, Role::User);
        for (filter, name, takes) in [
            (all.clone(), question, true),
            (all.clone(), name(true, Role::User), false),
            (Filter { hidden: true, ..all.clone() }, name(true, Role::User), true),
            (Filter { kinds: vec![Role::Assistant], ..all.clone() }, question, false),
            (Filter { kinds: vec![Role::Assistant, Role::User], ..all.clone() }, question, true),
            (Filter { times: 1000..=1000, ..all.clone() }, question, true),
            (Filter { times: 1001..=2000, ..all.clone() }, question, false),
            (Filter { times: 0..=999, ..all.clone() }, question, false),
            (Filter { only: Some(HashSet::new()), ..all.clone() }, question, false),
            (Filter { only: Some([question.id].into()), ..all }, question, true),
        ] {
            assert_eq!(filter.matches(&name), takes, "{filter:?} {name:?}");
        }
    }
}
