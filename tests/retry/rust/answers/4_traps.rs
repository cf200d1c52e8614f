use retort_guest::prelude::*;

extractor! {
    function: read_order,
    event_types: ["order.placed"],
    inputs: {
        session: ["session_id"],
        number: ["content", "number"],
    },
    rows: {
        lines: each ["content", "lines"] { quantity: ["quantity"] },
    },
}

fn read_order(event: &Event<'_>, graph: &mut Graph) {
    graph.session(event.session);
    let Some(number) = event.number.str() else { return };
    let Some(mut order) = graph.node("Order").key("number", event.number).add() else { return };
    let quantities: Vec<i64> = event.lines().filter_map(|line| line.quantity.i64()).collect();
    let pieces = quantities[0] + quantities[1..].iter().sum::<i64>();
    order.set("pieces", pieces).set("is_checked", is_checked(&number));
}

/// The Luhn check of the digits in a text.
fn is_checked(number: &str) -> bool {
    let digits = number.chars().filter(|c| !matches!(c, ' ' | '-')).rev();
    let mut sum = 0;
    for (place, c) in digits.enumerate() {
        let Some(digit) = c.to_digit(10) else { return false };
        let weighed = if place % 2 == 1 { digit * 2 } else { digit };
        sum += if weighed > 9 { weighed - 9 } else { weighed };
    }
    sum > 0 && sum % 10 == 0
}
