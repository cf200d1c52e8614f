//! Codes of storing, loading and publishing bundles.

use super::{Code, CodeEntry, Stage, codes};

const REBUILD: &str = "Compile the bundle again, or restore it from a copy that nobody edited.";

codes! { Stage::Bundle;
    ACTIVATION_RECORD_INVALID = "activation_record_invalid":
        "The file .active.json of a directory of bundles, which says which versions are served, is not what Retort wrote: it was damaged or edited. Nothing of the directory is served.",
        "Restore the file from a copy. Without the file all bundles of the directory are served, and of several versions of one extractor none.";
    BUNDLE_INVALID = "bundle_invalid":
        "A bundle made of these parts would be refused on loading: a name, a version or the list of event types is not what a manifest may hold.",
        "Correct the part that the message names and store it again.";
    BUNDLE_TOO_LARGE = "bundle_too_large":
        "A part of the bundle is larger than a loader would read.",
        "Make the part smaller; a rule or a schema that large is usually a data file by mistake.";
    BUNDLE_WRITE_FAILED = "bundle_write_failed":
        "The bundle could not be written. What was there before is untouched and nothing half-written is left.",
        "Check that the directory named in the message exists, can be written and has room.";
    BUNDLES_IN_USE = "bundles_in_use":
        "Versions were to be removed while somebody holds the whole directory of bundles: who looks it over to find out what is served, or who serves so many bundles that it may not open enough files to hold each by itself: a third of them at most.",
        "Try again; where that doesn't help, raise the limit of open files for whatever serves the directory.";
    DIGEST_MISMATCH = "digest_mismatch":
        "A file of the bundle is missing, is not a plain file, or is not the one whose digest the manifest holds; or something lies in the bundle's directory that the manifest has no digest of, or the manifest is written in another form than manifests are. It was damaged or edited after the bundle was made.",
        REBUILD;
    EVENT_TYPE_COLLISION = "event_type_collision":
        "Two bundles of one directory declare the same event type. None of them serves that type, since it is not known which should.",
        "Remove all bundles but one for that event type, or restrict which types are served.";
    EVENT_TYPE_SHARED = "event_type_shared":
        "The directory was to give each event type to one extractor, and there is one that several of them serve. Neither would be served then, so nothing changes.",
        "Retire all extractors of the event type but one with `retort bundles retire` first.";
    EVENT_TYPE_TAKEN = "event_type_taken":
        "A version was to be activated that declares an event type which another extractor of the directory serves. Neither would be served then, so the version stays as it is and nothing changes.",
        "Give both the same `name` in retort.toml and compile again, so that the one is a version of the other; or let it take the other one's place with `retort bundles activate --replace`; or let several extractors serve an event type with `retort bundles share`.";
    EVENT_TYPES_MISMATCH = "event_types_mismatch":
        "The bundle does not declare an event type that was expected of it.",
        "Load the bundle that declares the type, or correct what is expected.";
    FINGERPRINT_MISMATCH = "fingerprint_mismatch":
        "The manifest's fingerprint is not the expected one, or not the one that the bundle's content has. The bundle is another one, or was edited.",
        "Check which bundle was meant; compile it again if its content was changed.";
    FUNCTION_NOT_FOUND = "function_not_found":
        "The module does not export the function that the manifest names.",
        REBUILD;
    FUNCTION_SIGNATURE_MISMATCH = "function_signature_mismatch":
        "The named function does not take an address and a length and return one 64-bit result.",
        "Give the extractor function the type (i32, i32) -> i64, as the ABI says, and compile it again.";
    KEY_INVALID = "key_invalid":
        "The file does not hold a key of Ed25519 in PEM: a private one in PKCS #8 to sign with, a public one to trust.",
        "Make a pair with `openssl genpkey -algorithm ed25519 -out key.pem` and `openssl pkey -in key.pem -pubout -out trusted.pem`.";
    LOAD_FAILED = "load_failed":
        "The bundle could not be loaded for a reason that is not in its manifest: a file could not be read or is too large, or the sandbox failed to load the module.",
        "Read the reason in the message; check permissions and the disk if it names a file.";
    MANIFEST_MISSING = "manifest_missing":
        "There is no regular file manifest.json in the directory, or the directory itself cannot be read.",
        "Name the bundle's directory, the one that is called by its fingerprint, and not its parent; check that it can be read.";
    MANIFEST_UNREADABLE = "manifest_unreadable":
        "The manifest is not what a manifest has to be: UTF-8, JSON, exactly the known fields, each of its type, and a module that lies in the bundle itself.",
        REBUILD;
    MODULE_NOT_FOUND = "module_not_found":
        "The module that the manifest names is not a regular file of the bundle.",
        REBUILD;
    MODULE_NOT_OF_SOURCE = "module_not_of_source":
        "The bundle has WebAssembly text without a plan, and this version assembles it to another module than the bundle's. They were put together from two extractors, or another version assembled the module.",
        REBUILD;
    MODULE_REJECTED = "module_rejected":
        "The module is the one that was stored, and the static gates refuse it, or this host's field policy denies what it reads, whatever accepted it before. The message says which.",
        "Compile the plan again with this version and policy; if the module came from somewhere else, do not trust it.";
    NAME_INVALID = "name_invalid":
        "The name of an extractor is not one: it may have 200 letters, digits, `_`, `.` and `-` of ASCII, of which it begins with none of the last two.",
        "Choose another name in retort.toml, or leave it out there, so that the extractor is named by its function.";
    NAME_UNKNOWN = "name_unknown":
        "No bundle of the directory is a version of an extractor of this name.",
        "Look up the names with `retort bundles list`.";
    NO_EARLIER_VERSION = "no_earlier_version":
        "The directory's record knows of no version of the extractor that was active before the one that is.",
        "Look up its versions with `retort bundles show`, and activate one of them.";
    PUBLISHED_INVALID = "published_invalid":
        "An object of the store is not what Retort publishes: it was damaged or put there by something else, or a file of a bundle is missing.",
        "Publish the extractor again; if nobody has changed the store by mistake, do not trust it.";
    REMOTE_FAILED = "remote_failed":
        "The object store does not do what it is asked: it can't be reached, refuses the credentials, or has no such bucket.",
        "Read what it says in the message; check the URL, and the credentials in the environment (AWS_*, GOOGLE_*, AZURE_*).";
    REMOTE_URL_INVALID = "remote_url_invalid":
        "What was named is neither a directory nor a URL of an object store, or a setting in the environment that the store needs is wrong.",
        "Name a directory, or a URL as s3://bucket/prefix, gs://bucket/prefix, az://container/prefix.";
    SIGNATURE_NOT_TRUSTED = "signature_not_trusted":
        "What is to be served of an extractor is not signed by a key that this host trusts. It serves what it served before.",
        "Publish it with a key that is trusted; if it should have been signed, find out who has written to the store.";
    VERSION_MISSING = "version_missing":
        "A version that was active before is not there any more, or its manifest can't be read.",
        "Restore the bundle from a copy or compile it again; or activate another version.";
    VERSION_UNKNOWN = "version_unknown":
        "No version of the extractor begins with the digits that were given, more than one does, or there are fewer than four digits.",
        "Look up its versions with `retort bundles show`.";
}
