//! Honest servers that lie in one answer: real ones behind a proxy, and a double of SQL Server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The change of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoil {
    Nulls,
    /// The least number instead of each.
    Least,
    /// The largest number instead of each.
    Largest,
    /// A text instead of each number.
    NoNumbers,
    InvalidText,
    /// Half of the columns.
    Half,
    /// Each column twice.
    Twice,
    NoRows,
}

pub const SPOILS: [Spoil; 8] = [
    Spoil::Nulls,
    Spoil::Least,
    Spoil::Largest,
    Spoil::NoNumbers,
    Spoil::InvalidText,
    Spoil::Half,
    Spoil::Twice,
    Spoil::NoRows,
];

/// Counts the answers with rows of all connections, and chooses the one to falsify.
#[derive(Debug)]
pub struct Teller {
    spoil: Spoil,
    /// Its number, from 0.
    lie: usize,
    answers: AtomicUsize,
}

type Columns = Vec<Option<Vec<u8>>>;

impl Teller {
    pub fn new(spoil: Spoil, lie: usize) -> Arc<Teller> {
        Arc::new(Teller {
            spoil,
            lie,
            answers: AtomicUsize::new(0),
        })
    }

    /// Whether an answer was falsified.
    pub fn has_lied(&self) -> bool {
        self.answers.load(Ordering::SeqCst) > self.lie
    }

    /// Whether to falsify the current answer.
    fn lies(&self) -> bool {
        self.answers.fetch_add(1, Ordering::SeqCst) == self.lie
    }

    /// Text rows on the wire; `None` where there is none.
    fn row(&self, mut row: Columns) -> Option<Columns> {
        match self.spoil {
            Spoil::NoRows => return None,
            Spoil::Half => row.truncate(row.len() / 2),
            Spoil::Twice => row.extend_from_within(..),
            Spoil::Nulls => row.fill(None),
            Spoil::InvalidText => row.fill(Some(b"\xFF\xFE\xC3".to_vec())),
            Spoil::Least => numbers(&mut row, "-9223372036854775808"),
            Spoil::Largest => numbers(&mut row, "18446744073709551615"),
            Spoil::NoNumbers => numbers(&mut row, "nan"),
        }
        Some(row)
    }
}

fn numbers(row: &mut Columns, instead: &str) {
    for column in row.iter_mut().flatten() {
        let text = str::from_utf8(column).unwrap_or_default();
        if text.parse::<f64>().is_ok() {
            *column = instead.as_bytes().to_vec();
        }
    }
}

/// Copies the server's messages, and falsifies the chosen one.
type Copier = fn(&Teller, &mut UnixStream, &mut TcpStream) -> io::Result<()>;

/// A proxy for the server at this socket; returns the port. It ends with the test.
pub fn between(socket: PathBuf, copier: Copier, teller: &Arc<Teller>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it listens").port();
    let teller = Arc::clone(teller);
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a client came");
            let mut server = UnixStream::connect(&socket).expect("it runs");
            let (mut from, mut to) = (client.try_clone(), server.try_clone());
            let teller = Arc::clone(&teller);
            thread::spawn(move || {
                let (from, to) = (from.as_mut().expect("open"), to.as_mut().expect("open"));
                // When one side closes, the other side's connection is closed too.
                drop(io::copy(from, to));
                drop(to.shutdown(Shutdown::Both));
            });
            thread::spawn(move || {
                drop(copier(&teller, &mut server, &mut client));
                drop(client.shutdown(Shutdown::Both));
            });
        }
    });
    port
}

