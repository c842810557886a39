//! Child processes, from a table of processes.

use std::collections::HashMap;

/// Returns the children of each process, from lines with a process id and its parent's; leaves out `without`.
pub fn children_in(table: &str, without: i32) -> HashMap<i32, Vec<i32>> {
    let mut children = HashMap::<i32, Vec<i32>>::new();
    for line in table.lines() {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<i32>);
        if let (Some(Ok(pid)), Some(Ok(parent))) = (numbers.next(), numbers.next())
            && pid != without
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_processes_tells_children() {
        let children = children_in("  1     0\n 10     1\n 11    10\n 12    10\n 13    10\nx\n", 12);
        assert_eq!(children.get(&10), Some(&vec![11, 13]));
        assert_eq!((children.get(&1), children.get(&12)), (Some(&vec![10]), None));
    }
}
