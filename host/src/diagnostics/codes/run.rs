//! Codes of running an extractor on an event, and of the service that is asked to.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

codes! { Stage::Run;
    BAD_BUFFER = "bad_buffer":
        "The extractor's `retort_buffer` refused the input block, or gave a place for it that is not in its memory.",
        "Have it return the address of a buffer of the asked length, or grow the memory first.";
    BAD_RESULT = "bad_result":
        "The extractor returned an address and a length that are not in its memory.",
        "Return the address in the high half and the length in the low half of the result.";
    CLIENT_TOO_SLOW = "client_too_slow":
        "The client has sent nothing for as long as the service waits.",
        "Send again what follows on the line that the answer names; end a request where there is nothing to send for a while.",
        kind(FailureKind::ToolError);
    CONFIG_INVALID = "config_invalid":
        "The configuration of the service isn't TOML of the known keys, or means nothing. The message gives the place, what was expected and what was found. A service that runs goes on with the one before.",
        "Correct what the message names; docs/serve.md has all keys.",
        kind(FailureKind::ToolError);
    CONVERSION_FAILED = "conversion_failed":
        "A conversion doesn't take what the event has, and the input says to turn the event down for that (`on_error: reject`).",
        "Choose a conversion that takes all forms of the field, or leave `on_error` at `omit`.";
    CROSS_ORIGIN = "cross_origin":
        "A service without tokens was asked by a web page, or by another name than that of this machine.",
        "Ask it by 127.0.0.1 or localhost and not from a browser, or give it a configuration with tokens.",
        kind(FailureKind::ToolError);
    DEADLINE_EXCEEDED = "deadline_exceeded":
        "The event took longer than its wall-clock deadline: reading it, working its inputs out, making an instance, the call, and checking the result together.",
        "Fuel normally decides first; look for what is slow without using fuel, or raise the deadline.",
        limit(LimitEntry::of_run(&["deadline_ms"], "milliseconds"));
    DIVISION = "division":
        "The extractor divided by zero, or converted a number that doesn't fit an integer.",
        "Check the divisor, or use saturating conversions.";
    DUPLICATE_ID = "duplicate_id":
        "Two nodes, or two edges, that the extractor gave for one event have the same id, and it says to turn the event down for that (`on_duplicate: reject`).",
        "Make the key tell the elements apart, or leave `on_duplicate` at `last`.";
    ENCODING_UNKNOWN = "encoding_unknown":
        "The body of a request is packed in a way that the service doesn't know.",
        "Send it as it is, or with Content-Encoding gzip or zstd.",
        kind(FailureKind::ToolError);
    EXIT = "exit":
        "The extractor ended itself through WASI's `proc_exit`, as a program would, so that there is no result.",
        "Return a result instead of exiting; return an empty one to decline an event.";
    EXTRACTOR_RAISED = "extractor_raised":
        "An extractor of the embedding program, no bundle, has failed on the event.",
        "Look at what it says of that; it is code of the program that embeds Retort.";
    HEADERS_TOO_LARGE = "headers_too_large":
        "The line and the headers of a request are larger than the service takes.",
        "Send fewer or shorter headers, or raise `limits.header_bytes` in the configuration of the service.",
        kind(FailureKind::ToolError);
    HOST_FAILED = "host_failed":
        "The host has no memory, no address space or no open file for an instance or its code. Nothing is wrong with the event, the plan or the module.",
        "Give the process more memory, or a higher limit on its address space (`ulimit -v`: an instance reserves some 4 GiB of it) or on its open files (`ulimit -n`). Or serve fewer instances at a time.";
    HOST_PANICKED = "host_panicked":
        "The host has panicked on an event, through a defect of its own. That event was not served; the stream goes on with new instances.",
        "Report it as SECURITY.md says, with the event: no event should be able to do that.",
        kind(FailureKind::ToolError);
    INDIRECT_CALL = "indirect_call":
        "The extractor called through a table, and there was no function of that type.",
        "Correct the table or the index; in a guest from a compiler this is a defect of it.";
    INPUT_TOO_LARGE = "input_too_large":
        "The declared inputs of this event are together larger than a guest may be given.",
        "Declare narrower paths, so that the extractor gets the fields that it needs and not what is around them.",
        limit(LimitEntry::of_run(&["input_bytes"], "bytes of inputs"));
    LISTEN_FAILED = "listen_failed":
        "The service can't listen on its address. The message gives the system's reason.",
        "Choose another port, or port 0 for one that is free.",
        kind(FailureKind::ToolError);
    LISTEN_OPEN = "listen_open":
        "A service without tokens was to listen on an address that others can reach.",
        "Listen on the loopback address, or give the service a configuration with tokens.",
        kind(FailureKind::ToolError);
    LOG_EXCEEDED = "log_exceeded":
        "The extractor wrote more to its standard output and standard error for one event than it may.",
        "Print less, or raise `log_bytes`.",
        limit(LimitEntry::of_run(&["log_bytes"], "bytes of log"));
    MANAGEMENT_OFF = "management_off":
        "The configuration of the service doesn't let this tenant's token change which bundles it has and which are served.",
        "Set `manage_bundles = true` for the tenant, or ask with the administrator's token.",
        kind(FailureKind::ToolError);
    MEMORY_EXCEEDED = "memory_exceeded":
        "The extractor asked for more linear memory than it may have.",
        "Free or reuse memory; a leak grows with the size of the event.",
        limit(LimitEntry::of_run(&["memory_bytes"], "bytes of memory"));
    METHOD_UNKNOWN = "method_unknown":
        "The service has this path, and not with this method.",
        "The header Allow names the methods.",
        kind(FailureKind::ToolError);
    NOT_SERVED = "not_served":
        "The tenant has no extractor of this name that is served, or no version of it beside the one that is.",
        "Activate a version of it, or correct the name.",
        kind(FailureKind::ToolError);
    OUT_OF_BOUNDS = "out_of_bounds":
        "The extractor read or wrote outside its memory.",
        "Correct the address; offsets in the input block count from the block's first byte.";
    OUT_OF_FUEL = "out_of_fuel":
        "The extractor used up the fuel for this event: a base, and a part for each byte of its inputs.",
        "In a module, look for a loop that doesn't end, or work that grows faster than the input; in a plan, for what it does to long texts: conversions, patterns, JSON inside strings. Or raise `fuel_base` or `fuel_per_byte`.",
        limit(LimitEntry::of_run(&["fuel_base", "fuel_per_byte"], "units of fuel"));
    OUTPUT_TOO_LARGE = "output_too_large":
        "The extractor returned a longer result than it may.",
        "Emit less for each event, or read fewer fields.",
        limit(LimitEntry::of_run(&["output_bytes"], "bytes of result"));
    PATH_UNKNOWN = "path_unknown":
        "The service has no such path.",
        "Look it up among the routes in docs/serve.md.",
        kind(FailureKind::ToolError);
    POOL_EXHAUSTED = "pool_exhausted":
        "All instances of the pool were in use when the event came, so that there was none for its extractor. Nothing is wrong with the event or the extractor.",
        "Reserve more instances than there are runners at one time, or have a runner that has nothing to do give up its instance (`Runner::give_up_instance`).";
    PROOF_REFUTED = "proof_refuted":
        "A result isn't what the extractor's results are proven to be, by a defect of the host. That event was not served; from then on every event of the extractor gets a new instance, and every result is read in full.",
        "Report it as SECURITY.md says, with the plan and the event: it should not be possible.",
        kind(FailureKind::ToolError);
    QUEUE_FULL = "queue_full":
        "As many events of this tenant wait as the host lets wait, so that the event was not taken.",
        "Send it again later, or wait for a place; give the tenant a larger share if it is to have more.",
        kind(FailureKind::ToolError);
    QUOTA_EXCEEDED = "quota_exceeded":
        "The tenant has used up one of its quotas, so that the event was not begun. The message names the quota.",
        "Send it again when there is something left, which the error says; or raise the quota.",
        kind(FailureKind::ToolError);
    REQUEST_CORRUPT = "request_corrupt":
        "The body of a request isn't packed as its Content-Encoding says, or was altered on its way. What came before was answered.",
        "Send again what follows on the line that the answer names, packed as the request says.",
        kind(FailureKind::ToolError);
    REQUEST_CUT_OFF = "request_cut_off":
        "The body of a request ended before its end, so that its last line may not be all of it. The lines before were answered.",
        "Send again what follows on the line that the answer names.",
        kind(FailureKind::ToolError);
    REQUEST_INVALID = "request_invalid":
        "The body of a request to the service isn't the JSON that the route takes. The message gives the path in it, what was expected and what was found.",
        "Correct what the message names; `GET /openapi.json` has the form of every body.",
        kind(FailureKind::ToolError);
    REQUEST_TOO_LARGE = "request_too_large":
        "The body of a request is larger, unpacked, than the service takes. Of events, what came before was answered.",
        "Send the rest of events in further requests, beginning with what follows on the line that the answer names; of what can't be sent in parts, send less.",
        kind(FailureKind::ToolError);
    RESULT_NOT_JSON = "result_not_json":
        "What the extractor returned is not JSON. The message gives the offset and the path.",
        "Escape what is copied into strings, and copy only scalars where a scalar belongs.";
    RESULT_NOT_UTF8 = "result_not_utf8":
        "What the extractor returned is not UTF-8.",
        "Write text as UTF-8; do not cut strings between the bytes of a character.";
    RESULT_WRONG_SHAPE = "result_wrong_shape":
        "The result is JSON, but not of a result's shape. The message gives the path, what was expected and what was found.",
        "Write exactly the keys of the result, each once and of its type.";
    SERVICE_ENDING = "service_ending":
        "The service was told to end, and reads nothing any more. What came before was answered.",
        "Send what follows on the line that the answer names to whoever serves the tenant now.",
        kind(FailureKind::ToolError);
    STACK_OVERFLOW = "stack_overflow":
        "The extractor's stack is full: its calls nest too deeply.",
        "Replace recursion by a loop, or bound its depth.",
        limit(LimitEntry::of_run(&["stack_bytes"], "bytes of stack"));
    STREAM_UNREADABLE = "stream_unreadable":
        "An input of events could not be read further.",
        "Read the system's reason in the message; what came before was served.",
        kind(FailureKind::ToolError);
    STREAM_UNWRITABLE = "stream_unwritable":
        "The results or the rejected events could not be written further.",
        "Read the system's reason in the message; check that the disk has room.",
        kind(FailureKind::ToolError);
    TABLE_EXCEEDED = "table_exceeded":
        "The extractor asked for larger tables than it may have.",
        "Use smaller tables, or none: direct calls need no table.",
        limit(LimitEntry::of_run(&["table_elements"], "elements of tables"));
    TENANT_EXISTS = "tenant_exists":
        "The host has a tenant of this name.",
        "Change that one, or choose another name.",
        kind(FailureKind::ToolError);
    TENANT_GONE = "tenant_gone":
        "The tenant was removed, or its host is gone, before the event was begun.",
        "Send its events to whoever serves it now.",
        kind(FailureKind::ToolError);
    TENANT_UNKNOWN = "tenant_unknown":
        "The host has no tenant of this name.",
        "Add it first, or correct the name.",
        kind(FailureKind::ToolError);
    TOO_MANY_REQUESTS = "too_many_requests":
        "More requests have come from this address or for this tenant than may in a second, the tenant has as many under way as it may at one time, more with a wrong token have come than are told of, or another upload of the tenant is under way. Nothing of this one was served.",
        "Send it again after the seconds that the header Retry-After says, or more events in each request; the configuration of the service may allow more.",
        kind(FailureKind::ToolError);
    TOO_MANY_ROWS = "too_many_rows":
        "The iterations that the extractor declares have more elements in this event than the limit on rows allows, all of them together.",
        "Iterate over less, or raise `max_rows`.",
        limit(LimitEntry::of_run(&["max_rows"], "rows"));
    TRAP = "trap":
        "The extractor did something that ends its call, of a kind that has no code of its own.",
        "Read the reason in the message.";
    UNAUTHORIZED = "unauthorized":
        "The request has no token, or one that isn't good for what it asks; which tenants there are isn't told.",
        "Send `Authorization: Bearer TOKEN` with the token of that tenant, or of the administrator for what is of all tenants.",
        kind(FailureKind::ToolError);
    UNREACHABLE = "unreachable":
        "The extractor executed `unreachable`, which is how a panic or an abort ends.",
        "Handle the case in which it gives up; return an empty result to decline an event.";
    UPLOAD_INVALID = "upload_invalid":
        "What was uploaded isn't a tar archive of one bundle: its files, and nothing else. The message says what was expected and what was found.",
        "Send the bundle's directory as `tar c -C bundles/FINGERPRINT .` writes it.",
        kind(FailureKind::ToolError);
    VERSION_NOT_PROMOTED = "version_not_promoted":
        "The version that runs beside the one that is served isn't known to be as good. The message says what is missing.",
        "Let it see more events, or look at the differences that were counted.",
        kind(FailureKind::ToolError);
    VERSION_SET_ASIDE = "version_set_aside":
        "The version that serves this type has failed too often and is set aside for a while; there is no version before it, and no fallback.",
        "Roll back to a version that did well, or give the type a fallback; the error says when it is tried again.",
        kind(FailureKind::ToolError);
    WORKER_FAILED = "worker_failed":
        "The thread that runs the extractor is gone, so that the event was not served.",
        "Make a new worker of the same extractor; report how it came about, it should not.";
}
