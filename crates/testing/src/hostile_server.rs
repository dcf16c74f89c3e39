//! Servers that lie: plain frames of three protocols over a local port. A lie is data; each protocol encodes it.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// How a server lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// It accepts the connection, and sends nothing.
    SilentFromTheStart,
    /// It sends nothing after its first answer: to the request for TLS, or where it requests a login.
    SilentAtLogin,
    /// It agrees to TLS, and sends nothing after that.
    SilentInTls,
    /// It accepts the login, and sends nothing after that.
    SilentAfterLogin,
    /// It answers a byte at a time, forever.
    Drips,
    /// It ends in the middle of an answer.
    Half,
    /// It announces the longest message, or text, that the protocol allows.
    Huge,
    EndlessRows,
    EndlessNotices,
    /// Texts where numbers are, numbers where texts are.
    WrongTypes,
    Nulls,
    TooFewColumns,
    TooManyColumns,
    InvalidText,
    /// It refuses everything, with 10 MB of text.
    LongError,
    /// It closes the connection silently.
    Reset,
}

pub const LIES: [Lie; 16] = [
    Lie::SilentFromTheStart,
    Lie::SilentAtLogin,
    Lie::SilentInTls,
    Lie::SilentAfterLogin,
    Lie::Drips,
    Lie::Half,
    Lie::Huge,
    Lie::EndlessRows,
    Lie::EndlessNotices,
    Lie::WrongTypes,
    Lie::Nulls,
    Lie::TooFewColumns,
    Lie::TooManyColumns,
    Lie::InvalidText,
    Lie::LongError,
    Lie::Reset,
];

impl Lie {
    /// Whether only the limit of an answer ends it.
    pub fn is_endless(self) -> bool {
        match self {
            Lie::SilentFromTheStart
            | Lie::SilentAtLogin
            | Lie::SilentInTls
            | Lie::SilentAfterLogin
            | Lie::Drips
            | Lie::Huge => true,
            Lie::Half
            | Lie::EndlessRows
            | Lie::EndlessNotices
            | Lie::WrongTypes
            | Lie::Nulls
            | Lie::TooFewColumns
            | Lie::TooManyColumns
            | Lie::InvalidText
            | Lie::LongError
            | Lie::Reset => false,
        }
    }

    /// The only row of an answer, where it has one.
    fn row(self) -> Vec<Option<&'static [u8]>> {
        match self {
            Lie::Nulls => vec![None; 12],
            Lie::TooFewColumns => vec![],
            Lie::TooManyColumns => vec![Some(b"t"); 200],
            Lie::InvalidText => vec![Some(b"\xFF\xFE\xC3"), Some(b"\x80")],
            Lie::SilentFromTheStart
            | Lie::SilentAtLogin
            | Lie::SilentInTls
            | Lie::SilentAfterLogin
            | Lie::Drips
            | Lie::Half
            | Lie::Huge
            | Lie::EndlessRows
            | Lie::EndlessNotices
            | Lie::WrongTypes
            | Lie::LongError
            | Lie::Reset => vec![Some(b"-1e400"), Some(b"nan")],
        }
    }
}

/// A protocol.
pub trait Protocol: Copy + Send + 'static {
    /// The server's part of the login; no more than its first answer where `lie` is silence after that.
    fn greet(self, stream: &mut TcpStream, lie: Lie) -> io::Result<()>;

    /// Reads a query; an error where there are no more.
    fn question(self, stream: &mut TcpStream) -> io::Result<()>;

    /// A complete answer: this row, or no rows.
    fn answer(self, row: &[Option<&[u8]>]) -> Vec<u8>;

    /// The beginning of an answer with rows.
    fn head(self) -> Vec<u8>;

    /// Another row of it.
    fn more(self) -> Vec<u8>;

    /// A notice with it.
    fn notice(self) -> Vec<u8>;

    /// An answer that is an error with this text.
    fn refusal(self, text: &str) -> Vec<u8>;

    /// The start of a message that is as long as one can be.
    fn huge(self) -> Vec<u8>;
}

