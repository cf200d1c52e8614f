//! Words that stand for each other in names of fields, whatever the field is of.
//!
//! Small on purpose: what is in here holds in any business, and what holds in one alone is for the hints of a rule.

/// Abbreviations and other spellings, sorted, with what each stands for.
const SPELLINGS: &[(&str, &str)] = &[
    ("acct", "account"),
    ("addr", "address"),
    ("amt", "amount"),
    ("avg", "average"),
    ("cnt", "count"),
    ("conf", "config"),
    ("curr", "current"),
    ("cust", "customer"),
    ("dept", "department"),
    ("desc", "description"),
    ("descr", "description"),
    ("dest", "destination"),
    ("dst", "destination"),
    ("dt", "date"),
    ("emp", "employee"),
    ("env", "environment"),
    ("err", "error"),
    ("ident", "id"),
    ("identifier", "id"),
    ("ids", "id"),
    ("idx", "index"),
    ("lang", "language"),
    ("len", "length"),
    ("loc", "location"),
    ("mail", "email"),
    ("max", "maximum"),
    ("mgr", "manager"),
    ("millis", "ms"),
    ("milliseconds", "ms"),
    ("min", "minimum"),
    ("msec", "ms"),
    ("msg", "message"),
    ("nr", "number"),
    ("num", "number"),
    ("org", "organization"),
    ("organisation", "organization"),
    ("pct", "percent"),
    ("percentage", "percent"),
    ("postcode", "zip"),
    ("prev", "previous"),
    ("prod", "product"),
    ("qty", "quantity"),
    ("reference", "ref"),
    ("repo", "repository"),
    ("req", "request"),
    ("resp", "response"),
    ("sec", "seconds"),
    ("secs", "seconds"),
    ("sess", "session"),
    ("src", "source"),
    ("tel", "phone"),
    ("telephone", "phone"),
    ("ts", "timestamp"),
    ("tx", "transaction"),
    ("txn", "transaction"),
    ("tz", "timezone"),
    ("uri", "url"),
    ("usr", "user"),
    ("ver", "version"),
];

/// Words that mean much the same, with how much; at most 64 groups.
pub(crate) const GROUPS: &[(f64, &[&str])] = &[
    (0.8, &["at", "date", "datetime", "on", "time", "timestamp", "when"]),
    (0.8, &["id", "uid", "uuid", "guid"]),
    (0.6, &["id", "key", "code"]),
    (0.8, &["sha", "oid", "hash", "digest", "checksum"]),
    (0.8, &["url", "link", "href", "website", "address"]),
    (0.8, &["count", "number", "total", "quantity"]),
    (0.7, &["amount", "price", "cost", "total", "sum", "value"]),
    (0.8, &["state", "status", "phase"]),
    (0.75, &["type", "kind", "category", "class"]),
    (0.75, &["author", "user", "creator", "writer"]),
    (0.65, &["actor", "user", "principal", "caller", "initiator", "identity"]),
    (0.75, &["actor", "caller", "initiator", "invoker", "requester", "sender", "trigger"]),
    (0.6, &["owner", "user", "account"]),
    (0.75, &["customer", "client", "buyer"]),
    (0.75, &["vendor", "seller", "supplier", "merchant"]),
    (0.85, &["login", "username", "handle"]),
    (0.6, &["login", "name"]),
    (0.6, &["name", "title", "label", "subject", "headline"]),
    (0.7, &["body", "description", "text", "message", "notes", "content", "summary"]),
    (0.7, &["reason", "cause", "why", "rationale", "explanation", "justification"]),
    (0.75, &["previous", "old", "before", "prior", "former", "from"]),
    (0.7, &["destination", "to", "recipient", "target", "receiver"]),
    (0.7, &["source", "from", "origin", "sender"]),
    (0.6, &["new", "after", "current", "next"]),
    (0.8, &["start", "begin", "first", "started"]),
    (0.8, &["end", "finish", "last", "stop"]),
    (0.7, &["expires", "until", "end", "due"]),
    (0.7, &["created", "opened", "raised", "made", "placed", "registered"]),
    (0.8, &["updated", "modified", "changed", "edited"]),
    (0.8, &["deleted", "removed"]),
    (0.8, &["completed", "finished", "ended", "done"]),
    (0.8, &["duration", "latency", "elapsed"]),
    (0.7, &["ip", "address"]),
    (0.75, &["host", "hostname", "server", "machine"]),
    (0.8, &["phone", "mobile"]),
    (0.85, &["zip", "postal"]),
    (0.7, &["item", "product", "article"]),
    (0.7, &["prompt", "input", "request"]),
    (0.7, &["completion", "output", "response", "result"]),
    (0.8, &["thinking", "reasoning", "thoughts"]),
    (0.8, &["success", "ok", "succeeded", "passed"]),
    (0.75, &["error", "failure", "fault"]),
    (0.7, &["score", "rating", "points"]),
    (0.6, &["severity", "priority", "level"]),
    (0.7, &["place", "location", "site"]),
    (0.8, &["position", "index", "rank", "order"]),
    (0.8, &["gender", "sex"]),
    (0.8, &["birthday", "born", "birth"]),
    (0.8, &["size", "length", "bytes"]),
];

