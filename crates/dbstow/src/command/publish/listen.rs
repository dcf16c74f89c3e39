//! The endpoint that Prometheus scrapes: `GET /metrics`, and a line at `/` that points to it.
//!
//! A few threads serve one client each, for a bounded time; further clients wait in the system's queue. Every connection
//! closes after its response. Requests are parsed by `httparse`; a full HTTP server (hyper) needs an event loop, and the
//! small blocking ones limit neither the time of a client nor the number of clients.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use host::clock::Clock;
use model::{Duration, Instant};

use super::accept::{media_type, negotiated};
use super::page::{Page, Shared};

/// Clients served in parallel.
const CLIENTS: usize = 4;

/// Time limit for a client to send its request and read the response.
const PATIENCE: Duration = Duration::from_secs(5);

/// Largest request, with its headers.
const REQUEST_MAX: usize = 8 << 10;

/// Maximum number of headers in a request.
const HEADERS_MAX: usize = 64;

/// Bytes per write.
const CHUNK: usize = 64 << 10;

/// A bound address.
pub(super) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// A response.
struct Answer<'a> {
    status: &'static str,
    media_type: &'static str,
    body: &'a str,
    /// Whether the client requested only the headers.
    head: bool,
}

impl Listener {
    /// Binds an address.
    ///
    /// # Errors
    /// When another program uses it, or this user may not bind it.
    pub(super) fn bind(address: SocketAddr) -> Result<Listener> {
        let socket = TcpListener::bind(address).with_context(|| {
            format!("--listen {address}: the address cannot be used; choose another port")
        })?;
        let address = socket
            .local_addr()
            .context("the address that is listened on")?;
        Ok(Listener { socket, address })
    }

    /// The bound address.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the last page to clients, until the process ends.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn serve(self, page: &Shared) -> Result<()> {
        let socket = Arc::new(self.socket);
        for _ in 0..CLIENTS {
            let (socket, page) = (Arc::clone(&socket), Arc::clone(page));
            let work = move || {
                loop {
                    match socket.accept() {
                        // A client that disconnected is ignored.
                        Ok((client, _)) => drop(Client::new(client).answer(&page)),
                        // For example too many open files, which is temporary.
                        Err(_) => Clock::sleep(Duration::from_millis(100)),
                    }
                }
            };
            let thread = thread::Builder::new().name("dbstow-listen".to_owned());
            thread.spawn(work).context("a thread for --listen")?;
        }
        Ok(())
    }
}

/// A client, and its deadline.
struct Client {
    stream: TcpStream,
    clock: Clock,
}

impl Client {
    fn new(stream: TcpStream) -> Client {
        Client {
            stream,
            clock: Clock::start(),
        }
    }

    /// Time left until its deadline.
    ///
    /// # Errors
    /// When the deadline has passed.
    fn left(&self) -> std::io::Result<std::time::Duration> {
        let left = PATIENCE.saturating_sub(self.clock.now().since(Instant::ZERO));
        match left.as_nanos() {
            0 => Err(ErrorKind::TimedOut.into()),
            ns => Ok(std::time::Duration::from_nanos(ns)),
        }
    }

    fn answer(&mut self, page: &Shared) -> std::io::Result<()> {
        let mut request = Vec::with_capacity(1 << 10);
        let mut chunk = [0; 1 << 10];
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            let read = self.stream.read(&mut chunk)?;
            request.extend_from_slice(&chunk[..read]);
            let page = Arc::clone(&page.lock());
            if let Some(answer) = answer(&request, &page) {
                return self.write(&answer);
            }
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn write(&mut self, answer: &Answer<'_>) -> std::io::Result<()> {
        let Answer {
            status,
            media_type,
            body,
            head,
        } = answer;
        let length = body.len();
        let headers = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nAllow: GET, HEAD\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        );
        let body = if *head { "" } else { body };
        for chunk in [headers.as_bytes()]
            .into_iter()
            .chain(body.as_bytes().chunks(CHUNK))
        {
            let mut rest = chunk;
            while !rest.is_empty() {
                self.stream.set_write_timeout(Some(self.left()?))?;
                match self.stream.write(rest)? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    written => rest = &rest[written..],
                }
            }
        }
        self.stream.flush()
    }
}

