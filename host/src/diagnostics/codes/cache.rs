//! Codes of the cache of native code: warnings, with which every module is served all the same.

use super::{Code, CodeEntry, Stage, codes};

codes! { Stage::Load;
    CACHE_ENTRY_NOT_KEPT = "cache_entry_not_kept":
        "Native code could not be written to the cache: it is larger than the whole cache may be, the disk refused, or another process was writing all the time.",
        "Read the reason in the message; give the cache more room, or a directory that can be written.";
    CACHE_ENTRY_REFUSED = "cache_entry_refused":
        "An entry of the cache of native code is not one that this host wrote for this module and engine, or was changed since; or a verdict of the gates there is not one that this host wrote for this bundle. It was not used; the module was compiled, or the bundle judged anew, and the entry replaced.",
        "Find out who else can write to the directory; one such warning after a crash of the disk is no more than that.";
    CACHE_KEY_REPLACED = "cache_key_replaced":
        "The key of the cache of native code was damaged, or open to others than its owner. There is a new one, so that everything is compiled once more.",
        "Find out who changed the file; whoever could read it could have written entries.";
    CACHE_UNUSABLE = "cache_unusable":
        "The directory of the cache of native code is not used: it cannot be opened, or it is not this user's alone. Modules are compiled each time.",
        "Name a directory, not a link, that belongs to the user who runs this and has mode 0700; one that isn't there is created so.";
}
