//! What is read of an event.

use std::borrow::Cow;
use std::fmt::{self, Formatter};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::whole::by_type::key::Key;
use crate::whole::by_type::lenient::{List, Object, Text};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::whole::by_type) struct Event<'a> {
    #[serde(borrow)]
    pub(super) event_type: Text<'a>,
    #[serde(borrow)]
    pub(super) session_id: Key<'a>,
    #[serde(borrow)]
    pub(super) span_id: Key<'a>,
    #[serde(borrow)]
    pub(super) content: Object<Content<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Content<'a> {
    #[serde(borrow, alias = "eventname")]
    pub(super) event_name: Option<&'a RawValue>,
    #[serde(borrow, rename = "eventID", alias = "eventid")]
    pub(super) event_id: Key<'a>,
    #[serde(borrow, alias = "eventsource")]
    pub(super) event_source: Text<'a>,
    #[serde(borrow, alias = "eventtype")]
    pub(super) event_type: Option<&'a RawValue>,
    #[serde(borrow, alias = "awsregion")]
    pub(super) aws_region: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) recipient_account_id: Option<&'a RawValue>,
    #[serde(borrow, alias = "eventtime")]
    pub(super) event_time: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) read_only: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error_code: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error_message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) service_event_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) user_agent: Option<&'a RawValue>,
    #[serde(borrow, rename = "sourceIPAddress")]
    pub(super) source_ip_address: Key<'a>,
    #[serde(borrow)]
    pub(super) user_identity: Object<Identity<'a>>,
    #[serde(borrow, rename = "useridentity")]
    pub(super) lower_identity: Object<Identity<'a>>,
    #[serde(borrow)]
    pub(super) request_parameters: Object<Entries<'a>>,
    #[serde(borrow)]
    pub(super) response_elements: Object<Response<'a>>,
    #[serde(borrow)]
    pub(super) resources: List<Object<Resource<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Identity<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) arn: Text<'a>,
    #[serde(borrow, alias = "principalid")]
    pub(super) principal_id: Text<'a>,
    #[serde(borrow)]
    pub(super) user_name: Text<'a>,
    #[serde(borrow)]
    pub(super) invoked_by: Key<'a>,
    #[serde(borrow, alias = "accountid")]
    pub(super) account_id: Option<&'a RawValue>,
    #[serde(borrow, alias = "accesskeyid")]
    pub(super) access_key_id: Text<'a>,
    #[serde(borrow, alias = "sessioncontext")]
    pub(super) session_context: Object<Session<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Session<'a> {
    #[serde(borrow)]
    pub(super) attributes: Object<Attributes<'a>>,
    #[serde(borrow, alias = "sessionissuer")]
    pub(super) session_issuer: Object<Issuer<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attributes<'a> {
    #[serde(borrow)]
    pub(super) mfa_authenticated: Option<&'a RawValue>,
    #[serde(borrow, alias = "creationdate")]
    pub(super) creation_date: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Issuer<'a> {
    #[serde(borrow)]
    pub(super) arn: Key<'a>,
    #[serde(borrow, alias = "username")]
    pub(super) user_name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Resource<'a> {
    #[serde(borrow, alias = "ARN")]
    pub(super) arn: Key<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) account_id: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(borrow, rename = "ConsoleLogin")]
    pub(super) console_login: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) instances_set: Object<Items<Instance<'a>>>,
}

#[derive(Deserialize)]
#[serde(default)]
pub(super) struct Items<T> {
    pub(super) items: List<Object<T>>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { items: List::default() }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Instance<'a> {
    #[serde(borrow)]
    pub(super) instance_id: Key<'a>,
    #[serde(borrow)]
    pub(super) image_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) instance_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) launch_time: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) private_ip_address: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) placement: Object<Placement<'a>>,
    #[serde(borrow)]
    pub(super) cpu_options: Object<Cpu<'a>>,
    #[serde(borrow)]
    pub(super) instance_state: Object<State<'a>>,
    #[serde(borrow)]
    pub(super) group_set: Object<Items<Group<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Placement<'a> {
    #[serde(borrow)]
    pub(super) availability_zone: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Cpu<'a> {
    #[serde(borrow)]
    pub(super) core_count: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct State<'a> {
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Group<'a> {
    #[serde(borrow)]
    pub(super) group_id: Key<'a>,
    #[serde(borrow)]
    pub(super) group_name: Option<&'a RawValue>,
}

/// The entries of an object, in its order.
pub(super) struct Entries<'a>(pub(super) Vec<(Cow<'a, str>, Key<'a>)>);

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some((Name(name), value)) = entries.next_entry()? {
            found.push((name, value));
        }
        Ok(Entries(found))
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}
