//! Codes of the static gate.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

const LIMIT: &str = "Make the module smaller in that dimension. The limit is the host's; `retort inspect --json` prints all limits of a module that is within them.";

const UNPROVEN: &str = "Nothing has to be done: an unproven module gets an instance as new for each event. To have instances kept, render the plan again with this version.";

codes! { Stage::Inspect;
    BODY_TOO_LARGE = "body_too_large":
        "A function's body is larger than a guest's may be; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["body_bytes"], "bytes of body"));
    BR_TABLE_TOO_LARGE = "br_table_too_large":
        "A `br_table` has more targets than it may have; what compiling costs grows with them.",
        LIMIT,
        limit(LimitEntry::of_structure(&["br_table_targets"], "br_table targets"));
    CUSTOM_SECTION_TOO_LARGE = "custom_section_too_large":
        "A custom section is larger than it may be.",
        "Strip debug information and whatever else the module does not need to run.",
        limit(LimitEntry::of_structure(&["custom_section_bytes"], "bytes of custom section"));
    EXPORT_KIND = "export_kind":
        "An export that the binary interface names is of another kind, such as a global in place of a function.",
        "Export the memory as `memory`, and functions as `retort_buffer` and under the declared name.";
    EXPORT_MISSING = "export_missing":
        "An export is missing that the binary interface asks for: `memory`, `retort_buffer`, or the declared function.",
        "Export what the message names, with the type that it gives.";
    EXPORT_RESERVED = "export_reserved":
        "The module exports a name that begins with `retort_` and that this version of the binary interface doesn't know.",
        "Rename the export; names that begin with `retort_` belong to the interface.";
    EXPORT_TYPE = "export_type":
        "A function that the binary interface names takes or returns other types.",
        "Give the function the type that the message says was expected.";
    FEATURE_DISABLED = "feature_disabled":
        "The module uses a WebAssembly proposal that guests have no need of, and that is off.",
        "Compile it without the feature that the message names.",
        kind(FailureKind::UnsafeRequest);
    IMPORT_REFUSED = "import_refused":
        "The module imports something that isn't a function of WASI preview 1. A guest gets its inputs in memory, and nothing else from the host.",
        "Remove the import that the message names.",
        kind(FailureKind::UnsafeRequest);
    IMPORT_TYPE = "import_type":
        "The module imports something by the name of a function of WASI that is of another type or kind.",
        "Import the function with the type that the message gives, as any toolchain does.";
    INVALID_MODULE = "invalid_module":
        "The binary can be decoded, but it is not valid WebAssembly.",
        "Build the module again with a current toolchain; do not trust one that was edited by hand.";
    LOOPS_TOO_DEEP = "loops_too_deep":
        "Loops stand inside each other more deeply than they may.",
        LIMIT,
        limit(LimitEntry::of_structure(&["nested_loops"], "loops inside each other"));
    MALFORMED_MODULE = "malformed_module":
        "The binary can't be decoded; it may have been cut off or damaged.",
        "Build or copy the module again.";
    MEMORY_COUNT = "memory_count":
        "The module has more than one memory.",
        "Use one memory of the module's own.";
    MEMORY_MISSING = "memory_missing":
        "The module has no memory of its own to pass events and results through.",
        "Define one memory and export it as `memory`.";
    MEMORY_TOO_LARGE = "memory_too_large":
        "The memory may grow to more than a guest may have.",
        "Lower the maximum that the memory declares.",
        limit(LimitEntry::of_structure(&["memory_bytes"], "bytes of memory"));
    MEMORY_UNBOUNDED = "memory_unbounded":
        "The memory declares no maximum, so that nothing bounds how far it may grow.",
        "Declare a maximum; for a Rust guest, link with --max-memory.";
    MODULE_TOO_LARGE = "module_too_large":
        "The module has more bytes than a guest may have.",
        LIMIT,
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::of_structure(&["module_bytes"], "bytes of module"));
    NESTING_TOO_DEEP = "nesting_too_deep":
        "Blocks stand inside each other more deeply than they may.",
        LIMIT,
        limit(LimitEntry::of_structure(&["nesting"], "blocks inside each other"));
    NOT_A_MODULE = "not_a_module":
        "The bytes do not begin as a core WebAssembly module does. It may be a component, or another file.",
        "Name a core module, version 1.";
    SECTION_ABI_VERSION = "section_abi_version":
        "The `retort` section is written for another version of the binary interface.",
        "Compile the extractor for the version that the message says was expected.";
    SECTION_DUPLICATE = "section_duplicate":
        "The module has more than one `retort` section, so that it is not known which one holds.",
        "Keep one custom section named `retort`.";
    SECTION_EVENT_TYPES = "section_event_types":
        "The `retort` section declares no event type, an empty one, or one twice.",
        "List each event type that the extractor reads once.";
    SECTION_FUNCTION = "section_function":
        "The `retort` section names a function that can't be an extractor: not an identifier, or a name of the binary interface.",
        "Rename the function, in the section and in its export.";
    SECTION_INPUTS = "section_inputs":
        "The `retort` section declares too many inputs, one that is beyond a bound, or one that names an iteration, a level or another input that it can't depend on.",
        "Declare the fields that the extractor reads and no others, each after what it depends on.";
    SECTION_MISSING = "section_missing":
        "The module has no `retort` section, so that nothing says what it reads and which events it is for.",
        "Add the custom section named `retort`, as the binary interface describes it.";
    SECTION_NOT_JSON = "section_not_json":
        "The `retort` section does not hold one JSON value.",
        "Write the section as one JSON object in UTF-8.";
    SECTION_ROWS = "section_rows":
        "The `retort` section declares too many iterations, or one that lies within, or depends on, what it can't.",
        "Declare outer iterations before inner ones, four levels at most; what iterations depend on are tests without rows.";
    SECTION_WRONG_SHAPE = "section_wrong_shape":
        "The `retort` section is JSON of another shape: a key is missing, unknown, repeated or of another type.",
        "Write exactly the keys abi, function, event_types and inputs.";
    START_FUNCTION = "start_function":
        "The module has a start function, which would run before the host set anything up.",
        "Export what has to run first as `_initialize`.",
        kind(FailureKind::UnsafeRequest);
    TABLE_TOO_LARGE = "table_too_large":
        "A table has more entries than a guest's may have.",
        LIMIT,
        limit(LimitEntry::of_structure(&["table_entries"], "table entries"));
    TOO_MANY_BRANCH_VALUES = "too_many_branch_values":
        "A function has too many branches for the values that live across them; what compiling costs grows with the product.",
        "Split the function, or use fewer locals in it.",
        limit(LimitEntry::of_structure(&["branch_values"], "branches times live values"));
    TOO_MANY_CUSTOM_SECTIONS = "too_many_custom_sections":
        "The module has more custom sections than a guest may have; what compiling costs grows with it.",
        "Strip debug information and whatever else the module does not need to run.",
        limit(LimitEntry::of_structure(&["custom_sections"], "custom sections"));
    TOO_MANY_DATA_SEGMENTS = "too_many_data_segments":
        "The module has more data segments than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["data_segments"], "data segments"));
    TOO_MANY_ELEMENT_SEGMENTS = "too_many_element_segments":
        "The module has more element segments than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["element_segments"], "element segments"));
    TOO_MANY_ELEMENTS = "too_many_elements":
        "The module has more elements of tables than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["elements"], "elements"));
    TOO_MANY_EXPORTS = "too_many_exports":
        "The module has more exports than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["exports"], "exports"));
    TOO_MANY_FUNCTIONS = "too_many_functions":
        "The module has more functions than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["functions"], "functions"));
    TOO_MANY_GLOBALS = "too_many_globals":
        "The module has more globals than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["globals"], "globals"));
    TOO_MANY_IMPORTS = "too_many_imports":
        "The module imports more than a guest may; no more functions are granted than fit.",
        "Import each function once.",
        limit(LimitEntry::of_structure(&["imports"], "imports"));
    TOO_MANY_LOCALS = "too_many_locals":
        "A function has more locals than a guest's may have; what compiling costs grows with them.",
        LIMIT,
        limit(LimitEntry::of_structure(&["locals"], "locals"));
    TOO_MANY_LOOP_LOCALS = "too_many_loop_locals":
        "The module has too many loops for the locals around them; what compiling costs grows with the product.",
        "Split the functions with most loops, or use fewer locals in them.",
        limit(LimitEntry::of_structure(&["loop_locals"], "loops times locals"));
    TOO_MANY_MODULE_BRANCH_VALUES = "too_many_module_branch_values":
        "All functions together have too many branches for the values that live across them; what compiling costs grows with the product.",
        "Make the module smaller, or split it into extractors of fewer event types.",
        limit(LimitEntry::of_structure(&["module_branch_values"], "branches times live values"));
    TOO_MANY_PARAMS = "too_many_params":
        "A function type has more parameters than a guest's may have.",
        LIMIT,
        limit(LimitEntry::of_structure(&["params"], "parameters"));
    TOO_MANY_RESULTS = "too_many_results":
        "A function type has more results than one.",
        "Return one value; write further ones to memory.",
        limit(LimitEntry::of_structure(&["results"], "results"));
    TOO_MANY_TYPES = "too_many_types":
        "The module has more function types than a guest may have; what compiling costs grows with it.",
        LIMIT,
        limit(LimitEntry::of_structure(&["types"], "types"));
    UNPROVEN_AREAS = "unproven_areas":
        "The areas for input and output are not as large as this host's, or don't lie behind each other, so the module can't be proven to be reset-safe.",
        UNPROVEN;
    UNPROVEN_BULK = "unproven_bulk":
        "What is copied in bulk does not become part of the result, so that nothing bounds the fuel for it.",
        UNPROVEN;
    UNPROVEN_CALL = "unproven_call":
        "A function calls one that does not stand in front of it, or hands it values that are not known to be what it takes.",
        UNPROVEN;
    UNPROVEN_DATA = "unproven_data":
        "A data segment lies over another one or in an area that is written to, so that constant text may not be constant.",
        UNPROVEN;
    UNPROVEN_EXPORTS = "unproven_exports":
        "The module exports more than the binary interface asks for, or `retort_buffer` is not its first function.",
        UNPROVEN;
    UNPROVEN_GLOBALS = "unproven_globals":
        "The globals are not the four constants of a rendered module; a global that can change may carry data from event to event.",
        UNPROVEN;
    UNPROVEN_JOIN = "unproven_join":
        "Two branches leave the result at different points, and nothing says which one it is.",
        UNPROVEN;
    UNPROVEN_LOAD = "unproven_load":
        "A function reads memory of which it isn't known that the module or the host wrote it for this event. It may be what another event left there.",
        UNPROVEN;
    UNPROVEN_LOOP = "unproven_loop":
        "A loop does not go over the rows of a declared iteration in the one form that rendered modules have.",
        UNPROVEN;
    UNPROVEN_MEMORY = "unproven_memory":
        "The memory may grow, is missing, or is larger than the proof deals with.",
        UNPROVEN;
    UNPROVEN_OPERATOR = "unproven_operator":
        "A function uses an operator that generated code has no need of.",
        UNPROVEN;
    UNPROVEN_RESULT = "unproven_result":
        "A function may return an address or a length of what was not written in this call.",
        UNPROVEN;
    UNPROVEN_SECTIONS = "unproven_sections":
        "The module has sections that no rendered one has, such as imports, tables or a start function.",
        UNPROVEN;
    UNPROVEN_SIGNATURE = "unproven_signature":
        "A function has parameters, results or locals that no generated function has.",
        UNPROVEN;
    UNPROVEN_STORE = "unproven_store":
        "A function writes somewhere else than behind what it has written of the result.",
        UNPROVEN;
    UNPROVEN_TEMPLATE = "unproven_template":
        "The module doesn't begin with the hand-written functions of a template that this host knows, byte for byte.",
        UNPROVEN;
    WASI_REFUSED = "wasi_refused":
        "The module imports a function of WASI that this host doesn't grant to guests: one that reaches out of the sandbox, waits, or reads files where no directory is granted.",
        "Do without what the message names; docs/wasi.md lists what can be granted. A policy may grant the reading of files.";
}
