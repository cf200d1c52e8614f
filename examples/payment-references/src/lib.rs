//! Accounts that the text of a payment names: international account numbers whose check digits are right.
//!
//! People write them with and without spaces, in any case, among other words and numbers that look like them. Only the check
//! digits (ISO 13616: the rest of a division by 97 is one) tell them apart.

use retort_guest::prelude::*;

extractor! {
    function: find_accounts,
    event_types: ["payment.*"],
    on_duplicate: "last",
    inputs: {
        session: ["session_id"],
        span_id: ["span_id"],
        payment_id: ["content", "id"],
        amount: ["content", "amount"] as ["to_double"],
        reference: ["content", "reference"],
        note: ["content", "note"],
    },
}

/// Countries, with the length that their numbers have.
const LENGTHS: [(&str, usize); 10] = [
    ("AT", 20),
    ("BE", 16),
    ("CH", 21),
    ("DE", 22),
    ("ES", 24),
    ("FR", 27),
    ("GB", 22),
    ("IT", 27),
    ("NL", 18),
    ("NO", 15),
];

fn find_accounts(event: &Event<'_>, graph: &mut Graph) {
    graph.session(event.session);
    let draft = graph.node("Payment").key("payment_id", event.payment_id);
    let Some(mut payment) = draft.add() else { return };
    payment.set("amount", event.amount);
    let payment = payment.id();
    for (field, value) in [("reference", event.reference), ("note", event.note)] {
        for iban in accounts(&value.str().unwrap_or_default()) {
            let draft = graph.node("Account").key("iban", &iban);
            let Some(mut account) = draft.add() else { continue };
            account.set("country", iban.get(..2));
            let account = account.id();
            graph.edge("NAMES", payment, account).set("field", field);
        }
    }
    graph.fully_handled(event.span_id);
}

/// The account numbers in a text, in capitals and without spaces, each once.
fn accounts(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let begins_word = !before.is_alphanumeric() && character.is_ascii_alphabetic();
        before = character;
        let rest = text.get(at..).unwrap_or_default();
        match begins_word.then(|| account(rest)).flatten() {
            Some(iban) if !found.contains(&iban) => found.push(iban),
            _ => {}
        }
    }
    found
}

/// The account number that a text begins with.
fn account(text: &str) -> Option<String> {
    let country = text.get(..2)?.to_ascii_uppercase();
    let (_, length) = LENGTHS.iter().find(|(code, _)| *code == country)?;
    let mut iban = String::new();
    let mut characters = text.chars().peekable();
    while iban.len() < *length {
        let next = characters.next()?;
        if next.is_ascii_alphanumeric() {
            iban.push(next.to_ascii_uppercase());
        } else if next != ' ' || iban.len() < 4 {
            return None;
        }
    }
    let ends = characters.peek().is_none_or(|next| !next.is_alphanumeric());
    (ends && remainder(&iban)? == 1).then_some(iban)
}

/// The rest of the division by 97, with the first four characters put last and letters as two digits.
fn remainder(iban: &str) -> Option<u32> {
    let (head, tail) = iban.split_at_checked(4)?;
    let mut rest = 0;
    for character in tail.chars().chain(head.chars()) {
        let value = character.to_digit(36)?;
        rest = if value < 10 { rest * 10 + value } else { rest * 100 + value } % 97;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use retort_guest::mock;

    use super::accounts;

    #[test]
    fn only_numbers_with_right_check_digits_are_accounts() {
        assert_eq!(accounts("pay DE89 3704 0044 0532 0130 00, please"), ["DE89370400440532013000"]);
        assert_eq!(accounts("DE88370400440532013000"), Vec::<String>::new());
        assert_eq!(accounts("gb82west12345698765432"), ["GB82WEST12345698765432"]);
        assert_eq!(
            accounts("XDE89370400440532013000 DE893704004405320130001"),
            Vec::<String>::new()
        );
        assert_eq!(
            accounts("NL91ABNA0417164300 or NL91 ABNA 0417 1643 00"),
            ["NL91ABNA0417164300"]
        );
        assert_eq!(accounts("DE, de é DE89"), Vec::<String>::new());
    }

    #[test]
    fn a_payment_names_accounts() {
        let event = r#"{"session_id": "s", "content": {"id": "p1", "amount": "12.50",
            "reference": "GB82 WEST 1234 5698 7654 32", "note": null}}"#;
        let result = mock::event::<super::Extractor>(event).run();
        assert_eq!(result.node("Account").id, "s:Account:iban=GB82WEST12345698765432");
        assert_eq!(result.node("Account").property("country").str(), Some("GB"));
        assert_eq!(result.edges[0].property("field").str(), Some("reference"));
    }
}
