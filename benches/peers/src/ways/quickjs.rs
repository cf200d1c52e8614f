//! A function in JavaScript, by QuickJS: an engine that interprets, as hosts embed it to run code of others.

use rquickjs::{Context, Function, Runtime};

use super::{Made, Serve, Way};
use crate::sets::{Set, program};

pub(super) fn way(set: &Set) -> Way<'_> {
    Way::new("QuickJS", made(set)).that_may_differ("an integer beyond 2^53")
}

/// From text to text, so that the engine's own reader and writer of JSON do the rest.
const ENTRY: &str = "const serve = (text) => JSON.stringify(extract(JSON.parse(text)));";

struct QuickJs(Context);

fn made(set: &Set) -> Made<'_> {
    let code = program(set.name, "js")? + "\n" + ENTRY;
    let context = Context::full(&Runtime::new()?)?;
    context.with(|context| context.eval::<(), _>(code + "\nglobalThis.serve = serve;"))?;
    Ok(Box::new(QuickJs(context)))
}

impl Serve for QuickJs {
    fn serve(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8])) {
        self.0.with(|context| {
            let serve: Function<'_> = context.globals().get("serve").expect("it was defined");
            for event in events {
                let text = str::from_utf8(event).unwrap_or_default();
                let result: Result<String, _> = serve.call((text,));
                take(result.as_deref().unwrap_or_default().as_bytes());
            }
        });
    }
}
