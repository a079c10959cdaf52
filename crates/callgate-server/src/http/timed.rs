//! A connection whose other end has to read.
//!
//! An answer that nobody reads fills the buffers of two systems and then keeps its handler, and
//! whatever that holds, for as long as the client likes. Here a write that gets nowhere for a while
//! is the end of the connection. A client that reads slowly, but reads, is left alone.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

#[derive(Debug)]
pub(super) struct Timed<S> {
    inner: S,
    patience: Duration,
    /// Since when nothing could be written.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Timed<S> {
    pub(super) fn new(inner: S, patience: Duration) -> Self {
        Self { inner, patience, stalled: None }
    }

    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        came: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if came.is_ready() {
            self.stalled = None;
            return came;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => {
                let words = "the client reads nothing of its answer";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, words)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let came = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.watch(context, came)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let came = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.watch(context, came)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.inner).poll_flush(context);
        self.watch(context, came)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.inner).poll_shutdown(context);
        self.watch(context, came)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_left_and_who_reads_slowly_is_not() {
        let (here, mut there) = tokio::io::duplex(4);
        let mut here = Timed::new(here, Duration::from_secs(60));
        let slow = tokio::spawn(async move {
            let mut byte = [0];
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                there.read_exact(&mut byte).await.unwrap();
            }
            there
        });
        here.write_all(&[0; 20]).await.unwrap();
        let _there = slow.await.unwrap();
        let error = here.write_all(&[0; 5]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
