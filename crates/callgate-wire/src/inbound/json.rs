//! JSON and events, written straight into the bytes that go out.

/// An object that is being written.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    any: bool,
}

/// An object with the fields that `fields` writes.
pub(super) fn object(out: &mut Vec<u8>, fields: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    fields(&mut Object { out, any: false });
    out.push(b'}');
}

/// The same as text.
pub(super) fn text_of(fields: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = Vec::new();
    object(&mut out, fields);
    String::from_utf8(out).expect("JSON that is made of strings is UTF-8")
}

/// A server-sent event; without a name, only its data.
pub(super) fn event(out: &mut Vec<u8>, name: Option<&str>, fields: impl FnOnce(&mut Object<'_>)) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    let start = out.len();
    object(out, fields);
    // JSON that came from elsewhere may stand in lines; an event's data is one.
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    out.extend_from_slice(b"\n\n");
}

fn quoted(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a string can be written to memory");
}

impl Object<'_> {
    fn key(&mut self, key: &str) {
        if std::mem::replace(&mut self.any, true) {
            self.out.push(b',');
        }
        quoted(self.out, key);
        self.out.push(b':');
    }

    pub(super) fn string(&mut self, key: &str, text: &str) {
        self.key(key);
        quoted(self.out, text);
    }

    pub(super) fn optional(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.string(key, text),
            None => self.raw(key, "null"),
        }
    }

    pub(super) fn number(&mut self, key: &str, number: u64) {
        self.raw(key, &number.to_string());
    }

    /// A value that is JSON already.
    pub(super) fn raw(&mut self, key: &str, json: &str) {
        self.key(key);
        self.out.extend_from_slice(json.as_bytes());
    }

    pub(super) fn object(&mut self, key: &str, fields: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        object(self.out, fields);
    }

    /// A list of values that are JSON already.
    pub(super) fn list<'t>(&mut self, key: &str, items: impl IntoIterator<Item = &'t str>) {
        self.key(key);
        self.out.push(b'[');
        for (n, item) in items.into_iter().enumerate() {
            if n > 0 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(item.as_bytes());
        }
        self.out.push(b']');
    }
}
