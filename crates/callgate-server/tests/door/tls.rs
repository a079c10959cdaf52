//! TLS by two files.

use std::{fs, path::Path, sync::Arc, time::Duration};

use callgate_server::http::{HttpOptions, TlsFiles};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs, pki_types::ServerName},
};

use crate::site::{PATIENCE, Site, read_to_end, statuses};

fn made(folder: &Path) -> (TlsFiles, TlsConnector) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles { cert: folder.join("cert.pem"), key: folder.join("key.pem") };
    fs::write(&files.cert, made.cert.pem()).unwrap();
    fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (files, TlsConnector::from(Arc::new(config)))
}

#[tokio::test]
async fn requests_come_over_tls_and_over_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (files, connector) = made(folder.path());
    let options = HttpOptions {
        tls: Some(files),
        head_timeout: Duration::from_millis(1500),
        ..HttpOptions::default()
    };
    let site = Site::open(options).await;
    assert!(site.url.starts_with("https://127.0.0.1:"), "{}", site.url);
    let stream = TcpStream::connect(site.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, stream).await.unwrap();
    let request = b"GET /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert_eq!(statuses(&answer), [200], "{answer}");
    assert_eq!(site.seen(), ["GET /a 0"]);

    let answer = site.raw(request).await;
    assert_eq!(statuses(&answer), [0; 0], "plain HTTP is not answered: {answer}");
    let mut silent = TcpStream::connect(site.address).await.unwrap();
    read_to_end(&mut silent).await;
    assert!(site.seen().is_empty());
    site.close().await;
}
