//! The session that an id begins with: `{session}:{entity}:{key}={value}[,{key}={value}...]`, unescaped.

/// A key of a node: its names, and its value as it stands in an id.
pub(crate) struct KeyText<'a> {
    pub(crate) names: [&'a str; 2],
    pub(crate) value: &'a str,
    /// A number may be written in the id in another way than in the node.
    pub(crate) is_number: bool,
}

/// What is before the entity of a node's id. The keys say how the id ends, so that a session may hold anything; an id that doesn't end
/// so has its session before the last `:{entity}:`.
pub(crate) fn of_node<'a>(id: &'a str, entity: &str, keys: &[KeyText<'_>]) -> Option<&'a str> {
    canonical(id, entity, keys).or_else(|| of_end(id, entity))
}

/// What is before the last `:{entity}:`.
pub(crate) fn of_end<'a>(id: &'a str, entity: &str) -> Option<&'a str> {
    let mut ends = id.match_indices(':').filter(|(at, _)| {
        let rest = id.get(at + 1..).and_then(|rest| rest.strip_prefix(entity));
        rest.is_some_and(|rest| rest.starts_with(':'))
    });
    ends.next_back().and_then(|(at, _)| id.get(..at))
}

fn canonical<'a>(id: &'a str, entity: &str, keys: &[KeyText<'_>]) -> Option<&'a str> {
    let mut head = id;
    for (place, key) in keys.iter().enumerate().rev() {
        let before = match key.is_number {
            true => head.rsplit_once('=')?.0,
            false => head.strip_suffix(key.value)?.strip_suffix('=')?,
        };
        let named = |name: &str| {
            let rest = before.strip_suffix(name)?;
            if place > 0 {
                return rest.strip_suffix(',');
            }
            rest.strip_suffix(':')?.strip_suffix(entity)?.strip_suffix(':')
        };
        head = key.names.into_iter().find_map(named)?;
    }
    (!keys.is_empty()).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_and_a_value_may_hold_what_separates() {
        let key = |value| [KeyText { names: ["id", "id"], value, is_number: false }];
        assert_eq!(of_node("s:1:Order:id=a", "Order", &key("a")), Some("s:1"));
        assert_eq!(of_node("s:Order:id=x:Order:id=y", "Order", &key("x:Order:id=y")), Some("s"));
        assert_eq!(of_node("s:Order:id=other", "Order", &key("a")), Some("s"));
        assert_eq!(of_node("s-Order", "Order", &key("a")), None);
        let number = [KeyText { names: ["n", "id"], value: "1.50", is_number: true }];
        assert_eq!(of_node("s:Order:id=1.5", "Order", &number), Some("s"));
        assert_eq!(of_end("a:E:E:k=1", "E"), Some("a:E"));
    }
}
