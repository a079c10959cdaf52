//! `multipart/form-data` (RFC 7578), read.

#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) media: Option<String>,
    pub(crate) bytes: Vec<u8>,
    /// The bytes as a text, where they are one.
    pub(crate) text: String,
}

pub(crate) fn read(content_type: &str, body: &[u8]) -> Result<Vec<Part>, String> {
    let (_, boundary) = content_type.split_once("boundary=").ok_or("no boundary")?;
    let opening = format!("--{boundary}\r\n").into_bytes();
    let between = format!("\r\n--{boundary}\r\n").into_bytes();
    let closing = format!("--{boundary}--\r\n").into_bytes();
    let rest = body.strip_suffix(&closing[..]).ok_or("no closing boundary")?;
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    let rest = rest.strip_prefix(&opening[..]).ok_or("no opening boundary")?;
    let mut rest = rest.strip_suffix(b"\r\n").ok_or("no line end before the boundary")?;
    let mut parts = Vec::new();
    loop {
        let end = position(rest, &between);
        parts.push(part(&rest[..end.unwrap_or(rest.len())])?);
        match end {
            Some(end) => rest = &rest[end + between.len()..],
            None => return Ok(parts),
        }
    }
}

fn position(within: &[u8], wanted: &[u8]) -> Option<usize> {
    within.windows(wanted.len()).position(|window| window == wanted)
}

fn part(bytes: &[u8]) -> Result<Part, String> {
    let end = position(bytes, b"\r\n\r\n").ok_or("a part without an empty line")?;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|error| error.to_string())?;
    let header = |wanted: &str| {
        head.split("\r\n")
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.to_owned())
    };
    let disposition = header("content-disposition").ok_or("no content-disposition")?;
    let disposition = disposition.strip_prefix("form-data").ok_or("no form-data")?.to_owned();
    let parameter = |wanted: &str| {
        let (_, after) = disposition.split_once(&format!("; {wanted}=\""))?;
        let (value, _) = after.split_once('"')?;
        Some(value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n"))
    };
    let content = bytes[end + 4..].to_vec();
    Ok(Part {
        name: parameter("name").ok_or("a part without a name")?,
        filename: parameter("filename"),
        media: header("content-type"),
        text: String::from_utf8_lossy(&content).into_owned(),
        bytes: content,
    })
}
