//! A real Prometheus, and requests by it and other clients to an endpoint.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::place::Running;

/// A free local address.
pub fn free_address() -> SocketAddr {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    socket.local_addr().expect("it has an address")
}

/// Status, headers and body of an answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

/// Sends a request, and reads until the server closes.
pub fn request(address: SocketAddr, request: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (headers, body) = text
        .split_once("\r\n\r\n")
        .ok_or(io::ErrorKind::InvalidData)?;
    let status = headers.split(' ').nth(1).and_then(|word| word.parse().ok());
    Ok(Answer {
        status: status.ok_or(io::ErrorKind::InvalidData)?,
        headers: headers.to_owned(),
        body: body.to_owned(),
    })
}

/// The answer to GET, with more headers.
pub fn get(address: SocketAddr, path: &str, headers: &str) -> io::Result<Answer> {
    request(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n"),
    )
}

/// Prometheus, which scrapes once a second.
pub struct Prometheus {
    address: SocketAddr,
    _folder: TempDir,
    _process: Running,
}

impl Prometheus {
    /// Starts one that scrapes these jobs; `None`, with a message, on a machine without it.
    pub fn start(jobs: &[(&str, SocketAddr)]) -> Option<Prometheus> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let jobs = jobs.iter().map(|(job, address)| {
            format!("  - job_name: {job}\n    static_configs:\n      - targets: [\"{address}\"]\n")
        });
        let config = format!(
            "global:\n  scrape_interval: 1s\nscrape_configs:\n{}",
            jobs.collect::<String>()
        );
        let file = folder.path().join("prometheus.yml");
        fs::write(&file, config).expect("the folder is ours");
        let address = free_address();
        let spawned = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .arg("--log.level=error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Some(Prometheus {
            address,
            _process: Running(found("prometheus", spawned)?),
            _folder: folder,
        })
    }

    /// The current series of `query`; empty while it starts.
    pub fn query(&self, query: &str) -> Vec<Value> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let Ok(answer) = get(self.address, &format!("/api/v1/query?query={encoded}"), "") else {
            return Vec::new();
        };
        // A body may come in chunks, with their lengths between them.
        let start = answer.body.find('{').unwrap_or(0);
        let end = answer.body.rfind('}').map_or(0, |end| end + 1);
        if answer.status == 503 || start >= end {
            return Vec::new();
        }
        let text = unchunked(&answer);
        let json: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(json["status"], "success", "{query}: {text}");
        let result = json["data"]["result"].as_array();
        result.cloned().unwrap_or_default()
    }

    /// The largest current value of `query`; `None` without one.
    pub fn value(&self, query: &str) -> Option<f64> {
        let series = self.query(query).into_iter();
        let values = series.filter_map(|series| series["value"][1].as_str()?.parse().ok());
        values.reduce(f64::max)
    }
}

/// The body, in one piece.
fn unchunked(answer: &Answer) -> String {
    let is_chunked = answer
        .headers
        .to_lowercase()
        .contains("transfer-encoding: chunked");
    if !is_chunked {
        return answer.body.clone();
    }
    let (mut rest, mut whole) = (answer.body.as_str(), String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).expect("the length of a chunk");
        whole += &after[..length];
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}

/// `promtool`'s complaints about a text in Prometheus' format; `None`, with a message, on a machine without it.
pub fn promtool(text: &str) -> Option<String> {
    let spawned = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = found("promtool", spawned)?;
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Some(match output.status.success() {
        true => said,
        false => format!("{said} ({})", output.status),
    })
}

/// A program that was started, or why a test is skipped without it.
fn found(name: &str, spawned: io::Result<Child>) -> Option<Child> {
    crate::or_skip(spawned.map_err(|error| format!("{name}: {error}")))
}

/// Samples of a text by their names and labels.
pub fn samples(text: &str) -> Vec<(&str, f64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            (name, value.parse().expect("a number"))
        })
        .collect()
}