/// Serves all clients with lies; returns the port. It ends with the test.
pub fn serve(protocol: impl Protocol, lie: Lie) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it listens").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a client came");
            // Clients disconnect in the middle of it.
            thread::spawn(move || drop(tell(protocol, stream, lie)));
        }
    });
    port
}

fn tell(protocol: impl Protocol, mut stream: TcpStream, lie: Lie) -> io::Result<()> {
    if lie == Lie::SilentFromTheStart {
        return wait(&mut stream);
    }
    protocol.greet(&mut stream, lie)?;
    if matches!(lie, Lie::SilentAtLogin | Lie::SilentInTls) {
        return wait(&mut stream);
    }
    if lie == Lie::Reset {
        // Unread input makes the system respond with a reset.
        stream.peek(&mut [0])?;
        return Ok(());
    }
    loop {
        protocol.question(&mut stream)?;
        let answer = protocol.answer(&lie.row());
        match lie {
            Lie::SilentAfterLogin => return wait(&mut stream),
            Lie::Drips => return drip(&mut stream, &answer),
            Lie::Half => return stream.write_all(&answer[..answer.len() / 2]),
            Lie::Huge => {
                stream.write_all(&protocol.huge())?;
                return wait(&mut stream);
            }
            Lie::EndlessRows => return for_ever(&mut stream, &protocol.head(), &protocol.more()),
            Lie::EndlessNotices => return for_ever(&mut stream, &[], &protocol.notice()),
            Lie::LongError => stream.write_all(&protocol.refusal(&"x".repeat(10_000_000)))?,
            Lie::SilentFromTheStart
            | Lie::SilentAtLogin
            | Lie::SilentInTls
            | Lie::Reset
            | Lie::WrongTypes
            | Lie::Nulls
            | Lie::TooFewColumns
            | Lie::TooManyColumns
            | Lie::InvalidText => stream.write_all(&answer)?,
        }
    }
}

/// Sends nothing until the peer leaves.
fn wait(stream: &mut TcpStream) -> io::Result<()> {
    while stream.read(&mut [0; 1024])? > 0 {}
    Ok(())
}

/// Sends a byte whenever the peer has been silent for a while.
fn drip(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    for byte in bytes {
        stream.write_all(&[*byte])?;
        if let Ok(0) = stream.read(&mut [0; 1024]) {
            return Ok(());
        }
    }
    stream.set_read_timeout(None)?;
    wait(stream)
}

fn for_ever(stream: &mut TcpStream, head: &[u8], more: &[u8]) -> io::Result<()> {
    let more = more.repeat(1 + (64 << 10) / more.len());
    stream.write_all(head)?;
    loop {
        stream.write_all(&more)?;
    }
}

fn skip(stream: &mut TcpStream, bytes: usize) -> io::Result<()> {
    stream.read_exact(&mut vec![0; bytes])
}

/// Source of the frames: <https://www.postgresql.org/docs/18/protocol-message-formats.html>, read 2026-11-26.
#[derive(Clone, Copy, Debug)]
pub struct PostgreSql;

impl PostgreSql {
    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).expect("it is short");
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    fn row(row: &[Option<&[u8]>]) -> Vec<u8> {
        let mut body = u16::try_from(row.len())
            .expect("few")
            .to_be_bytes()
            .to_vec();
        for column in row {
            let length = column.map_or(-1, |text| i32::try_from(text.len()).expect("short"));
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(column.unwrap_or_default());
        }
        PostgreSql::message(b'D', &body)
    }
}

impl Protocol for PostgreSql {
    fn greet(self, stream: &mut TcpStream, lie: Lie) -> io::Result<()> {
        // The request for TLS; then the user.
        skip(stream, 8)?;
        if lie == Lie::SilentInTls {
            return stream.write_all(b"S");
        }
        stream.write_all(b"N")?;
        if lie == Lie::SilentAtLogin {
            return Ok(());
        }
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        skip(stream, u32::from_be_bytes(length) as usize - 4)?;
        let let_in = [
            PostgreSql::message(b'R', &[0; 4]),
            PostgreSql::message(b'Z', b"I"),
        ];
        stream.write_all(&let_in.concat())
    }

