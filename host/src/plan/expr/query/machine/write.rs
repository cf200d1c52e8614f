//! Values, written as JSON.

use super::super::error::FailureKind;
use super::super::number::Number;
use super::super::value::{Form, LITERALS, MADE, Val};
use super::{Machine, Outcome};
use crate::json::string;
use crate::plan::expr::Lookup;
use crate::plan::expr::conversion::MAX_TEXT_BYTES;

impl<L: Lookup> Machine<'_, '_, L> {
    /// Appends the JSON of a value: strings canonical, what is of the event as it is there. It goes as deep as the expression
    /// that has made the value.
    pub(in crate::plan::expr::query) fn write(
        &mut self,
        value: Val,
        out: &mut Vec<u8>,
    ) -> Outcome<()> {
        let most = out.len().saturating_add(MAX_TEXT_BYTES);
        self.write_within(value, out, most)
    }

    fn write_within(&mut self, value: Val, out: &mut Vec<u8>, most: usize) -> Outcome<()> {
        self.spend(value.size())?;
        match value.form() {
            Form::Null => out.extend_from_slice(b"null"),
            Form::Boolean(truth) => {
                out.extend_from_slice(if truth { b"true" } else { b"false" });
            }
            Form::Digits(part) => out.extend_from_slice(self.written(part).as_bytes()),
            Form::Small(small) => {
                out.extend_from_slice(itoa::Buffer::new().format(small).as_bytes())
            }
            Form::Number(_) => {
                let json = self.number_of(value).map(Number::to_json).unwrap_or_default();
                out.extend_from_slice(json.as_bytes());
            }
            // What is in an event without escapes needs none.
            Form::Text(part) if part.document != MADE && part.document != LITERALS => {
                string::push_plain(out, self.written(part));
            }
            Form::Text(_) | Form::Escaped(_) => {
                string::push_string(out, &self.text(value).unwrap_or_default());
            }
            Form::Written { .. } | Form::Taped { .. } => {
                let value = self.opened(value)?;
                if !self.repeats_keys(value)? {
                    if let Form::Taped { document, index, .. } = value.form() {
                        let doc = self.document(document);
                        let (start, end) = doc.tape.range(index);
                        out.extend_from_slice(doc.part(start, end).as_bytes());
                    }
                } else if let Some(members) = self.members(value)? {
                    // Of equal keys the last one is the value's, here as everywhere.
                    self.write_within(Val::object(members), out, most)?;
                } else if let Some(mut items) = self.items(value)? {
                    let base = self.base();
                    while let Some(item) = self.next(&mut items) {
                        self.push(item);
                    }
                    let list = self.list_from(base)?;
                    self.write_within(list, out, most)?;
                }
            }
            Form::List(run) => {
                out.push(b'[');
                for index in 0..run.count as usize {
                    if index > 0 {
                        out.push(b',');
                    }
                    let item = self.memory.arena.value(run, index).unwrap_or(Val::NULL);
                    self.write_within(item, out, most)?;
                }
                out.push(b']');
            }
            Form::Object(run) => {
                out.push(b'{');
                for index in 0..run.count as usize {
                    if index > 0 {
                        out.push(b',');
                    }
                    let Some((key, value)) = self.member(run, index) else { break };
                    self.spend(key.size())?;
                    string::push_string(out, &self.text(key).unwrap_or_default());
                    out.push(b':');
                    self.write_within(value, out, most)?;
                }
                out.push(b'}');
            }
        }
        if out.len() > most {
            return self.fail(FailureKind::TooLarge, 0, "a result of at most 16 MiB");
        }
        Ok(())
    }

    /// Whether some object in a value as it is written has a key twice.
    pub(in crate::plan::expr::query) fn repeats_keys(&mut self, value: Val) -> Outcome<bool> {
        let Form::Taped { document, index, .. } = value.form() else { return Ok(false) };
        let (start, end) = self.document(document).tape.range(index);
        self.spend((end - start) as usize)?;
        let doc = self.document(document);
        Ok(doc.tape.repeats_keys(doc.text, index))
    }
}
