//! What requests of each tenant are under way.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::error::Refusal;

/// When to ask again whether one has ended.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The requests of all tenants that are under way.
#[derive(Debug, Default)]
pub(super) struct Underway(Mutex<HashMap<Arc<str>, OfTenant>>);

#[derive(Debug)]
struct OfTenant {
    requests: u32,
    unpacking: Arc<Semaphore>,
}

impl Underway {
    fn tenants(&self) -> MutexGuard<'_, HashMap<Arc<str>, OfTenant>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request of a tenant, of which there may be so many at one time.
    pub(super) fn begin(
        self: &Arc<Self>,
        tenant: &str,
        most: NonZeroU32,
    ) -> Result<RequestUnderway, Refusal> {
        let tenant = Arc::from(tenant);
        let mut tenants = self.tenants();
        let new = || OfTenant { requests: 0, unpacking: Arc::new(Semaphore::new(1)) };
        let of_tenant = tenants.entry(Arc::clone(&tenant)).or_insert_with(new);
        if of_tenant.requests >= most.get() {
            return Err(Refusal::too_many("requests of this tenant under way", RETRY_AFTER));
        }
        of_tenant.requests += 1;
        let unpacking = Arc::clone(&of_tenant.unpacking);
        Ok(RequestUnderway { underway: Arc::clone(self), tenant, unpacking })
    }
}

/// A request that is under way.
#[derive(Debug)]
pub(super) struct RequestUnderway {
    underway: Arc<Underway>,
    tenant: Arc<str>,
    /// A body of the tenant is unpacked at one time, piece by piece in turns: that many threads are the most that a tenant has for it.
    pub(super) unpacking: Arc<Semaphore>,
}

impl Drop for RequestUnderway {
    fn drop(&mut self) {
        if let Entry::Occupied(mut of_tenant) =
            self.underway.tenants().entry(Arc::clone(&self.tenant))
        {
            of_tenant.get_mut().requests -= 1;
            if of_tenant.get().requests == 0 {
                of_tenant.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::diagnostics::codes;

    #[test]
    fn each_tenant_has_so_many_at_one_time() {
        let underway = Arc::new(Underway::default());
        let begin = |tenant| underway.begin(tenant, NonZeroU32::MIN);
        let first = begin("acme").unwrap();
        assert_eq!(begin("acme").unwrap_err().code, codes::TOO_MANY_REQUESTS);
        drop(begin("globex").unwrap());
        drop(first);
        drop(begin("acme").unwrap());
        assert!(underway.tenants().is_empty());
    }
}
