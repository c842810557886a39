//! The TLS provider of every HTTPS client: ring, installed for the process on first use.

/// Makes ring the provider of rustls. Call it before an HTTP client is built; later calls do nothing.
pub fn install_provider() {
    // An error means that one is installed already, by an earlier call.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