    fn question(self, stream: &mut TcpStream) -> io::Result<()> {
        let mut header = [0; 5];
        stream.read_exact(&mut header)?;
        let [_, length @ ..] = header;
        skip(stream, u32::from_be_bytes(length) as usize - 4)
    }

    fn answer(self, row: &[Option<&[u8]>]) -> Vec<u8> {
        let end = [
            PostgreSql::message(b'C', b"SELECT 1\0"),
            PostgreSql::message(b'Z', b"I"),
        ];
        [PostgreSql::row(row), end.concat()].concat()
    }

    fn head(self) -> Vec<u8> {
        Vec::new()
    }

    fn more(self) -> Vec<u8> {
        PostgreSql::row(&[Some(b"t"), None])
    }

    fn notice(self) -> Vec<u8> {
        PostgreSql::message(b'N', b"SNOTICE\0MIt is well.\0\0")
    }

    fn refusal(self, text: &str) -> Vec<u8> {
        let body = format!("SERROR\0CXX000\0M{text}\0\0");
        let error = PostgreSql::message(b'E', body.as_bytes());
        [error, PostgreSql::message(b'Z', b"I")].concat()
    }

    fn huge(self) -> Vec<u8> {
        vec![b'D', 0x7F, 0xFF, 0xFF, 0xFF]
    }
}

/// Source of the frames: <https://mariadb.com/docs/server/reference/clientserver-protocol>, read 2026-11-26.
#[derive(Clone, Copy, Debug)]
pub struct MySql;

impl MySql {
    fn packet(number: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).expect("short").to_le_bytes();
        [&length[..3], &[number], body].concat()
    }

    fn end() -> Vec<u8> {
        MySql::packet(4, &[0xFE, 0, 0, 2, 0])
    }

    fn row(row: &[Option<&[u8]>]) -> Vec<u8> {
        let mut body = Vec::new();
        for column in row {
            match column {
                None => body.push(0xFB),
                Some(text) => {
                    body.push(u8::try_from(text.len()).expect("short"));
                    body.extend_from_slice(text);
                }
            }
        }
        // A packet must not be empty.
        MySql::packet(5, if body.is_empty() { &[0] } else { &body })
    }
}

impl Protocol for MySql {
    fn greet(self, stream: &mut TcpStream, lie: Lie) -> io::Result<()> {
        let mut hello = vec![10];
        hello.extend_from_slice(b"10.11.0-MariaDB\0\x01\0\0\0");
        hello.extend_from_slice(b"01234567\0");
        // All capabilities, and TLS where requested.
        let has_tls = if lie == Lie::SilentInTls { 0x08 } else { 0 };
        hello.extend_from_slice(&[0xFF, 0xF7 | has_tls, 45, 2, 0, 0xFF, 0x81, 21]);
        hello.extend_from_slice(&[0; 10]);
        hello.extend_from_slice(b"012345678901\0mysql_native_password\0");
        stream.write_all(&MySql::packet(0, &hello))?;
        self.question(stream)?;
        match lie {
            Lie::SilentAtLogin | Lie::SilentInTls => Ok(()),
            _ => stream.write_all(&MySql::packet(2, &[0, 0, 0, 2, 0, 0, 0])),
        }
    }

    fn question(self, stream: &mut TcpStream) -> io::Result<()> {
        let mut header = [0; 4];
        stream.read_exact(&mut header)?;
        let [a, b, c, _] = header;
        skip(stream, u32::from_le_bytes([a, b, c, 0]) as usize)
    }

    fn answer(self, row: &[Option<&[u8]>]) -> Vec<u8> {
        [self.head(), MySql::row(row), MySql::end()].concat()
    }

