//! Explains errors of object storage in words: what was expected, what was found, what to do.

use super::credentials::without_secrets;
use crate::{Address, Error};

/// Codes for a bucket or container that does not exist.
const NO_BUCKET: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];

/// For `map_err`: an error while doing `action` at an address.
pub(super) fn failed(address: &Address, action: &str) -> impl FnOnce(object_store::Error) -> Error {
    let (address, action) = (address.to_string(), action.to_owned());
    move |error| {
        let text = chain(&error);
        let (problem, remedy) = explain(&error, &text);
        Error::Remote { address, action, problem: without_secrets(&problem), remedy }
    }
}

/// True if the bucket exists but the object does not.
pub(super) fn is_missing_object(error: &object_store::Error) -> bool {
    let code = || element(&chain(error), "Code");
    matches!(error, object_store::Error::NotFound { .. })
        && !code().is_some_and(|code| NO_BUCKET.contains(&code.as_str()))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Most causes are already in the text of the error that they caused.
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// The problem and the remedy. Services name the problem in `<Code>` of an XML answer, or by the
/// status.
fn explain(error: &object_store::Error, text: &str) -> (String, &'static str) {
    let code = element(text, "Code");
    let message = element(text, "Message").or_else(|| element(text, "message"));
    let said = match (&code, message) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.clone(),
        _ => text.to_owned(),
    };
    const BUCKET: &str = "check the name in the address, the region (AWS_REGION) and the endpoint (AWS_ENDPOINT_URL), or create the bucket";
    const CREDENTIALS: &str = "check the credentials in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_KEY) or in the profile";
    const PERMISSION: &str = "the credentials need permission to list, read and write objects there; ask whoever owns the bucket";
    match code.as_deref() {
        Some(code) if NO_BUCKET.contains(&code) => {
            return (format!("no such bucket ({said})"), BUCKET);
        }
        Some(
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "ExpiredToken"
            | "InvalidToken"
            | "InvalidClientTokenId"
            | "AuthFailure"
            | "AuthenticationFailed"
            | "TokenRefreshRequired"
            | "RequestTimeTooSkewed"
            | "XAdminUserNotFound",
        ) => return (format!("wrong credentials ({said})"), CREDENTIALS),
        Some("AccessDenied" | "AllAccessDisabled" | "AccountProblem" | "AuthorizationFailure") => {
            return (format!("no permission ({said})"), PERMISSION);
        }
        _ => {}
    }
    match error {
        object_store::Error::Unauthenticated { .. } => {
            (format!("wrong credentials ({said})"), CREDENTIALS)
        }
        object_store::Error::PermissionDenied { .. } => (
            format!("no permission, or wrong credentials ({said})"),
            "check the credentials in the environment and what they permit",
        ),
        object_store::Error::NotFound { .. } => (format!("not found ({said})"), BUCKET),
        _ if text.contains("No space left on device") || text.contains("Disk quota exceeded") => {
            ("no space left there".to_owned(), "free some space and try again")
        }
        _ if text.contains("Permission denied") => {
            ("no permission".to_owned(), "name a directory you may write to")
        }
        _ if text.contains("http:// URL")
            || text.contains("https_only")
            || text.contains("configured for https") =>
        {
            (
                "the endpoint is not encrypted".to_owned(),
                "use https, or set AWS_ALLOW_HTTP=true if that is what you want",
            )
        }
        _ => (said, "check the address, the endpoint and the network, then try again"),
    }
}

/// The text of the first XML element of this name.
fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim().to_owned())
}
