//! The description of the routes: OpenAPI 3.1. Paths, methods, parameters and bodies come from the handlers and their types; what each
//! route may be refused with is said here, by its code.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;
use utoipa::openapi::header::Header;
use utoipa::openapi::path::Operation;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, RefOr};
use utoipa::{IntoParams, Modify, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;

use super::error::{GATE_REFUSALS, Refusal, UPLOAD_REFUSALS};
use super::line::LastLine;
use super::state::State;
use crate::diagnostics::codes::{self, Code};

/// The tenant that a request is about.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfTenant {
    /// The tenant.
    #[param(example = "acme")]
    pub(super) tenant: String,
}

/// How a body is packed.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "headers are read where bodies are; this describes them")]
pub(super) struct Packed {
    /// How the body is packed.
    #[param(rename = "Content-Encoding", inline, required = false)]
    encoding: Encoding,
}

/// A tar archive of the files of a bundle.
#[derive(Debug, ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "bodies are read as bytes; this describes them")]
pub(super) struct BundleArchive(Vec<u8>);

/// How a body may be packed.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code, reason = "headers are read where bodies are; this describes them")]
enum Encoding {
    Identity,
    Gzip,
    #[schema(rename = "x-gzip")]
    XGzip,
    Zstd,
}

/// The name of the way in which a token is sent.
const TOKEN: &str = "token";

#[derive(OpenApi)]
#[openapi(
    info(title = "Retort", description = "Bundles of many tenants: events in, results out, one line each."),
    components(schemas(LastLine)),
    modifiers(&Tokens),
    security(("token" = [])),
    tags(
        (name = "events", description = "Events, and what they give."),
        (name = "bundles", description = "Which bundles a tenant has, and which of them are served."),
        (name = "shadow", description = "A version beside the one that is served."),
        (name = "service", description = "For those who look after it."),
    ),
)]
struct Document;

struct Tokens;

impl Modify for Tokens {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        let bearer = bearer.description(Some(
            "The token of the tenant, or the administrator's. A service without tokens, on the loopback address alone, needs none.",
        ));
        let components = api.components.get_or_insert_default();
        components.add_security_scheme(TOKEN, SecurityScheme::Http(bearer.build()));
    }
}

/// The description, as it is served.
#[derive(Clone, Debug)]
pub(super) struct Description(Bytes);

/// What routes are added to.
pub(super) fn begin() -> OpenApiRouter<Arc<State>> {
    OpenApiRouter::with_openapi(Document::openapi())
}

impl Description {
    pub(super) fn of(mut api: utoipa::openapi::OpenApi) -> Self {
        for item in api.paths.paths.values_mut() {
            for operation in [&mut item.get, &mut item.put, &mut item.post, &mut item.delete]
                .into_iter()
                .flatten()
            {
                add_refusals(operation);
            }
        }
        // It is made of text, numbers, lists and maps alone.
        Self(Bytes::from(api.to_pretty_json().unwrap_or_default()))
    }
}

/// Read this description
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "describe", tag = "service", security(()),
    responses((status = 200, description = "OpenAPI 3.1.", body = Object, example = json!({"openapi": "3.1.0"}))),
)]
pub(super) async fn serve(
    Extension(Description(text)): Extension<Description>,
) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], text)
}

/// What every request may be refused with.
const OF_ALL: &[Code] = &[codes::HEADERS_TOO_LARGE];

/// What a request of other routes than those for probes may be.
const OF_ADDRESSES: &[Code] = &[codes::TOO_MANY_REQUESTS];

/// What is refused to who may not.
const OF_ACCESS: &[Code] = &[codes::UNAUTHORIZED, codes::CROSS_ORIGIN];

const OF_TENANTS: &[Code] = &[codes::TENANT_UNKNOWN];

const OF_MANAGING: &[Code] = &[codes::MANAGEMENT_OFF];

/// What a body may be refused for that is read as a whole.
const OF_BODIES: &[Code] = &[
    codes::REQUEST_CUT_OFF,
    codes::REQUEST_CORRUPT,
    codes::REQUEST_TOO_LARGE,
    codes::ENCODING_UNKNOWN,
    codes::CLIENT_TOO_SLOW,
    codes::SERVICE_ENDING,
];