    fn head(self) -> Vec<u8> {
        let columns = [
            MySql::packet(1, &[1]),
            MySql::packet(2, b"\x03def"),
            MySql::end(),
        ];
        columns.concat()
    }

    fn more(self) -> Vec<u8> {
        MySql::row(&[Some(b"t"), None])
    }

    /// The protocol has no notices: column definitions instead, more than announced.
    fn notice(self) -> Vec<u8> {
        MySql::packet(2, b"\x03def")
    }

    fn refusal(self, text: &str) -> Vec<u8> {
        let body = format!("\u{1}\u{4}#HY000{text}");
        MySql::packet(1, &[&[0xFF], body.as_bytes()].concat())
    }

    /// Packets of maximum size, each of which announces another one.
    fn huge(self) -> Vec<u8> {
        [self.head(), vec![0xFF, 0xFF, 0xFF, 5]].concat()
    }
}

/// Source of the frames: Microsoft, [MS-TDS], "Token Data Stream Definition", read 2026-11-26.
#[derive(Clone, Copy, Debug)]
pub struct SqlServer;

/// Types: text of up to 4,000 characters, the same in UTF-8, and text of any length.
const NVARCHAR: [u8; 8] = [0xE7, 0x40, 0x1F, 9, 4, 0xD0, 0, 0x34];
const VARCHAR_UTF_8: [u8; 8] = [0xA7, 0x40, 0x1F, 9, 4, 0xD0, 0x04, 0];
const NVARCHAR_MAX: [u8; 8] = [0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34];

/// The columns of the first question.
const COLUMNS: [&str; 13] = [
    "version",
    "edition",
    "engine_edition",
    "tempdb_metadata_in_memory",
    "is_clustered",
    "data_path",
    "log_path",
    "server_name",
    "instance",
    "database_name",
    "login_name",
    "taken",
    "babelfish",
];

impl SqlServer {
    fn packet(is_last: bool, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(body.len() + 8).expect("short").to_be_bytes();
        [&[4, u8::from(is_last)], &length[..], &[0, 0, 1, 0], body].concat()
    }

    fn text(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    /// Their types take turns.
    fn columns(types: &[[u8; 8]], count: usize) -> Vec<u8> {
        let mut tokens = vec![0x81];
        tokens.extend_from_slice(&u16::try_from(count).expect("few").to_le_bytes());
        let names = COLUMNS.iter().cycle().take(count);
        for (name, of) in names.zip(types.iter().cycle()) {
            tokens.extend_from_slice(&[0, 0, 0, 0, 9, 0]);
            tokens.extend_from_slice(of);
            tokens.push(u8::try_from(name.len()).expect("short"));
            tokens.extend_from_slice(&SqlServer::text(name));
        }
        tokens
    }

    fn row(row: &[Option<&[u8]>]) -> Vec<u8> {
        let mut token = vec![0xD1];
        for column in row {
            let length = column.map_or(0xFFFF, |text| u16::try_from(text.len()).expect("short"));
            token.extend_from_slice(&length.to_le_bytes());
            token.extend_from_slice(column.unwrap_or_default());
        }
        token
    }

    fn change(kind: u8, value: &str) -> Vec<u8> {
        let mut token = vec![kind];
        // The new value and the old one.
        for _ in 0..2 {
            token.push(u8::try_from(value.len()).expect("short"));
            token.extend_from_slice(&SqlServer::text(value));
        }
        let length = u16::try_from(token.len()).expect("short").to_le_bytes();
        [&[0xE3], &length[..], &token].concat()
    }

    fn packets(tokens: &[u8]) -> Vec<u8> {
        let mut packets: Vec<Vec<u8>> = tokens
            .chunks(4000)
            .map(|part| SqlServer::packet(false, part))
            .collect();
        let last = packets.last_mut().expect("it has a token");
        last[1] = 1;
        packets.concat()
    }

    fn done() -> Vec<u8> {
        [&[0xFD][..], &[0; 12]].concat()
    }
}

impl Protocol for SqlServer {
    fn greet(self, stream: &mut TcpStream, lie: Lie) -> io::Result<()> {
        self.question(stream)?;
        // Version, and whether there is encryption: 1 is yes, 2 is no.
        let encryption = if lie == Lie::SilentInTls { 1 } else { 2 };
        let options = [
            0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, encryption,
        ];
        stream.write_all(&SqlServer::packet(true, &options))?;
        self.question(stream)?;
        if matches!(lie, Lie::SilentAtLogin | Lie::SilentInTls) {
            return Ok(());
        }
        let name = SqlServer::text("SQL");
        let tail = [&[1, 0x74, 0, 0, 4, 3][..], &name, &[16, 0, 0, 0]].concat();
        let length = u16::try_from(tail.len()).expect("short").to_le_bytes();
        // Without these the client does not go on: collation and name of the database, and size of packets.
        let changes = [
            vec![0xE3, 8, 0, 7, 5, 9, 4, 0xD0, 0, 0x34, 0],
            SqlServer::change(1, "shop"),
            SqlServer::change(4, "4096"),
        ];
        let let_in = [
            &[0xAD],
            &length[..],
            &tail,
            &changes.concat(),
            &SqlServer::done(),
        ]
        .concat();
        stream.write_all(&SqlServer::packet(true, &let_in))
    }

