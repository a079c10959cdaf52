//! What a GGUF file says about itself, and whether this engine can run it.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use candle_core::quantized::gguf_file::Content;

use crate::{
    Architecture, LocalError, Template,
    model::{Config, text},
    tokenizer::Vocabulary,
};

/// Facts of a file that this engine can run.
#[derive(Debug, Clone, PartialEq)]
pub struct GgufFacts {
    /// The file.
    pub path: PathBuf,
    /// `general.name`, where the file has one.
    pub name: Option<String>,
    /// The family.
    pub architecture: Architecture,
    /// How its turns are marked.
    pub template: Template,
    /// Weights, in numbers.
    pub parameters: u64,
    /// Tokens that its context holds.
    pub context: usize,
}

impl GgufFacts {
    /// Reads the header only; no weights are loaded.
    ///
    /// # Errors
    /// A file that is no GGUF or that this engine cannot run, and why.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LocalError> {
        let path = path.as_ref();
        let file = File::open(path)
            .map_err(|source| LocalError::Read { path: path.to_owned(), source })?;
        let content = Content::read(&mut BufReader::with_capacity(1 << 20, file))
            .map_err(|source| LocalError::Gguf { path: path.to_owned(), source })?;
        let config = Config::read(&content, usize::MAX)?;
        let template = Template::of(&content)?;
        // The one thing that can only be known by trying.
        Vocabulary::read(&content)?;
        let count = |shape: &candle_core::Shape| shape.elem_count() as u64;
        Ok(Self {
            path: path.to_owned(),
            name: text(&content, "general.name").map(str::to_owned),
            architecture: config.architecture,
            template,
            parameters: content.tensor_infos.values().map(|info| count(&info.shape)).sum(),
            context: config.context,
        })
    }
}
