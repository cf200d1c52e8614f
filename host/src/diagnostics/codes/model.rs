//! Codes of models and of what they answer.

use super::{Cause, Code, CodeEntry, FailureKind, Stage, codes};

codes! { Stage::Model;
    AMBIGUOUS_RESPONSE = "ambiguous_response":
        "The model's answer holds more than one JSON object, or block of Rust, and nothing tells which of them is meant.",
        "Ask for the plan or the source alone; the loop does so by itself, with what was wrong.",
        kind(FailureKind::JsonInvalid);
    ANSWER_TOO_LARGE = "answer_too_large":
        "The model's answer is more JSON or source, or a plan of more properties, than is read: 256 KiB, and 1,024 properties.",
        "Ask for fewer properties in the rule; an entity of more than a thousand is better split in the graph spec.";
    CANNOT_EXPRESS = "cannot_express":
        "The model says that no plan can say what the rule asks for, or no extractor do it, and gave none.",
        "Read what it says in the message; ask in the rule for less, or let the model write Rust where plans can't say it (`--backend auto`).",
        kind(FailureKind::MissingContext),
        in_rule("Ask in the rule for what a plan can say, or leave out what it can't.");
    DRAFT_LIMIT = "draft_limit":
        "A plan was to be drafted without a model, and the search among rule, graph spec and samples ended at its limit before a key was found.",
        "Give fewer or shorter samples, a shorter rule, or a graph spec of what the rule is about alone; or name the key's path in the rule; or use a model.";
    DRAFT_NO_ENTITY = "draft_no_entity":
        "A plan was to be drafted without a model, and the graph spec has no entity with a key.",
        "Give the entity that the rule is about a primary key in the graph spec.";
    DRAFT_NO_KEY = "draft_no_key":
        "A plan was to be drafted without a model, and nothing in the sample events clearly suits the entity's key, or most of its properties.",
        "Name paths in the rule beside the properties' names, as in `order_id` is `content.order.id`; or give samples that hold them; or use a model.";
    ESCALATED = "escalated":
        "The retry policy gives failures of this kind or code to a person, and so no further answer was asked for.",
        "Read the account; change the rule, the schema or the samples as it says, or what the policy gives to a person (`--escalate`).";
    GATES_INTERRUPTED = "gates_interrupted":
        "A plan was not judged to the end: the time that the loop may take was spent, or the program is shutting down.",
        "Allow more time; if it happens without a limit while the program goes on, report it as a defect.",
        kind(FailureKind::ToolError);
    MAX_ATTEMPTS_REACHED = "max_attempts_reached":
        "Every answer that the model was allowed to give failed, repairs included.",
        "Read what stands in the way in the account; allow more attempts, or use another model.";
    MAX_ATTEMPTS_TOO_SMALL = "max_attempts_too_small":
        "A model has to be asked at least once, and the number of attempts that was given is less than that.",
        "Allow one attempt or more.",
        kind(FailureKind::MissingContext);
    MODEL_COMMAND_FAILED = "model_command_failed":
        "The program that stands for a model could not be started, ended with an error, or wrote no text.",
        "Run the command by hand with a prompt on stdin; it has to write the answer to stdout and exit with 0.";
    MODEL_CONFIG = "model_config":
        "The model can't be used as it is configured: the provider is unknown, the key is missing, or the address isn't one.",
        "Set what the message names; `retort compile --help` lists the forms of --model.";
    MODEL_PROTOCOL = "model_protocol":
        "The provider answered with success, and the answer isn't what its protocol says.",
        "Check that the base URL leads to a service of that protocol, not to a web page or a proxy.";
    MODEL_QUOTA = "model_quota":
        "The provider says that too much was asked of it, or that what was paid for is spent.",
        "Wait and try again, or raise the quota; what was learned so far is in the record.";
    MODEL_RECORD_FAILED = "model_record_failed":
        "The file in which the calls to the model are recorded can't be written.",
        "Give --record a file in a directory that exists and may be written, on a disk that isn't full.";
    MODEL_REFUSED = "model_refused":
        "The model, or a filter before or behind it, declined to answer, and there is no plan or source in what it said.",
        "Look at the rule and the sample events for what may have caused it, or use another model.";
    MODEL_REPLAY_FAILED = "model_replay_failed":
        "The recorded transcript can't be read, or holds no answer to this request.",
        "Record a new one with --record: a transcript answers in the order in which it was recorded.";
    MODEL_STATUS = "model_status":
        "The provider answered with a status that says that it failed.",
        "Read the provider's own words in the message; a 404 often means an unknown model name.";
    MODEL_TIMEOUT = "model_timeout":
        "The model gave no answer within the time that a call may take.",
        "Try again, allow more time, or use a model that answers faster.";
    MODEL_UNAUTHORIZED = "model_unauthorized":
        "The provider refused the key, or the key may not use this model.",
        "Check the key in the provider's environment variable, and what it is allowed to use.";
    MODEL_UNREACHABLE = "model_unreachable":
        "No connection to the provider could be made, or it broke before the answer was whole.",
        "Check the base URL, the network, and whether the service runs.";
    NOTHING_CERTAIN = "nothing_certain":
        "A plan was to be repaired without a model, and for what is left there is no one remedy.",
        "Go by the suggested patches, or let a model fix it with `retort compile --model`.";
    PARTLY_EXPRESSED = "partly_expressed":
        "The plan passed every gate, and the model says that it leaves out a part of the rule, since no plan can say that.",
        "Read what it says in the message; ask in the rule for less, or live with what is missing.";
    REFUSED = "refused":
        "The model, or a filter before or behind it, declined to answer, so that asking again would not help.",
        "Say in the rule what the data is and what it is for, or use another model.";
    REJECTED_BY_CALLER = "rejected_by_caller":
        "The plan passed every gate, and the program that asked for it turned it down for a reason of its own.",
        "Read the reason in the message; the model was given it as well.",
        kind(FailureKind::ReasoningError),
        in_rule("Say in the rule what that check asks for, or change the check.");
    REPEATED_FAILURE = "repeated_failure":
        "The model gave the same answer twice, or failed in the same way more often than the retry policy allows.",
        "Asking the same again won't help: change what the account names, or use another model.",
        kind(FailureKind::RepeatedFailure);
    RULE_MISSING = "rule_missing":
        "A model was to be asked for a plan, and there is no rule that says what to extract.",
        "Write down in words what is wanted, and name it as the rule.",
        kind(FailureKind::MissingContext);
    RULE_TOO_LONG = "rule_too_long":
        "The rule is longer than a prompt may hold. It isn't cut, since half a rule is another rule.",
        "Shorten it to what concerns this plan; what events look like belongs into the event schema.",
        kind(FailureKind::MissingContext);
    RUST_NOT_TAKEN = "rust_not_taken":
        "A model was asked for an extractor in Rust, and the gates that judge its answers take plans alone.",
        "Ask for plans, or use gates that compile Rust: those of a pipeline do.",
        kind(FailureKind::ToolError);
    SOURCE_MISSING = "source_missing":
        "The model was asked for an extractor in Rust, and its answer holds no source.",
        "Ask for the source alone; the loop does so by itself, with what was wrong.",
        kind(FailureKind::JsonInvalid);
    TOKEN_BUDGET_SPENT = "token_budget_spent":
        "The tokens that all answers together may cost are spent, or too few are left for the next request.",
        "Allow more tokens; what was learned so far is in the record.";
    TRUNCATED_RESPONSE = "truncated_response":
        "The model's answer was cut off before the JSON object or the source in it ended.",
        "Allow the model longer answers, or map fewer properties; the loop asks for a shorter answer by itself.",
        kind(FailureKind::JsonInvalid),
        cause(Cause::Length),
        in_rule("Let the model give longer answers, or ask for fewer properties in the rule.");
    WALL_BUDGET_SPENT = "wall_budget_spent":
        "The time that all of it may take is over.",
        "Allow more time, or use a model that answers faster.";
}
