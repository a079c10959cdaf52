//! The model as the rest of the runtime sees it.
//!
//! Evaluation takes seconds of a processor, so it has a thread of its own and never holds up an
//! async runtime. Requests wait in one line, first come first served; dropping a reply's future
//! takes its request out of the line, or stops it before the next token.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_wire::{Delta, ProviderError, ProviderErrorKind, Reply, Request, Retry};
use candle_core::quantized::gguf_file::Content;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc as channel;

use crate::{
    LocalError, Template,
    cache::PrefixCache,
    grammar::Grammars,
    guidance::Guidance,
    model::{Config, Weights},
    session::Session,
    tokenizer::Vocabulary,
    turn::Engine,
};

/// How a model is opened.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// The model's name after `local:`; the file's stem where none is given.
    pub name: Option<String>,
    /// Most tokens of a prompt and its reply together. The model's own limit holds as well.
    pub context: usize,
    /// Where prompt prefixes are kept for the next process; `None` keeps none.
    pub prefix_folder: Option<PathBuf>,
    /// Bytes that the prefixes may take up, all models together.
    pub prefix_cap: u64,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self { name: None, context: 8192, prefix_folder: None, prefix_cap: 1 << 30 }
    }
}

/// What holds the model to the tools on offer while it writes a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decoding {
    /// A grammar of their names and schemas: every call is one of them, whole and of its schema.
    #[default]
    Grammar,
    /// Nothing: the model writes what it will, and what reads as a call is one, with its arguments
    /// as written. The gate has to judge them, as it does of any model.
    Free,
}

/// A model in this process.
pub struct LocalModel {
    id: String,
    decoding: Decoding,
    jobs: mpsc::Sender<Job>,
}

struct Job {
    request: Request,
    decoding: Decoding,
    cancelled: Arc<AtomicBool>,
    events: channel::UnboundedSender<Event>,
}

enum Event {
    Delta(Delta),
    Done(Result<Reply, LocalError>),
}

impl LocalModel {
    /// Loads a GGUF file: seconds, and about twice its size in memory at the worst.
    ///
    /// # Errors
    /// An unreadable or foreign file, an architecture, tokenizer or chat template that this engine
    /// does not know.
    pub fn open(path: impl AsRef<Path>, options: LocalOptions) -> Result<Self, LocalError> {
        let path = path.as_ref();
        let engine = load(path, options)?;
        let id = format!("local:{}", engine.name);
        let (jobs, line) = mpsc::channel();
        thread::Builder::new()
            .name("callgate-local".to_owned())
            .spawn(move || work(engine, &line))
            .map_err(LocalError::Thread)?;
        Ok(Self { id, decoding: Decoding::default(), jobs })
    }

    /// The same model, decoded otherwise: it is in memory once, and what it has read serves both.
    #[must_use]
    pub fn decoding(&self, decoding: Decoding) -> Self {
        Self { id: self.id.clone(), decoding, jobs: self.jobs.clone() }
    }
}

fn load(path: &Path, options: LocalOptions) -> Result<Engine, LocalError> {
    let read = |source| LocalError::Read { path: path.to_owned(), source };
    let gguf = |source| LocalError::Gguf { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(read)?;
    let identity = identity(&mut file).map_err(read)?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let content = Content::read(&mut reader).map_err(gguf)?;
    let config = Config::read(&content, options.context)?;
    let template = Template::of(&content)?;
    let vocabulary = Vocabulary::read(&content)?;
    let guidance = Guidance::of(&content);
    let weights = Weights::load(&content, &mut reader, config).map_err(gguf)?;
    let grammars = Grammars::new(&vocabulary)?;
    let disk =
        options.prefix_folder.map(|folder| PrefixCache::new(folder, identity, options.prefix_cap));
    let stem = || path.file_stem().map_or("model".into(), |stem| stem.to_string_lossy());
    Ok(Engine {
        session: Session::new(Arc::new(weights), disk),
        vocabulary,
        grammars,
        guidance,
        template,
        name: options.name.unwrap_or_else(|| stem().into_owned()),
    })
}

/// Tells one set of weights from another without reading a gigabyte: the length, the header, and
/// blocks spread over the whole. Another training changes all of them.
fn identity(file: &mut File) -> std::io::Result<[u8; 32]> {
    const BLOCK: usize = 4096;
    const HEAD: u64 = 1 << 20;
    const BLOCKS: u64 = 256;
    let length = file.seek(SeekFrom::End(0))?;
    let mut sum = Sha256::new();
    sum.update(length.to_le_bytes());
    file.seek(SeekFrom::Start(0))?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    sum.update(&head);
    let mut block = Vec::with_capacity(BLOCK);
    for index in 0..BLOCKS {
        file.seek(SeekFrom::Start(length / BLOCKS * index))?;
        block.clear();
        file.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        sum.update(&block);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(sum.finalize().into())
}

/// The model's thread: ends when the last handle is gone.
fn work(mut engine: Engine, line: &mpsc::Receiver<Job>) {
    for job in line {
        if job.cancelled.load(Ordering::Relaxed) {
            continue;
        }
        let mut emit = |delta| drop(job.events.send(Event::Delta(delta)));
        let reply = catch_unwind(AssertUnwindSafe(|| {
            engine.reply(&job.request, job.decoding, &job.cancelled, &mut emit)
        }));
        let Ok(reply) = reply else {
            // The events' sender is dropped with the job: the caller hears that no reply comes.
            engine.session.reset();
            continue;
        };
        let _ = job.events.send(Event::Done(reply));
    }
}

impl Model for LocalModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn reply<'a>(&'a self, request: &'a Request, on_delta: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        Box::pin(async move {
            let cancelled = Arc::new(AtomicBool::new(false));
            let _guard = CancelOnDrop(Arc::clone(&cancelled));
            let (events, mut coming) = channel::unbounded_channel();
            let decoding = self.decoding;
            let job = Job { request: request.clone(), decoding, cancelled, events };
            if self.jobs.send(job).is_err() {
                return Err(gone());
            }
            while let Some(event) = coming.recv().await {
                match event {
                    Event::Delta(delta) => {
                        if let Some(tell) = on_delta {
                            tell(delta);
                        }
                    }
                    Event::Done(reply) => return reply.map_err(provider_error),
                }
            }
            Err(gone())
        })
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn gone() -> ProviderError {
    let words = "the local model stopped unexpectedly while it was working on this request";
    ProviderError::new(ProviderErrorKind::Unavailable, words, Retry::Never)
}

/// Decoding is the same every time: what failed once fails again.
#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` asks for")]
fn provider_error(error: LocalError) -> ProviderError {
    let kind = match &error {
        LocalError::Context { .. } => ProviderErrorKind::ContextLength,
        LocalError::Json(_) => ProviderErrorKind::BadRequest,
        _ => ProviderErrorKind::Unavailable,
    };
    ProviderError::new(kind, error.to_string(), Retry::Never)
}