/// Of a PostgreSQL. Source of the frames: <https://www.postgresql.org/docs/18/protocol-message-formats.html>, read 2026-11-26.
pub fn postgresql(
    teller: &Teller,
    server: &mut UnixStream,
    client: &mut TcpStream,
) -> io::Result<()> {
    // There is no TLS.
    let mut byte = [0];
    server.read_exact(&mut byte)?;
    client.write_all(&byte)?;
    let mut answer: Vec<(u8, Vec<u8>)> = Vec::new();
    loop {
        let mut header = [0; 5];
        server.read_exact(&mut header)?;
        let [tag, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        server.read_exact(&mut body)?;
        answer.push((tag, body));
        if tag == b'D' || tag == b'T' {
            continue;
        }
        let lies = tag == b'C' && answer.iter().any(|(tag, _)| *tag == b'D') && teller.lies();
        for (tag, body) in answer.drain(..) {
            let body_sent = match tag {
                b'D' if lies => teller.row(data_row(&body)).map(|row| put_data_row(&row)),
                _ => Some(body),
            };
            if let Some(body) = body_sent {
                let length = u32::try_from(body.len() + 4).expect("it is short");
                client.write_all(&[&[tag], &length.to_be_bytes()[..], &body].concat())?;
            }
        }
    }
}

fn data_row(body: &[u8]) -> Columns {
    let (count, mut rest) = body.split_at(2);
    let count = u16::from_be_bytes(count.try_into().expect("two"));
    let column = |_| {
        let (length, after) = rest.split_at(4);
        let length = i32::from_be_bytes(length.try_into().expect("four"));
        let (text, after) = after.split_at(usize::try_from(length).unwrap_or_default());
        rest = after;
        (length >= 0).then(|| text.to_vec())
    };
    (0..count).map(column).collect()
}

fn put_data_row(row: &Columns) -> Vec<u8> {
    let count = u16::try_from(row.len()).expect("few");
    let mut body = count.to_be_bytes().to_vec();
    for column in row {
        let length = column.as_ref().map_or(-1, |text| text.len() as i32);
        body.extend(length.to_be_bytes());
        body.extend(column.iter().flatten());
    }
    body
}

/// Of a MariaDB. Source of the frames: <https://mariadb.com/docs/server/reference/clientserver-protocol>, read 2026-11-26.
pub fn mariadb(teller: &Teller, server: &mut UnixStream, client: &mut TcpStream) -> io::Result<()> {
    // Until the login is accepted, and until the column definitions end.
    while pass(server, client)?[0] != 0 {}
    loop {
        // Accepted or refused.
        if matches!(pass(server, client)?[0], 0x00 | 0xFF) {
            continue;
        }
        while !is_end(&pass(server, client)?) {}
        let mut rows = Vec::new();
        let end = loop {
            let (header, body) = packet(server)?;
            if is_end(&body) || body[0] == 0xFF {
                break [&header, &body[..]].concat();
            }
            rows.push((header, body));
        };
        let lies = teller.lies();
        for (mut header, mut body) in rows {
            if lies {
                let Some(row) = teller.row(text_row(&body)) else {
                    continue;
                };
                body = put_text_row(&row);
                let length = u32::try_from(body.len()).expect("it is short");
                header[..3].copy_from_slice(&length.to_le_bytes()[..3]);
            }
            client.write_all(&[&header, &body[..]].concat())?;
        }
        client.write_all(&end)?;
    }
}

fn packet(server: &mut UnixStream) -> io::Result<([u8; 4], Vec<u8>)> {
    let mut header = [0; 4];
    server.read_exact(&mut header)?;
    let [a, b, c, _] = header;
    let mut body = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
    server.read_exact(&mut body)?;
    Ok((header, body))
}

fn pass(server: &mut UnixStream, client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (header, body) = packet(server)?;
    client.write_all(&[&header, &body[..]].concat())?;
    Ok(body)
}

fn is_end(body: &[u8]) -> bool {
    body[0] == 0xFE && body.len() < 9
}

fn text_row(body: &[u8]) -> Columns {
    let (mut row, mut rest) = (Vec::new(), body);
    while let [first, after @ ..] = rest {
        let (length, after) = match (first, after) {
            (0xFC, [a, b, after @ ..]) => (usize::from(u16::from_le_bytes([*a, *b])), after),
            (0xFD, [a, b, c, after @ ..]) => (u32::from_le_bytes([*a, *b, *c, 0]) as usize, after),
            (0xFB, after) => (0, after),
            (length, after) => (usize::from(*length), after),
        };
        let (text, after) = after.split_at(length);
        row.push((*first != 0xFB).then(|| text.to_vec()));
        rest = after;
    }
    row
}

fn put_text_row(row: &Columns) -> Vec<u8> {
    let mut body = Vec::new();
    for column in row {
        match column {
            None => body.push(0xFB),
            Some(text) => {
                let length = u32::try_from(text.len()).expect("short").to_le_bytes();
                body.push(0xFD);
                body.extend_from_slice(&length[..3]);
                body.extend_from_slice(text);
            }
        }
    }
    // A packet must not be empty.
    if body.is_empty() { vec![0] } else { body }
}

pub mod sqlserver {
    //! A double of SQL Server.

    use std::sync::Arc;

    use tds_double::server::{Io, SqlServer};
    use tds_double::{
        Admitted, Item, Kind, Login, Model, Question, Refusal, Reply, Rows, Session, Value,
    };

    use super::{Spoil, Teller};

    pub struct Spoiled {
        pub server: SqlServer,
        pub teller: Arc<Teller>,
    }

    /// Its files show more I/O with each answer, so that it is not idle.
    const MORE: Io = Io {
        reads: 10,
        read_bytes: 80 << 10,
        read_stall_ms: 5,
        writes: 10,
        written_bytes: 80 << 10,
        write_stall_ms: 5,
    };

    impl Spoiled {
        fn work(&mut self) {
            let databases = self.server.databases.values_mut();
            for file in databases.flat_map(|database| database.files.values_mut()) {
                file.io.add(MORE);
            }
            let batches = ["SQLServer:SQL Statistics", "Batch Requests/sec", ""];
            let batches = batches.map(str::to_owned);
            if let Some((value, _)) = self.server.performance.get_mut(&batches) {
                *value += 100;
            }
        }
    }

    impl Model for Spoiled {
        fn login(&mut self, login: &Login) -> Result<Admitted, Refusal> {
            self.server.login(login)
        }

        fn answer(&mut self, session: &mut Session, question: &Question) -> Option<Reply> {
            self.work();
            let mut reply = self.server.answer(session, question)?;
            let has_rows = reply.items.iter().any(|item| matches!(item, Item::Rows(_)));
            if has_rows && self.teller.lies() {
                for item in &mut reply.items {
                    if let Item::Rows(rows) = item {
                        spoil(self.teller.spoil, rows);
                    }
                }
            }
            Some(reply)
        }

        fn reset(&mut self, session: &Session) {
            self.server.reset(session);
        }

        fn answered(&mut self, session: &Session) {
            self.server.answered(session);
        }

        fn closed(&mut self, session: &Session) {
            self.server.closed(session);
        }
    }

    fn spoil(how: Spoil, rows: &mut Rows) {
        let half = rows.columns.len() / 2;
        match how {
            Spoil::NoRows => rows.rows.clear(),
            Spoil::Half => {
                rows.columns.truncate(half);
                rows.rows.iter_mut().for_each(|row| row.truncate(half));
            }
            Spoil::Twice => {
                rows.columns.extend_from_within(..);
                let double = |row: &mut Vec<Value>| row.extend_from_within(..);
                rows.rows.iter_mut().for_each(double);
            }
            Spoil::Nulls
            | Spoil::Least
            | Spoil::Largest
            | Spoil::NoNumbers
            | Spoil::InvalidText => {
                for place in 0..rows.columns.len() {
                    let column = &mut rows.columns[place];
                    let Some((kind, value)) = instead(how, column.kind) else {
                        continue;
                    };
                    (column.kind, column.nullable) = (kind, true);
                    for row in &mut rows.rows {
                        row[place] = value.clone();
                    }
                }
            }
        }
    }

    /// The new column; `None` where it is unchanged.
    fn instead(how: Spoil, kind: Kind) -> Option<(Kind, Value)> {
        let is_whole = match kind {
            Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt => true,
            Kind::Real | Kind::Float => false,
            Kind::Bit | Kind::Text(_) | Kind::TextMax | Kind::Bytes(_) | Kind::BytesMax => {
                return match how {
                    Spoil::Nulls => Some((kind, Value::Null)),
                    Spoil::InvalidText => Some((Kind::Bytes(3), Value::Bytes(vec![0xFF; 3]))),
                    _ => None,
                };
            }
        };
        match (how, is_whole) {
            (Spoil::Nulls, _) => Some((kind, Value::Null)),
            (Spoil::Least, true) => Some((Kind::BigInt, i64::MIN.into())),
            (Spoil::Least, false) => Some((Kind::Float, f64::MIN.into())),
            (Spoil::Largest, true) => Some((Kind::BigInt, i64::MAX.into())),
            (Spoil::Largest, false) => Some((Kind::Float, f64::MAX.into())),
            (Spoil::NoNumbers, true) => Some((Kind::Text(3), "nan".into())),
            (Spoil::NoNumbers, false) => Some((Kind::Float, f64::NAN.into())),
            _ => None,
        }
    }
}
