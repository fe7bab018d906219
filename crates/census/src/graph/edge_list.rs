//! A graph from lines `from to`.
//!
//! The two are separated by a tab, else by blanks, else by a comma, so that addresses with commas can be read from lines with tabs.
//! Lines that begin with `#` or `%` and empty ones are skipped, and so is a first line that names columns. Pages are numbers from 0
//! or names of any kind; names are numbered as they come, and kept.

use std::io::BufRead;

use lookalike_overlap::address::host;

use super::{Graph, GraphError, Names};

/// The form of the pages in the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Numbers if the first line has two of them, else names.
    #[default]
    Detect,
    /// Numbers from 0; the largest gives the number of pages.
    Numbers,
    /// Names.
    Names,
}

/// A graph that was read, and the names of its pages.
#[derive(Debug, Clone, Default)]
pub struct EdgeList {
    /// The links between the pages.
    pub graph: Graph,
    /// Names by number, unless pages are numbers themselves.
    pub names: Option<Names>,
    /// Lines with a link.
    pub lines: u64,
    /// True if the first line was taken for names of columns.
    pub has_columns: bool,
}

/// The names of the two columns that a first line may have.
const COLUMNS: [[&str; 2]; 6] = [
    ["from", "to"],
    ["source", "target"],
    ["source", "destination"],
    ["src", "dst"],
    ["src", "dest"],
    ["fromnodeid", "tonodeid"],
];

/// The largest page number that is accepted, plus 64 for each link. Beyond it, nearly all pages would have no link.
const SPARSE: u64 = 1 << 20;

impl EdgeList {
    /// Reads a graph; a line that is not understood is an error.
    pub fn read(input: impl BufRead, naming: Naming) -> Result<EdgeList, GraphError> {
        let (names, arcs) = (Names::default(), Vec::new());
        let mut reader = Reader { naming, names, arcs, begun: false, has_columns: false };
        for_each_line(input, |number, line| {
            if !line.trim().is_empty() && !line.starts_with(['#', '%']) {
                reader.line(number, line)?;
            }
            Ok(())
        })?;
        reader.finish()
    }

    /// Returns the number of a page by its number or name in the lines.
    pub fn find(&self, page: &str) -> Option<u32> {
        match &self.names {
            Some(names) => names.find(page),
            None => page.parse().ok().filter(|&number: &u32| (number as usize) < self.graph.nodes()),
        }
    }

    /// The host of each page, by number, where names are addresses; nothing where none is.
    pub fn hosts(&self) -> Option<Vec<u32>> {
        let names = self.names.as_ref()?;
        let (mut hosts, mut are_addresses) = (Names::default(), false);
        let of = (0..self.graph.nodes() as u32).map(|page| {
            let name = names.name(page).unwrap_or_default();
            let host = host(name);
            are_addresses |= host.is_some();
            hosts.number(host.as_deref().unwrap_or(name))
        });
        let of: Option<Vec<u32>> = of.collect();
        of.filter(|_| are_addresses)
    }

    /// Returns the name of a page in the lines, or its number if it has none.
    pub fn name(&self, page: u32) -> String {
        let named = self.names.as_ref().and_then(|names| names.name(page));
        named.map_or_else(|| page.to_string(), str::to_owned)
    }
}

/// Calls `take` for each line with its number from 1, without the line end.
pub(super) fn for_each_line(
    mut input: impl BufRead,
    mut take: impl FnMut(u64, &str) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes);
        if read.map_err(|source| GraphError::Read { line: number, source })? == 0 {
            break;
        }
        let line = std::str::from_utf8(&bytes)
            .map_err(|_| GraphError::line(number, "is not UTF-8; convert the file"))?;
        take(number, line.trim_end_matches(['\n', '\r']))?;
    }
    Ok(())
}

struct Reader {
    naming: Naming,
    names: Names,
    arcs: Vec<(u32, u32)>,
    begun: bool,
    has_columns: bool,
}

impl Reader {
    fn line(&mut self, number: u64, line: &str) -> Result<(), GraphError> {
        let [from, to] = fields(line).ok_or_else(|| {
            GraphError::line(number, "does not have two fields; write FROM and TO with a tab between them")
        })?;
        // Nothing was read before; a second line like it is a link.
        if !std::mem::replace(&mut self.begun, true) && are_columns([from, to]) {
            self.has_columns = true;
            return Ok(());
        }
        if self.naming == Naming::Detect {
            let numbers = [from, to].iter().all(|field| field.parse::<u64>().is_ok());
            self.naming = if numbers { Naming::Numbers } else { Naming::Names };
        }
        let arc = (self.page(number, from)?, self.page(number, to)?);
        self.arcs.push(arc);
        Ok(())
    }

    fn page(&mut self, number: u64, field: &str) -> Result<u32, GraphError> {
        if self.naming == Naming::Names {
            return self.names.number(field).ok_or(GraphError::TooLarge { most: u64::from(u32::MAX) });
        }
        let page = field.parse().ok().filter(|&page: &u32| page != u32::MAX);
        page.ok_or_else(|| {
            GraphError::line(
                number,
                format!(
                    "has the page {field:?}, which is no number from 0 to 4294967294 as the first ones are; read all pages as names (--names)"
                ),
            )
        })
    }

