//! The gate proxy: a provider's endpoint, with gates between the client and the model.
