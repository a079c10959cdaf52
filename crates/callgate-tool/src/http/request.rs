//! One request, filled: what is sent, and what may be shown of it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use callgate_wire::TraceContext;
use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderName, HeaderValue},
};
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    field::Field,
    fill::{Fill, Filled, Unfilled},
    is_safe,
    payload::Sent,
    spec::{AuthPlan, Plan},
    url::{Target, target},
};
use crate::{Env, arguments::Arguments, call::Call, secrets::Secrets};

/// JSON is what tools are made for; anything else is better than a 406.
const ACCEPTED: &str = "application/json, */*;q=0.5";

static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) target: Target,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Option<Sent>,
}

#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: HeaderName,
    pub(crate) value: HeaderValue,
    shown: String,
    /// Not for another origin.
    pub(crate) secret: bool,
}

impl Header {
    fn new(name: HeaderName, text: &Filled) -> Result<Self, Unfilled> {
        let mut value = HeaderValue::try_from(text.real.as_str())
            .map_err(|_| Unfilled::Header { name: name.to_string() })?;
        value.set_sensitive(text.secret);
        Ok(Self { name, value, shown: text.shown.clone(), secret: text.secret })
    }
}

impl Request {
    pub(crate) fn fill(
        plan: &Plan,
        call: Call<'_>,
        env: &Env,
        secrets: &mut Secrets,
    ) -> Result<Self, Unfilled> {
        let mut fill = Fill { arguments: Arguments(call.arguments), env, secrets };
        let target = target(&plan.url, &plan.path, &plan.query, &mut fill)?;
        let mut headers = Vec::new();
        for (name, field) in &plan.headers {
            if let Some(text) = field.fill_text(name, &mut fill)? {
                let name = HeaderName::try_from(name)
                    .map_err(|_| Unfilled::Header { name: name.clone() })?;
                headers.push(Header::new(name, &text)?);
            }
        }
        if let Some(cookies) = cookies(&plan.cookies, &mut fill)? {
            headers.push(Header::new(COOKIE, &cookies)?);
        }
        if let Some(auth) = &plan.auth {
            headers.push(Header::new(AUTHORIZATION, &authorization(auth, &mut fill)?)?);
        }
        let body =
            plan.payload.as_ref().map(|payload| payload.fill(&mut fill)).transpose()?.flatten();
        let mut default = |name: HeaderName, value: &str| {
            if headers.iter().all(|header| header.name != name) {
                headers.push(Header::new(name, &Filled::plain(value))?);
            }
            Ok::<(), Unfilled>(())
        };
        default(ACCEPT, ACCEPTED)?;
        if let Some(body) = &body {
            default(CONTENT_TYPE, &body.content_type)?;
        }
        if !is_safe(&plan.method) {
            default(IDEMPOTENCY_KEY.clone(), call.idempotency_key)?;
        }
        if let Some(trace) = call.trace {
            trace_headers(trace, &mut headers)?;
        }
        Ok(Self { method: plan.method.clone(), target, headers, body })
    }

    /// The request as JSON, variables by their names: `{"method", "url", "headers", "body"}`.
    pub(crate) fn wire(&self, secrets: &Secrets) -> String {
        let shown = |text: &str| secrets.scrub(text).into_owned();
        let headers: Map<String, Value> = self
            .headers
            .iter()
            .map(|header| (header.name.to_string(), shown(&header.shown).into()))
            .collect();
        let body = self.body.as_ref().map(|body| {
            let text = shown(&body.shown);
            if !body.is_json {
                return RawValue::from_string(Value::from(text).to_string()).unwrap_or_default();
            }
            // A masked value may have been the inside of a number.
            RawValue::from_string(text.clone())
                .or_else(|_| RawValue::from_string(Value::from(text).to_string()))
                .unwrap_or_default()
        });
        let wire = Wire {
            method: self.method.as_str(),
            url: &shown(&self.target.shown),
            headers: &headers,
            body: body.as_deref(),
        };
        serde_json::to_string(&wire).unwrap_or_default()
    }
}

/// W3C Trace Context. A contract that has a `traceparent` of its own keeps it, and no `tracestate`
/// of another trace comes beside it.
fn trace_headers(trace: &TraceContext, headers: &mut Vec<Header>) -> Result<(), Unfilled> {
    if headers.iter().any(|header| header.name == "traceparent") {
        return Ok(());
    }
    headers.retain(|header| header.name != "tracestate");
    for (name, value) in trace.fields() {
        headers.push(Header::new(HeaderName::from_static(name), &Filled::plain(&value))?);
    }
    Ok(())
}

#[derive(Serialize)]
struct Wire<'a> {
    method: &'a str,
    url: &'a str,
    headers: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
}

/// All cookies that are there as one header (RFC 6265 4.2.1).
fn cookies(cookies: &[(String, Field)], fill: &mut Fill<'_>) -> Result<Option<Filled>, Unfilled> {
    let mut out: Option<Filled> = None;
    for (name, field) in cookies {
        let Some(value) = field.fill_text(name, fill)? else { continue };
        // What would end the value and begin another cookie (RFC 6265 4.1.1). A comma does not,
        // and lists have it.
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\";\\".contains(c);
        if !value.secret && value.real.contains(ends) {
            return Err(Unfilled::Cookie { name: name.clone(), value: value.real });
        }
        let all = out.get_or_insert_default();
        if !all.real.is_empty() {
            all.push("; ");
        }
        all.push(&format!("{name}="));
        all.append(&value);
    }
    Ok(out)
}

/// Credentials are secret for other origins even when the contract spells them out.
fn authorization(auth: &AuthPlan, fill: &mut Fill<'_>) -> Result<Filled, Unfilled> {
    let missing = || Unfilled::missing(None, "the request's authorization");
    let mut text = |template| fill.text(template, str::to_owned)?.ok_or_else(missing);
    match auth {
        AuthPlan::Bearer(token) => {
            let mut out = Filled::plain("Bearer ");
            out.append(&text(token)?);
            Ok(Filled { secret: true, ..out })
        }
        AuthPlan::Basic(username, password) => {
            let (username, password) = (text(username)?, text(password)?);
            let real = BASE64_STANDARD.encode(format!("{}:{}", username.real, password.real));
            let shown = format!("{}:{}", username.shown, password.shown);
            fill.secrets.mask(&real, &shown, true);
            Ok(Filled {
                real: format!("Basic {real}"),
                shown: format!("Basic {shown}"),
                secret: true,
            })
        }
    }
}
