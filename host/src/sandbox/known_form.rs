//! The form of an extractor's results, worked out when it is first asked for.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::abi::result::ResultForm;

/// What works a form out.
pub(crate) type FormSource = Box<dyn FnOnce() -> Option<Arc<ResultForm>> + Send>;

/// The form of all results of an extractor, where it is proven.
#[derive(Default)]
pub(super) struct KnownForm {
    form: OnceLock<Option<Arc<ResultForm>>>,
    source: Mutex<Option<FormSource>>,
}

impl KnownForm {
    /// One that was worked out, if there is one.
    pub(super) fn known(form: Option<Arc<ResultForm>>) -> Self {
        Self { form: form.into(), source: Mutex::default() }
    }

    /// One that is worked out later.
    pub(super) fn later(source: FormSource) -> Self {
        Self { form: OnceLock::new(), source: Mutex::new(Some(source)) }
    }

    /// Whether it takes no work to have it.
    pub(super) fn is_at_hand(&self) -> bool {
        self.form.get().is_some()
    }

    pub(super) fn get(&self) -> Option<&Arc<ResultForm>> {
        let form = self.form.get_or_init(|| {
            let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
            source.and_then(|work_out| work_out())
        });
        form.as_ref()
    }
}
