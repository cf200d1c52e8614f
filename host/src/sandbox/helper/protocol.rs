//! What goes through the pipes: a request before the module's bytes, and one reply.

/// How a request begins, its version at the end.
const MAGIC: &[u8; 16] = b"retort-compile-3";

/// Bytes of a request.
pub(super) const REQUEST_BYTES: usize = MAGIC.len() + 5 * 8;

/// Bytes of a reply before its content.
pub(super) const REPLY_HEAD_BYTES: usize = 1 + 8;

/// What the helper has to know before it reads a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompileRequest {
    /// 1 where the code is to tell where it fails, 0 otherwise.
    pub(super) traces: u64,
    /// Tells engines apart whose code isn't compatible.
    pub(super) compatibility: u64,
    /// Most bytes of address space.
    pub(super) memory_bytes: u64,
    /// Most seconds of processor time.
    pub(super) cpu_seconds: u64,
    /// Bytes of the module that follows.
    pub(super) module_bytes: u64,
}

impl CompileRequest {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Self { traces, compatibility, memory_bytes, cpu_seconds, module_bytes } = self;
        let fields = [traces, compatibility, memory_bytes, cpu_seconds, module_bytes];
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        MAGIC.iter().copied().chain(fields).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        let mut fields = bytes.strip_prefix(MAGIC)?.chunks_exact(8).filter_map(word);
        let mut next = || fields.next();
        Some(Self {
            traces: next()?,
            compatibility: next()?,
            memory_bytes: next()?,
            cpu_seconds: next()?,
            module_bytes: next()?,
        })
    }
}

/// What the helper says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CompileReply {
    /// Native code, serialised.
    Code(Vec<u8>),
    /// wasmtime refuses the module, and why.
    Refused(String),
    /// wasmtime was refused memory.
    OutOfMemory,
    /// The helper can't do its work, and why.
    Failed(String),
}

impl CompileReply {
    /// The reply as bytes: its kind, the length of what follows, and that.
    pub(super) fn to_parts(&self) -> ([u8; REPLY_HEAD_BYTES], &[u8]) {
        let (kind, content): (u8, &[u8]) = match self {
            Self::Code(code) => (0, code),
            Self::Refused(message) => (1, message.as_bytes()),
            Self::OutOfMemory => (2, &[]),
            Self::Failed(message) => (3, message.as_bytes()),
        };
        let mut head = [kind; REPLY_HEAD_BYTES];
        head[1..].copy_from_slice(&(content.len() as u64).to_le_bytes());
        (head, content)
    }

    /// The reply that these bytes are, if they are a whole one.
    pub(super) fn from_bytes(mut bytes: Vec<u8>) -> Option<Self> {
        let (head, content) = bytes.split_first_chunk::<REPLY_HEAD_BYTES>()?;
        let [kind, length @ ..] = *head;
        if u64::from_le_bytes(length) != content.len() as u64 {
            return None;
        }
        bytes.drain(..REPLY_HEAD_BYTES);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match kind {
            0 => Some(Self::Code(bytes)),
            1 => Some(Self::Refused(text(bytes))),
            2 => Some(Self::OutOfMemory),
            3 => Some(Self::Failed(text(bytes))),
            _ => None,
        }
    }
}

fn word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_come_back_as_they_were() {
        let request = CompileRequest {
            traces: 1,
            compatibility: u64::MAX - 1,
            memory_bytes: 2 << 40,
            cpu_seconds: 3,
            module_bytes: 5,
        };
        let bytes = request.to_bytes();
        let bytes: &[u8; REQUEST_BYTES] = bytes.as_slice().try_into().expect("of this length");
        assert_eq!(CompileRequest::from_bytes(bytes), Some(request));
        let mut other = *bytes;
        other[15] = b'2';
        assert_eq!(CompileRequest::from_bytes(&other), None, "another version");

        for reply in [
            CompileReply::Code(vec![0, 255, 7]),
            CompileReply::Refused("wrong".to_owned()),
            CompileReply::OutOfMemory,
            CompileReply::Failed(String::new()),
        ] {
            let (head, content) = reply.to_parts();
            let bytes = [&head, content].concat();
            assert_eq!(CompileReply::from_bytes(bytes.clone()), Some(reply));
            assert_eq!(
                CompileReply::from_bytes([&bytes[..], b"x"].concat()),
                None,
                "one byte more"
            );
            assert_eq!(
                CompileReply::from_bytes(bytes[..bytes.len() - 1].to_vec()),
                None,
                "one less"
            );
        }
        assert_eq!(
            CompileReply::from_bytes(vec![4, 0, 0, 0, 0, 0, 0, 0, 0]),
            None,
            "an unknown kind"
        );
    }
}
