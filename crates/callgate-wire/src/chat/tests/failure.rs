//! Error bodies.

use crate::{Codec, ProviderErrorKind as Kind, Request, Retry, chat::Chat};

#[test]
fn kinds() {
    for (status, body, kind, retry, says) in [
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            Kind::Auth,
            Retry::Never,
            "Incorrect API key",
        ),
        (403, "", Kind::Auth, Retry::Never, "status 403"),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","code":"model_not_found"}}"#,
            Kind::NotFound,
            Retry::Never,
            "does not exist",
        ),
        (404, r#"{"detail":"Not Found"}"#, Kind::NotFound, Retry::Never, "Not Found"),
        (
            429,
            r#"{"error":{"message":"slow down","type":"tokens","code":"rate_limit_exceeded"}}"#,
            Kind::RateLimit,
            Retry::AfterMs(1500),
            "slow",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Kind::Quota,
            Retry::Never,
            "quota",
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#,
            Kind::Quota,
            Retry::Never,
            "Balance",
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            Kind::ContextLength,
            Retry::Never,
            "8192",
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            Kind::ContextLength,
            Retry::Never,
            "context size",
        ),
        (
            400,
            r#"{"error":{"message":"Failed to call a function","code":"tool_use_failed","failed_generation":"<f>"}}"#,
            Kind::MalformedCall,
            Retry::AfterMs(1500),
            "<f>",
        ),
        (
            400,
            r#"{"error":{"message":"Invalid schema for function 'f'","type":"invalid_request_error","param":"tools[0]","code":"invalid_function_parameters"}}"#,
            Kind::BadRequest,
            Retry::Never,
            "Invalid schema",
        ),
        (
            422,
            r#"{"detail":[{"loc":["body","messages",0],"msg":"field required","type":"missing"}]}"#,
            Kind::BadRequest,
            Retry::Never,
            "body.messages.0: field required",
        ),
        (
            422,
            r#"{"object":"error","message":{"detail":[{"loc":["body"],"msg":"no"}]},"type":"invalid_request_error","code":null}"#,
            Kind::BadRequest,
            Retry::Never,
            "body: no",
        ),
        (
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice","type":"BadRequestError","code":400}"#,
            Kind::BadRequest,
            Retry::Never,
            "--enable-auto",
        ),
        (
            400,
            r#"{"error":"qwen does not support tools"}"#,
            Kind::BadRequest,
            Retry::Never,
            "does not support tools",
        ),
        (408, "", Kind::Unavailable, Retry::AfterMs(1500), "408"),
        (409, "", Kind::Unavailable, Retry::AfterMs(1500), "409"),
        (413, "", Kind::ContextLength, Retry::Never, "413"),
        (
            500,
            r#"{"error":{"message":"The server had an error","type":"server_error"}}"#,
            Kind::Unavailable,
            Retry::AfterMs(1500),
            "had an error",
        ),
        (
            502,
            "<html><head><TITLE>502 Bad Gateway</TITLE></head></html>",
            Kind::Unavailable,
            Retry::AfterMs(1500),
            "web page: 502 Bad Gateway",
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            Kind::Unavailable,
            Retry::AfterMs(1500),
            "Loading model",
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Kind::Unavailable,
            Retry::AfterMs(1500),
            "Overloaded",
        ),
        (
            503,
            "upstream connect error",
            Kind::Unavailable,
            Retry::AfterMs(1500),
            "upstream connect error",
        ),
        // In band, under 200: nobody said when to come back.
        (
            200,
            r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"boom","provider_name":"p"}}}"#,
            Kind::Unavailable,
            Retry::Backoff,
            "Provider returned error (boom)",
        ),
        (
            200,
            r#"{"error":{"code":"429","message":"slow"},"choices":null}"#,
            Kind::RateLimit,
            Retry::Backoff,
            "slow",
        ),
        (
            200,
            r#"{"choices":[{"error":{"code":502,"message":"up"},"message":{"content":""},"finish_reason":"error"}]}"#,
            Kind::Unavailable,
            Retry::Backoff,
            "up",
        ),
        (200, r#"{"detail":"Not Found"}"#, Kind::NotFound, Retry::Never, "Not Found"),
        (
            200,
            r#"{"object":"error","message":"bad","type":"invalid_request_error"}"#,
            Kind::BadRequest,
            Retry::Never,
            "bad",
        ),
        (200, r#"{"error":"model is busy"}"#, Kind::Unavailable, Retry::Backoff, "busy"),
        (200, r#"{"choices":[]}"#, Kind::BadReply, Retry::Backoff, "without any choice"),
        (200, "<!doctype html><title>Login</title>", Kind::BadReply, Retry::Never, "(Login)"),
        (200, "", Kind::BadReply, Retry::Backoff, "not readable"),
        (200, r#"{"choices":[{"mess"#, Kind::BadReply, Retry::Backoff, "not readable"),
        (200, "[1]", Kind::BadReply, Retry::Never, "not readable"),
        (302, "", Kind::BadRequest, Retry::Never, "302"),
    ] {
        let error = Chat::openai()
            .decode(&Request::default(), status, Some(1500), body.as_bytes())
            .unwrap_err();
        assert_eq!((error.kind, error.retry), (kind, retry), "{status} {body}: {error}");
        assert!(error.message.contains(says), "{status} {body}: {error}");
        if status != 200 {
            assert_eq!(error.status, Some(status));
        }
    }
}

#[test]
fn what_is_no_error() {
    for body in [
        r#"{"error":null,"choices":[{"message":{"content":"a"}}]}"#,
        r#"{"error":"","choices":[{"message":{"content":"a"}}]}"#,
        r#"{"error":{},"detail":null,"message":"ok","code":0,"choices":[{"message":{"content":"a"}}]}"#,
    ] {
        let reply = Chat::openai().decode(&Request::default(), 200, None, body.as_bytes()).unwrap();
        assert_eq!(reply.text(), "a");
    }
}

#[test]
fn the_type_comes_before_the_code() {
    for (body, name) in [
        (r#"{"error":{"message":"m","type":"t","code":"c"}}"#, "t"),
        (r#"{"error":{"message":"m","code":"c"}}"#, "c"),
        (r#"{"error":{"message":"m","code":500}}"#, "500"),
    ] {
        let error =
            Chat::openai().decode(&Request::default(), 500, None, body.as_bytes()).unwrap_err();
        assert_eq!(error.provider_type.as_deref(), Some(name));
    }
}