    fn question(self, stream: &mut TcpStream) -> io::Result<()> {
        loop {
            let mut header = [0; 8];
            stream.read_exact(&mut header)?;
            let length = u16::from_be_bytes([header[2], header[3]]);
            skip(stream, usize::from(length).saturating_sub(8))?;
            if header[1] & 1 == 1 {
                return Ok(());
            }
        }
    }

    fn answer(self, row: &[Option<&[u8]>]) -> Vec<u8> {
        let columns = SqlServer::columns(&[NVARCHAR, VARCHAR_UTF_8], row.len());
        let tokens = [columns, SqlServer::row(row), SqlServer::done()].concat();
        SqlServer::packets(&tokens)
    }

    fn head(self) -> Vec<u8> {
        SqlServer::packet(false, &SqlServer::columns(&[NVARCHAR], 1))
    }

    fn more(self) -> Vec<u8> {
        SqlServer::packet(false, &SqlServer::row(&[Some(b"a\0")]).repeat(500))
    }

    fn notice(self) -> Vec<u8> {
        let text = SqlServer::text("It is well.");
        let mut token = vec![1, 0, 0, 0, 1, 0, 11, 0];
        token.extend_from_slice(&text);
        token.extend_from_slice(&[0, 0, 0, 0, 0, 0]);
        let length = u16::try_from(token.len()).expect("short").to_le_bytes();
        let token = [&[0xAB], &length[..], &token].concat();
        SqlServer::packet(false, &token.repeat(80))
    }

    /// In errors of 10,000 letters each.
    fn refusal(self, text: &str) -> Vec<u8> {
        let mut tokens = Vec::new();
        for part in text.as_bytes().chunks(10_000) {
            let part = SqlServer::text(str::from_utf8(part).expect("ASCII"));
            let letters = u16::try_from(part.len() / 2).expect("10,000").to_le_bytes();
            let head = [&[0x50, 0xC3, 0, 0, 1, 16], &letters[..]].concat();
            let token = [&head[..], &part, &[0, 0, 1, 0, 0, 0]].concat();
            let length = u16::try_from(token.len()).expect("short").to_le_bytes();
            tokens.extend([&[0xAA], &length[..], &token].concat());
        }
        // Done, with an error.
        tokens.extend([&[0xFD, 2][..], &[0; 11]].concat());
        SqlServer::packets(&tokens)
    }

    fn huge(self) -> Vec<u8> {
        let mut tokens = SqlServer::columns(&[NVARCHAR_MAX], 1);
        tokens.extend_from_slice(&[0xD1, 0xFE, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0]);
        tokens.extend_from_slice(&[0xFE, 0xFF, 0xFF, 0x7F]);
        SqlServer::packet(false, &tokens)
    }
}
