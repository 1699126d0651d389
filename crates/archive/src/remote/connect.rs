//! The connection to a service: credentials, HTTP client and retries.

use std::sync::Arc;
use std::time::Duration;

use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, RetryConfig};

use super::address::{Address, Storage};
use super::credentials;
use super::explain::failed;
use super::http::Connector;
use crate::Error;

/// How often, and how long, a request that may pass is tried again.
const RETRIES: usize = 4;
const RETRY_LIMIT: Duration = Duration::from_secs(60);

/// Connects to the service of an address, as far as that is possible without a request.
///
/// # Errors
/// If credentials are missing or make no sense.
pub(super) fn connect(address: &Address) -> Result<Arc<dyn ObjectStore>, Error> {
    let retry =
        RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_LIMIT, ..RetryConfig::default() };
    let wrap = |error| failed(address, "use the credentials")(error);
    Ok(match &address.storage {
        Storage::S3(bucket) => {
            let builder = credentials::s3(bucket)?.with_http_connector(Connector);
            Arc::new(builder.with_retry(retry).build().map_err(wrap)?)
        }
        Storage::Google(bucket) => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            let builder = builder.with_http_connector(Connector).with_retry(retry);
            Arc::new(builder.build().map_err(wrap)?)
        }
        Storage::Azure(container) => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(container);
            let builder = builder.with_http_connector(Connector).with_retry(retry);
            Arc::new(builder.build().map_err(wrap)?)
        }
        Storage::Directory(path) => {
            std::fs::create_dir_all(path).map_err(Error::io("create", path))?;
            let store = LocalFileSystem::new_with_prefix(path);
            Arc::new(store.map_err(wrap)?.with_fsync(true))
        }
    })
}
