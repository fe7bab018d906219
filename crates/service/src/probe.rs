//! The question whether a service takes work, for container engines and supervisors that run a command to learn it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::error::ServiceError;

/// A service that has not answered by then is not well.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of an answer that are looked at: its first line is enough.
const MOST_BYTES: u64 = 64;

/// Asks `/readyz` of the service that listens on an address; an error unless it takes work.
pub fn probe(address: SocketAddr) -> Result<(), ServiceError> {
    let address = reachable(address);
    let failed = |why: String| ServiceError::NotReady { address, why };
    let answer = ask(address).map_err(|error| failed(error.to_string()))?;
    let status = answer.strip_prefix("HTTP/1.1 ").map(|line| line.chars().take(3).collect::<String>());
    match status.as_deref() {
        Some("200") => Ok(()),
        Some(other) => Err(failed(format!("it answers with {other}"))),
        None => Err(failed("it does not speak HTTP".to_owned())),
    }
}

/// The address by which this machine reaches a service that listens on all of its addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    let loopback = if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
    if address.ip().is_unspecified() { SocketAddr::new(loopback, address.port()) } else { address }
}

fn ask(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The result for a server that gives this answer.
    fn said(answer: &'static str) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 256];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /readyz HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let result = probe(address).map_err(|error| error.to_string().replace(&address.to_string(), "HERE"));
        server.join().unwrap();
        result
    }

    #[test]
    fn only_a_service_that_takes_work_is_ready() {
        assert_eq!(said("HTTP/1.1 200 OK\r\n\r\n"), Ok(()));
        let busy = "the service at HERE takes no work: it answers with 503";
        assert_eq!(said("HTTP/1.1 503 Service Unavailable\r\n\r\n"), Err(busy.to_owned()));
        for other in ["", "hello", "HTTP/1.1 "] {
            assert!(said(other).is_err(), "{other}");
        }
    }

    #[test]
    fn nobody_there_is_an_error() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(probe(address).unwrap_err().to_string().contains("refused"));
    }

    #[test]
    fn a_service_on_all_addresses_is_asked_on_this_machine() {
        let asked = |address: &str| reachable(address.parse().unwrap()).to_string();
        assert_eq!(asked("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(asked("[::]:80"), "[::1]:80");
        assert_eq!(asked("10.0.0.7:80"), "10.0.0.7:80");
    }
}
