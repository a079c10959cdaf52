//! The #[tool] attribute
