//! Codes of what the caller named.

use super::{Code, CodeEntry, Stage, codes};

codes! { Stage::Input;
    BASELINE_INVALID = "baseline_invalid":
        "The baseline of a bench is not a report that this version reads. The message gives the JSON path of the first thing that does not fit.",
        "Name a file that `retort bench --json` has written, with this version or one that writes the same `bench_version`; else measure the baseline again.";
    BASELINE_UNRELATED = "baseline_unrelated":
        "The baseline of a bench holds none of the bundles in the modes and numbers of threads that are measured, so there is nothing to compare.",
        "Name the baseline of these bundles, and measure with the same --isolation and --threads.";
    BENCH_EVENT_FAILED = "bench_event_failed":
        "An event that had given a result before failed while it was measured: it ran into the deadline, or there were more threads than places in the pool. The figures are in part those of failures.",
        "Measure again on a quieter machine, with fewer threads, or with more places in the pool (`allocator` in the policy).";
    CASE_INVALID = "case_invalid":
        "A file of the hostile corpus that is built in can't be read as a case.",
        "Use a released build; in a checkout, correct the file that the message names.";
    COLUMN_NOT_FOUND = "column_not_found":
        "A file of Parquet has no column by the name that was given, or none was given.",
        "Name with --column the column that holds the events; the message lists those that there are.";
    COLUMN_UNSUPPORTED = "column_unsupported":
        "A column of Parquet holds neither JSON text nor a struct of what JSON can say.",
        "Name a column of strings, of bytes, or a struct; docs/columns.md says what is rendered how.";
    EXPECTED_EMPTY = "expected_empty":
        "The file of expected results holds none.",
        "Write what a sample has to give into it, one JSON object a line, or have `retort label` write it; or leave `expected` out.";
    EXPECTED_INVALID = "expected_invalid":
        "A line of the expected results isn't one. The message gives the file, the line and the place in it.",
        "Correct that place; docs/cli.md has the form.";
    EXPECTED_SAMPLE_TWICE = "expected_sample_twice":
        "Two lines of the expected results are about one sample.",
        "Keep one of the two lines.";
    EXPECTED_TOO_LARGE = "expected_too_large":
        "The expected results are more in all than is held in memory, in bytes or in what they list.",
        "Leave some out: a few samples of each kind tell as much.";
    EXPECTED_UNKNOWN_NAME = "expected_unknown_name":
        "A line of the expected results names an entity, a relationship or a property that is not in the graph spec, or another key than the spec declares.",
        "Use a name of the graph spec, or add it there.";
    EXPECTED_UNKNOWN_SAMPLE = "expected_unknown_sample":
        "A line of the expected results is about a sample that there isn't, or whose text has changed.",
        "Correct `line` or `sha256`; where the sample was changed, look at what it gives now with `retort label`, and replace the line.";
    FILE_NOT_FOUND = "file_not_found":
        "There is nothing by the name that was given.",
        "Check the path; paths in a project file are relative to its folder.";
    FILE_NOT_JSON = "file_not_json":
        "The file does not hold JSON.",
        "Correct the place that the message gives by line and column, or name the right file.";
    FILE_NOT_READABLE = "file_not_readable":
        "The system does not let the file be read, or it is a directory.",
        "Read the system's reason in the message; name a file that can be read.";
    FILE_NOT_UTF8 = "file_not_utf8":
        "The file is not text in UTF-8. The message gives the offset of the first wrong byte.",
        "Save the file as UTF-8, or name the right file.";
    FILE_NOT_WRITABLE = "file_not_writable":
        "The system does not let the output be written.",
        "Read the system's reason in the message; name a place that exists and can be written.";
    FILE_TOO_LARGE = "file_too_large":
        "The file is larger than what is read of its kind, in bytes or in the values of its JSON: what has to be held whole is bounded.",
        "Name the right file; give events to `retort run`, which reads files of any size.";
    HONEST_EVENT_FAILED = "honest_event_failed":
        "An event of the self-test's honest tenant fails under the limits that are configured, so that nothing can be said about what others do to it.",
        "Allow more: the message names the limit.";
    HONEST_EXTRACTOR_FAILED = "honest_extractor_failed":
        "The extractor of the self-test's honest tenant doesn't pass the gates under the limits that are configured.",
        "Allow more: the message names the gate and the limit.";
    INTERRUPTED = "interrupted":
        "The user interrupted the command before a model had written a plan that passes.",
        "Run it again; with --record, what was answered so far can be replayed.";
    INVALID_REPORT = "invalid_report":
        "The saved report does not have the shape of the kind that was named, so there is nothing to render. The message gives the JSON path of the first thing that does not fit.",
        "Name the kind that the report was saved as (parse, ast, smoke or compile), or save it again with this version.";
    NO_BUNDLES = "no_bundles":
        "The directory holds no bundle that can be served.",
        "Name the directory that holds the bundles' directories; why each of them failed is said before.";
    NO_CASES = "no_cases":
        "No case of the hostile corpus has the text of --filter in its name or attack.",
        "Use `retort selftest --list` to see all of them.";
    NO_EVENTS = "no_events":
        "The file holds no events.",
        "Name a file with one JSON object a line.";
    NO_EVENTS_OF_TYPE = "no_events_of_type":
        "None of the events is of a type that the bundle declares, so there is nothing to measure.",
        "Name a file with events that the bundle serves; `retort inspect` prints which they are.";
    NO_SAMPLES = "no_samples":
        "The file holds no sample events.",
        "Write at least one event of the plan's type into it, one JSON object a line.";
    NOT_STOPPED = "not_stopped":
        "An attack of the hostile corpus ended otherwise than it has to on this machine and in this configuration. The message says in what way.",
        "Don't serve untrusted extractors in this configuration. If it is the default one, report it as SECURITY.md says.";
    OUT_NOT_EMPTY = "out_not_empty":
        "The directory that tables are to be written to has something in it that isn't of this run. Rows of two runs would be mixed.",
        "Name a new directory, or empty that one.";
    OUTPUT_IS_INPUT = "output_is_input":
        "A file would be overwritten that is read, or written twice, in the same run.",
        "Name another file for the output.";
    OUTPUT_OPTIONS = "output_options":
        "Two options of a command don't go together, or one of them asks for another.",
        "Do what the message says; the command with --help lists its options.";
    PARQUET_INVALID = "parquet_invalid":
        "A file that begins as one of Parquet isn't one, or contradicts itself.",
        "Write the file again, and look whether it was cut off or altered on its way.";
    PARQUET_TOO_LARGE = "parquet_too_large":
        "A file of Parquet asks for more memory than is given to one: 64 MiB for what it says of itself, and 1 GiB for the column of a row group.",
        "Write it with smaller row groups.";
    PROJECT_EXISTS = "project_exists":
        "A new project was to be written where something else is already, or under a name that no project can have.",
        "Name a folder that isn't there. Its name may have letters, digits, hyphens and underscores, and begins with a letter.";
    PROJECT_INCOMPLETE = "project_incomplete":
        "Neither the project file nor a flag says where something is that is needed.",
        "Add the key or the flag that the message names.";
    PROJECT_INVALID = "project_invalid":
        "The project file is not TOML with exactly the known keys. The message gives line and column.",
        "Correct that line; the keys are rule, schema, graph, ontology, binding, samples, output, model, plan, policy, expected and allow_external_endpoints.";
    RECORDED_INVALID = "recorded_invalid":
        "The recorded results are not those of this corpus: a line is not what `retort run` writes, or it is of an event that isn't there or comes earlier.",
        "Name the results that `retort run` has written of the same events, in the same order.";
    RESUME_NEEDS_FILE = "resume_needs_file":
        "A run that is to be resumed reads or writes what isn't a file: in a pipe, a terminal or a device nothing can be gone back to.",
        "Name files for the events, for --out and for --rejects, or leave --resume out.";
    SAMPLE_NOT_JSON = "sample_not_json":
        "A sample is not JSON. The message gives the file and the line.",
        "Write each sample event as a JSON object on a line of its own.";
    SAMPLE_TOO_LARGE = "sample_too_large":
        "A sample has more bytes than an event may have that is served. The message gives the file and the line.",
        "Leave it out, or raise `event_bytes` in the tenant's policy if such events are meant.";
    SAMPLE_WITHOUT_EVENT_TYPE = "sample_without_event_type":
        "A sample is not an object with a non-empty string `event_type`.",
        "Add the event type; bundles are chosen by it.";
    SAMPLES_TOO_LARGE = "samples_too_large":
        "The samples are more in all than is held in memory, in bytes or in values of JSON, the keys of objects counted with them.",
        "Leave some out: a few events of each type and shape are enough. `retort run` reads files of any size.";
    SELFTEST_FAILED = "selftest_failed":
        "The system refused the self-test a thread or a temporary directory.",
        "Read the system's reason in the message; check limits on threads and the directory for temporary files.";
    STATE_IN_USE = "state_in_use":
        "Another run is writing to the results that a run was to go on with.",
        "Wait until it has ended, or end it.";
    STATE_INVALID = "state_invalid":
        "The file of --resume isn't one that `retort run` has written, or was altered.",
        "Name the right file. To begin anew, name one that isn't there.";
    STATE_MISMATCH = "state_mismatch":
        "The file of --resume is the state of a run over other inputs, through other bundles or with other arguments, or its outputs are not as it left them. What would come out would be neither that run's nor this one's.",
        "Start it with what the message says was expected. To begin anew, name a file that isn't there.";
    STDIN_TWICE = "stdin_twice":
        "Two of the files that were named are stdin, which can be read only once.",
        "Give `-` in one place, and a file in the others.";
    TABLE_NOT_FOUND = "table_not_found":
        "There is no table by the name that was given.",
        "Name one of those that the message lists.";
    TASK_DOCUMENT_EMPTY = "task_document_empty":
        "The rule or the event schema is an empty text.",
        "Write down what is to be extracted, or leave the document out.";
    TASK_DOCUMENT_TOO_LARGE = "task_document_too_large":
        "The rule or the event schema holds more values of JSON than are held in memory, the keys of objects counted with them.",
        "Leave out what the rule isn't about; a schema of only a part of the event is understood.";
    TASK_NOT_AN_OBJECT = "task_not_an_object":
        "The rule or the event schema is JSON, but not an object.",
        "Make its root a JSON object. A rule in plain words needs no JSON at all.";
    TASK_NOT_JSON = "task_not_json":
        "The rule begins like JSON, or is an event schema, and can't be read as JSON.",
        "Correct the place that the message gives; NaN and Infinity are no JSON.";
    THRESHOLDS_INVALID = "thresholds_invalid":
        "The thresholds of a revalidation are not what they may be: JSON, known fields alone, each a number from 0 to 1 or null.",
        "Correct what the message names; docs/cli.md has the fields.";
    UNKNOWN_ARTIFACT = "unknown_artifact":
        "The path is neither a directory nor a file whose name says what it is.",
        "Name a bundle's directory, or a file that ends in .wasm, .wat or .json.";
    UNKNOWN_CODE = "unknown_code":
        "There is no such code.",
        "Use `retort explain --list` to see all of them.";
    UNKNOWN_REPORT_KIND = "unknown_report_kind":
        "No report is of the kind that was named.",
        "Use one of parse, ast, smoke or compile.";
}
