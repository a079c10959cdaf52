//! Who makes it happen, and remembers? Journal and embedded engine