/// The response to the request read so far; `None` while it is incomplete.
fn answer<'a>(request: &[u8], page: &'a Page) -> Option<Answer<'a>> {
    let plain = |status, body| Answer {
        status,
        media_type: "text/plain; charset=utf-8",
        body,
        head: false,
    };
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(request) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if request.len() < REQUEST_MAX => return None,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Some(plain(
                "431 Request Header Fields Too Large",
                "the request is too large\n",
            ));
        }
        Err(_) => return Some(plain("400 Bad Request", "not an HTTP request\n")),
    }
    let head = match parsed.method {
        Some("GET") => false,
        Some("HEAD") => true,
        Some(_) | None => {
            return Some(plain(
                "405 Method Not Allowed",
                "metrics can only be read\n",
            ));
        }
    };
    let path = parsed.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let answer = match path {
        "/metrics" => {
            let accept = parsed.headers.iter();
            let accept = accept.filter(|header| header.name.eq_ignore_ascii_case("accept"));
            let values = accept.filter_map(|header| std::str::from_utf8(header.value).ok());
            let format = negotiated(&values.collect::<Vec<_>>().join(","));
            Answer {
                status: "200 OK",
                media_type: media_type(format),
                body: page.text(format),
                head,
            }
        }
        "/" => plain("200 OK", "dbstow: metrics are at /metrics\n"),
        _ => plain("404 Not Found", "not found; metrics are at /metrics\n"),
    };
    Some(Answer { head, ..answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page {
            openmetrics: "new\n".to_owned(),
            prometheus: "old\n".to_owned(),
        }
    }

    #[test]
    fn requests_are_answered_by_method_path_and_format() {
        for (request, status, body) in [
            (
                "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
                "200 OK",
                "old\n",
            ),
            (
                "GET /metrics?x=1 HTTP/1.1\r\naccept: application/openmetrics-text\r\n\r\n",
                "200 OK",
                "new\n",
            ),
            (
                "GET / HTTP/1.0\r\n\r\n",
                "200 OK",
                "dbstow: metrics are at /metrics\n",
            ),
            (
                "GET /../etc/passwd HTTP/1.1\r\n\r\n",
                "404 Not Found",
                "not found; metrics are at /metrics\n",
            ),
            (
                "POST /metrics HTTP/1.1\r\n\r\n",
                "405 Method Not Allowed",
                "metrics can only be read\n",
            ),
            (
                "\u{16}\u{3}\u{1} tls\r\n\r\n",
                "400 Bad Request",
                "not an HTTP request\n",
            ),
        ] {
            let page = page();
            let answer = answer(request.as_bytes(), &page).expect(request);
            assert_eq!((answer.status, answer.body), (status, body), "{request}");
        }
    }

    #[test]
    fn a_request_is_waited_for_until_it_is_too_large() {
        let page = page();
        assert!(answer(b"", &page).is_none());
        assert!(answer(b"GET /metrics HTTP/1.1\r\nHost:", &page).is_none());
        let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(REQUEST_MAX));
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(HEADERS_MAX + 1)
        );
        for request in [long, many] {
            let answer = answer(request.as_bytes(), &page).expect("it is refused");
            assert!(answer.status.starts_with("431"), "{}", answer.status);
        }
    }

    #[test]
    fn the_headers_of_head_are_those_of_get() {
        let page = page();
        let answer = answer(b"HEAD /metrics HTTP/1.1\r\n\r\n", &page).expect("it is whole");
        assert!(answer.head && answer.body == "old\n");
    }
}