    fn finish(self) -> Result<EdgeList, GraphError> {
        let largest = self.arcs.iter().map(|&(from, to)| u64::from(from.max(to))).max().unwrap_or(0);
        // A few large numbers would ask for gigabytes of pages that do not exist.
        if self.naming != Naming::Names && largest > SPARSE + 64 * self.arcs.len() as u64 {
            return Err(GraphError::line(
                self.arcs.len() as u64,
                format!(
                    "is the last link of few, and one names page {largest}; read such numbers as names (--names)"
                ),
            ));
        }
        let names = (self.naming == Naming::Names).then_some(self.names);
        let nodes = names.as_ref().map_or(0, Names::len);
        let (lines, has_columns) = (self.arcs.len() as u64, self.has_columns);
        Ok(EdgeList { graph: Graph::of_arcs(nodes, &self.arcs), names, lines, has_columns })
    }
}

/// Returns true if these are names of columns, in any spelling: `from`, `From_Node_ID`, `"source"`.
fn are_columns(fields: [&str; 2]) -> bool {
    let plain = fields.map(|field| {
        field.chars().filter(|character| character.is_alphanumeric()).collect::<String>().to_lowercase()
    });
    COLUMNS.contains(&plain.each_ref().map(String::as_str))
}

/// The two fields of a line.
fn fields(line: &str) -> Option<[&str; 2]> {
    let line = line.trim();
    if line.contains('\t') {
        two(line.split('\t'))
    } else if line.contains(char::is_whitespace) {
        // A comma with a blank behind it is one mark, too.
        two(line.split_whitespace().map(|field| field.trim_end_matches(',')))
    } else {
        two(line.split(','))
    }
}

/// Two fields that are not empty, and no third.
fn two<'l>(mut fields: impl Iterator<Item = &'l str>) -> Option<[&'l str; 2]> {
    let two = [fields.next()?.trim(), fields.next()?.trim()];
    (fields.next().is_none() && two.iter().all(|field| !field.is_empty())).then_some(two)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EdgeList, GraphError> {
        EdgeList::read(text.as_bytes(), Naming::Detect)
    }

    #[test]
    fn numbers_with_any_mark_between_them() {
        let list = read("# a comment\n% another\n0\t1\n0 2\r\n\n 2,  4\n2,0\n0 1").unwrap();
        assert_eq!((list.graph.nodes(), list.graph.arcs(), list.graph.duplicates()), (5, 4, 1));
        assert_eq!((list.lines, list.names.is_none()), (5, true));
        assert_eq!((list.find("4"), list.find("5"), list.name(3)), (Some(4), None, "3".to_owned()));
    }

    #[test]
    fn names_are_kept_with_their_commas() {
        let list = read("http://a/x,y\thttp://b/\nhttp://b/\thttp://a/x,y\nc d\n").unwrap();
        assert_eq!(list.graph.links(0), [1]);
        assert_eq!((list.find("http://a/x,y"), list.name(1)), (Some(0), "http://b/".to_owned()));
        assert_eq!(list.find("d"), Some(3));
        let hosts = read("http://a/x\thttp://b\nhttp://A:80?y\tc\n").unwrap().hosts().unwrap();
        assert!(hosts[0] == hosts[2] && hosts[0] != hosts[1] && hosts[3] != hosts[1]);
        assert!(read("a b\n").unwrap().hosts().is_none() && read("0 1\n").unwrap().hosts().is_none());
        let forced = EdgeList::read("7 9\n9 7".as_bytes(), Naming::Names).unwrap();
        assert_eq!((forced.graph.nodes(), forced.name(0)), (2, "7".to_owned()));
    }

    #[test]
    fn names_of_columns_are_no_link() {
        for text in
            ["from,to\n0,1\n", "# x\nSource\tTarget\n0\t1\n", "\"From_Node_ID\",\"To_Node_ID\"\n0,1\n"]
        {
            let list = read(text).unwrap();
            assert_eq!((list.graph.nodes(), list.lines, list.names.is_none()), (2, 1, true), "{text}");
            assert!(list.has_columns);
        }
        // Only before all links, and only both of them.
        assert_eq!(read("a\tb\nfrom\tto\n").unwrap().lines, 2);
        assert_eq!(read("from\tb\n").unwrap().lines, 1);
    }

    #[test]
    fn bad_lines_are_named() {
        let told = |text: &str| read(text).unwrap_err().to_string();
        assert!(told("0 1\n0 1 2").starts_with("line 2 does not have two fields"));
        assert!(told("0 1\n#\n5").starts_with("line 3 does not"));
        assert!(told("0 1\n0 x").starts_with("line 2 has the page \"x\""));
        assert!(told("0 4294967295").contains("read all pages as names"));
        assert!(told("0 4000000000").contains("read such numbers as names"));
        assert!(
            EdgeList::read(&b"0 1\n\xff 2\n"[..], Naming::Detect).unwrap_err().to_string().contains("UTF-8")
        );
        assert_eq!(read("# nothing\n").unwrap().graph.nodes(), 0);
    }
}
