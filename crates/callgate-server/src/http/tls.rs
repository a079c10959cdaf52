//! TLS: a certificate and its key from two PEM files, read again when they change.
//!
//! rustls with aws-lc, which the HTTP client of the other crates brings already. TLS 1.2 and 1.3,
//! HTTP/1.1 by ALPN.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

use super::tokens::Stamp;
use crate::ServeError;

/// How long a look at the files is good for.
const LOOK: Duration = Duration::from_secs(10);

/// Where the certificate and its key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, then those that signed it, as PEM.
    pub cert: PathBuf,
    /// Its key, as PEM, without a passphrase.
    pub key: PathBuf,
}

pub(super) struct Tls {
    files: TlsFiles,
    look: Duration,
    held: Mutex<Held>,
}

struct Held {
    looked: Instant,
    stamps: [Option<Stamp>; 2],
    acceptor: TlsAcceptor,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// # Errors
    /// A file cannot be read, is not what it should be, or the two do not belong together.
    pub(super) fn open(files: &TlsFiles) -> Result<Self, ServeError> {
        Self::with(files, LOOK)
    }

    fn with(files: &TlsFiles, look: Duration) -> Result<Self, ServeError> {
        let stamps = stamps(files);
        let acceptor = read(files)?;
        let held = Mutex::new(Held { looked: Instant::now(), stamps, acceptor });
        Ok(Self { files: files.clone(), look, held })
    }

    /// For the next connection: with a new certificate once there is one. A pair that does not
    /// fit, as when one file was replaced and the other not yet, leaves the old one in place.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.looked.elapsed() >= self.look {
            held.looked = Instant::now();
            let stamps = stamps(&self.files);
            if stamps != held.stamps {
                match read(&self.files) {
                    Ok(acceptor) => {
                        tracing::info!("the certificate was read again");
                        (held.acceptor, held.stamps) = (acceptor, stamps);
                    }
                    Err(error) => tracing::warn!(%error, "the certificate before is used on"),
                }
            }
        }
        held.acceptor.clone()
    }
}

fn stamps(files: &TlsFiles) -> [Option<Stamp>; 2] {
    [Stamp::of(&files.cert), Stamp::of(&files.key)]
}

fn read(files: &TlsFiles) -> Result<TlsAcceptor, ServeError> {
    let failed = |path: &Path, why: String| ServeError::Tls { path: path.to_owned(), why };
    let text = |path: &Path| fs::read(path).map_err(|error| failed(path, error.to_string()));
    let (cert, key) = (text(&files.cert)?, text(&files.key)?);
    let chain = CertificateDer::pem_slice_iter(&cert)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(&files.cert, format!("no PEM: {error}")))?;
    if chain.is_empty() {
        let why = if has(&cert, b"PRIVATE KEY-----") {
            "it has a key and no certificate: are the two files mixed up?"
        } else {
            "it has no certificate: a PEM file with -----BEGIN CERTIFICATE----- is wanted"
        };
        return Err(failed(&files.cert, why.to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| {
        let why = if has(&key, b"ENCRYPTED") {
            "the key has a passphrase: openssl pkey -in KEY -out PLAIN takes it away".to_owned()
        } else if has(&key, b"BEGIN CERTIFICATE") {
            "it has a certificate and no key: are the two files mixed up?".to_owned()
        } else {
            format!("it has no key that can be read: {error}")
        };
        failed(&files.key, why)
    })?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| {
            failed(&files.key, format!("it does not go with the certificate: {error}"))
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn has(text: &[u8], what: &[u8]) -> bool {
    memchr::memmem::find(text, what).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(folder: &Path) -> (TlsFiles, rcgen::CertifiedKey<rcgen::KeyPair>) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let files = TlsFiles { cert: folder.join("cert.pem"), key: folder.join("key.pem") };
        fs::write(&files.cert, made.cert.pem()).unwrap();
        fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        (files, made)
    }

    #[test]
    fn wrong_files_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let (files, made) = pair(folder.path());
        assert!(Tls::open(&files).is_ok());
        let (cert, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
        let locked = key.replace("PRIVATE", "ENCRYPTED PRIVATE");
        let rows = [
            ("", key.as_str(), "no certificate"),
            (&key, &cert, "mixed up"),
            (&cert, &cert, "mixed up"),
            (&cert, "", "no key"),
            (&cert, "-----BEGIN PRIVATE KEY-----\nAAA", "no key"),
            (&cert, &locked, "passphrase"),
            (&cert, &other, "does not go with"),
            ("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n", &key, "no PEM"),
        ];
        for (cert, key, expected) in rows {
            fs::write(&files.cert, cert).unwrap();
            fs::write(&files.key, key).unwrap();
            let error = Tls::open(&files).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
            assert!(!error.contains("MIG"), "no key in an error: {error}");
        }
        fs::remove_file(&files.key).unwrap();
        assert!(Tls::open(&files).unwrap_err().to_string().contains("key.pem"));
    }

    #[test]
    fn a_new_certificate_is_taken_and_half_of_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (files, _) = pair(folder.path());
        let tls = Tls::with(&files, Duration::ZERO).unwrap();
        let config = |tls: &Tls| Arc::as_ptr(tls.acceptor().config());
        let first = config(&tls);
        assert_eq!(config(&tls), first);
        let old = fs::read(&files.key).unwrap();
        pair(folder.path());
        let new = fs::read(&files.key).unwrap();
        fs::write(&files.key, old).unwrap();
        assert_eq!(config(&tls), first);
        fs::write(&files.key, new).unwrap();
        assert_ne!(config(&tls), first);
    }
}
