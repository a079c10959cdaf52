//! And if there is no server? A GGUF model in this process