/// What a tenant's directory may be in the way of.
const OF_DIRECTORIES: &[Code] = &[codes::ACTIVATION_RECORD_INVALID, codes::BUNDLE_WRITE_FAILED];

const OF_SWITCHES: &[Code] = &[codes::EVENT_TYPE_TAKEN];

/// What an operation may be refused with, by its name.
fn refusals(operation: &str) -> Vec<&'static [Code]> {
    let look = [OF_ALL, OF_ADDRESSES, OF_ACCESS, OF_TENANTS];
    let manage = [&look[..], &[OF_MANAGING, OF_DIRECTORIES]].concat();
    let and = |more: &[&'static [Code]]| [&manage[..], more].concat();
    match operation {
        "health" | "ready" => vec![OF_ALL],
        "describe" => vec![OF_ALL, OF_ADDRESSES],
        "metrics" => vec![OF_ALL, OF_ADDRESSES, OF_ACCESS],
        "send_events" => [&look[..], &[&[codes::ENCODING_UNKNOWN]]].concat(),
        "list_bundles" => [&look[..], &[OF_DIRECTORIES]].concat(),
        "show_extractor" => [&look[..], &[OF_DIRECTORIES, &[codes::NAME_UNKNOWN]]].concat(),
        "upload_bundle" => {
            and(&[OF_BODIES, GATE_REFUSALS, UPLOAD_REFUSALS, &[codes::UPLOAD_INVALID]])
        }
        "activate_version" => and(&[
            OF_BODIES,
            OF_SWITCHES,
            &[codes::REQUEST_INVALID, codes::NAME_UNKNOWN, codes::VERSION_UNKNOWN],
        ]),
        "roll_back" => and(&[
            OF_SWITCHES,
            &[codes::NAME_UNKNOWN, codes::NO_EARLIER_VERSION, codes::VERSION_MISSING],
        ]),
        "retire" => and(&[&[codes::NAME_UNKNOWN]]),
        "begin_shadow" => and(&[
            OF_BODIES,
            GATE_REFUSALS,
            &[
                codes::REQUEST_INVALID,
                codes::NAME_UNKNOWN,
                codes::VERSION_UNKNOWN,
                codes::NOT_SERVED,
            ],
        ]),
        "read_shadow" => [&look[..], &[&[codes::NAME_UNKNOWN, codes::NOT_SERVED]]].concat(),
        "end_shadow" => {
            [&look[..], &[OF_MANAGING, &[codes::NAME_UNKNOWN, codes::NOT_SERVED]]].concat()
        }
        "promote_shadow" => and(&[
            OF_SWITCHES,
            &[
                codes::NAME_UNKNOWN,
                codes::NOT_SERVED,
                codes::VERSION_NOT_PROMOTED,
                codes::VERSION_UNKNOWN,
            ],
        ]),
        _ => Vec::new(),
    }
}

/// Adds a response for each status that an operation is refused with.
fn add_refusals(operation: &mut Operation) {
    let name = operation.operation_id.clone().unwrap_or_default();
    let mut of_status: BTreeMap<StatusCode, Vec<Code>> = BTreeMap::new();
    for code in refusals(&name).concat() {
        of_status.entry(Refusal::status_of(code)).or_default().push(code);
    }
    for (status, codes) in of_status {
        let names = codes.iter().map(|code| code.name);
        let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
        let schema = ObjectBuilder::new()
            .property("code", code)
            .property("message", ObjectBuilder::new().schema_type(Type::String))
            .required("code")
            .required("message")
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        let example = codes
            .first()
            .map(|code| serde_json::json!({"code": code.name, "message": code.meaning}));
        let said: Vec<String> =
            codes.iter().map(|code| format!("- `{code}`: {}", code.meaning)).collect();
        let content = ContentBuilder::new()
            .schema(Some(RefOr::T(Schema::from(schema))))
            .example(example)
            .build();
        let mut response = ResponseBuilder::new()
            .description(said.join("\n"))
            .content("application/json", content);
        if let Some(header) = Refusal::header_of(status) {
            let value = ObjectBuilder::new().schema_type(Type::String);
            response = response.header(header.as_str(), Header::new(value));
        }
        operation
            .responses
            .responses
            .insert(status.as_str().to_owned(), RefOr::T(response.build()));
    }
}
