//! The check of a result whose form is proven: that it is as long as it has to be, and that no id is in it twice.

use std::hash::BuildHasher;

use thiserror::Error;

use super::form::{EMPTY, ResultForm};
use super::measure::Measured;
use super::reduce::{CheckedResult, Reducer, ResultItem, ResultList};
use super::{ResultCounts, ResultError};
use crate::plan::expr::OnDuplicate;

/// Why a result isn't accepted that is proven to have a form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormError {
    /// For what may be wrong with a result of any form.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// It doesn't have the form, or not all that has the form is a result: what is proven isn't so. What is found instead.
    #[error("{0}")]
    Refuted(String),
}

impl Reducer {
    /// What a result of this form has to be for this block, of which the guest gave `bytes` bytes, and where in it ids are that may
    /// be the same, for [`check_form`](Self::check_form); none where the result has to be read. `rule` is that for ids, where there
    /// is one.
    pub fn measure(
        &mut self,
        form: &ResultForm,
        block: &[u8],
        bytes: usize,
        rule: Option<OnDuplicate>,
    ) -> Option<Measured> {
        if bytes <= EMPTY.len() {
            return Some(Measured::EMPTY);
        }
        self.lists.iter_mut().for_each(ResultList::clear);
        form.measure(block, rule.is_some(), &mut self.lists)
    }

    /// The same as [`check_whole`](Self::check_whole) of a result that has the form by which it was [measured](Self::measure) last. No
    /// more of it is read than ids that may be the same.
    ///
    /// # Errors
    /// [`FormError::Refuted`], if it isn't what it has to be by its form; [`ResultError::DuplicateId`], if `rule` is to refuse.
    pub fn check_form<'a>(
        &'a mut self,
        json: &'a [u8],
        measured: Measured,
        rule: Option<OnDuplicate>,
    ) -> Result<CheckedResult<'a>, FormError> {
        let Measured { bytes, counts } = measured;
        if json.len() != bytes || (measured == Measured::EMPTY && json != EMPTY.as_bytes()) {
            let found = format!("expected {bytes} bytes for this block, got {}", json.len());
            return Err(FormError::Refuted(found));
        }
        match rule {
            Some(rule) if !self.all_differ(json, counts) => {
                self.reduced(json, counts, rule).map_err(FormError::from)
            }
            _ => Ok((json, counts, counts)),
        }
    }

    /// The result as [`check_whole`](Self::check_whole) has it, held to what [`check_form`](Self::check_form) makes of it.
    ///
    /// # Errors
    /// As both, and [`FormError::Refuted`] where they differ.
    pub fn check_both<'a>(
        &'a mut self,
        json: &'a [u8],
        measured: Measured,
        rule: Option<OnDuplicate>,
    ) -> Result<CheckedResult<'a>, FormError> {
        let by_form = match self.check_form(json, measured, rule) {
            Ok((text, left, made)) => Ok((text.to_vec(), left, made)),
            Err(FormError::Result(error)) => Err(error),
            Err(refuted) => return Err(refuted),
        };
        let whole = self.check_whole(json, rule);
        let found = match (&whole, &by_form) {
            (Ok(whole), Ok((text, left, made))) if *whole == (text, *left, *made) => None,
            (Err(error), Err(by_form)) if error == by_form => None,
            (Err(error), _) => Some(error.to_string()),
            (Ok((_, left, made)), _) => Some(format!("{left:?} of {made:?}")),
        };
        match found {
            None => whole.map_err(FormError::from),
            Some(found) => Err(FormError::Refuted(found)),
        }
    }

    /// Whether no two items that were noted can have the same id. That of few is found without a table.
    fn all_differ(&self, json: &[u8], counts: ResultCounts) -> bool {
        let [nodes, edges, full, partial] = &self.lists;
        let spans = counts.fully_handled + counts.partially_handled;
        (counts.nodes < 2 || self.differ(json, &nodes.items, &[]))
            && (counts.edges < 2 || self.differ(json, &edges.items, &[]))
            && (spans < 2 || self.differ(json, &full.items, &partial.items))
    }

    fn differ(&self, json: &[u8], one: &[ResultItem], other: &[ResultItem]) -> bool {
        let mut hashes = [0; FEW];
        let compared = one.iter().chain(other).filter(|item| !item.is_alone);
        for (known, item) in compared.enumerate() {
            let (before, after) = hashes.split_at_mut(known);
            let Some(place) = after.first_mut() else { return false };
            // Ids are canonical, so that equal ones have equal bytes.
            *place = self.hasher.hash_one(json.get(item.id.clone()).unwrap_or_default());
            if before.contains(place) {
                return false;
            }
        }
        true
    }
}

/// How many ids are compared each with each other.
const FEW: usize = 16;
