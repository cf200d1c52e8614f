//! Codes of loading a module into the sandbox.

use super::{Code, CodeEntry, LimitEntry, Stage, codes};

codes! { Stage::Load;
    COMPILE_DEADLINE_EXCEEDED = "compile_deadline_exceeded":
        "The helper process that compiles the module to native code took longer than `compile_ms`, and was ended.",
        "Look for bodies with very many branches over very many locals; or raise the limit.",
        limit(LimitEntry::of_compiling(&["compile_ms"], "milliseconds of compiling"));
    COMPILE_MEMORY_EXCEEDED = "compile_memory_exceeded":
        "The helper process that compiles the module to native code asked for more memory than `compile_memory_bytes`, and ended.",
        "Look for bodies with very many branches over very many locals; or raise the limit.",
        limit(LimitEntry::of_compiling(&["compile_memory_bytes"], "bytes of memory to compile"));
    DIRECTORY_REFUSED = "directory_refused":
        "A directory that guests are to read can't be granted: it isn't there, it is too large, or the grant doesn't include files.",
        "Read the reason in the message; grant a directory of at most 10,000 entries, by an absolute path for guests, with the grant `files`.";
    ENGINE_FAILED = "engine_failed":
        "The sandbox can't be set up: its virtual machine or a thread could not be started on this machine, or a tenant is to have another stack or allocator than the engine that it would share.",
        "Read the reason in the message; check limits on memory and threads, or build such a tenant an engine of its own.";
    FOREIGN_MODULE = "foreign_module":
        "The module is not what this host renders a plan to, and the sandbox was not told who compiles such modules.",
        "Name a helper program, as the command line does by itself; or load the bundle's plan, so that it is rendered here.";
    HELPER_FAILED = "helper_failed":
        "The helper process that compiles modules could not be started, is of another build than the host, or ended without a reply.",
        "Read the reason in the message; name a helper program of the same build as the host.";
    LINK_FAILED = "link_failed":
        "The module asks for an import that the sandbox doesn't have.",
        "Remove the import; the static gate normally names it first.";
}
