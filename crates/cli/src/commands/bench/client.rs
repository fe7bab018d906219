//! The least of an HTTP client: one connection that stays open, one request after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::exit::Failure;

/// The longest body of an answer that is read.
const MAX_BODY_BYTES: u64 = 64 << 20;
/// The time limit for an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// A connection to one service.
pub(super) struct Client<'c> {
    address: &'c str,
    token: Option<&'c str>,
    /// The time for which a request is tried again when the service is away.
    retry_for: Duration,
    connection: Option<BufReader<TcpStream>>,
    /// The number of times that the connection was lost.
    pub(super) reconnected: u64,
}

impl<'c> Client<'c> {
    pub(super) fn new(address: &'c str, token: Option<&'c str>, retry_seconds: u64) -> Self {
        let retry_for = Duration::from_secs(retry_seconds);
        Client { address, token, retry_for, connection: None, reconnected: 0 }
    }

    /// Sends a request and waits for the answer. When the service goes away, the same request is sent again.
    pub(super) fn send(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Result<Reply, Failure> {
        let begun = Instant::now();
        loop {
            match self.send_once(method, path, body) {
                Ok(reply) => return Ok(reply),
                Err(error) if begun.elapsed() >= self.retry_for => {
                    return Err(Failure::Missing(format!(
                        "{} does not answer: {error}; is the service running there?",
                        self.address
                    )));
                }
                Err(_) => {
                    self.connection = None;
                    self.reconnected += 1;
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    fn send_once(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> std::io::Result<Reply> {
        let stream = match &mut self.connection {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(self.address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(READ_TIMEOUT))?;
                self.connection.insert(BufReader::new(stream))
            }
        };
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        if let Some(token) = self.token {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        if let Some(body) = body {
            request
                .push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        request.push_str("\r\n");
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());
        stream.get_mut().write_all(&bytes)?;
        let reply = read_reply(stream);
        if reply.as_ref().is_ok_and(|(_, closes)| *closes) || reply.is_err() {
            self.connection = None;
        }
        Ok(reply?.0)
    }
}

/// Reads an answer, and whether the connection ends with it.
fn read_reply(stream: &mut BufReader<TcpStream>) -> std::io::Result<(Reply, bool)> {
    let broken = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
    let (mut line, mut status, mut length, mut closes) = (String::new(), 0, None, false);
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = line.trim_end();
        if text.is_empty() {
            break;
        }
        if status == 0 {
            let number = text.split(' ').nth(1).and_then(|number| number.parse().ok());
            status = number.ok_or_else(|| broken("it does not speak HTTP"))?;
            continue;
        }
        let (name, value) = text.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse::<u64>().ok(),
            "connection" => closes = value.trim().eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    let length =
        length.filter(|&length| length <= MAX_BODY_BYTES).ok_or_else(|| broken("an answer has no length"))?;
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body)?;
    Ok((Reply { status, body }, closes))
}
