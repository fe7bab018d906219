//! A graph from the compressed files of the WebGraph framework (Boldi and Vigna 2004): `NAME.graph` and `NAME.properties`.
//!
//! It is read once from beginning to end, so that no offsets are needed, into the plain form that walks use: 8 bytes
//! for each page and 4 for each link, where the files have a few bits.

use std::path::Path;

use dsi_bitstream::prelude::{BE, Endianness, LE};
use lender::Lender;
use webgraph::prelude::{BvGraphSeq, SequentialLabeling, get_endianness};

use super::{Graph, GraphError};

/// Reads the graph with this basename, a path without extension.
pub fn read(basename: &Path) -> Result<Graph, GraphError> {
    let failed = |reason: String| GraphError::Compressed { basename: basename.display().to_string(), reason };
    let told = |error| failed(format!("{error:#}"));
    let plain = match get_endianness(basename).map_err(told)?.as_str() {
        LE::NAME => unpacked(&BvGraphSeq::with_basename(basename).endianness::<LE>().load().map_err(told)?),
        _ => unpacked(&BvGraphSeq::with_basename(basename).endianness::<BE>().load().map_err(told)?),
    };
    plain.ok_or_else(|| failed("it has too many pages, or links to one beyond its last".to_owned()))
}

/// The plain form; none where numbers are too large, as in damaged files, which may decode to anything.
fn unpacked(packed: &impl SequentialLabeling<Label = usize>) -> Option<Graph> {
    let nodes = packed.num_nodes();
    let mut lists = Lists::default();
    let mut pages = packed.iter();
    while let Some((_, links)) = pages.next() {
        for link in links {
            lists.targets.push(u32::try_from(link).ok().filter(|&link| (link as usize) < nodes)?);
        }
        lists.ends.push(lists.targets.len());
    }
    (nodes < u32::MAX as usize).then(|| Graph::of_lists(lists.iter()).with_nodes(nodes))
}

/// Lists behind one another.
#[derive(Default)]
struct Lists {
    targets: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.targets[begin..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use webgraph::prelude::{BvComp, VecGraph};

    #[test]
    fn what_the_framework_writes_is_read_back() {
        let arcs = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 5), (3, 0), (6, 2), (6, 3), (6, 4)];
        let folder = tempfile::tempdir().unwrap();
        let mut graph = VecGraph::from_arcs(arcs.map(|(from, to)| (from as usize, to as usize)));
        graph.add_node(8);
        for (order, name) in ["big", "little"].into_iter().enumerate() {
            let basename = folder.path().join(name);
            let mut writer = BvComp::with_basename(&basename);
            match order {
                0 => writer.comp_graph::<BE>(&graph).unwrap(),
                _ => writer.comp_graph::<LE>(&graph).unwrap(),
            };
            assert_eq!(read(&basename).unwrap(), Graph::of_arcs(9, &arcs), "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_an_error_with_its_name() {
        let told = read(Path::new("/nowhere/at-all")).unwrap_err().to_string();
        assert!(told.contains("/nowhere/at-all cannot be read"), "{told}");
    }
}