/// Words that say when something is: of little weight where the type says it too.
pub(crate) const TIME: &[&str] =
    &["at", "date", "datetime", "on", "time", "timestamp", "when", "day"];

/// Words that say that something is counted.
pub(crate) const COUNT: &[&str] = &["count", "number", "total", "quantity"];

/// Words for what identifies contents, written in hexadecimal digits.
pub(crate) const CHECKSUM: &[&str] = &["checksum", "digest", "hash", "oid", "sha"];

/// Words that say in which form a value is written, not what it is of.
pub(crate) const FORM: &[&str] =
    &["code", "hash", "id", "oid", "sha", "string", "text", "url", "uid", "uuid", "value", "word"];

/// Words that hold a name together.
pub(crate) const GLUE: &[&str] = &[
    "a", "an", "and", "are", "for", "has", "have", "in", "is", "it", "its", "of", "or", "own",
    "that", "the", "this", "to", "was", "were", "with",
];

/// Units of measure.
pub(crate) const UNITS: &[&str] = &[
    "bytes", "cents", "days", "eur", "gb", "hours", "kb", "kg", "km", "mb", "minutes", "ms",
    "percent", "seconds", "usd",
];

/// Keys whose value stands for the object that they are in, in the order in which they do it best.
pub(crate) const IDENTITY: &[&str] =
    &["login", "username", "name", "title", "label", "email", "slug", "code", "value", "id"];

/// First keys under which an event keeps what it is about.
pub(crate) const WRAPPERS: &[&str] =
    &["attributes", "body", "content", "data", "detail", "event", "object", "payload", "record"];

/// Words for the event itself, as opposed to what it holds.
pub(crate) const ENVELOPE: &[&str] = &["row", "record", "envelope", "entry"];

/// Words that set apart what is meant from what isn't: what follows them isn't.
pub(crate) const NEGATION: &[&str] = &["not", "except", "excluding", "unlike", "never"];

/// Words of a text that say nothing about where a value is.
pub(crate) const STOP: &[&str] = &[
    "a", "about", "all", "also", "always", "an", "and", "any", "are", "as", "be", "been", "but",
    "by", "can", "each", "event", "every", "field", "for", "from", "given", "had", "has", "have",
    "how", "if", "in", "into", "is", "it", "its", "itself", "known", "like", "may", "most", "much",
    "must", "no", "none", "of", "on", "one", "only", "or", "own", "so", "some", "such", "take",
    "than", "that", "the", "their", "them", "there", "these", "they", "this", "to", "under",
    "very", "was", "were", "what", "where", "whether", "which", "while", "who", "whoever", "with",
];

/// The spelling that a word's abbreviations stand for.
pub(crate) fn canonical(word: &str) -> &str {
    SPELLINGS
        .binary_search_by_key(&word, |(spelling, _)| spelling)
        .ok()
        .and_then(|place| SPELLINGS.get(place))
        .map_or(word, |(_, canonical)| canonical)
}

#[cfg(test)]
mod tests {
    use super::{SPELLINGS, canonical};

    #[test]
    fn groups_have_a_bit_each() {
        assert!(super::GROUPS.len() <= 64);
    }

    #[test]
    fn spellings_are_sorted_and_lead_to_an_end() {
        assert!(SPELLINGS.is_sorted_by_key(|(spelling, _)| spelling));
        assert!(SPELLINGS.iter().all(|(_, word)| canonical(word) == *word));
    }
}
